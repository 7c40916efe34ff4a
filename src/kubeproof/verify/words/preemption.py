"""Why a preemption took the victims that it took, node by node."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.state import Health
from kubeproof.cluster.steering.priorities import priority_of
from kubeproof.controllers.late import PreemptingScheduler
from kubeproof.controllers.scheduler.attempts import Candidate
from kubeproof.controllers.scheduler.preemption import Victims
from kubeproof.model.by_name.state import State
from kubeproof.model.by_name.system import IndividualModel

MOST_NODES = 12


def preemption_lines(model: IndividualModel, state: State, controller: PreemptingScheduler) -> Iterator[str]:
    """The pod's priority, and what every node would lose, or why preemption does not help there."""
    seen = model.show_to(controller, state)
    entries = controller.entries(seen)
    rows = controller.attempt.rows(entries) or ()
    found = {c.entry: c for c in controller.attempt.candidates(entries, rows, controller.find_allowed(seen))}
    yield f"no node fits; the pod's priority is {controller.attempt.priority}"
    for index, (name, row) in enumerate(list(zip(_names(model, state), rows, strict=True))[:MOST_NODES]):
        if index in found:
            yield f"{name}: {_losses(model, found[index])}"
        else:
            yield f"{name}: preemption does not help ({row.rejected_by}: {row.reason})"
    if len(entries) > MOST_NODES:
        yield f"and {len(entries) - MOST_NODES} more node(s)"


def _names(model: IndividualModel, state: State) -> list[str]:
    """The nodes that are there, in the order in which a controller is shown them."""
    numbers = [index for place in model.plan.layout.places for index in place.nodes]
    return [model.names[index] for index in numbers if state.nodes[index].health != Health.ABSENT]


def _losses(model: IndividualModel, candidate: Candidate) -> str:
    """The least harm of a node in words; where ages leave it open, one of the ways."""
    victims = min(candidate.outcomes)
    told = ", ".join(_victims(model, candidate, victims))
    broken = f"; breaks a budget {victims.violations} time(s)" if victims.violations else ""
    return f"would lose {told}{broken}"


def _victims(model: IndividualModel, candidate: Candidate, victims: Victims) -> Iterator[str]:
    for pod, count in zip(candidate.run.pods, victims.lost, strict=True):
        if count:
            declared = model.setup.workloads[pod.workload]
            ending = ", already terminating" if pod.terminating else ""
            yield f"{count} of {declared.ref} (priority {priority_of(declared.template)}{ending})"
