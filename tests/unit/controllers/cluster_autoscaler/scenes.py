"""Small clusters with node groups, and what the cluster autoscaler does there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.kinds import DEPLOYMENT
from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.loops.actions import NodeChange, Remember
from kubeproof.cluster.loops.control import Seen, show_node_to
from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler, NodeGroup, with_groups
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import HOSTNAME, ZONE, Container, Node, PodTemplate, Setup, Workload
from kubeproof.cluster.state import NodeCell, Phase, PodKind, WorkloadCell
from kubeproof.controllers.cluster_autoscaler.controller import ClusterAutoscalerController
from kubeproof.model.layout import make_layout, mentions
from tests.property.strategies import selector_for

GIB = 2**30
DUE = (0, 0, 0)


def machine(name: str, *, zone: str = "a", cpu: int = 1000, gib: int = 4, **more) -> Node:
    """A node of a zone."""
    return Node(name, as_labels({HOSTNAME: name, ZONE: zone}), cpu_milli=cpu, memory_bytes=gib * GIB, **more)


def pods(
    name: str, replicas: int = 1, *, cpu: int = 600, gib: int = 1, kind: str = DEPLOYMENT, namespace="shop", **more
):
    """A workload whose pods request so much."""
    template = PodTemplate((("app", name),), (Container("main", cpu, gib * GIB),), **more)
    return Workload(kind, namespace, name, template, replicas, selector_for(name))


def cluster(nodes: Sequence[Node], workloads: Sequence[Workload], *groups: NodeGroup, more=None, **flags) -> Setup:
    """A setup with node groups; without any, one of up to three nodes like the first."""
    some = groups or (NodeGroup("web", 1, 3, nodes[0]),)
    setup = replace(Setup(tuple(nodes), tuple(workloads)), **(more or {}))
    return with_groups(setup, ClusterAutoscaler(some, **flags))


def layout_of(setup: Setup) -> Layout:
    """Every node a place of its own."""
    return make_layout(setup, mentions(setup, (), (), ()), merge=False)


def running(*counts: tuple[int, int], phase: int = Phase.READY) -> NodeCell:
    """A node with so many pods of each workload."""
    return NodeCell(pods=tuple((PodKind(workload, int(phase)), count) for workload, count in counts))


class Scene:
    """The autoscaler of a setup, asked about cells."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.controller = ClusterAutoscalerController(layout_of(setup), 0)

    def seen(self, cells: Sequence[NodeCell], unbound: Sequence[int] = (), memory: tuple[int, ...] = DUE) -> Seen:
        """What it is shown; nodes beyond the cells given are slots that nobody has filled."""
        slots = [NodeCell(health=4)] * (len(self.setup.nodes) - len(cells))
        shown = [show_node_to(self.controller, place, cell) for place, cell in enumerate([*cells, *slots])]
        waiting = [*unbound, *[0] * (len(self.setup.workloads) - len(unbound))]
        workloads = tuple(
            self.controller.show_workload(w, WorkloadCell(desired=self.setup.workloads[w].replicas, unbound=n))
            for w, n in enumerate(waiting)
        )
        return Seen(workloads, tuple(((view, 1),) if view is not None else () for view in shown), (memory,))

    def does(self, cells: Sequence[NodeCell], unbound: Sequence[int] = (), memory: tuple[int, ...] = DUE):
        """What a round may do: per outcome the verbs with the names of their nodes."""
        decisions = self.controller.act(self.seen(cells, unbound, memory))
        return {self._told(decision.actions) for decision in decisions}

    def _told(self, actions) -> tuple[tuple[str, str], ...]:
        changes = [action for action in actions if isinstance(action, NodeChange)]
        return tuple(sorted((change.verb, self.setup.nodes[change.node.place].name) for change in changes))

    def memory_after(self, cells: Sequence[NodeCell], unbound: Sequence[int] = (), memory: tuple[int, ...] = DUE):
        """What it remembers after the only thing that a round may do."""
        (decision,) = self.controller.act(self.seen(cells, unbound, memory))
        (remembered,) = [action for action in decision.actions if isinstance(action, Remember)]
        return remembered.value
