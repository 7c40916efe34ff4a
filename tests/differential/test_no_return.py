"""From where a run is lost: the grouped graph against all runs of named objects, judged by a plainer algorithm."""

from __future__ import annotations

import pytest

from kubeproof.engine.reference import StateGraph, is_stable, reach
from kubeproof.intents.monitor import IN_STABLE, NEVER, RECURRENT
from kubeproof.model.by_name.state import State
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.counterexamples.rerun import Rerun, rerun_on
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.reasons.no_return import find_no_return
from kubeproof.verify.run import plan_of, verify_intents
from tests.unit.verify.inputs import loaded, node, scenario, web

T = "Deployment/shop/web"
GROWS = f"{{scale: {{target: {T}, replicas: [3]}}}}"
FAILS = "{nodeFailure: {recovers: false}}"
BOTH = f"{{minReady: {{target: {T}, count: 2}}}}"
INPUTS = {
    "never": (
        node("n1"),
        node("n2"),
        web(2),
        scenario(f"{{minReady: {{target: {T}, count: 2}}}}", events="{drain: {}}"),
    ),
    "stable": (node("n1"), web(1), scenario(f"{{schedulable: {{target: {T}}}}}", events=GROWS)),
    "in the end": (
        node("n1"),
        node("n2", cpu="1"),
        web(2),
        scenario(f"{{minReady: {{target: {T}, count: 2, when: eventuallyAlways}}}}", events=FAILS),
    ),
    "from the start": (node("n1"), web(3), scenario(f"{{schedulable: {{target: {T}}}}}")),
}


class _From:
    """The named model, begun in one state."""

    def __init__(self, model: IndividualModel, state: State) -> None:
        self._state = state
        self.steps, self.flags = model.steps, model.flags

    def initial(self) -> tuple[State, ...]:
        return (self._state,)


def keeps_on(graph: StateGraph[State], allowed: set[State]) -> set[State]:
    """The largest set of allowed states each of which is stable or has a step to another of the set."""
    while True:
        left = {s for s in allowed if is_stable(graph, s) or any(step.target in allowed for step in graph.steps[s])}
        if left == allowed:
            return left
        allowed = left


def is_lost(again: Rerun, state: State) -> bool:
    model, number = again.model, again.monitor_number
    plain = IndividualModel(model.plan)
    graph = reach(_From(plain, state), max_states=50_000)
    assert graph.is_complete
    bad = {s for s in graph.steps if s.observed[number][1]}
    kind = model.plan.monitors[number].kind
    every = set(graph.steps)
    if kind == NEVER:
        return state not in keeps_on(graph, every - bad)
    if kind == IN_STABLE:
        return state not in keeps_on(graph, {s for s in every if s not in bad or not is_stable(graph, s)})
    assert kind == RECURRENT
    return not keeps_on(graph, every - bad)


@pytest.mark.parametrize("name", INPUTS)
def test_a_state_is_lost_if_no_named_run_keeps_the_intent(name):
    given, options = loaded(*INPUTS[name]), VerifyOptions(engine="python")
    plan = plan_of(given, options)
    one = next(one for one in verify_intents(given, options).results if one.trace is not None)
    again = rerun_on(given, plan, one)

    found = find_no_return(again, 1e9)

    lost = [is_lost(again, state) for state in again.run.states]
    expected = lost.index(True) if True in lost else None
    assert (None if found is None else (found.after, found.is_exact)) == (
        None if expected is None else (expected, True)
    )
    assert lost == sorted(lost)  # once lost, always lost
