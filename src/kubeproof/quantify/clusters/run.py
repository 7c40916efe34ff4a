"""Quantifies a cluster: how likely its safety intents are violated, and what running it takes."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.cluster.loops.control import Role
from kubeproof.engine.kernel import FLAG_BITS
from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.intents.catalogue import entry
from kubeproof.intents.declarations import Amount as Count
from kubeproof.intents.library.service_levels import RECOVERY_TIME
from kubeproof.intents.monitor import IN_STABLE, STEP, make_monitor
from kubeproof.quantify.chains.chain import Chain, build_chain
from kubeproof.quantify.chains.steps import Effects, Steps, effects_of, steps_of
from kubeproof.quantify.clusters.levels import judge_levels
from kubeproof.quantify.clusters.options import AMOUNTS, EVER, FIRST, LONG_RUN, RECOVERY, SHORT, WITHIN, ClusterOptions
from kubeproof.quantify.clusters.questions import Asked, ask, ask_long_run
from kubeproof.quantify.clusters.result import ClusterResult, IntentChances, ProcessSize, Shortage, Span
from kubeproof.quantify.clusters.shortages import list_ready_intents, list_shortages
from kubeproof.quantify.clusters.space import SAFETY, Report, Space, explore_space
from kubeproof.quantify.clusters.sums import Sums, sum_over, sums_over
from kubeproof.quantify.clusters.values import StateValues
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kubeproof.cluster.nodes.places import Layout
    from kubeproof.events.declarations import Event
    from kubeproof.intents.declarations import Intent
    from kubeproof.intents.monitor import Monitor
    from kubeproof.manifests.loaded import Loaded, Scenario

ENDLESS = "broken by endless runs, not at a moment"


@dataclass(frozen=True, slots=True)
class Process:
    """An explored cluster as a decision process, not yet in Storm."""

    loaded: Loaded
    space: Space
    steps: Steps
    effects: Effects
    chain: Chain
    build_s: float


def quantify_cluster(
    loaded: Loaded, options: ClusterOptions = ClusterOptions(), progress: Report = None
) -> ClusterResult:
    """The answers to all questions about one input."""
    if RECOVERY in options.questions:
        raise UsageError(f"--ask {RECOVERY} is about continuous time", "Add --rates.")
    if options.at_most is not None and WITHIN not in options.questions:
        raise UsageError("--at-most is about violations within the horizon", f"Add --ask {WITHIN}.")
    process = build_process(loaded, options, progress)
    return Answers(process, options).result()


def build_process(loaded: Loaded, options: ClusterOptions, progress: Report = None) -> Process:
    """The decision process of an input."""
    space = explore_space(loaded, options.space, progress)
    if 2 * len(space.plan.monitors) > FLAG_BITS:
        raise UsageError(f"{len(space.plan.monitors)} safety intents are too many", f"Ask for {FLAG_BITS // 2} at once")
    if options.at_most is not None and not space.plan.monitors:
        raise NothingToCheckError("E301 --at-most has nothing to judge: the Scenario has no safety intent.")
    begin = monotonic()
    settings = loaded.scenario.quantify
    steps = steps_of(space)
    effects = effects_of(space, steps, settings.tick_s)
    chain = build_chain(space, steps, effects, settings, order=options.order)
    return Process(loaded, space, steps, effects, chain, monotonic() - begin)


class Answers:
    """Puts the questions about one process."""

    def __init__(self, process: Process, options: ClusterOptions) -> None:
        self._process, self._options = process, options
        self._settings = process.loaded.scenario.quantify
        self._values = StateValues(process.space)
        self._horizon_s = options.horizon_s or self._settings.horizon_s

    def result(self) -> ClusterResult:
        """All answers."""
        process, scenario = self._process, self._process.loaded.scenario
        begin = monotonic()
        found = ask(process.chain, self._bad_states(), {}, self._options)
        handed_s = monotonic() - begin
        sums, shortages = self._sums(), tuple(self._shortages())
        return ClusterResult(
            scenario=scenario.name,
            order=self._options.order,
            horizon_s=self._horizon_s,
            tick_s=self._settings.tick_s,
            size=self._size(found, handed_s),
            intents=tuple(self._intent(number, found) for number in range(len(process.space.plan.monitors))),
            amounts=sums.amounts,
            shortages=shortages,
            levels=judge_levels(scenario.levels, shortages, sums.amounts, self._horizon_s),
            open_events=(*_open_events(scenario.events), *self._schedules()),
            not_quantified=(*self._not_quantified(), *sums.notes),
            files=process.loaded.files,
            at_most=self._options.at_most,
        )

    def _size(self, found: Asked, handed_s: float) -> ProcessSize:
        process = self._process
        return ProcessSize(
            states=process.space.states,
            transitions=process.space.store.transitions,
            process_states=found.model.states,
            choices=found.model.choices,
            entries=found.model.transitions,
            explore_s=process.space.elapsed_s,
            build_s=process.build_s,
            hand_over_s=handed_s,
        )

    def _schedules(self) -> Iterator[str]:
        """Loops that act at moments of their own, which are as open as those of events."""
        process = self._process
        role, rate = process.effects.role[process.steps.effect], process.effects.rate[process.steps.effect]
        actors = np.unique(process.steps.actor[(role == Role.EVENT) & np.isnan(rate)])
        loops = process.space.plan.controllers
        yield from (f"schedule of {loops[actor].name}" for actor in actors.tolist() if actor < len(loops))

    # -- intents --------------------------------------------------------------------------------

    def _bad_states(self) -> dict[str, NDArray[np.int64]]:
        """Per intent that states break, the states of the process that do."""
        store, chain = self._process.space.store, self._process.chain
        flags = np.fromiter((store.flags(s) for s in range(len(store))), dtype=np.int64, count=len(store))
        labels = {}
        for number, monitor in enumerate(self._process.space.plan.monitors):
            bad = (flags >> 2 * number & 1).astype(np.bool_)
            if monitor.kind == IN_STABLE:
                bad &= self._stable()
            if monitor.kind != STEP:
                labels[_label(number)] = np.flatnonzero(bad[chain.origin])
        return labels

    def _stable(self) -> NDArray[np.bool_]:
        store = self._process.space.store
        return np.fromiter((store.is_stable(s) for s in range(len(store))), dtype=np.bool_, count=len(store))

    def _intent(self, number: int, found: Asked) -> IntentChances:
        monitor = self._process.space.plan.monitors[number]
        label = _label(number)
        if monitor.kind == STEP:
            found = self._with_goal(monitor, label)
        intent, wanted = monitor.intent, self._options.questions
        return IntentChances(
            entry(intent.key).id,
            intent.name,
            intent.key,
            intent.target or "",
            intent.source,
            within=found.within(label, self._horizon_s) if WITHIN in wanted else None,
            ever=found.ever(label) if EVER in wanted else None,
            first_s=found.first_s(label) if FIRST in wanted else None,
            over_time=tuple((s, found.within(label, s)) for s in self._options.moments(self._horizon_s)),
        )

    def _with_goal(self, monitor: Monitor, label: str) -> Asked:
        """The process in which a forbidden step leads to a state of its own."""
        process = self._process
        chain = build_chain(
            process.space,
            process.steps,
            process.effects,
            self._settings,
            order=self._options.order,
            forbidden=monitor.tags,
        )
        return ask(chain, {label: np.array([chain.goal])}, {}, self._options)

    # -- sums and shares ------------------------------------------------------------------------

    def _sums(self) -> Sums:
        if AMOUNTS not in self._options.questions:
            return Sums()
        process = self._process
        return sums_over(self._horizon_s, process.chain, self._values, process.loaded.scenario, self._options)

    def _shortages(self) -> Iterator[Shortage]:
        wanted, process = self._options.questions, self._process
        found = list_shortages(process.space.plan.setup, list_ready_intents(process.loaded.scenario), self._values)
        if not found or not {SHORT, LONG_RUN} & set(wanted):
            return
        asked = self._ask_long_run(found) if LONG_RUN in wanted else None
        for number, (intent, short) in enumerate(found):
            yield Shortage(
                intent.name,
                str(intent.target),
                str(intent.count or Count(1)),
                None if asked is None else asked.share(_label(number)),
                self._ask_share(short) if SHORT in wanted else None,
            )

    def _ask_long_run(self, found: list[tuple[Intent, NDArray[np.bool_]]]) -> Asked:
        """The process in which durations have their means alone."""
        process = self._process
        chain = build_chain(
            process.space, process.steps, process.effects, self._settings, order=self._options.order, is_mean=True
        )
        labels = {_label(number): np.flatnonzero(short[chain.origin]) for number, (_, short) in enumerate(found)}
        return ask_long_run(chain, labels, self._options)

    def _ask_share(self, short: NDArray[np.bool_]) -> Span:
        """The expected share of the horizon in such states."""
        span, _ = sum_over(self._horizon_s, self._process.chain, short / self._horizon_s, self._options)
        return span

    def _not_quantified(self) -> Iterator[str]:
        scenario, layout = self._process.loaded.scenario, self._process.space.plan.layout
        yield from list_not_quantified(scenario, layout, self._options)
        for level in (level for level in scenario.levels if level.kind is RECOVERY_TIME):
            yield f"{level.name}: how long a shortage lasts is computed at rates (--rates)"


def list_not_quantified(scenario: Scenario, layout: Layout, options: ClusterOptions) -> Iterator[str]:
    """What of the Scenario has no answer, and why."""
    for intent in scenario.stated:
        if intent.key == "ltl":
            yield f"{intent.name}: an LTL formula, which verify judges"
        elif make_monitor(intent, layout).kind not in SAFETY:
            yield f"{intent.name}: {ENDLESS}"
    for level in (level for level in scenario.levels if not level.kind.is_expected):
        yield f"{level.name}: a service level, which simulate measures"
    if AMOUNTS in options.questions and not scenario.quantify.power:
        yield "energy: the Scenario gives no spec.quantify.power"


def _label(number: int) -> str:
    return f"bad{number}"


def _open_events(events: tuple[Event, ...]) -> Iterator[str]:
    """The events that may happen or not, whenever they are possible."""
    for event in (event for event in events if event.is_chosen):
        has_moves = event.moves is not None or event.level_count == 1
        if event.chance is None and not has_moves:
            yield event.name
        elif event.recovery is None and event.may_end:
            yield f"recovery of {event.name}"
