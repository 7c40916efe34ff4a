"""NodePorts: a pod that takes ports of its node fits where they are free."""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import HostPort, PodTemplate, Setup
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import Judging, NodeView, Rejection, declare_filter, of_nodes

SIDECAR_PORTS_SINCE = versions.SIDECAR_PORTS.since
EVERY_ADDRESS = HostPort(0).ip
REJECTION = of_nodes("didn't have free ports for the requested pod ports", unresolvable=False)


def host_ports(template: PodTemplate, version: tuple[int, int]) -> frozenset[HostPort]:
    """The ports that a pod takes while it runs; those of init containers that end do not count."""
    sidecars = [container for container in template.init_containers if container.restartable_init]
    counted = (*template.containers, *(sidecars if version >= SIDECAR_PORTS_SINCE else ()))
    return frozenset(port for container in counted for port in container.host_ports)


def conflict(wanted: Iterable[HostPort], taken: Iterable[HostPort]) -> bool:
    """True if a wanted port is taken; an address conflicts with itself and with all addresses."""
    return any(
        (one.port, one.protocol) == (other.port, other.protocol)
        and (one.ip == other.ip or EVERY_ADDRESS in (one.ip, other.ip))
        for one in wanted
        for other in taken
    )


def rivals(setup: Setup, workload: int) -> frozenset[int]:
    """The workloads whose pods hold a port that pods of this one want, often itself among them."""
    version = setup.settings.kubernetes_version
    wanted = host_ports(setup.workloads[workload].template, version)
    if not wanted:
        return frozenset()
    others = enumerate(setup.workloads)
    return frozenset(i for i, other in others if conflict(wanted, host_ports(other.template, version)))


class NodePorts:
    """Mirrors `plugins/nodeports`; terminating pods hold their ports until they are gone."""

    def __init__(self, rivals: frozenset[int]) -> None:
        self._rivals = rivals

    def reject(self, view: NodeView) -> Rejection | None:
        taken = any(pod.workload in self._rivals and pod.alive + pod.terminating > 0 for pod in view.pods)
        return REJECTION if taken else None


@declare_filter(
    Judging.PODS,
    change="let {ref} do without the port of the node (hostPort, hostNetwork), taken on {nodes}, or add a node",
    field="containers",
)
def build_filter(pod: IncomingPod) -> NodePorts | None:
    """The filter, or None (upstream's Skip) for a pod that takes no port of its node."""
    found = rivals(pod.setup, pod.index)
    return NodePorts(found) if found else None
