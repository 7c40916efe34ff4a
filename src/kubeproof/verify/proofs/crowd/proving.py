"""Proves what holds for some workloads of a cluster, whatever the others do.

The workloads are searched with all that others may bring about (`kubeproof.model.reductions.loosened`). What never
happens there never happens. What must happen does so in the whole if nothing in that search goes round: then in every
endless run of the whole these workloads come to rest, and they rest only where no step of theirs is left that has to
come. `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import and_

from kubeproof.cluster.loops.footprint import Writes, footprint_of
from kubeproof.cluster.nodes.daemons import eligibility
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.engine.components import cyclic_components
from kubeproof.engine.search import SAFETY, Search, Store
from kubeproof.engine.stopped import StoppedBy, StopReason
from kubeproof.engine.system import Check, Role
from kubeproof.events.declarations import Event, NodeChoice, is_drain
from kubeproof.intents.catalogue import entry
from kubeproof.intents.declarations import Intent
from kubeproof.intents.kind import OfEachPod
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.loosened import Bounds, FreeAutoscaler, Surroundings, Sway, loosen
from kubeproof.model.reductions.partial_order import EVERY_ORDER
from kubeproof.named_tuples import NamedTuple
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import list_first_flags
from kubeproof.verify.proofs.crowd.conditions import find_guarded, find_obstacle, find_own_obstacle
from kubeproof.verify.proofs.crowd.freeing import flatten, free
from kubeproof.verify.proofs.crowd.job_by_job import follow_one_job
from kubeproof.verify.proofs.crowd.pod_by_pod import (
    find_asked_of_pod,
    find_needs,
    follow_one_pod,
    has_fixed_size,
    may_be_resized,
)
from kubeproof.verify.proofs.crowd.resizing import find_resizing
from kubeproof.verify.proofs.crowd.room import Room
from kubeproof.verify.proofs.crowd.swaying import find_sway
from kubeproof.verify.proofs.slicing import Slice, cut_by_relations
from kubeproof.verify.result import Statistics
from kubeproof.verify.searching import Beginning, Watch, begin, one_search, statistics_of
from kubeproof.verify.words.summary import combine

MAX_REPLICAS = 100_000  # beyond which nobody asks
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
    largest: int = 0  # it holds of the workload with up to so many replicas, where that was asked


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


class Input:
    """An input with what is worked out of it once for the proofs of all its parts."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded

    @cached_property
    def room(self) -> Room:
        """What its pods may take of its nodes."""
        return Room(self.loaded)

    @cached_property
    def obstacle(self) -> str:
        """Why nothing can be proved of single workloads; "" if something can."""
        return find_obstacle(self.loaded)

    @cached_property
    def guarded(self) -> frozenset[str]:
        """The workloads that a budget may keep on a node which is drained."""
        return find_guarded(self.loaded)

    @cached_property
    def parts(self) -> tuple[Slice, ...]:
        """The parts whose workloads meet on nodes only."""
        return cut_by_relations(self.loaded)


def prove_part(
    whole: Input, part: Slice, planned: Planned, options: VerifyOptions, watch: Watch, memo: Memo | None = None
) -> Proofs:
    """What is proved of one of the parts of `cut_by_relations`; with a memo, equal parts are searched once."""
    watch.look()
    asked = _Asked(whole, follow_one_job(part) or part, whole.loaded)
    if asked.obstacle or not asked.numbers:
        return Proofs(obstacle=asked.obstacle)
    prover = _Prover(planned, options, watch, {} if memo is None else memo)
    found = prover.follow_one_pod(asked)
    if len(found.intents) == len(asked.numbers):
        return found
    found = prover.join(found, asked, asked.questions(drains_end=not asked.guarded))
    is_drained = any(map(is_drain, whole.loaded.scenario.events))
    if len(found.unbroken) == len(asked.numbers) or not (asked.guarded and is_drained):
        return found
    if not prover.all_leave(asked):
        return found
    return prover.join(found, asked, asked.questions(drains_end=True))._replace(rest_on=asked.guarded)


def prove_pod_by_pod(
    whole: Input,
    part: Slice,
    planned: Planned,
    options: VerifyOptions,
    watch: Watch,
    memo: Memo,
    *,
    asks_for_sizes: bool = False,
) -> Proofs:
    """What is proved of a part by following one of its pods, whatever the other pods and workloads do.

    With `asks_for_sizes` also up to which size of its workload that is so: one pod is the same at any size, as long as
    there is room for all.
    """
    watch.look()
    asked = _Asked(whole, part, whole.loaded)
    if asked.obstacle or not asked.numbers:
        return Proofs(obstacle=asked.obstacle)
    prover = _Prover(planned, options, watch, memo)
    found = prover.follow_one_pod(asked)
    is_asked = asks_for_sizes and found.intents and has_fixed_size(part.loaded)
    if not is_asked or has_priorities(whole.loaded.setup) or not prover.is_ready(asked):
        return found
    return found._replace(largest=prover.find_largest(asked))


class OnePod(NamedTuple):
    """What becomes of one pod that always finds room, and of the intents that follow."""

    intents: frozenset[int]  # numbers of those that hold
    states: int
    start_states: int


def follow_with_room(
    whole: Input, part: Slice, planned: Planned, options: VerifyOptions, watch: Watch
) -> OnePod | None:
    """What follows from one pod of a part if more nodes always admit it than may be full; None: pods do not live alone.

    Where nothing happens to nodes, how many there are does not even come in.
    """
    asked = _Asked(whole, part, whole.loaded)
    question = None if asked.obstacle or not asked.numbers else asked.of_one_pod()
    if question is None:
        return None
    roomy = question._replace(short=(0,))
    roomy = roomy._replace(free=flatten(roomy.free, roomy.short) or roomy.free)
    answer = _answer(roomy, planned, options, watch)
    unbroken = _at_rest(find_asked_of_pod(part), answer.unbroken)
    needs = find_needs(part, asked.numbers)
    spent = answer.statistics
    found = frozenset(number for number, what in needs.items() if what in unbroken)
    return OnePod(found, spent.states, spent.start_states)


class _Asked:
    """A part of which something is to be proved: intents of the input as it is `loaded`, or others."""

    def __init__(self, whole: Input, part: Slice, loaded: Loaded) -> None:
        self.whole, self.part, self.loaded, self.room = whole, part, loaded, whole.room
        self.numbers = [
            number for number in part.intents if entry(loaded.scenario.intents[number].key).is_provable_alone
        ]
        self.guarded = whole.guarded.difference(part.workloads)
        self._resizing = find_resizing(loaded, part, self.room)
        obstacle = whole.obstacle or find_own_obstacle(loaded, part)
        self.obstacle = obstacle or ("an autoscaler may resize it" if self._resizing is None else "")

    @property
    def any_size(self) -> frozenset[str]:
        """The workloads that autoscalers may give any size between their bounds."""
        return frozenset(self._resizing.bounds) if self._resizing is not None else frozenset()

    def resize(self, replicas: int) -> _Asked:
        """The same of an input whose workload has so many replicas."""
        (target,) = self.part.loaded.setup.workloads

        def resize_in(loaded: Loaded) -> Loaded:
            workloads = (replace(w, replicas=replicas) if w.ref == target.ref else w for w in loaded.setup.workloads)
            return replace(loaded, setup=replace(loaded.setup, workloads=tuple(workloads)))

        whole = resize_in(self.loaded)
        return _Asked(Input(whole), replace(self.part, loaded=resize_in(self.part.loaded)), whole)

    def of_one_pod(self) -> FreeQuestion | None:
        """What becomes of one pod, which others may have no room for; None if pods do not live by themselves."""
        assert self._resizing is not None
        one = follow_one_pod(self.part)
        if one is None:
            return None
        (workload,) = self.part.loaded.setup.workloads
        return FreeQuestion(
            free(one),
            short=(self.room.find_shortage(workload),),
            drains_end=not self.guarded,
            bounds=((0, Bounds(0, 1)),) if may_be_resized(self.part) else (),
            settles=self._resizing.settles,
        )

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
        is_itself = all(workload.ref in self.part.workloads for workload in workloads)  # not one Job of many
        sway = find_sway(self.loaded, self.part, self.room) if is_itself else {}
        if not sway or sum(workload.replicas for workload in workloads) < 2:
            yield plain
        if sway:
            kept = tuple(sway[workload.ref] for workload in workloads)
            yield plain._replace(free=free(self.part, is_scored=True), sway=kept)


class _Prover:
    """Answers questions, equal ones once."""

    def __init__(self, planned: Planned, options: VerifyOptions, watch: Watch, memo: Memo) -> None:
        self._planned, self._options, self._watch, self._memo = planned, options, watch, memo

    def follow_one_pod(self, asked: _Asked) -> Proofs:
        """What is proved because nothing goes round, and of what becomes of each pod in the end."""
        nothing = Proofs(any_size=asked.any_size)
        question = asked.of_one_pod()
        if question is None:
            return nothing
        is_known = self._has_settled(question)
        answer = self._ask(question)
        spent = nothing._replace(statistics=None if is_known else answer.statistics)
        told = find_asked_of_pod(asked.part)
        unbroken, held = (_at_rest(told, one) for one in (answer.unbroken, answer.held))
        needs = find_needs(asked.part, asked.numbers)
        proved = frozenset(number for number, what in needs.items() if what in unbroken)
        return spent._replace(unbroken=proved, intents=_find_subjects(asked, {n: needs[n] for n in proved}, held))

    def find_largest(self, asked: _Asked) -> int:
        """The most replicas of which what is proved is so, too: more may not find room."""
        known = asked.part.loaded.setup.workloads[0].replicas
        above = 2 * known
        while above < MAX_REPLICAS and self.is_ready(asked.resize(above)):
            known, above = above, 2 * above
        while above - known > 1:
            middle = (known + above) // 2
            known, above = (middle, above) if self.is_ready(asked.resize(middle)) else (known, middle)
        return known

    def is_ready(self, asked: _Asked) -> bool:
        """True if one pod always comes to rest, is ready in the end, and leaves nodes that are drained."""
        self._watch.look()
        question = asked.of_one_pod()
        return question is not None and all(self._ask(question).unbroken)

    def join(self, found: Proofs, asked: _Asked, questions: Iterator[FreeQuestion]) -> Proofs:
        """What is proved with one of the questions or was before."""
        for question in questions:
            self._watch.look()
            is_known = self._has_settled(question)
            found = _join(found, asked.numbers, self._ask(question), is_new=not is_known)
            if len(found.intents) == len(asked.numbers) or self._watch.stop.is_asked:
                break
        return found

    def _ask(self, question: FreeQuestion) -> Answer:
        known = self._memo.get(question)
        if known is not None and self._would_come_again(known):
            return known._replace(statistics=replace(known.statistics, elapsed_s=0.0))
        answer = _answer(question, self._planned, self._options, self._watch)
        if self._would_come_again(answer):
            self._memo[question] = answer
        return answer

    def _has_settled(self, question: FreeQuestion) -> bool:
        """True if an equal part was searched to the end; that a limit ended a search is told of each that it ended."""
        known = self._memo.get(question)
        return known is not None and not known.statistics.stopped_by

    def _would_come_again(self, answer: Answer) -> bool:
        """True if asking once more would find the same: the search came to its end, or to the same number of states."""
        return answer.statistics.stopped_by in (None, StoppedBy(StopReason.STATES, self._options.max_states))

    def all_leave(self, asked: _Asked) -> bool:
        """True if the other workloads that budgets guard leave every drained node in the end, each whatever others do.

        That is proved without asking that drains end, so it may be used to prove more of workloads that wait for it.
        """
        guarded = [one for one in asked.whole.parts if asked.guarded & set(one.workloads)]
        return all(self._leaves(asked, one) for one in guarded)

    def _leaves(self, asked: _Asked, other: Slice) -> bool:
        drained = (Intent(key="drainCompletes", name="drainCompletes"),)
        whole, own = asked.loaded, other.loaded
        one = _Asked(
            asked.whole,
            replace(other, loaded=replace(own, scenario=replace(own.scenario, intents=drained)), intents=(0,)),
            replace(whole, scenario=replace(whole.scenario, intents=drained)),
        )
        if one.obstacle:
            return False
        return any(self._ask(question).unbroken[0] for question in one.questions(drains_end=False))


def _at_rest(told: Sequence[OfEachPod], answers: Sequence[bool]) -> frozenset[OfEachPod]:
    """What is so of a pod: nothing, if something may go round."""
    found = frozenset(what for what, is_so in zip(told, answers, strict=True) if is_so)
    return found if OfEachPod.SETTLES in found else frozenset()


def _find_subjects(asked: _Asked, needs: Mapping[int, OfEachPod], held: frozenset[OfEachPod]) -> frozenset[int]:
    """Of these intents those of which a run speaks for certain: there is a pod, and what they are about begins."""
    part = asked.part
    certain = {part.intents[position] for position in _certain(part.loaded)}
    begins = {n for n in needs if asked.loaded.scenario.intents[n].key in ("rolloutCompletes", "drainCompletes")}
    return frozenset(n for n, what in needs.items() if (n in certain if n in begins else what in held))


def _join(before: Proofs, numbers: list[int], answer: Answer, *, is_new: bool) -> Proofs:
    """What is proved in one way or the other."""
    spent = [one for one in (before.statistics, answer.statistics if is_new else None) if one is not None]
    return before._replace(
        intents=before.intents | {number for number, holds in zip(numbers, answer.held, strict=True) if holds},
        statistics=combine(spent) if spent else None,
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
    spoken_of = _find_spoken_of(system.checks, search, _certain(loaded))
    held = tuple(is_so and number in spoken_of for number, is_so in enumerate(unbroken))
    return Answer(held, unbroken, statistics_of(search, plan))


def _find_spoken_of(checks: Sequence[Check], search: Search, certain: frozenset[int]) -> frozenset[int]:
    """The intents of which a run of the whole speaks for certain, if they hold.

    The whole begins in one of the first states here, and it is not known in which: a pod may have found no room.
    """
    seen = reduce(and_, list_first_flags(search))
    return frozenset(
        number
        for number, check in enumerate(checks)
        if check.relevant < 0 or number in certain or bool(seen >> check.relevant & 1)
    )


def _begin(loaded: Loaded, plan: Plan, around: Surroundings, options: VerifyOptions, watch: Watch) -> Beginning:
    """With `start: deployed` every state in which the part may be when the whole has been deployed.

    Autoscalers are off until then, and what they may write they may write from then on.
    """
    if loaded.scenario.start.mode != "deployed":
        return Beginning(())
    return begin(loaded, loosen(plan.deploying(), replace(around, bounds={})), options, watch.unsaved)


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
    """The intents of which a run speaks for certain: of drains, rollouts and new Jobs, if they may come at once."""
    first = [event for event in loaded.scenario.events if event.after is None]
    drained = any(event.drains and _stays(event) and _finds_node(loaded, event) for event in first)
    rolled = {event.subject for event in first if event.new_revisions} - _find_nowhere(loaded)
    created = {event.subject for event in first if footprint_of(event).writes & Writes.OBJECTS}
    return frozenset(
        number
        for number, intent in enumerate(loaded.scenario.intents)
        if (intent.key == "drainCompletes" and drained)
        or (intent.key == "rolloutCompletes" and intent.target in rolled)
        or (intent.key == "completes" and intent.target in created)
    )


def _find_nowhere(loaded: Loaded) -> set[str]:
    """The DaemonSets that no node should have a pod of: their rollouts are over before they begin."""
    return {
        one.ref
        for one in loaded.setup.workloads
        if one.rules.runs_per_node
        and not any(eligibility(one.template, node, node.taints).should_run for node in loaded.setup.nodes)
    }


def _stays(event: Event) -> bool:
    """True if the node that it drains is there afterwards."""
    return not footprint_of(event).writes & Writes.DEPARTURES


def _finds_node(loaded: Loaded, event: Event) -> bool:
    choice: NodeChoice | None = getattr(event, "nodes", None)
    return choice is not None and any(choice.admits(node) for node in loaded.setup.nodes)
