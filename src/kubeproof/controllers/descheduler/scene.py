"""The cluster as one descheduling cycle sees it, with NodeFit.

NodeFit (`pkg/descheduler/node`) approximates the scheduler: selectors and required affinity, taints, requests,
number of pods, cordon. It knows nothing of spread constraints, of scores, or of pods that are about to come.
Pods' own required anti-affinity, which newest versions also look at, is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from kubeproof.cluster.objects import PodTemplate, Setup, Workload
from kubeproof.controllers.descheduler.arguments import parse_selector
from kubeproof.controllers.descheduler.values import NodeEntry, Version
from kubeproof.controllers.scheduler.plugins.node_affinity import required_affinity_matches
from kubeproof.controllers.scheduler.plugins.taint_toleration import keeps_pods_off
from kubeproof.controllers.scheduler.pod import pod_labels
from kubeproof.controllers.scheduler.protocol import PodCount, Usage
from kubeproof.controllers.scheduler.requests import allocatable, node_usage, pod_requests

PODS = "pods"


class Scene:
    """One cycle's input, with what the plugins ask again and again."""

    def __init__(
        self,
        setup: Setup,
        nodes: tuple[NodeEntry, ...],
        version: Version,
        unique_keys: frozenset[str],
        *,
        selector: str = "",
        unbound: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self.setup = setup
        self.entries = nodes
        self.unbound = unbound  # workload and number of pods without a node
        self.version = version
        self.unique_keys = unique_keys
        self.ready = self.ready_entries(selector)  # what plugins work on
        self._fits: dict[tuple[int, int], bool] = {}

    def workload(self, index: int) -> Workload:
        """The workload of a group."""
        return self.setup.workloads[index]

    def template(self, index: int) -> PodTemplate:
        """The pod template of a workload."""
        return self.setup.workloads[index].template

    def labels(self, index: int) -> dict[str, str]:
        """The labels of a workload's pods."""
        return pod_labels(self.setup, index)

    def ready_entries(self, selector: str) -> tuple[int, ...]:
        """The entries of ready nodes, cordoned or not, that match a node selector."""
        chosen = parse_selector(selector)
        return tuple(
            index
            for index, entry in enumerate(self.entries)
            if entry.is_ready and chosen.matches(dict(entry.node.labels))
        )

    def node_count(self, entries: Iterable[int]) -> int:
        """How many nodes the entries stand for."""
        return sum(self.entries[index].count for index in entries)

    @cached_property
    def usage(self) -> tuple[Usage, ...]:
        """What the pods of one node of each entry request: neither failed nor succeeded ones, but terminating ones."""
        version = self.setup.settings.kubernetes_version
        requests = tuple(pod_requests(workload.template, version) for workload in self.setup.workloads)
        return tuple(
            node_usage(tuple(PodCount(g.workload, g.pods, 0) for g in entry.pods if not g.failed), requests)
            for entry in self.entries
        )

    def matches_node(self, workload: int, entry: int) -> bool:
        """True if the pods' nodeSelector and required node affinity admit the node."""
        node = self.entries[entry].node
        return required_affinity_matches(self.template(workload), dict(node.labels), node.name)

    def tolerates(self, workload: int, entry: int) -> bool:
        """True if the pods tolerate the node's NoSchedule and NoExecute taints."""
        return not keeps_pods_off(self.entries[entry].taints, self.template(workload).tolerations)

    def lets_in(self, workload: int, entry: int) -> bool:
        """NodeFit without resources, as upstream judges the node that the pod is on."""
        if self.entries[entry].unschedulable:
            return False
        return self.matches_node(workload, entry) and self.tolerates(workload, entry)

    def has_room(self, workload: int, entry: int) -> bool:
        """True if another pod's requests fit beside those of the pods that are there."""
        node, usage = self.entries[entry].node, self.usage[entry]
        if usage.pods >= node.pods:
            return False
        requests = pod_requests(self.template(workload), self.setup.settings.kubernetes_version).true
        free = allocatable(node)
        return all(
            amount <= free[name] - usage.requested.get(name, 0) if name in free else amount <= 0
            for name, amount in requests.items()
        )

    def fits(self, workload: int, entry: int) -> bool:
        """NodeFit on a node that the pod is not on."""
        key = (workload, entry)
        if key not in self._fits:
            self._fits[key] = self.lets_in(workload, entry) and self.has_room(workload, entry)
        return self._fits[key]

    def fits_another(self, workload: int, home: int, targets: Iterable[int]) -> bool:
        """True if a pod on a node of `home` fits some other node of the targets."""
        return any(
            self.fits(workload, target) for target in targets if target != home or self.entries[target].count > 1
        )

    def fits_any(self, workload: int, home: int, targets: Iterable[int]) -> bool:
        """As `fits_another`, with the pod's own node counted, without looking at resources there."""
        chosen = tuple(targets)
        return (home in chosen and self.lets_in(workload, home)) or self.fits_another(workload, home, chosen)
