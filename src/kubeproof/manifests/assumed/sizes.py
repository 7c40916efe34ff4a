"""How large assumed nodes are, and how many: what fails on them is the manifests' fault, not the assumption's.

Nodes are so large that each of them takes every pod that may ever be there at once, whatever the others have: no
order of placing pods, no drain and no loss of a zone lacks room. Where no usual node is that large, as many are
assumed as take all pods although a zone is lost; but if pods may preempt others and one pod alone is too large for
usual nodes, these are made to measure. Pods that keep apart get a node each, and one to spare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kubeproof.cluster.objects import HOSTNAME, ZONE, Container, PodTemplate, Setup, SpreadConstraint, Workload
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.cluster.steering.vertical import VerticalPodAutoscaler
from kubeproof.controllers.scheduler.plugins.node_ports import rivals
from kubeproof.controllers.scheduler.plugins.pod_terms import workloads_meant
from kubeproof.controllers.scheduler.requests import pod_requests
from kubeproof.manifests.kinds.nodes import DEFAULT_PODS
from kubeproof.model.expansion.cron import MOST_PLACES
from kubeproof.named_tuples import NamedTuple

GIB = 2**30
SHAPES = tuple((cores * 1000, cores * 4 * GIB) for cores in (4, 8, 16, 32, 64, 96, 128, 192))  # CPU and memory
ROOMY_MILLI = 64_000  # larger ones only where one pod needs them
POD_LIMITS, USUAL_LIMITS = (DEFAULT_PODS, 250, 500, 1000), 2  # of which managed clusters allow the first
MOST_MEASURED = 10  # times the largest pod, of a node that is made to measure
MEASURED_MILLI, MEASURED_BYTES = 16_000, 64 * GIB  # nodes made to measure have a multiple of it
DEVICES = (1, 2, 4, 8, 16)  # accelerators of one kind that a node usually has
ACCELERATORS = ("gpu", "tpu", "nvidia.com/", "amd.com/", "neuron")  # parts of their names
FEW_NODES = 6
MAX_ZONES = 6  # no usual region has more
MAX_ASSUMED = 300
MAX_COUNTED = 2_000  # pods of one workload; a larger one asks for MAX_ASSUMED nodes anyway, or for tiny pods
PODS, CPU, MEMORY, DISK = "pods", "cpu", "memory", "ephemeral-storage"
DISK_BYTES = 100 * GIB  # of a small node; larger ones have two, four, ... times as much
Amounts = Mapping[str, int]


class Size(NamedTuple):
    """The nodes of one pool: how many there are, and what each has."""

    nodes: int
    cpu_milli: int
    memory_bytes: int
    pods: int
    others: tuple[tuple[str, int], ...]


class _Group(NamedTuple):
    """The pods of one workload: what each requests, and how many there are."""

    requests: Amounts
    lasting: int  # with those that a rollout adds
    most: int  # with those that still terminate


class _Demand(NamedTuple):
    """What the workloads of one pool ask for."""

    groups: tuple[_Group, ...]
    daemons: Amounts  # requests of the daemon pods that every node has
    together: Amounts  # everything that may be there at once, daemon pods of a rollout, and the largest pod once more
    may_preempt: bool  # who lacks room may take that of others
    apart: int  # nodes that pods need which keep apart, wherever the others are


def size_pool(setup: Setup, guests: Sequence[int], zones: int, named: int) -> Size:
    """The nodes for workloads that may run there, at least as many as are named, and as many in each zone."""
    demand = _demand(setup, guests)
    roomy = _one_for_all(demand)
    shape, needed = (roomy, 1) if roomy is not None else _several(demand)
    least = max(demand.apart, needed)
    count = zones
    while count < MAX_ASSUMED and (count < max(least + 1, named) or count - count // zones < least):
        count += zones  # one node to spare, and enough without a zone
    return Size(min(count, MAX_ASSUMED), shape[CPU], shape[MEMORY], shape[PODS], _others(shape))


def zones_needed(setup: Setup) -> int:
    """How many zones pods need that never share one, or whose constraints want that many."""
    apart = [w.replicas for i, w in enumerate(setup.workloads) if i in _find_repelled(setup, i, ZONE)]
    wanted = [c.min_domains for w in setup.workloads for c in w.template.spread if c.hard and c.topology_key == ZONE]
    return min(MAX_ZONES, max((*apart, *wanted), default=0))


# -- what is asked for ------------------------------------------------------------------------------


def _demand(setup: Setup, guests: Sequence[int]) -> _Demand:
    groups = tuple(_group(setup, setup.workloads[i]) for i in guests if not setup.workloads[i].rules.runs_per_node)
    daemons = _total((_requests(setup, w), 1) for i in guests if (w := setup.workloads[i]).rules.runs_per_node)
    largest = {name: max(group.requests.get(name, 0) for group in groups) for name in _names(groups)}
    everything = [*((group.requests, group.most) for group in groups), (daemons, 2), (largest, 1)]
    return _Demand(groups, daemons, _total(everything), has_priorities(setup), _nodes_apart(setup, guests))


def _names(groups: Iterable[_Group]) -> list[str]:
    return sorted({name for group in groups for name in group.requests})


def _group(setup: Setup, workload: Workload) -> _Group:
    size = _pods_of(setup, workload)
    lasting = size + min(MAX_COUNTED, workload.strategy.surge_of(size) if workload.rules.owns_replica_sets else 0)
    return _Group(_requests(setup, workload), lasting, lasting + size)


def _pods_of(setup: Setup, workload: Workload) -> int:
    """How many pods are asked for at most; of a CronJob by all Jobs that may be there at once."""
    scaled = [a.max_replicas for a in setup.autoscalers if a.target == workload.ref]
    size = max(workload.replicas, *scaled) if scaled else workload.replicas
    return min(MAX_COUNTED, size * (MOST_PLACES if workload.rules.starts_jobs else 1))


def _requests(setup: Setup, workload: Workload) -> Amounts:
    """What a pod requests, or may request where it is resized."""
    template = workload.template
    for autoscaler in setup.verticals:
        if autoscaler.target == workload.ref:
            template = _resize(template, autoscaler)
    return {**pod_requests(template, setup.settings.kubernetes_version).true, PODS: 1}


def _resize(template: PodTemplate, autoscaler: VerticalPodAutoscaler) -> PodTemplate:
    """The pods with the largest requests that the autoscaler says it may set."""

    def largest(container: Container) -> Container:
        most = dict(autoscaler.policy(container.name).most)
        cpu = max(container.cpu_milli or 0, most.get(CPU, 0)) or container.cpu_milli
        memory = max(container.memory_bytes or 0, most.get(MEMORY, 0)) or container.memory_bytes
        return replace(container, cpu_milli=cpu, memory_bytes=memory)

    return replace(template, containers=tuple(largest(container) for container in template.containers))


# -- who keeps apart --------------------------------------------------------------------------------


def _nodes_apart(setup: Setup, guests: Sequence[int]) -> int:
    """Nodes that the pods of any workload need if all pods that they keep apart from have a node each."""
    sizes = {i: _pods_of(setup, setup.workloads[i]) for i in guests if not setup.workloads[i].rules.runs_per_node}
    foes: dict[int, set[int]] = {i: set() for i in sizes}
    for one in sizes:
        for other in (_find_repelled(setup, one, HOSTNAME) | rivals(setup, one)) & sizes.keys():
            foes[one].add(other)
            foes[other].add(one)
    apart = [sum(sizes[f] for f in found) + (one not in found) for one, found in foes.items() if found]
    spread = [_hosts_to_spread(c, sizes[i]) for i in sizes for c in setup.workloads[i].template.spread]
    return max((*apart, *spread), default=0)


def _find_repelled(setup: Setup, workload: int, key: str) -> frozenset[int]:
    """The workloads whose pods are never in a domain with pods of this one."""
    terms = setup.workloads[workload].template.pod_anti_affinity.required
    return frozenset(other for t in terms if t.topology_key == key for other in workloads_meant(setup, workload, t))


def _hosts_to_spread(constraint: SpreadConstraint, size: int) -> int:
    """Nodes on which few pods are spread although some are lost: a lost node counts as an empty one."""
    if not constraint.hard or constraint.topology_key != HOSTNAME:
        return 0
    least = -(-size // constraint.max_skew)
    return max(constraint.min_domains, least if least <= FEW_NODES else 0)


# -- how large --------------------------------------------------------------------------------------


def _one_for_all(demand: _Demand) -> dict[str, int] | None:
    """The smallest usual node that takes all pods together; None if there is none."""
    devices = {name: _devices(amount) for name, amount in demand.together.items() if _is_device(name)}
    if any(amount > DEVICES[-1] for amount in devices.values()):
        return None
    count = demand.together.get(PODS, 0)
    usual = ((cpu, memory, _limit_pods(demand, count)) for cpu, memory in _list_roomy())
    measured = ((cpu, memory, _limit_pods(demand, 2 * count)) for cpu, memory in _measure(demand))
    for cpu, memory, pods in (*usual, *measured):
        shape = {**_plenty(demand), **devices, CPU: cpu, MEMORY: memory, PODS: pods}
        if _fits(demand.together, shape):
            return shape
    return None


def _limit_pods(demand: _Demand, count: int) -> int:
    limits = POD_LIMITS if demand.may_preempt else POD_LIMITS[:USUAL_LIMITS]
    return next((limit for limit in limits if count <= limit), limits[-1])


def _list_roomy() -> tuple[tuple[int, int], ...]:
    return tuple(shape for shape in SHAPES if shape[0] <= ROOMY_MILLI)


def _measure(demand: _Demand) -> tuple[tuple[int, int], ...]:
    """A node that takes everything twice, where no usual node takes the largest pod and others might be preempted.

    Not if that is out of all proportion to the largest pod.
    """
    if not demand.may_preempt:
        return ()
    least = _find_least(demand)
    needed = {name: 2 * demand.together.get(name, 0) for name in (CPU, MEMORY)}
    is_usual = any(_fits({name: least.get(name, 0) for name in needed}, {CPU: c, MEMORY: m}) for c, m in _list_roomy())
    shape = (_round_up(needed[CPU], MEASURED_MILLI), _round_up(needed[MEMORY], MEASURED_BYTES))
    largest = (
        max(SHAPES[-1][0], MOST_MEASURED * least.get(CPU, 0)),
        max(SHAPES[-1][1], MOST_MEASURED * least.get(MEMORY, 0)),
    )
    return () if is_usual or shape[0] > largest[0] or shape[1] > largest[1] else (shape,)


def _round_up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit


def _several(demand: _Demand) -> tuple[dict[str, int], int]:
    """Nodes that take the largest pod beside the daemons, and how many of them take all pods, none terminating."""
    least = _find_least(demand)
    devices = {name: max(DEVICES[-2], _devices(amount)) for name, amount in least.items() if _is_device(name)}
    shapes = [
        {**_plenty(demand), **devices, CPU: cpu, MEMORY: memory, PODS: DEFAULT_PODS}
        for cpu, memory in (*SHAPES, (max(SHAPES[-1][0], least.get(CPU, 0)), max(SHAPES[-1][1], least.get(MEMORY, 0))))
        if least.get(CPU, 0) <= cpu and least.get(MEMORY, 0) <= memory
    ]
    roomy = [shape for shape in shapes if shape[CPU] <= ROOMY_MILLI] or shapes[:1]
    return min(((shape, _nodes_for(demand, shape)) for shape in roomy), key=lambda found: found[1])


def _find_least(demand: _Demand) -> Amounts:
    """What a node needs for the largest pod beside the daemons."""
    largest = {name: max(group.requests.get(name, 0) for group in demand.groups) for name in _names(demand.groups)}
    return _total(((largest, 1), (demand.daemons, 1)))


def _nodes_for(demand: _Demand, shape: Amounts) -> int:
    """How many nodes take all pods: first fit, largest first."""
    empty = {name: amount - demand.daemons.get(name, 0) for name, amount in shape.items()}
    nodes: list[dict[str, int]] = []
    for group in sorted(demand.groups, key=_largest_first):
        left, number = group.lasting, 0
        while left and number < MAX_ASSUMED:
            if number == len(nodes):
                nodes.append(dict(empty))
            left -= _fill(nodes[number], group.requests, left)
            number += 1
    return len(nodes)


def _largest_first(group: _Group) -> tuple[int, int]:
    return -group.requests.get(MEMORY, 0), -group.requests.get(CPU, 0)


def _fill(room: dict[str, int], pod: Amounts, count: int) -> int:
    """How many of so many pods a node takes, whose room gets smaller by them."""
    taken = max(0, min([count, *(room.get(name, 0) // amount for name, amount in pod.items() if amount)]))
    for name in room:
        room[name] -= taken * pod.get(name, 0)
    return taken


def _fits(amounts: Amounts, room: Amounts) -> bool:
    return all(amount <= room.get(name, 0) for name, amount in amounts.items())


def _is_device(name: str) -> bool:
    """True for what a node has few of; of any other resource an assumed node has what is asked for."""
    return any(part in name for part in ACCELERATORS)


def _devices(amount: int) -> int:
    """The usual number of accelerators from this one on."""
    return next((usual for usual in DEVICES if usual >= amount), amount)


def _plenty(demand: _Demand) -> dict[str, int]:
    plenty = {name: amount for name, amount in demand.together.items() if not _is_device(name)}
    return plenty | ({DISK: _disk(plenty[DISK])} if plenty.get(DISK) else {})


def _disk(amount: int) -> int:
    """The usual size of a disk from this amount on."""
    size = DISK_BYTES
    while size < amount:
        size *= 2
    return size


def _others(shape: Amounts) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((n, amount) for n, amount in shape.items() if n not in (CPU, MEMORY, PODS) and amount))


def _total(amounts: Iterable[tuple[Amounts, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one, count in amounts:
        for name, amount in one.items():
            found[name] = found.get(name, 0) + amount * count
    return found
