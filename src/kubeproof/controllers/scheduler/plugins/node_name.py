"""NodeName: a pod that names its node fits there only."""

from __future__ import annotations

from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import Judging, NodeView, Rejection, declare_filter, of_nodes

REJECTION = of_nodes("didn't match the requested node name", unresolvable=True)


class NodeName:
    """Mirrors `plugins/nodename`, same in all versions.

    Pods with a node name never reach the scheduler's queue; the kubelet and simulators use the check.
    """

    def __init__(self, node_name: str) -> None:
        self._node_name = node_name

    def reject(self, view: NodeView) -> Rejection | None:
        return None if view.node.name == self._node_name else REJECTION


@declare_filter(Judging.NODE, change="let {ref} name another node, or none", field="nodeName")
def build_filter(pod: IncomingPod) -> NodeName | None:
    """The filter, or None for a pod that names no node."""
    return NodeName(pod.template.node_name) if pod.template.node_name else None
