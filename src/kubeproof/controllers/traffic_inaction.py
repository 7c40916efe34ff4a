"""Why traffic goes where it should not: proxies that learn late, hooks that do not wait for them, shares by node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.inaction import Field, Idle, Rule, Trouble, pod_field
from kubeproof.cluster.objects import Workload
from kubeproof.cluster.services import Service
from kubeproof.cluster.state import PUBLISHED

LEARNT_LATE = Rule(
    "proxies-learn-late",
    "A deleted pod leaves the endpoints at once, but every proxy and every Ingress controller learns it with a delay. "
    "Nothing waits for them: without a preStop hook the containers are told to stop at the same moment.",
    "pkg/controller/endpointslice",
    (Trouble.TRAFFIC,),
)
STILL_PUBLISHED = Rule(
    "unready-are-published",
    "With publishNotReadyAddresses a pod stays published until it is gone; and where a Service has no ready pod, "
    "proxies send to terminating ones.",
    "pkg/proxy/topology.go",
    (Trouble.TRAFFIC,),
)
SPLIT_BY_NODE = Rule(
    "split-by-node",
    "With externalTrafficPolicy Local every node that has a ready pod gets the same share, however many pods it has.",
    "pkg/proxy/topology.go",
    (Trouble.PLACES,),
)
RULES = (LEARNT_LATE, STILL_PUBLISHED, SPLIT_BY_NODE)


def why_still_routed(declared: Workload, pod: str, route_s: int) -> Idle:
    """Why a pod that was told to stop still gets traffic."""
    hook_s = declared.template.pre_stop_s
    if route_s > 0:
        hook = f"a preStop hook of {hook_s} s" if hook_s else "no preStop hook"
        says = f"may go on sending to {pod} for {route_s} s, and its containers are told to stop before ({hook})"
        change = (
            f"let a preStop hook of {declared.ref} sleep for {hook_s + route_s} s or more (lifecycle.preStop.sleep), "
            "within the grace period"
        )
        numbers = (("left in s", route_s), ("preStop in s", hook_s))
        fields = (pod_field(declared.declared_as, "containers"),)
        return Idle(LEARNT_LATE, says, change, numbers, declared.ref, fields)
    told = "publishNotReadyAddresses" if route_s == PUBLISHED else "no ready pod is left"
    change = f"keep a ready pod of {declared.declared_as} beside {pod}"
    return Idle(STILL_PUBLISHED, f"go on sending to {pod}: {told}", change, object=declared.ref)


def why_uneven(service: Service, nodes: Sequence[tuple[str, int]]) -> Iterator[Idle]:
    """Why pods get different loads; of each node with ready pods, how many."""
    told = ", ".join(f"{name} has {count}" for name, count in nodes)
    if len({count for _, count in nodes}) > 1:
        says = f"of Service/{service.namespace}/{service.name} split traffic by node, whatever pods are there: {told}"
        change = f"write externalTrafficPolicy: Cluster in Service/{service.namespace}/{service.name}"
        fields = (Field(f"Service/{service.namespace}/{service.name}", "spec.externalTrafficPolicy"),)
        yield Idle(SPLIT_BY_NODE, f"{says} (externalTrafficPolicy: Local)", change, tuple(nodes), fields=fields)
