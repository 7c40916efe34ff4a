"""Verifies the parts of an input on their own and puts the answers together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping, Sequence
from dataclasses import replace

from kubeproof.cluster.loops.actions import Tick
from kubeproof.cluster.nodes.near_nodes import NodeSizeMatters
from kubeproof.engine.search import Search
from kubeproof.engine.system import Role, Step
from kubeproof.intents.monitor import IN_STABLE, PERSISTENT, RECURRENT
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.by_name.abstraction import anonymous, canonical
from kubeproof.model.by_name.remembering import RememberingModel
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import State
from kubeproof.model.plan import Plan
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.lift import NamedPath
from kubeproof.verify.counterexamples.projection import Projection
from kubeproof.verify.counterexamples.replayer import Look, ReplayMismatch, look_nowhere, retrace
from kubeproof.verify.counterexamples.traces import describe_steps, make_trace_after
from kubeproof.verify.counterexamples.weave import CannotWeave, Weaver, weave
from kubeproof.verify.findings.failures import Failure, failure_of
from kubeproof.verify.models import explore_plan
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.near_nodes import search_joined
from kubeproof.verify.proofs.slicing import Slice, may_be_disturbed_at_any_time, starts_simply
from kubeproof.verify.result import IntentResult, Statistics, TraceStep
from kubeproof.verify.searching import Beginning, Decided, NoTimeLeft, Watch, begin, statistics_of
from kubeproof.verify.words.summary import describe_stop

_MOST_NAMES = 3  # of a part with many workloads
WORST_FIRST = (Verdict.VIOLATED, Verdict.ERROR, Verdict.UNKNOWN, Verdict.HOLDS, Verdict.VACUOUS)


@dataclass(frozen=True, slots=True)
class Part:
    """One part, searched."""

    slice: Slice
    plan: Plan
    beginning: Beginning
    decided: tuple[Decided, ...]  # one per intent of the part
    statistics: Statistics
    search: Search | None  # None where nothing had to be searched: no intent is about the part
    failure: Failure | None = None  # why there are no findings

    def decision(self, intent: int) -> Decided | None:
        """The finding for an intent of the whole that is about the part; None if the part failed."""
        return None if self.failure is not None else self.decided[self.slice.intents.index(intent)]


@dataclass(frozen=True, slots=True)
class Sliced:
    """All parts of an input, searched."""

    parts: tuple[Part, ...]
    elapsed_s: float

    @property
    def slices(self) -> tuple[Slice, ...]:
        return tuple(part.slice for part in self.parts)

    def decision(self, intent: int) -> tuple[Part, Decided | None]:
        """The part that decides an intent of the whole: the one with the worst verdict, the first of equals."""
        found = [(part, part.decision(intent)) for part in self.parts if intent in part.slice.intents]
        return min(
            found, key=lambda pair: WORST_FIRST.index(Verdict.ERROR if pair[1] is None else pair[1].finding.verdict)
        )


def search_part(one: Slice, plan: Plan, options: VerifyOptions, watch: Watch) -> Part:
    """The part with its findings, or with why there are none."""
    try:
        return search_joined(plan, options, lambda near, left: _search_part(one, near, left, watch), watch.clock)
    except Exception as problem:
        return Part(one, plan, Beginning(()), (), Statistics(), None, failure_of(problem))


def _search_part(one: Slice, plan: Plan, options: VerifyOptions, watch: Watch) -> Part:
    beginning = begin(one.loaded, plan, options, watch)
    if beginning.search is not None and beginning.search.stopped_by:
        spent = statistics_of(beginning.search, plan)
        told = f"the search for the first placements of {_list_workloads(one.workloads)} was {describe_stop(spent)}"
        return Part(one, plan, beginning, (), spent, None, Failure(Verdict.UNKNOWN, told, spent.stopped_by))
    if not one.intents and starts_simply(one) and beginning.search is None:
        return Part(one, plan, beginning, (), Statistics(), None)
    found = explore_plan(plan, beginning, options, watch)
    return Part(one, plan, beginning, found.decided, found.statistics, found.search)


def _list_workloads(workloads: tuple[str, ...]) -> str:
    """The workloads of a part, the first of many."""
    more = len(workloads) - _MOST_NAMES
    return ", ".join(workloads) if more <= 0 else f"{', '.join(workloads[:_MOST_NAMES])} and {more} more"


# -- when the parts do not meet in time ----------------------------------------------------------------


def meet_at_rest(loaded: Loaded, parts: Sequence[Part]) -> bool:
    """True if no two parts are ever on the move together, except while pods start from the beginning on."""
    restless = [part for part in parts if not _begins_at_rest(part)]
    if may_be_disturbed_at_any_time(loaded):
        return not restless
    if all(starts_simply(part.slice) for part in restless):
        return True
    return len(restless) == 1 and _comes_to_rest(restless[0])


def _begins_at_rest(part: Part) -> bool:
    """True if nothing moves at the start but the memories of periodic loops that forget their phase."""
    if part.search is None:
        return False
    store = part.search.store
    roots = [state for state in range(len(store)) if store.parent(state) < 0]
    return roots[-1] < store.expanded and all(  # of a search that was stopped before, nothing is known
        step.effect.role == Role.EVENT
        or (_is_rest(step) and step.target < store.expanded and store.is_stable(step.target))
        for root in roots
        for step in store.steps(root)
    )


def _is_rest(step: Step) -> bool:
    """True for the step of time in which no clock runs."""
    actions = getattr(step.effect.label, "actions", ())
    return step.effect.role == Role.TIME and not any(isinstance(action, Tick) for action in actions)


def _comes_to_rest(part: Part) -> bool:
    """True if the part has a stable state to wait in while others are disturbed."""
    return part.search is not None and any(
        part.search.store.is_stable(state) for state in range(part.search.store.expanded)
    )


# -- counterexamples ----------------------------------------------------------------------------------


class Prelude(NamedTuple):
    """How the whole was deployed: the state it came to, and the steps in words."""

    last: State
    told: tuple[TraceStep, ...]


Preludes = MutableMapping[Hashable, list[Prelude]]  # of the same workloads on the same nodes


def show_violation(
    whole: Plan,
    part: Part,
    decided: Decided,
    intent: int,
    result: IntentResult,
    *,
    is_exact: bool,
    preludes: Preludes | None = None,
    look: Look = look_nowhere,
    why_not: Callable[[NamedPath], str] = lambda path: "",
) -> IntentResult | Failure:
    """The result with the part's violation as one of the whole, or why it cannot be shown.

    Unless parts are exact, others might lead out of a loop that the part alone cannot leave. Runs of one workload that
    differ in events begin alike: with `preludes` they are deployed once. Where the model has more runs than there are,
    `why_not` says what is wrong with one.
    """
    try:
        before, path = _weave_part(whole, part, decided, intent, {} if preludes is None else preludes, look)
        if reason := why_not(path):
            return Failure(Verdict.UNKNOWN, reason)
        path = path if is_exact else path._replace(is_inevitable=False)
        return replace(result, **make_trace_after(RepresentativeModel(whole), intent, before, path, look))
    except NoTimeLeft:
        return Failure(Verdict.UNKNOWN, "the time was over before its failure was shown as a run of all workloads")
    except NodeSizeMatters as problem:  # in a state that the search left out
        return Failure(Verdict.UNKNOWN, str(problem))
    except ReplayMismatch as problem:  # such as a loop in which one of the others always has something to do
        return Failure(Verdict.UNKNOWN, f"the run of all workloads does not stand up to replay, {problem}")
    except Exception as problem:
        return failure_of(problem)


def _weave_part(
    whole: Plan, part: Part, decided: Decided, intent: int, preludes: Preludes, look: Look
) -> tuple[tuple[TraceStep, ...], NamedPath]:
    """A part's violation as a run of the whole: how it was deployed, if it was, and the path."""
    shares = Projection(whole, part.plan, part.slice.intents)
    model, own = RememberingModel(whole), RepresentativeModel(part.plan)
    (start,) = model.initial()
    told_before: tuple[TraceStep, ...] = ()
    if part.beginning.search is not None:
        prelude = _find_prelude(whole, part, shares, decided, preludes, look)
        told_before = prelude.told
        start = model.restart(prelude.last._replace(observed=()))
    ends_stable = whole.monitors[intent].kind in (IN_STABLE, RECURRENT, PERSISTENT)

    def run(*, is_last_first: bool) -> NamedPath:
        weaver = Weaver(model, own, shares, start, look, is_last_first=is_last_first)
        return weave(weaver, decided.search, decided.finding, ends_stable=ends_stable)

    return told_before, run_either_way(run)


def _find_prelude(
    whole: Plan, part: Part, shares: Projection, decided: Decided, preludes: Preludes, look: Look
) -> Prelude:
    """How the whole was deployed so that the part is where its run begins; known, if it was asked for before."""
    root = decided.search.root(decided.finding.state)
    workloads = tuple((one.ref, one.owner, one.ordinal, one.replicas) for one in whole.setup.workloads)
    known = preludes.setdefault((workloads, whole.setup.nodes), [])
    for prelude in known if not whole.claims else ():  # which claim has which volume is part of the memories
        if _ends_at(prelude, part, shares, root):
            return prelude
    path = _weave_prelude(whole, part, shares, root, look)
    retrace(RepresentativeModel(whole.deploying()), path.states, path.steps, look)
    known.append(Prelude(path.last, describe_steps(RepresentativeModel(whole), path.states, path.steps, 0)))
    return known[-1]


def _ends_at(prelude: Prelude, part: Part, shares: Projection, root: int) -> bool:
    """True if the part is where its run begins after that prelude, whoever's it was."""
    assert part.beginning.search is not None
    plan = part.plan.deploying()
    wanted = canonical(plan, part.beginning.search.store.cells_of(part.beginning.stable[root]))
    return anonymous(RepresentativeModel(plan), shares.of(prelude.last)) == wanted


def _weave_prelude(whole: Plan, part: Part, shares: Projection, root: int, look: Look) -> NamedPath:
    search = part.beginning.search
    assert search is not None
    steps = [step for _, step in search.path(part.beginning.stable[root])]
    deploying, own = RememberingModel(whole.deploying()), RepresentativeModel(part.plan.deploying())
    (empty,) = deploying.initial()

    def deploy(*, is_last_first: bool) -> NamedPath:
        weaver = Weaver(deploying, own, shares, empty, look, is_last_first=is_last_first)
        weaver.follow(search, steps)
        weaver.rest()
        return weaver.path()

    return run_either_way(deploy)


def run_either_way(run: Callable[..., NamedPath]) -> NamedPath:
    """A run of the whole; where others are in the way, such as on a node, they choose otherwise among equals."""
    try:
        return run(is_last_first=False)
    except CannotWeave:
        return run(is_last_first=True)
