"""What counterexamples name: whom they are about, who acts in them and what holds pods back. It orders candidates only.

The one place where a repair reads explanations. Whatever says more about causes is added here.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.cluster.loops.actions import Verb
from kubeproof.manifests.editing.written import APPLIED
from kubeproof.values import dataclass
from kubeproof.verify.fix.edits import Edit
from kubeproof.verify.result import IntentResult

ELSEWHERE, NO_ANSWER = 12, 18  # on top of the cost of an edit, in the order of the search
ASIDE = 5  # the same, in the order of proposals, too: it writes nothing that the loops of the run ask for


@dataclass(frozen=True, slots=True)
class Hints:
    """Objects and words of counterexamples."""

    objects: frozenset[str]
    words: frozenset[str]
    fields: frozenset[tuple[str, str]] = frozenset()  # that the loops of the run would have changed


def read_hints(violations: Iterable[IntentResult]) -> Hints:
    """The objects that counterexamples are about, and the words for who acts, who does not, and what is in the way."""
    objects: set[str] = set()
    words: set[str] = set()
    fields: set[tuple[str, str]] = set()
    for one in violations:
        told = () if one.explanation is None else one.explanation.changes
        fields.update((field.object, field.path) for change in told for field in change.fields)
        objects.update((one.target, *(ref for ref, _ in one.sources)))
        words.add(one.key)
        if one.trace is None:
            continue
        steps = one.trace.steps[one.trace.deployed_steps :]
        words.update(str(getattr(step.actor, "kind", "")) for step in steps)
        words.update(who for who, _ in one.trace.obstacles)
        if any(Verb.PREEMPT in step.verbs for step in steps):
            words.add("preemption")
        objects.update(fact.about for fact in one.trace.final if fact.about)
        objects.update(idle.object for idle in one.trace.inaction if idle.object)
        words.update(str(idle.actor.kind) for idle in one.trace.inaction)
    return Hints(frozenset(objects), frozenset(words), frozenset(fields))


def distance(edit: Edit, hints: Hints) -> int:
    """How far an edit is from what counterexamples name."""
    is_named = any(ref.partition(APPLIED)[0] in hints.objects for ref in edit.objects) or not _is_workload(edit)
    far = (0 if is_named else ELSEWHERE) + (0 if edit.answers & hints.words else NO_ANSWER)
    return far + is_aside(edit, hints)


def is_aside(edit: Edit, hints: Hints) -> int:
    """What an edit costs more because no loop of the run asks for it; nothing where none asks for anything."""
    written = ((ref, operation.field) for ref, operation in edit.places())
    near = not hints.fields or any(
        ref.partition(APPLIED)[0] == other and (field.startswith(path) or path.startswith(field))
        for ref, field in written
        for other, path in hints.fields
    )
    made = {value.get("kind") for value in edit.added}
    return 0 if near or any(other in made for other, _ in hints.fields) else ASIDE


def _is_workload(edit: Edit) -> bool:
    """True if the edit is about a workload: those that steer others are as near as what they steer."""
    return edit.object.split("/")[0] in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob")
