"""Who acted in a search, and what each could do: noted when a controller is asked something new, which is seldom.

Told of all runs that were explored. A search that ends early, or that stands for others by fewer orders, may not have
come to everything; one in a coarser model may have come to more than there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kubeproof.cluster.loops.actions import Advance, NodeChange
from kubeproof.cluster.loops.control import Decision, Loop
from kubeproof.cluster.loops.meanings import MEANINGS
from kubeproof.cluster.loops.node_verbs import NodeVerb
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.engine.system import Actor, Effect
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.loops.actors import GroupedActor
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.starts_in_unison import StartAll
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.result import Statistics

TIME = "time"
Acted = tuple[tuple[str, tuple[str, ...]], ...]


class Coverage(NamedTuple):
    """Names of controllers and events: those that acted, with what they did, and those that never did."""

    acted: Acted = ()
    idle: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()  # filters of acting schedulers that refused a node: "scheduler web: NodeAffinity"
    unused: tuple[str, ...] = ()  # those that refused none


class NotingActor:
    """An actor that remembers what it was able to do; answers and questions stay as they are."""

    def __init__(self, actor: Actor) -> None:
        self.name, self.stage, self.reads = actor.name, actor.stage, actor.reads
        self.view = actor.view  # asked most often, and passed on without a detour
        self._act = actor.act
        loop = actor.controller if isinstance(actor, GroupedActor) else None
        self._asked = (loop, actor.see) if isinstance(loop, SchedulerController) else None  # type: ignore[attr-defined]
        self.has_acted = False
        self.refusing: set[str] = set()  # filters of a scheduler that refused a node
        self._kinds: set[type | NodeVerb] = set()  # of its actions; of changes of nodes the verbs

    def act(self, views: tuple[Any, ...]) -> Sequence[Effect]:
        """What the actor answers."""
        effects = self._act(views)
        if self._asked is not None:
            loop, seen = self._asked
            self.refusing |= loop.answer(seen(views)).refusing
        if effects:
            self.has_acted = True
            for effect in effects:
                if isinstance(effect.label, Decision):
                    self._kinds.update([a.verb if type(a) is NodeChange else type(a) for a in effect.label.actions])
        return effects

    @property
    def noted(self) -> int:
        """How much it remembers: a helper leaves to others what would add to it."""
        return self.has_acted + len(self.refusing) + len(self._kinds)

    @property
    def did(self) -> set[str]:
        """What it was able to do, in words."""
        told = {k.meaning.does if isinstance(k, NodeVerb) else _find_words(k) for k in self._kinds}
        return {words for words in told if words}


def _find_words(kind: type) -> str:
    """What somebody does by actions of a kind; nothing if nobody is told of them."""
    return MEANINGS[Advance if kind is StartAll else kind].does


def note(system: GroupedSystem) -> None:
    """Lets the actors of a system remember what they do."""
    system.actors = tuple(NotingActor(actor) for actor in system.actors)


def coverage_of(system: GroupedSystem) -> Coverage:
    """What the actors of a noting system did; those with one name are one."""
    unused = {loop.name for loop in system.plan.controllers if _has_no_pods(system.plan, loop)}
    noted = [actor for actor in system.actors if isinstance(actor, NotingActor) and actor.name not in (TIME, *unused)]
    acted: dict[str, dict[str, None]] = {}
    for actor in (actor for actor in noted if actor.has_acted):
        acted.setdefault(actor.name, {}).update(dict.fromkeys(actor.did))
    refusing: dict[str, set[str]] = {}
    for actor in noted:
        refusing.setdefault(actor.name, set()).update(actor.refusing)
    schedulers = [loop for loop in system.plan.controllers if isinstance(loop, SchedulerController)]
    filters: dict[bool, list[str]] = {True: [], False: []}  # by whether they refused a node
    for loop in (loop for loop in schedulers if loop.name in acted):
        for name in loop.kernel.filters:
            filters[name in refusing[loop.name]].append(f"{loop.name}: {name}")
        used = (name for name in loop.kernel.filters if name in refusing[loop.name])
        acted[loop.name].update(dict.fromkeys(f"refuses nodes by {name}" for name in used))
    names = dict.fromkeys(actor.name for actor in noted)
    return Coverage(
        tuple((name, tuple(sorted(acted[name]))) for name in names if name in acted),
        tuple(name for name in names if name not in acted),
        tuple(filters[True]),
        tuple(filters[False]),
    )


def _has_no_pods(plan: Plan, loop: Loop) -> bool:
    """True for the scheduler of a StatefulSet as a whole: each of its ordinals has one of its own."""
    if not isinstance(loop, SchedulerController):
        return False
    whole = plan.setup.workloads[loop.workload]
    return whole.rules.has_ordinals and whole.ordinal is None and whole.owner is None


def join_coverage(parts: Iterable[Coverage | Statistics]) -> Coverage:
    """What was done in any of several searches."""
    acted: dict[str, dict[str, None]] = {}
    idle: dict[str, None] = {}
    refused: dict[str, None] = {}
    unused: dict[str, None] = {}
    for part in parts:
        refused.update(dict.fromkeys(part.refused))
        idle.update(dict.fromkeys(part.idle))
        unused.update(dict.fromkeys(part.unused))
        for name, did in part.acted:
            acted.setdefault(name, {}).update(dict.fromkeys(did))
    return Coverage(
        tuple((name, tuple(sorted(did))) for name, did in acted.items()),
        tuple(name for name in idle if name not in acted),
        tuple(refused),
        tuple(rule for rule in unused if rule not in refused),
    )
