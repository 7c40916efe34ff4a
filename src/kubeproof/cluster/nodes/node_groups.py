"""Node groups that a cluster autoscaler grows and shrinks, and the nodes that they may have.

A group of at most m nodes has slots: nodes of the setup that are there at first, and others that are not. A node that
is deleted leaves its slot for a later one, unless somebody remembers it by its name: then it is gone for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from kubeproof.cluster.api import versions
from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.objects import HOSTNAME, Node, Setup, Source
from kubeproof.values import dataclass

RANDOM = "random"
MOST_PODS = "most-pods"
LEAST_WASTE = "least-waste"
LEAST_NODES = "least-nodes"
PRIORITY = "priority"
EXPANDERS = (RANDOM, MOST_PODS, LEAST_WASTE, LEAST_NODES, PRIORITY)
LEAST_WASTE_SINCE = versions.LEAST_WASTE_DEFAULT.since


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """A group of equal nodes; `template` is what a new one looks like, host name and name aside."""

    name: str
    least: int
    most: int
    template: Node
    source: Source = field(default=Source(), compare=False)


Priorities = tuple[tuple[int, tuple[str, ...]], ...]  # of the priority expander: value, patterns of group names


@dataclass(frozen=True, slots=True)
class ClusterAutoscaler:
    """The cluster autoscaler's groups and flags; defaults are upstream's."""

    groups: tuple[NodeGroup, ...]
    expanders: tuple[str, ...] = ()  # asked one after the other; none: the default of the version
    priorities: Priorities = ()
    scan_interval_s: int = 10
    utilization_permille: int = 500  # scale-down-utilization-threshold
    unneeded_s: int = 600
    unready_s: int = 1200
    delay_after_add_s: int = 600
    delay_after_failure_s: int = 180
    provisioning_s: tuple[int, int] = (60, 180)  # from the request to a ready node, least and most
    scales_down: bool = True
    removes_unready: bool = True
    skips_local_storage: bool = True
    skips_system_pods: bool = True
    ignores_daemon_sets: bool = False  # in a node's utilization
    balances: bool = False  # balance-similar-node-groups
    most_nodes: int = 0  # max-nodes-total; 0: no limit

    def expander_chain(self, version: tuple[int, int]) -> tuple[str, ...]:
        """The expanders in force."""
        return self.expanders or ((LEAST_WASTE,) if version >= LEAST_WASTE_SINCE else (RANDOM,))


def is_member(node: Node, template: Node) -> bool:
    """True if the node looks like the template, names and host names aside."""
    return _nameless(node) == _nameless(template)


def _nameless(node: Node) -> Node:
    labels = tuple((key, value) for key, value in node.labels if key != HOSTNAME)
    return replace(node, name="", labels=labels, group="", is_slot=False, images=(), keeps=False, unschedulable=False)


def with_groups(setup: Setup, autoscaler: ClusterAutoscaler) -> Setup:
    """The setup with the cluster autoscaler, its nodes assigned to groups, and the slots that groups may fill."""
    nodes = tuple(_assign(node, autoscaler) for node in setup.nodes)
    named = find_requested_names(setup)
    slots = tuple(slot for group in autoscaler.groups for slot in _slots(group, nodes, named))
    return replace(setup, nodes=(*nodes, *slots), cluster_autoscaler=autoscaler)


def _assign(node: Node, autoscaler: ClusterAutoscaler) -> Node:
    found = next((group.name for group in autoscaler.groups if is_member(node, group.template)), "")
    return replace(node, group=found)


def _slots(group: NodeGroup, nodes: tuple[Node, ...], named: frozenset[str]) -> Iterator[Node]:
    """As many as it takes to reach the maximum when all members that are told by name are gone."""
    members = [node for node in nodes if node.group == group.name]
    taken, number = {node.name for node in nodes}, 0
    for _ in range(group.most - sum(not _is_requested(node, named) for node in members)):
        number = next(n for n in range(number + 1, len(taken) + number + 2) if f"{group.name}-new{n}" not in taken)
        yield slot_of(group, f"{group.name}-new{number}")


def slot_of(group: NodeGroup, name: str) -> Node:
    """A node of the group under a name of its own."""
    labels = dict(group.template.labels)
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    return replace(
        group.template,
        name=name,
        labels=as_labels(labels),
        group=group.name,
        is_slot=True,
        images=(),
        keeps=False,
        unschedulable=False,
    )


def find_requested_names(setup: Setup) -> frozenset[str]:
    """Names and host names of nodes that pods or volumes ask for: a later node of the group has another."""
    told: set[str] = set()
    terms = [term for volume in setup.volumes for term in volume.terms or ()]
    for workload in setup.workloads:
        template = workload.template
        told |= {template.node_name, workload.bound_to} - {None}  # type: ignore[arg-type]
        told |= {value for key, value in template.node_selector if key == HOSTNAME}
        terms += [*(template.required_terms or ()), *(preferred.term for preferred in template.preferred_terms)]
    for term in terms:
        told |= {value for requirement in term.fields for value in requirement.values}
        told |= {value for req in term.expressions if req.key == HOSTNAME for value in req.values}
    return frozenset(told)


def _is_requested(node: Node, named: frozenset[str]) -> bool:
    return node.name in named or node.label_map.get(HOSTNAME) in named
