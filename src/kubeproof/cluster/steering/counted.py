"""Which pods an autoscaler counts: all that its target's selector matches in its namespace, whoever owns them.

Mirrors `replica_calculator.go`, which lists pods by `scale.status.selector` and asks for no owner: pods of another
Deployment, of a DaemonSet, of Jobs and bare Pods count, too, with their own requests and use. Upstream refuses an empty
selector, and the API server a target without one, so that it stands for the target's own pods here.
"""

from __future__ import annotations

from kubeproof.cluster.kinds import TEMPLATE_HASH
from kubeproof.cluster.objects import (
    Setup,
    Workload,
    family,
    workload_number,
)
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler


def find_counted(setup: Setup, autoscaler: HorizontalPodAutoscaler) -> tuple[int, ...]:
    """The workloads whose pods an autoscaler counts: its target's family first, then those of others."""
    return (*family(setup, workload_number(setup, autoscaler.target)), *foreign_to(setup, autoscaler))


def foreign_to(setup: Setup, autoscaler: HorizontalPodAutoscaler) -> tuple[int, ...]:
    """The workloads of other owners whose pods an autoscaler counts."""
    number = workload_number(setup, autoscaler.target)
    own, target = family(setup, number), setup.workloads[number]
    return tuple(
        other for other, workload in enumerate(setup.workloads) if other not in own and selects(target, workload)
    )


def is_foreign_to(setup: Setup, autoscaler: HorizontalPodAutoscaler, other: int) -> bool:
    """True if an autoscaler counts pods of this workload of another owner: one answer of `foreign_to`."""
    number = workload_number(setup, autoscaler.target)
    return selects(setup.workloads[number], setup.workloads[other]) and other not in family(setup, number)


def selects(target: Workload, other: Workload) -> bool:
    """True if the selector of a target matches pods of another workload."""
    return (
        target.namespace == other.namespace
        and not target.selector.is_empty
        and target.selector.matches(labels_of(other))
    )


def labels_of(workload: Workload) -> dict[str, str]:
    """The labels of a workload's pods, those included that controllers add; hashes and ids have no real values."""
    return {key: f"{key}-of-{workload.ref}" for key in _list_added(workload)} | dict(workload.template.labels)


def _list_added(workload: Workload) -> tuple[str, ...]:
    return (TEMPLATE_HASH,) if workload.has_template_hash else workload.rules.labels
