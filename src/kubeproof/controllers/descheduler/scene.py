"""The cluster as one descheduling cycle sees it, with NodeFit.

NodeFit (`pkg/descheduler/node`) approximates the scheduler: selectors and required affinity, taints, requests,
number of pods, cordon, since 0.30 the pod's own required anti-affinity to pods of that node. It knows nothing of
spread constraints, of scores, of other nodes of a domain, or of pods that are about to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from kubeproof.cluster.api import versions
from kubeproof.cluster.nodes.near_nodes import agree_monotone
from kubeproof.cluster.objects import Node, PodTemplate, PodTerm, Setup, Workload
from kubeproof.controllers.descheduler.arguments import parse_selector
from kubeproof.controllers.descheduler.values import NodeEntry, Version
from kubeproof.controllers.scheduler.plugins.node_affinity import required_affinity_matches
from kubeproof.controllers.scheduler.plugins.pod_terms import workloads_meant
from kubeproof.controllers.scheduler.plugins.taint_toleration import keeps_pods_off
from kubeproof.controllers.scheduler.pod import pod_labels
from kubeproof.controllers.scheduler.protocol import PodCount, Usage
from kubeproof.controllers.scheduler.requests import PodRequests, allocatable, node_usage, pod_requests

PODS = "pods"
ANTI_AFFINITY_SINCE = versions.ANTI_AFFINITY.since
SIDECARS_SINCE = versions.COUNTED_SIDECARS.since


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
            index for index, entry in enumerate(self.entries) if entry.is_ready and chosen.matches(entry.node.label_map)
        )

    def node_count(self, entries: Iterable[int]) -> int:
        """How many nodes the entries stand for."""
        return sum(self.entries[index].count for index in entries)

    @cached_property
    def usage(self) -> tuple[Usage, ...]:
        """What the pods of one node of each entry request: neither failed nor succeeded ones, but terminating ones."""
        return tuple(
            node_usage(tuple(PodCount(g.workload, g.pods, 0) for g in entry.pods if not g.failed), self._requests)
            for entry in self.entries
        )

    @cached_property
    def _requests(self) -> tuple[PodRequests, ...]:
        version = self.setup.settings.kubernetes_version
        if self.version < SIDECARS_SINCE:
            version = min(version, versions.SIDECARS.newest_without)
        return tuple(pod_requests(workload.template, version) for workload in self.setup.workloads)

    def requests(self, workload: int) -> Mapping[str, int]:
        """What one pod of the workload requests, overhead included."""
        return self._requests[workload].true

    def matches_node(self, workload: int, entry: int) -> bool:
        """True if the pods' nodeSelector and required node affinity admit the node."""
        node = self.entries[entry].node
        return required_affinity_matches(self.template(workload), node.label_map, node.name)

    def tolerates(self, workload: int, entry: int) -> bool:
        """True if the pods tolerate the node's NoSchedule and NoExecute taints."""
        return not keeps_pods_off(self.entries[entry].taints, self.template(workload).tolerations)

    def lets_in(self, workload: int, entry: int) -> bool:
        """NodeFit without resources, as upstream judges the node that the pod is on."""
        return self._admits(workload, entry) and not self._keeps_out(workload, entry, already_there=1)

    def _admits(self, workload: int, entry: int) -> bool:
        if self.entries[entry].unschedulable:
            return False
        return self.matches_node(workload, entry) and self.tolerates(workload, entry)

    def _keeps_out(self, workload: int, entry: int, *, already_there: int) -> bool:
        """True if pods of the node, terminating ones too, are meant by the pod's required anti-affinity.

        The node must have a term's topology key, whatever its value; namespace selectors are not looked at.
        """
        terms = self.template(workload).pod_anti_affinity.required
        if self.version < ANTI_AFFINITY_SINCE or not terms:
            return False
        keys = {key for key, _ in self.entries[entry].node.labels}
        return any(self._others(workload, term, entry, already_there) for term in terms if term.topology_key in keys)

    def _others(self, workload: int, term: PodTerm, entry: int, already_there: int) -> int:
        """How many pods of the node a term means, the pod itself not counted."""
        meant = workloads_meant(self.setup, workload, replace(term, namespace_selector=None))
        found = sum(g.pods for g in self.entries[entry].pods if g.workload in meant and not g.failed)
        return found - (already_there if workload in meant else 0)

    def has_room(self, workload: int, entry: int) -> bool:
        """True if another pod's requests fit beside those of the pods that are there."""
        node, usage = self.entries[entry].node, self.usage[entry]
        if usage.pods >= node.pods:
            return False

        def fits_beside(size: Node) -> bool:
            free = allocatable(size)
            return all(
                amount <= free[name] - usage.requested.get(name, 0) if name in free else amount <= 0
                for name, amount in self.requests(workload).items()
            )

        return agree_monotone(node, fits_beside)

    def fits(self, workload: int, entry: int) -> bool:
        """NodeFit on a node that the pod is not on."""
        key = (workload, entry)
        if key not in self._fits:
            is_allowed = self._admits(workload, entry) and not self._keeps_out(workload, entry, already_there=0)
            self._fits[key] = is_allowed and self.has_room(workload, entry)
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
