"""NodeUnschedulable: cordoned nodes are refused."""

from __future__ import annotations

from kubeproof.cluster.labels import Taint, tolerates_all
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import Judging, NodeView, Rejection, declare_filter, of_nodes

UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable")
REJECTION = of_nodes("were unschedulable", unresolvable=True)


class NodeUnschedulable:
    """Mirrors `plugins/nodeunschedulable`, same in all versions: reads spec.unschedulable, not taints."""

    def reject(self, view: NodeView) -> Rejection | None:
        return REJECTION if view.unschedulable else None


@declare_filter(Judging.NODE, change="uncordon {nodes}, or add a node for {ref}")
def build_filter(pod: IncomingPod) -> NodeUnschedulable | None:
    """The filter, or None for a pod that tolerates the taint of cordoned nodes."""
    return None if tolerates_all(pod.template.tolerations, (UNSCHEDULABLE_TAINT,)) else NodeUnschedulable()
