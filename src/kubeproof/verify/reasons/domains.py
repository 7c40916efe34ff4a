"""How many pods each domain has: what traces about skew and spread show after every step that changes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.state import ACTIVE, Health
from kubeproof.intents.monitor import Monitor
from kubeproof.model.by_name.state import State
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.result import TraceStep

MOST_DOMAINS = 8


def count_by_domain(model: IndividualModel, state: State, monitor: Monitor) -> str:
    """Like `zone-a: 3, zone-b: 1`: pods that the intent counts, by the values of its topology key; "" for others."""
    key = monitor.intent.topology_key
    if not key or monitor.fact is None:
        return ""
    counted = frozenset(getattr(monitor.fact, "workloads", getattr(monitor.fact, "members", ())))
    amounts: dict[str, int] = {}
    for declared, node in zip(model.setup.nodes, state.nodes, strict=True):
        value = declared.label_map.get(key)
        if value is not None and node.health != Health.ABSENT:
            here = sum(pod.workload in counted and pod.phase in ACTIVE for pod in node.pods)
            amounts[value] = amounts.get(value, 0) + here
    shown = sorted(amounts.items(), key=lambda pair: (-pair[1], pair[0]))
    told = [f"{value}: {count}" for value, count in shown]
    if len(told) > MOST_DOMAINS:
        told = [
            *told[: MOST_DOMAINS - 1],
            f"{len(told) - MOST_DOMAINS + 1} more: {shown[MOST_DOMAINS - 1][1]} or fewer",
        ]
    return ", ".join(told)


def with_counts(
    model: IndividualModel, states: Sequence[State], steps: Sequence[TraceStep], monitor: Monitor
) -> tuple[TraceStep, ...]:
    """The steps with the counts after each that changes them."""
    if not monitor.intent.topology_key:
        return tuple(steps)
    counts = [count_by_domain(model, state, monitor) for state in states]
    return tuple(
        replace(step, counts=after) if after != before else step
        for step, before, after in zip(steps, counts[:-1], counts[1:], strict=True)
    )
