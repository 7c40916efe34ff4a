"""What events add to a setup before a run: later revisions, applied workloads, pods that never become ready."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.kinds import REPLICA_SET
from kubeproof.cluster.objects import Setup, Workload, family, revisions_of, workload_number
from kubeproof.errors import UsageError
from kubeproof.events.declarations import EVERY_REVISION, INITIAL_REVISION, Apply, Event
from kubeproof.model.expansion.ordinals import revision_templates
from kubeproof.values import replace

MOST_REVISIONS = 20  # each is a workload of its own to every loop


def with_revisions(setup: Setup, events: tuple[Event, ...]) -> Setup:
    """The setup with a ReplicaSet for every later revision that a rollout event may bring."""
    later: list[Workload] = []
    for event in events:
        if event.new_revisions and event.subject is not None:
            declared = setup.workloads[workload_number(setup, event.subject)]
            known = sum(other.owner == declared.ref for other in later)
            for number in range(known + 2, known + 2 + event.new_revisions):
                name = f"{declared.name}-rev{number}"
                kind = _revision_kind(declared)
                later.append(replace(declared, kind=kind, name=name, replicas=0, owner=declared.ref))
        elif event.form is not None and event.form.rules.rolls_out:
            later += _apply_revision(setup, event.form, later)
    if len(later) > MOST_REVISIONS:
        raise UsageError(f"events may bring {len(later)} further revisions", f"Allow at most {MOST_REVISIONS} in all")
    return replace(setup, workloads=(*setup.workloads, *later))


def _revision_kind(declared: Workload) -> str:
    """What stands for a later revision: a Deployment's own ReplicaSet, of other kinds pods of the same owner."""
    return REPLICA_SET if declared.rules.owns_replica_sets else declared.kind


def _apply_revision(setup: Setup, form: Workload, later: list[Workload]) -> list[Workload]:
    """The ReplicaSet for the pod template that is applied, unless a revision with it is known."""
    declared = setup.workloads[workload_number(setup, form.ref)]
    own = [other for other in later if other.owner == declared.ref]
    if any(known.template == form.template for known in (declared, *own)):
        return []
    name = f"{declared.name}-rev{len(own) + 2}"
    kind = _revision_kind(declared)
    return [replace(declared, kind=kind, name=name, replicas=0, owner=declared.ref, template=form.template)]


def with_applied(setup: Setup, events: tuple[Event, ...]) -> tuple[Setup, frozenset[int]]:
    """The setup with workloads that only an apply brings, and their indices."""
    known = {workload.ref for workload in setup.workloads}
    extra = []
    for event in events:
        if event.form is not None and event.form.ref not in known:
            known.add(event.form.ref)
            extra.append(event.form)
    first = len(setup.workloads)
    whole = replace(setup, workloads=(*setup.workloads, *extra))
    return whole, frozenset(range(first, first + len(extra)))


def find_started_later(setup: Setup) -> frozenset[int]:
    """The Jobs that are not there before their CronJob starts them."""
    return frozenset(
        number for number, w in enumerate(setup.workloads) if w.rules.counts_completions and w.owner is not None
    )


def apply_replicas(existing: Workload, event: Apply) -> int | None:
    """What an apply makes of spec.replicas; None leaves the live value.

    A manifest that omits the field leaves it alone only if the manifest applied before omitted it, too; otherwise
    the three-way merge removes it and defaulting sets 1 (semantics section 2.7). A bare Pod has none.
    """
    rules = event.workload.rules
    if rules.is_pod or rules.runs_per_node or rules.starts_jobs:
        return None
    keeps = not event.replicas_given and not existing.replicas_given
    return None if keeps else event.workload.replicas


def apply_template(setup: Setup, workload: int, event: Apply) -> int | None:
    """Which revision of the Deployment has the pod template that is applied; None if the Deployment never changes."""
    templates = revision_templates(setup, workload)
    if len(templates) == 1:
        return None
    return templates.index(event.workload.template) if event.workload.template in templates else None


def find_brought(setup: Setup, event: Event) -> Iterator[int]:
    """The workloads that are not there before the event."""
    if event.brings is not None:
        yield workload_number(setup, event.brings)


def never_ready(setup: Setup, events: tuple[Event, ...]) -> frozenset[int]:
    """The workloads (or later revisions) whose pods never become ready."""
    found: set[int] = set()
    for event in events:
        if event.never_ready and event.subject is not None:
            number = workload_number(setup, event.subject)
            members = family(setup, number)
            if setup.workloads[number].rules.has_ordinals:
                members = members[1:]  # its pods are those of its ordinals
            initial = len(members) // revisions_of(setup, number)
            first, later = members[:initial], members[initial:]
            found |= set({EVERY_REVISION: members, INITIAL_REVISION: first}.get(event.never_ready, later))
    return frozenset(found)
