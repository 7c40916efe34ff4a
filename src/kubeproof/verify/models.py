"""The models of one plan, the cheapest first, and the search of them until one answers.

A coarser model allows every run and more: what holds there holds, and what breaks there is looked for in the full one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kubeproof.engine.search import Search
from kubeproof.engine.stopped import ALL_VIOLATED, INTERRUPTED
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.ends_in_unison import EndMatters
from kubeproof.model.reductions.partial_order import EVERY_ORDER, Order, fewer_orders
from kubeproof.model.reductions.starts_in_unison import StartMatters
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass
from kubeproof.verify.answered import Declined, PassedOver, Reason
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import drop_findings, explain_limits, is_proved, within
from kubeproof.verify.result import Statistics
from kubeproof.verify.searching import Beginning, Decided, Watch, begin, leave_out, one_search, statistics_of
from kubeproof.verify.words.coverage import coverage_of, join_coverage

MAX_RESTARTS = 3  # workloads whose start turns out to matter; beyond, no pods start in unison


class Narrowing(NamedTuple):
    """The orders that a search leaves out, and how often it began again because one of them turned out to matter."""

    order: Order
    restarts: int = 0

    def without_start(self, workload: int) -> Narrowing:
        """The same without the starts in unison of a workload whose start matters."""
        restarts = self.restarts + 1
        kept = self.order.in_unison - {workload} if restarts < MAX_RESTARTS else frozenset()
        return Narrowing(self.order._replace(counted=self.order.counted - {workload}, in_unison=kept), restarts)

    def without_ends(self, workloads: frozenset[int]) -> Narrowing:
        """The same without the ends in unison of workloads whose ends matter."""
        return self._replace(order=self.order._replace(ending=self.order.ending - workloads))


class Searched(NamedTuple):
    """A search of one model, with the orders that it turned out to allow."""

    system: GroupedSystem
    search: Search
    narrowing: Narrowing


class Modelled(NamedTuple):
    """The search of the model that answers, and the models before it."""

    system: GroupedSystem
    search: Search
    order: Order
    model: str
    passed: tuple[PassedOver, ...] = ()


class Model(NamedTuple):
    """One of the models that a plan may be searched in."""

    name: str
    choose: Callable[[Plan, Order], Order | None]  # the orders it leaves out; None: there is no such model of the plan
    limit: Callable[[VerifyOptions], VerifyOptions]
    decline: Callable[[Searched], Declined | None]  # why its search does not answer
    is_saved: bool = True  # the search may be long enough to be continued


def _at_most(options: VerifyOptions, states: int) -> int:
    return min(states, options.max_states or states)


def _is_too_large(found: Searched) -> Declined | None:
    is_ended = found.search.stopped_by in (None, ALL_VIOLATED, INTERRUPTED)
    return None if is_ended else Declined(Reason.LIMIT, f"{found.search.stopped_by}")


def _is_unproved(found: Searched) -> Declined | None:
    """A coarser model proves all checks together or none."""
    is_exact = not found.narrowing.order.is_relaxed
    if is_exact or found.search.stopped_by == INTERRUPTED or is_proved(found.system.checks, found.search):
        return None
    is_ended = found.search.stopped_by in (None, ALL_VIOLATED)
    return Declined(Reason.NOT_PROVED) if is_ended else Declined(Reason.LIMIT, f"{found.search.stopped_by}")


SMALL = Model(  # counting young pods as a whole pays where many nodes differ; where few do, the full model is smaller
    "small",
    lambda plan, order: order.exact(plan) if order.counted else None,
    lambda options: replace(options, max_states=_at_most(options, options.effort.max_tried)),
    _is_too_large,
    is_saved=False,
)
COARSER = Model(
    "coarser", lambda plan, order: order if order.is_relaxed else None, lambda options: options, _is_unproved
)
FULL = Model(
    "full",
    lambda plan, order: order.exact(plan) if order.is_relaxed else order,
    lambda options: options,
    lambda found: None,
)
MODELS = (SMALL, COARSER, FULL)


def search_models(plan: Plan, beginning: Beginning, options: VerifyOptions, watch: Watch) -> Modelled:
    """The search of the first model that answers, with as few orders as it turns out to allow."""
    begun = watch.clock()
    now = Narrowing(leave_out(plan, fewer_orders(plan), options))
    passed: list[PassedOver] = []
    for model in MODELS:
        order = model.choose(plan, now.order)
        if order is None:
            continue
        first = now._replace(order=leave_out(plan, order, options))
        watching = watch if model.is_saved else watch.unsaved
        found = _search_narrowed(plan, first, beginning, model.limit(options), watching, begun)
        why = model.decline(found)
        if why is None:
            return _answer(found, model, tuple(passed))
        passed.append(why.by(model.name))
        if model.is_saved:
            watch.pass_over()
            now = found.narrowing
    raise AssertionError("the full model always answers")


def _answer(found: Searched, model: Model, passed: tuple[PassedOver, ...]) -> Modelled:
    """What a search says, if anything: an interrupted one of a coarser model decides nothing."""
    system, search, (order, _) = found
    if not order.is_relaxed:
        name = FULL.name if model is COARSER else model.name
        return Modelled(system, search, order if system.leaves_out_orders else EVERY_ORDER, name, passed)
    proved = is_proved(system.checks, search)
    return Modelled(system, search if proved else drop_findings(search), order, model.name, passed)


def _search_narrowed(
    plan: Plan, narrowing: Narrowing, beginning: Beginning, options: VerifyOptions, watch: Watch, begun: float
) -> Searched:
    """The search that leaves out no more orders than it turns out to allow."""
    while True:
        share = within(options, watch.clock() - begun, is_relaxed=narrowing.order.is_relaxed)
        found = _search_once(plan, narrowing, beginning, share, watch)
        if isinstance(found, Searched):
            return found._replace(search=explain_limits(found.search, share, options))
        narrowing = found


def _search_once(
    plan: Plan, narrowing: Narrowing, beginning: Beginning, options: VerifyOptions, watch: Watch
) -> Searched | Narrowing:
    """The search, or the orders to begin again with: one that was left out matters."""
    try:
        return Searched(*one_search(plan, narrowing.order, beginning, options, watch), narrowing)
    except StartMatters as found:
        return narrowing.without_start(found.workload)
    except EndMatters as found:
        return narrowing.without_ends(found.workloads)


# -- all checks of a plan -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Explored:
    """What the searches of one plan found, check by check."""

    decided: tuple[Decided, ...]
    statistics: Statistics
    search: Search  # the reduced one
    model: str = FULL.name  # that answered
    passed: tuple[PassedOver, ...] = ()  # models that did not


def explore_plan(plan: Plan, beginning: Beginning, options: VerifyOptions, watch: Watch) -> Explored:
    """Decides every check of the plan.

    A violation found with fewer orders is looked for again in every order, in a search of bounded size, so that the
    counterexample shown is a shortest one wherever that search comes to it.
    """
    begun = watch.clock()
    system, search, order, model, passed = search_models(plan, beginning, options, watch)
    start_states = 0 if beginning.search is None else len(beginning.search.store)
    seen = join_coverage((beginning.coverage, coverage_of(system)))._asdict()
    statistics = replace(statistics_of(search, plan, order), start_states=start_states, **seen)
    decided = tuple(Decided(system, search, finding) for finding in search.findings)
    found = Explored(decided, statistics, search, model, passed)
    if order == EVERY_ORDER or not any(finding.is_violated for finding in search.findings):
        return found
    again = _search_every_order(plan, beginning, options, watch, watch.clock() - begun)
    return found if again is None else _with_shorter(found, again, plan)


@dataclass(frozen=True, slots=True)
class _Repeated:
    system: GroupedSystem
    search: Search


def _with_shorter(found: Explored, again: _Repeated, plan: Plan) -> Explored:
    """The findings, with those of a search in every order as far as it came."""
    if again.search.stopped_by == INTERRUPTED:
        return found
    repeated = tuple(Decided(again.system, again.search, finding) for finding in again.search.findings)
    if again.search.stopped_by in (None, ALL_VIOLATED):
        return replace(found, decided=repeated, statistics=_add_repeated(again, plan, found.statistics))
    pairs = zip(found.decided, repeated, strict=True)
    return replace(found, decided=tuple(full if full.finding.is_violated else known for known, full in pairs))


def _add_repeated(again: _Repeated, plan: Plan, first: Statistics) -> Statistics:
    """What the search in every order did; who acted in either of the two."""
    seen = join_coverage((first, coverage_of(again.system)))._asdict()
    return replace(statistics_of(again.search, plan, EVERY_ORDER), start_states=first.start_states, **seen)


def _search_every_order(
    plan: Plan, beginning: Beginning, options: VerifyOptions, watch: Watch, spent_s: float
) -> _Repeated | None:
    """The same search in every order, up to a bound; None if no time is left for it."""
    if watch.stop.is_asked:
        return None
    most = _at_most(options, options.effort.max_repeated)
    left_s = None if options.timeout_s is None else options.timeout_s - spent_s
    if left_s is not None and left_s <= 0:
        return None
    limited = replace(options, max_states=most, timeout_s=left_s)
    return _Repeated(*one_search(plan, EVERY_ORDER, beginning, limited, replace(watch.unsaved, found=None)))


def search_shorter(
    loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch, spent_s: float
) -> tuple[Beginning, Search] | None:
    """A search of bounded size of an input that was searched in parts; None if even its start is too large."""
    most = _at_most(options, options.effort.max_repeated)
    beginning = begin(loaded, plan, replace(options, max_states=most), watch.unsaved)
    if beginning.search is not None and beginning.search.stopped_by:
        return None
    again = _search_every_order(plan, beginning, options, watch, spent_s)
    return None if again is None else (beginning, again.search)
