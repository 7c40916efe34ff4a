"""Why an intent has nothing to say: one run is followed to where it rests, and asked what is missing there.

It is one run of many, so that what it shows is an example; that none comes to a state that counts, the search found.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.control import Role
from kubeproof.intents.catalogue import entry
from kubeproof.intents.monitor import Monitor
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import State
from kubeproof.model.plan import Plan
from kubeproof.verify.words.explain import find_concerned, missing_reasons, pending_reasons

MOST_STEPS = 400
MOST_SAID = 3


def why_vacuous(plan: Plan, number: int) -> str:
    """A clause that says what keeps runs from the states that the intent speaks about; "" if nothing is found."""
    model, monitor = RepresentativeModel(plan), plan.monitors[number]
    if monitor.temporal is not None or monitor.fact is None:
        return ""
    state = _rest(model)
    workloads = find_concerned(model, monitor)
    if monitor.intent.target is not None and workloads:
        own = state.specs[workloads[0]]
        if not own.exists:
            return f"{monitor.intent.target} is not there, and no event of the Scenario creates it"
        if own.desired == 0:
            return f"{monitor.intent.target} wants no pods (0 replicas), and nothing changes that"
    if not monitor.fact.is_settled(model.show_to_fact(monitor.fact, state)):
        held = [line for workload in workloads for line in _hold_back(model, state, workload)]
        told = "; ".join(map(str, held[:MOST_SAID])) or "not all of its pods become ready"
        return f"its pods are never all ready, as in a run that comes to rest with: {told}"
    return _lack(monitor)


def _hold_back(model: RepresentativeModel, state: State, workload: int) -> Iterator[str]:
    yield from pending_reasons(model, state, workload)
    yield from missing_reasons(model, state, workload)


def _rest(model: RepresentativeModel) -> State:
    """A state at rest, without any event; the last one of a long run."""
    (state,) = model.initial()
    for _ in range(MOST_STEPS):
        ahead = next((step for step in model.steps(state) if step.role != Role.EVENT), None)
        if ahead is None:
            return state
        state = ahead.target
    return state


def _lack(monitor: Monitor) -> str:
    """What the Scenario has none of."""
    awaited = entry(monitor.intent.key).awaits
    return f"no event of the Scenario {awaited}" if awaited else ""
