"""Why pods are not let in: by the API server, and by the kubelet of the node that they name."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.loops.inaction import Field, Idle, Rule, Trouble, pod_field
from kubeproof.cluster.said import Said
from kubeproof.cluster.steering.quotas import ResourceQuota

NOT_LET_IN = Rule(
    "admission-refuses",
    "A quota or limit range of the namespace lets no further pod in; the loop tries again and again in vain.",
    "plugin/pkg/admission/resourcequota",
    (Trouble.MISSING,),
)
REJECTS = Rule(
    "kubelet-rejects",
    "A pod that names its node (spec.nodeName) passes by the scheduler; the kubelet rejects it if it does not fit or "
    "may not run there. It fails for good, and its controller creates another one at once.",
    "pkg/kubelet/lifecycle/predicate.go",
    (Trouble.REJECTED,),
)
RULES = (NOT_LET_IN, REJECTS)


def why_refused(ref: str, reason: Said, quotas: Sequence[ResourceQuota] = ()) -> Idle:
    """Pods of a workload that the API server does not let in; the quotas are those of its namespace."""
    named = [one for one in quotas if f"ResourceQuota {one.name} " in reason]
    what = " and ".join(f"ResourceQuota/{one.namespace}/{one.name}" for one in named) or f"what it runs into ({reason})"
    change = f"raise {what}, or let {ref} ask for less"
    hard = tuple(Field(f"ResourceQuota/{one.namespace}/{one.name}", "spec.hard") for one in named)
    fields = (*hard, pod_field(ref, "containers"))
    return Idle(NOT_LET_IN, f"tries in vain: {reason}", change, object=ref, fields=fields)


def why_rejected(node: str, count: int, ref: str, reason: str) -> Idle:
    """Why a kubelet takes no pods that name its node."""
    says = f"of {node} rejects {count} pod(s) that name it (spec.nodeName): {reason or 'they may not run there'}"
    change = f"let the scheduler place the pods of {ref}: nodeSelector or node affinity in place of nodeName"
    return Idle(REJECTS, says, change, (("rejected", count),), ref, (pod_field(ref, "nodeName"),))
