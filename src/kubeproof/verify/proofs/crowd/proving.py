"""Proves what holds for some workloads of a cluster, whatever the others do.

The workloads are searched with all that others may bring about (`kubeproof.model.reductions.loosened`). What never
happens there never happens. What must happen does so in the whole if nothing in that search goes round: then in every
endless run of the whole these workloads come to rest, and they rest only where no step of theirs is left that has to
come. `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import replace
from typing import NamedTuple

from kubeproof.engine.components import cyclic_components
from kubeproof.engine.search import SAFETY, Search, Store
from kubeproof.engine.system import Role
from kubeproof.events.declarations import Drain, Event, Maintenance, Rollout, is_drain
from kubeproof.intents.catalogue import entry
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.loosened import Bounds, FreeAutoscaler, Surroundings, Sway, loosen
from kubeproof.model.reductions.partial_order import EVERY_ORDER
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import proofs
from kubeproof.verify.proofs.crowd.conditions import find_guarded, find_obstacle, find_own_obstacle
from kubeproof.verify.proofs.crowd.freeing import flatten, free
from kubeproof.verify.proofs.crowd.resizing import find_resizing
from kubeproof.verify.proofs.crowd.room import Room
from kubeproof.verify.proofs.crowd.swaying import find_sway
from kubeproof.verify.proofs.slicing import Slice, cut_by_relations
from kubeproof.verify.result import Statistics
from kubeproof.verify.searching import Beginning, Watch, begin, one_search, statistics_of
from kubeproof.verify.words.summary import combined

Planned = Callable[[Loaded], Plan]
Memo = MutableMapping["FreeQuestion", "Answer"]


class Proofs(NamedTuple):
    """The numbers of the whole's intents that hold in a part whatever the others do, and what that took."""

    intents: frozenset[int] = frozenset()
    statistics: Statistics | None = None  # None: nothing was searched
    unbroken: frozenset[int] = frozenset()  # with those of which it is not known that a run speaks of them at all
    obstacle: str = ""  # why nothing could be proved
    rest_on: frozenset[str] = frozenset()  # other workloads that must do what they are modelled to do
    any_size: frozenset[str] = frozenset()  # workloads of which it holds whatever their autoscalers write


class Answer(NamedTuple):
    """What a search says, intent by intent of the freed part."""

    held: tuple[bool, ...]
    unbroken: tuple[bool, ...]
    statistics: Statistics


class FreeQuestion(NamedTuple):
    """All that decides about an answer: equal ones have the same."""

    free: Loaded
    short: tuple[int, ...]  # per workload
    drains_end: bool
    bounds: tuple[tuple[int, Bounds], ...] = ()  # by number of the workload, where an autoscaler may resize it
    settles: bool = True  # that autoscaler comes to rest
    sway: tuple[Sway, ...] = ()  # per workload, where scores are kept

    @property
    def around(self) -> Surroundings:
        """What the workloads have to expect of others."""
        refs = [workload.ref for workload in self.free.setup.workloads]
        sway = dict(zip(refs, self.sway, strict=True)) if self.sway else {}
        bounds = {refs[number]: bounds for number, bounds in self.bounds}
        return Surroundings(dict(zip(refs, self.short, strict=True)), self.drains_end, bounds, sway)


def prove_part(
    loaded: Loaded, part: Slice, planned: Planned, options: VerifyOptions, watch: Watch, memo: Memo | None = None
) -> Proofs:
    """What is proved of one of the parts of `cut_by_relations`; with a memo, equal parts are searched once."""
    watch.look()
    asked = _Asked(loaded, part, Room(loaded))
    if asked.obstacle or not asked.numbers:
        return Proofs(obstacle=asked.obstacle)
    prover = _Prover(planned, options, watch, {} if memo is None else memo)
    found = prover.join(Proofs(any_size=asked.any_size), asked, asked.questions(drains_end=not asked.guarded))
    is_drained = any(map(is_drain, loaded.scenario.events))
    if len(found.unbroken) == len(asked.numbers) or not (asked.guarded and is_drained):
        return found
    if not prover.all_leave(asked):
        return found
    return prover.join(found, asked, asked.questions(drains_end=True))._replace(rest_on=asked.guarded)


class _Asked:
    """A part of which something is to be proved."""

    def __init__(self, loaded: Loaded, part: Slice, room: Room) -> None:
        self.loaded, self.part, self.room = loaded, part, room
        self.numbers = [
            number for number in part.intents if entry(loaded.scenario.intents[number].key).is_provable_alone
        ]
        self.guarded = find_guarded(loaded, part)
        self._resizing = find_resizing(loaded, part, room)
        obstacle = find_obstacle(loaded) or find_own_obstacle(loaded, part)
        self.obstacle = obstacle or ("an autoscaler may resize it" if self._resizing is None else "")

    @property
    def any_size(self) -> frozenset[str]:
        """The workloads that autoscalers may give any size between their bounds."""
        return frozenset(self._resizing.bounds) if self._resizing is not None else frozenset()

    def questions(self, *, drains_end: bool) -> Iterator[FreeQuestion]:
        """What may be searched, the cheapest first: also keys by which equal parts are known.

        What is proved of any placement is proved of those that scores allow, which are fewer. For a single pod there
        are not many, and more parts share the answer.
        """
        assert self._resizing is not None
        workloads, resizing = self.part.loaded.setup.workloads, self._resizing
        plain = FreeQuestion(
            free(self.part),
            tuple(self.room.find_shortage(workload) for workload in workloads),
            drains_end,
            tuple((n, resizing.bounds[w.ref]) for n, w in enumerate(workloads) if w.ref in resizing.bounds),
            resizing.settles,
        )
        flat = flatten(plain.free, plain.short)
        if flat is not None:
            yield plain._replace(free=flat, short=(0,) * len(workloads))
            return
        sway = find_sway(self.loaded, self.part, self.room)
        if not sway or sum(workload.replicas for workload in workloads) < 2:
            yield plain
        if sway:
            kept = tuple(sway[workload.ref] for workload in workloads)
            yield plain._replace(free=free(self.part, is_scored=True), sway=kept)


class _Prover:
    """Answers questions, equal ones once."""

    def __init__(self, planned: Planned, options: VerifyOptions, watch: Watch, memo: Memo) -> None:
        self._planned, self._options, self._watch, self._memo = planned, options, watch, memo

    def join(self, found: Proofs, asked: _Asked, questions: Iterator[FreeQuestion]) -> Proofs:
        """What is proved with one of the questions or was before."""
        for question in questions:
            self._watch.look()
            is_known = question in self._memo
            found = _joined(found, asked.numbers, self._answer(question), is_new=not is_known)
            if len(found.intents) == len(asked.numbers) or self._watch.stop.is_asked:
                break
        return found

    def _answer(self, question: FreeQuestion) -> Answer:
        if question in self._memo:
            return self._memo[question]
        answer = _answer(question, self._planned, self._options, self._watch)
        if not answer.statistics.stopped_by:
            self._memo[question] = answer
        return answer

    def all_leave(self, asked: _Asked) -> bool:
        """True if the other workloads that budgets guard leave every drained node in the end, each whatever others do.

        That is proved without asking that drains end, so it may be used to prove more of workloads that wait for it.
        """
        guarded = [one for one in cut_by_relations(asked.loaded) if asked.guarded & set(one.workloads)]
        return all(self._leaves(asked, one) for one in guarded)

    def _leaves(self, asked: _Asked, other: Slice) -> bool:
        drained = (Intent(key="drainCompletes", name="drainCompletes"),)
        whole, own = asked.loaded, other.loaded
        one = _Asked(
            replace(whole, scenario=replace(whole.scenario, intents=drained)),
            replace(other, loaded=replace(own, scenario=replace(own.scenario, intents=drained)), intents=(0,)),
            asked.room,
        )
        if one.obstacle:
            return False
        return any(self._answer(question).unbroken[0] for question in one.questions(drains_end=False))


def _joined(before: Proofs, numbers: list[int], answer: Answer, *, is_new: bool) -> Proofs:
    """What is proved in one way or the other."""
    spent = [one for one in (before.statistics, answer.statistics if is_new else None) if one is not None]
    return before._replace(
        intents=before.intents | {number for number, holds in zip(numbers, answer.held, strict=True) if holds},
        statistics=combined(spent) if spent else None,
        unbroken=before.unbroken | {number for number, holds in zip(numbers, answer.unbroken, strict=True) if holds},
    )


def _answer(question: FreeQuestion, planned: Planned, options: VerifyOptions, watch: Watch) -> Answer:
    loaded, around = question.free, question.around
    plan = planned(loaded)
    beginning = _begin(loaded, plan, around, options, watch)
    if beginning.search is not None and beginning.search.stopped_by:
        none = (False,) * len(loaded.scenario.intents)
        return Answer(none, none, statistics_of(beginning.search, plan))
    system, search = one_search(loosen(plan, around), EVERY_ORDER, beginning, options, watch.unsaved)
    is_open = any(question.short) or not question.drains_end
    rests = question.settles and _comes_to_rest(system, search, watch, is_open=is_open)
    unbroken = tuple(
        finding.verdict in (Verdict.HOLDS, Verdict.VACUOUS) and (rests or check.kind in SAFETY)
        for check, finding in zip(system.checks, search.findings, strict=True)
    )
    spoken_of = proofs(system.checks, search, _certain(loaded))
    held = tuple(map(all, zip(unbroken, spoken_of, strict=True)))
    return Answer(held, unbroken, statistics_of(search, plan))


def _begin(loaded: Loaded, plan: Plan, around: Surroundings, options: VerifyOptions, watch: Watch) -> Beginning:
    """With `start: deployed` every state in which the part may be when the whole has been deployed."""
    if loaded.scenario.start.mode != "deployed":
        return Beginning(())
    return begin(loaded, loosen(plan.deploying(), around), options, watch.unsaved)


def _comes_to_rest(system: GroupedSystem, search: Search, watch: Watch, *, is_open: bool) -> bool:
    """True if no run goes round without events; with `is_open` steps count that may not come, because of others."""
    if search.stopped_by:
        return False
    store = search.store
    if not is_open:
        return not _cyclic(store)
    loops = sum(not isinstance(loop, FreeAutoscaler) for loop in system.plan.controllers)  # these come last

    def successors(state: int) -> list[int]:
        watch.look()
        return [s.target for s in store.steps(state) if s.effect.role != Role.EVENT or s.actor < loops]

    return not cyclic_components(range(store.expanded), successors)


def _cyclic(store: Store) -> list[list[int]]:
    find = getattr(store, "cyclic_components", None)
    return find() if find is not None else cyclic_components(range(store.expanded), store.successors)


def _certain(loaded: Loaded) -> frozenset[int]:
    """The intents about drains and rollouts, if one may begin at the very start: then a run speaks of them."""
    drained = any(
        isinstance(event, Drain | Maintenance)
        and _begins(loaded, event)
        and any(event.nodes.admits(node) for node in loaded.setup.nodes)
        for event in loaded.scenario.events
    )
    rolled = {event.target for event in loaded.scenario.events if isinstance(event, Rollout) and _begins(loaded, event)}
    return frozenset(
        number
        for number, intent in enumerate(loaded.scenario.intents)
        if (intent.key == "drainCompletes" and drained)
        or (intent.key == "rolloutCompletes" and intent.target in rolled)
    )


def _begins(loaded: Loaded, event: Event) -> bool:
    return event.after is None
