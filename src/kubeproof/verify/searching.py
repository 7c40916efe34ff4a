"""The searches behind one plan: the start, the reduced search, and the one that makes a counterexample short."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING

from kubeproof.engine.limits import Deadline, Limits, physical_bytes
from kubeproof.engine.search import (
    Finding,
    Found,
    Search,
    Store,
    explore,
    find_compiled_kernel,
    make_kernel,
)
from kubeproof.engine.snapshot import Keeper, Snapshots
from kubeproof.engine.system import Cell
from kubeproof.engine.system import Progress as EngineProgress
from kubeproof.errors import EnvironmentProblem, LimitReached
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.partial_order import EVERY_ORDER, Order, orders_of_deploying
from kubeproof.model.reductions.without_clocks import without_clocks
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verify.findings.known import Known
from kubeproof.verify.no_placement import no_placement
from kubeproof.verify.options import ABSTRACTION, PARTIAL_ORDER, UNISON, SearchProgress, VerifyOptions
from kubeproof.verify.result import Statistics
from kubeproof.verify.words.coverage import Coverage, coverage_of, note

if TYPE_CHECKING:
    from kubeproof.engine.sharing import Sharing
    from kubeproof.engine.spill import Disk

Report = Callable[[SearchProgress], None] | None
DEFAULT_MEMORY_PERCENT = 80
SHOWING_SHARE = 0.05  # of the time of a run, after its searches: for counterexamples
SAMPLE = 16  # with --check-controllers, one memo hit in so many is asked again


class NoTimeLeft(LimitReached):
    """The time of a run is over before a piece of work is done."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who follows the searches of a run: where progress is told, where they are saved, and who may end them."""

    progress: Report = None
    snapshots: Snapshots | None = None
    stop: Stop = field(default_factory=Stop)
    known: Known = field(default_factory=Known)  # what is decided so far
    found: Found | None = None  # is told of violations while a search that allows no additional runs goes on
    deadline: Deadline | None = None  # by which all of them end
    clock: Callable[[], float] = time.monotonic  # by which the time of each is counted
    deadline_clock: Callable[[], float] = time.monotonic

    def go_on(self) -> None:
        """Between two pieces of work: tells what is found, and ends the run if somebody asked for that."""
        if self.stop.is_asked:
            raise KeyboardInterrupt  # what is known by now is the answer
        self.known.tell()

    @property
    def is_late(self) -> bool:
        """True if no time is left for another search."""
        return self.deadline is not None and self.deadline_clock() > self.deadline.at_s

    @property
    def is_over(self) -> bool:
        """True if no time is left, not even for showing what searches have found."""
        if self.deadline is None:
            return False
        return self.deadline_clock() > self.deadline.at_s + SHOWING_SHARE * self.deadline.given_s

    def look(self) -> None:
        """In the middle of long work that is no search: ends it if no time is left."""
        if self.is_over:
            raise NoTimeLeft("the time was over before that was worked out")

    def keeper(self) -> Keeper | None:
        """Saves and continues the next search."""
        return None if self.snapshots is None else self.snapshots.keeper()

    def pass_over(self) -> None:
        """The search before the next one decides nothing: whether it came to its end does not matter."""
        if self.snapshots is not None:
            self.snapshots.pass_over()

    @property
    def unsaved(self) -> Watch:
        """For searches so small that they are simply done again."""
        return replace(self, snapshots=None)


@dataclass(frozen=True, slots=True)
class Beginning:
    """The states a run begins in, and the search that led there (`start: deployed`)."""

    cells: tuple[tuple[Cell, ...], ...]
    search: Search | None = None
    stable: tuple[int, ...] = ()
    coverage: Coverage = Coverage()  # of that search


@dataclass(frozen=True, slots=True)
class Decided:
    """One check's finding, with the search in which it was found."""

    system: GroupedSystem
    search: Search
    finding: Finding


def begin(loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch) -> Beginning:
    """With `start: deployed`, every first stable placement; otherwise the plan's own start."""
    if loaded.scenario.start.mode != "deployed":
        return Beginning(())
    deploying = plan.deploying()
    order = leave_out(deploying, orders_of_deploying(deploying), options)
    system = GroupedSystem(deploying, order)
    note(system)
    kernel = _kernel(system, options)
    report = _translate(watch.progress, "deploying")
    limits = _limits(options, watch)
    search = explore(system, (), kernel=kernel, limits=limits, progress=report, keeper=watch.keeper())
    if search.stopped_by:
        return Beginning((), search)
    stable = tuple(s for s in range(kernel.expanded) if kernel.is_stable(s))
    if not stable:
        raise no_placement(loaded)
    return Beginning(tuple(kernel.cells_of(state) for state in stable), search, stable, coverage_of(system))


def leave_out(plan: Plan, order: Order, options: VerifyOptions) -> Order:
    """The order without what the user switched off."""
    if order.is_relaxed and not options.uses(ABSTRACTION):
        order = order.exact(plan)
    if not options.uses(UNISON):
        order = order._replace(in_unison=frozenset(), at_once=False, ending=frozenset())
    if not options.uses(PARTIAL_ORDER):
        order = order._replace(alone=False, immediate=frozenset())
    return order


def one_search(
    plan: Plan, order: Order, beginning: Beginning, options: VerifyOptions, watch: Watch
) -> tuple[GroupedSystem, Search]:
    """One search of a plan, with the orders asked for."""
    system = GroupedSystem(without_clocks(plan) if order.timeless else plan, order)
    note(system)
    if beginning.cells:
        system.initial = tuple(system.with_nurseries(cells) for cells in beginning.cells)
    search = explore(
        system,
        system.checks,
        kernel=_kernel(system, options),
        stop_early=not options.find_all,
        limits=_limits(options, watch),
        progress=_translate(watch.progress, "searching"),
        keeper=watch.keeper(),
        found=None if order.is_relaxed else watch.found,
    )
    watch.known.spent.append(statistics_of(search, plan, order))
    return system, search


def engine_name(options: VerifyOptions) -> str:
    """The engine that searches with these options."""
    found = "python" if find_compiled_kernel() is None else "compiled"
    return found if options.engine == "auto" else options.engine


def _kernel(system: GroupedSystem, options: VerifyOptions) -> Store:
    if options.engine == "compiled" and find_compiled_kernel() is None:
        raise EnvironmentProblem(
            "E401 the compiled engine is not installed. Install a C compiler and run: "
            "pip install --force-reinstall --no-deps kubeproof; or use --engine python."
        )
    every = SAMPLE if options.check_controllers else 0
    return make_kernel(system, engine=options.engine, check_every=every)


def _limits(options: VerifyOptions, watch: Watch) -> Limits:
    """The limits asked for; without one on memory, most of what the machine has, so that the answer is UNKNOWN
    and not a killed process."""
    memory = options.memory_bytes or physical_bytes() * DEFAULT_MEMORY_PERCENT // 100 or None
    return Limits(
        options.max_states,
        options.timeout_s,
        memory,
        clock=watch.clock,
        stop=watch.stop,
        deadline=watch.deadline,
        deadline_clock=watch.deadline_clock,
        sharing=_share(options),
        find_disk=lambda: _find_disk(options),
    )


def _share(options: VerifyOptions) -> Sharing | None:
    """How many processes search, if it is long."""
    if options.processes == 1:
        return None
    from kubeproof.engine.sharing import Sharing, usable_processors

    return Sharing(options.processes or usable_processors())


def _find_disk(options: VerifyOptions) -> Disk | None:
    """Where a search puts what does not fit into memory."""
    from kubeproof.engine.spill import find_disk

    return find_disk(options.spill_directory)


def _translate(progress: Report, phase: str) -> Callable[[EngineProgress], None] | None:
    if progress is None:
        return None

    def report(engine: EngineProgress) -> None:
        said = phase if engine.phase == "exploring" else engine.phase
        how = [f"{engine.processes} processes"] if engine.processes > 1 else []
        how += [f"{engine.spilled_bytes >> 20:,} MiB on disk"] if engine.spilled_bytes else []
        progress(SearchProgress(*engine[:5], f"{said} ({', '.join(how)})" if how else said))

    return report


def statistics_of(search: Search, plan: Plan, order: Order = EVERY_ORDER) -> Statistics:
    """What a search did, and which reductions it made use of."""
    store = search.store
    return Statistics(
        states=len(store),
        transitions=store.transitions,
        depth=store.depth,
        elapsed_s=search.elapsed_s,
        memo_calls=store.calls,
        memo_misses=store.misses,
        engine=store.name,
        reductions=tuple(_list_applied(plan, order)),
        stopped_by=search.stopped_by,
    )


def _list_applied(plan: Plan, order: Order) -> list[str]:
    words = ["pods and nodes grouped", "controllers memoised"]
    if plan.domains:
        words.append("equal nodes and domains interchangeable")
    if any(place.sample.sizes for place in plan.layout.places):
        words.append("nodes of nearly the same size joined")
    if order.in_unison:
        names = ", ".join(plan.setup.workloads[w].ref for w in sorted(order.in_unison))
        words.append(f"pods start in unison ({names})")
    if order.counted:
        names = ", ".join(plan.setup.workloads[w].ref for w in sorted(order.counted))
        words.append(f"young pods counted for the whole cluster ({names})")
    if order.timeless:
        words.append("proved without clocks")
    if order.ending:
        names = ", ".join(plan.setup.workloads[w].ref for w in sorted(order.ending))
        words.append(f"terminating pods end in unison ({names})")
    if order.immediate - order.counted:
        names = ", ".join(plan.setup.workloads[w].ref for w in sorted(order.immediate))
        words.append(f"starts that are due come first ({names})")
    if order.alone:
        words.append("commuting first steps taken alone")
    return words
