"""Where a DaemonSet should run: its template against a node's labels and taints.

Mirrors `nodeShouldRunDaemonPod` of `pkg/controller/daemon/daemon_controller.go` (v1.26 and v1.37 agree). Resources,
ports and the Ready condition play no part.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.labels import NO_EXECUTE, NO_SCHEDULE, Taint, tolerates_all
from kubeproof.cluster.loops.mentions import Mentions, mention_terms
from kubeproof.cluster.objects import Node, PodTemplate, Setup
from kubeproof.named_tuples import NamedTuple


class Eligibility(NamedTuple):
    """Whether a node should get a daemon pod, and whether one that is there may go on."""

    should_run: bool
    may_continue: bool


NOWHERE = Eligibility(False, False)


def mention_eligibility(found: Mentions, setup: Setup) -> None:
    """Adds what decides where daemon pods should run."""
    for workload in setup.workloads:
        if workload.rules.runs_per_node:
            found.values |= set(workload.template.node_selector)
            mention_terms(found, workload.template.required_terms or ())
            found.names |= {workload.template.node_name or ""} - {""}
    found.taints = True


def eligibility(template: PodTemplate, node: Node, taints: Sequence[Taint]) -> Eligibility:
    """Whether daemon pods should run on a node with these taints; the template has the added tolerations."""
    if template.node_name is not None and template.node_name != node.name:
        return NOWHERE
    if not _is_selected(template, node):
        return NOWHERE
    evicting = tuple(taint for taint in taints if taint.effect == NO_EXECUTE)
    hindering = tuple(taint for taint in taints if taint.effect in (NO_SCHEDULE, NO_EXECUTE))
    return Eligibility(
        tolerates_all(template.tolerations, hindering),
        tolerates_all(template.tolerations, evicting),
    )


def _is_selected(template: PodTemplate, node: Node) -> bool:
    labels = node.label_map
    if any(labels.get(key) != value for key, value in template.node_selector):
        return False
    terms = template.required_terms
    return terms is None or any(term.matches(labels, node.name) for term in terms)


def nodes_wanted(setup: Setup, workload: int) -> int:
    """On how many nodes, as declared, pods of a DaemonSet should run; those that a group may grow by left out."""
    template = setup.workloads[workload].template
    there = (node for node in setup.nodes if not node.is_slot)
    return sum(eligibility(template, node, node.taints).should_run for node in there)


def pods_wanted(setup: Setup, workload: int) -> int:
    """How many pods a workload asks for at first."""
    declared = setup.workloads[workload]
    if declared.rules.runs_per_node:
        return nodes_wanted(setup, workload) if declared.owner is None else 0
    return 1 if declared.rules.is_pod else declared.replicas


def daemon_sets(setup: Setup) -> frozenset[int]:
    """The workloads whose pods belong to a DaemonSet."""
    return frozenset(index for index, workload in enumerate(setup.workloads) if workload.rules.runs_per_node)
