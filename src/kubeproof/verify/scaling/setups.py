"""The sizes of a sweep in the order in which they are tried, and why some need no verification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from kubeproof.cluster.objects import Node, Setup, Workload
from kubeproof.cluster.scale import Limit, NodeScale, Scale, WorkloadScale
from kubeproof.controllers.scheduler.requests import allocatable, pod_requests
from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import Create
from kubeproof.manifests.loaded import Loaded
from kubeproof.values import replace
from kubeproof.verify.resize import Size

MOST_SIZES = 100_000


def all_sizes(scale: Scale, limit: Limit | None, setup: Setup) -> tuple[Size, ...]:
    """All sizes within the ranges and the limit: by nodes in all, then by pods in all, then by the single numbers.

    A limit bounds the nodes of each kind, and the pods of all growing workloads by the nodes there are. Sizes
    without nodes or without pods do not count. More than 100,000 sizes are refused.
    """
    found = list(islice(_every(scale, limit, setup), MOST_SIZES + 1))
    if len(found) > MOST_SIZES:
        raise _refuse(scale, f"stands for more than {MOST_SIZES:,} sizes", "Narrow its ranges")
    kinds = [node.like for node in scale.nodes]
    refs = [workload.target for workload in scale.workloads]
    return tuple(
        Size(tuple(zip(kinds, counts, strict=True)), tuple(zip(refs, pods, strict=True)))
        for _, _, counts, pods in sorted(found)
    )


def _every(
    scale: Scale, limit: Limit | None, setup: Setup
) -> Iterator[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
    """What sizes are sorted by: nodes in all, pods in all, nodes of each kind, pods of each workload."""
    for counts in product(*(_node_range(node, limit, scale) for node in scale.nodes)):
        nodes: int = sum(counts) if scale.nodes else sum(not node.is_slot for node in setup.nodes)
        if not nodes:
            continue
        most = None if limit is None else limit.pods_per_node * nodes
        for pods in product(*(_pod_range(workload, most, scale) for workload in scale.workloads)):
            total = sum(pods)
            if (most is None or total <= most) and (not scale.workloads or total > 0):
                yield sum(counts), total, counts, pods


def _node_range(node: NodeScale, limit: Limit | None, scale: Scale) -> range:
    return range(node.least, _least_of(node.most, None if limit is None else limit.nodes, node.like, scale) + 1)


def _pod_range(workload: WorkloadScale, most: int | None, scale: Scale) -> range:
    return range(workload.least, _least_of(workload.most, most, workload.target, scale) + 1)


def _least_of(declared: int | None, limit: int | None, what: str, scale: Scale) -> int:
    bounds = [bound for bound in (declared, limit) if bound is not None]
    if not bounds:
        raise _refuse(scale, f"gives {what} no max", "Add max, or a limit")
    return min(bounds)


def _refuse(scale: Scale, problem: str, remedy: str) -> ScenarioError:
    return ScenarioError(f"spec.scale {problem}", file=scale.source.file, line=scale.source.line, remedy=remedy)


def why_trivial(loaded: Loaded) -> str:
    """Why a sized input needs no verification, "" if it does: its pods cannot all run at once by their requests.

    Counted are the replicas that the workloads begin with, workload by workload on nodes that hold nothing but it
    and the pods bound to them, then all together against the sum of the nodes. So pods that are held not to fit
    really do not, whatever the rest of the input says.
    """
    events = loaded.scenario.events
    absent = {event.target for event in events if isinstance(event, Create)}  # perhaps they never come
    setup = replace(loaded.setup, workloads=tuple(w for w in loaded.setup.workloads if w.ref not in absent))
    if not setup.nodes:
        return "no nodes"
    if loaded.setup.workloads and not any(w.replicas or w.rules.runs_per_node for w in loaded.setup.workloads):
        return "no pods"
    for workload in setup.workloads:
        room = _room_for(setup, workload)
        if not workload.bound_to and workload.replicas > room:
            return f"{workload.ref}: {workload.replicas} pods, and by requests the nodes hold {room}"
    return _overfull(setup)


def _room_for(setup: Setup, workload: Workload) -> int:
    """How many pods of the workload the nodes hold; a template that names its node fits there only."""
    named = workload.template.node_name
    nodes = [node for node in setup.nodes if named in (None, node.name)]
    return sum(_room_on(setup, node, workload) for node in nodes)


def _room_on(setup: Setup, node: Node, workload: Workload) -> int:
    """How many pods of the workload fit on a node beside the bare pods that already run there."""
    version = setup.settings.kubernetes_version
    free, slots = allocatable(node), node.pods
    for rider in setup.workloads:
        if rider.bound_to == node.name:
            slots -= 1
            for resource, amount in pod_requests(rider.template, version).true.items():
                free[resource] = free.get(resource, 0) - amount
    wanted = pod_requests(workload.template, version).true
    limits = [free[resource] // amount for resource, amount in wanted.items() if amount and resource in free]
    return max(0, min([slots, *limits]))


def _overfull(setup: Setup) -> str:
    """Why all workloads together cannot run: they request more of something than all nodes have."""
    have: dict[str, int] = {}
    for node in setup.nodes:
        for resource, amount in allocatable(node).items():
            have[resource] = have.get(resource, 0) + amount
    want = _demand(setup.workloads, setup.settings.kubernetes_version)
    for resource in sorted(want.keys() & have.keys()):
        if want[resource] > have[resource]:
            return f"all pods request {want[resource]} of {resource}, and the nodes have {have[resource]}"
    return ""


def _demand(workloads: Sequence[Workload], version: tuple[int, int]) -> dict[str, int]:
    want: dict[str, int] = {}
    for workload in workloads:
        for resource, amount in pod_requests(workload.template, version).true.items():
            want[resource] = want.get(resource, 0) + amount * workload.replicas
    return want
