"""Asks the verifier about an input: all at once for a start, and about candidates only as far as they stand."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from kubeproof.errors import KubeproofError
from kubeproof.events.declarations import Drain, Maintenance, Rollout
from kubeproof.intents.declarations import EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import under_faults
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verify.counterexamples.rerun import rerun_on
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.fix.outcomes import OF_GRADES, OF_VERDICTS, Key, Level, Outcome, Outcomes
from kubeproof.verify.matrix.options import MatrixOptions
from kubeproof.verify.matrix.questions import CellQuestion, single_faults
from kubeproof.verify.matrix.result import Cell
from kubeproof.verify.matrix.run import run_matrix
from kubeproof.verify.matrix.solve import Solver
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.result import IntentResult
from kubeproof.verify.run import verify_intents

GUARD = "guard: "  # of the names of intents that nobody wrote
GUARD_STATES, GUARD_SHARE = 5_000, 0.2  # what is not proved of guards with so little is not asked of candidates
UNREPLAYABLE = (KubeproofError, LookupError, ValueError, TypeError, AttributeError, AssertionError)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much one answer may take."""

    max_states: int
    timeout_s: float


class Judge(Protocol):
    """Who answers the questions of an input."""

    @property
    def enough(self) -> Level:
        """How good the answer to a goal has to be."""
        ...

    def describe(self, key: Key) -> str:
        """The question, as a reader knows it."""
        ...

    def ask_all(self, loaded: Loaded, effort: Effort) -> Outcomes:
        """Every question."""
        ...

    def ask(self, loaded: Loaded, keys: Iterable[Key], effort: Effort) -> Outcomes:
        """Some questions; it may end at the first bad answer."""
        ...

    def still_breaks(self, loaded: Loaded, one: IntentResult) -> bool:
        """True if the same events and choices still break the same intent."""
        ...


@dataclass(frozen=True, slots=True)
class ScenarioJudge:
    """The intents of a Scenario, and beside them that no workload ends with fewer ready pods than it had."""

    options: VerifyOptions
    guards: tuple[Intent, ...]
    stop: Stop
    enough: Level = Level.GOOD

    def describe(self, key: Key) -> str:
        return key[0].removeprefix(GUARD)

    def ask_all(self, loaded: Loaded, effort: Effort) -> Outcomes:
        asked = self._outcomes(loaded, loaded.scenario.intents, effort)
        little = Effort(min(effort.max_states, GUARD_STATES), GUARD_SHARE * effort.timeout_s)
        guards = self._outcomes(loaded, self.guards, little)
        return asked | {key: outcome for key, outcome in guards.items() if outcome.level != Level.OPEN}

    def ask(self, loaded: Loaded, keys: Iterable[Key], effort: Effort) -> Outcomes:
        wanted = set(keys)
        every = (*loaded.scenario.intents, *self.guards)
        return self._outcomes(loaded, [one for one in every if key_of(one) in wanted], effort)

    def _outcomes(self, loaded: Loaded, intents: Sequence[Intent], effort: Effort) -> dict[Key, Outcome]:
        if not intents:
            return {}
        asked = replace(loaded, scenario=replace(loaded.scenario, intents=tuple(intents)))
        result = verify_intents(asked, _limit(self.options, effort), stop=self.stop)
        names = {one.name: key_of(one) for one in intents}
        return {
            names[one.intent]: Outcome(OF_VERDICTS.get(one.verdict, Level.OPEN), one, str(one.verdict))
            for one in result.results
        }

    def still_breaks(self, loaded: Loaded, one: IntentResult) -> bool:
        if one.intent.startswith(GUARD):
            return False
        try:
            rerun_on(loaded, plan_input(loaded, self.options), one)
        except UNREPLAYABLE:
            return False
        return True


def key_of(intent: Intent) -> Key:
    """Names are unique in a Scenario."""
    return (intent.name, intent.target or "")


def guards_of(loaded: Loaded) -> tuple[Intent, ...]:
    """What a repair must not spoil although nobody asks for it: pods, rollouts and drains come to their end."""
    return (*_guard_pods(loaded), *_guard_events(loaded))


def _guard_events(loaded: Loaded) -> Iterator[Intent]:
    """A change that keeps rollouts or drains from ending mends much that speaks of what they do."""
    events, setup = loaded.scenario.events, loaded.setup
    asked = {(one.key, one.target) for one in loaded.scenario.intents}
    if any(isinstance(event, (Drain, Maintenance)) for event in events) and ("drainCompletes", None) not in asked:
        yield Intent(key="drainCompletes", name=f"{GUARD}drains end")
    rolled = {event.target for event in events if isinstance(event, Rollout)}
    for workload in setup.workloads:
        is_rolled = workload.rules.owns_replica_sets and not rolled.isdisjoint((workload.ref, None))
        if is_rolled and asked.isdisjoint((("rolloutCompletes", workload.ref), ("rolloutCompletes", None))):
            name = f"{GUARD}rollouts of {workload.ref} end"
            yield Intent(key="rolloutCompletes", name=name, target=workload.ref)


def _guard_pods(loaded: Loaded) -> Iterator[Intent]:
    setup = loaded.setup
    for workload in setup.workloads:
        least = [one.min_replicas for one in setup.autoscalers if one.target == workload.ref]
        count = min(least) if least and workload.replicas else workload.replicas
        name = f"{GUARD}all pods of {workload.ref} are ready in the end"
        common = Intent(key="minReady", name=name, target=workload.ref, when=EVENTUALLY_ALWAYS)
        if workload.owner is None and workload.rules.runs_per_node:
            yield replace(common, key="runsOnEveryNode")
        elif workload.owner is None and (workload.rules.replaces_pods or workload.rules.is_pod) and count:
            yield replace(common, count=Amount(count))


@dataclass(frozen=True, slots=True)
class MatrixJudge:
    """The cells of the survival matrix."""

    options: VerifyOptions
    faults: tuple[str, ...]
    stop: Stop
    enough: Level = Level.WEAK

    def describe(self, key: Key) -> str:
        return f"{key[0]} ({' and '.join(key[1:])})"

    def ask_all(self, loaded: Loaded, effort: Effort) -> Outcomes:
        chosen = MatrixOptions(faults=self.faults, pairs=False, executor=InProcess())
        result = run_matrix(loaded, replace(self.options, timeout_s=effort.timeout_s), chosen, stop=self.stop)
        cells = result.matrix.cells if result.matrix is not None else ()
        return {_cell_key(cell): _outcome(cell, result.results[cell.finding or 0]) for cell in cells}

    def ask(self, loaded: Loaded, keys: Iterable[Key], effort: Effort) -> Outcomes:
        solver = Solver(loaded, self.options)
        ends_s = time.monotonic() + effort.timeout_s
        found: dict[Key, Outcome] = {}
        there = {(target, *faults) for target, faults in single_faults(loaded.setup)}
        for key in keys:
            if key not in there or time.monotonic() > ends_s or self.stop.is_asked:
                continue
            question = CellQuestion(
                key[0], key[1:], effort.max_states, max(0.1, ends_s - time.monotonic()), is_thorough=True
            )
            graded = solver(question)
            found[key] = _outcome(graded.cell, graded.result)
            if found[key].level == Level.BAD:
                break
        return found

    def still_breaks(self, loaded: Loaded, one: IntentResult) -> bool:
        try:
            faulty = under_faults(loaded, one.faults, one.target)
            rerun_on(faulty, plan_input(faulty, self.options), one)
        except UNREPLAYABLE:
            return False
        return True


def _cell_key(cell: Cell) -> Key:
    return (cell.target, *cell.faults)


def _outcome(cell: Cell, result: IntentResult) -> Outcome:
    return Outcome(OF_GRADES[cell.grade], result, str(cell.grade))


def _limit(options: VerifyOptions, effort: Effort) -> VerifyOptions:
    return replace(options, max_states=effort.max_states, timeout_s=effort.timeout_s, has_usual_timeout=False)
