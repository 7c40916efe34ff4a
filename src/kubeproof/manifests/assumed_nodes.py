"""The nodes that are assumed where the input has none: as many, and as large, as its pods ask for.

A pool is assumed for the workloads that any node suits, and one more for each set of node labels that workloads ask
for. A node takes the largest pod beside the daemon pods; all pods fit on the nodes even if one of them is lost, and a
rollout's additional pods with them. Pods that keep apart get a node each, and one to spare.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kubeproof.cluster.labels import NO_SCHEDULE, NodeTerm, Requirement, Taint, Toleration, as_labels
from kubeproof.cluster.objects import DAEMON_SET, HOSTNAME, ZONE, PodTemplate, Setup, Workload
from kubeproof.controllers.scheduler.requests import pod_requests
from kubeproof.manifests.names import is_dns_subdomain, is_label_value
from kubeproof.manifests.node_pools import ARCH, OS, ZONE_NAMES, Pool

GIB = 2**30
SHAPES = tuple((cores * 1000, cores * 4 * GIB) for cores in (4, 8, 16, 32, 64, 96, 128, 192))  # CPU and memory
FEW_NODES = 6  # rather larger nodes than more of them, up to ROOMY cores
ROOMY_MILLI = 16_000
MAX_ASSUMED = 300
MAX_COUNTED = 2_000  # pods of one workload; a larger one asks for MAX_ASSUMED nodes anyway, or for tiny pods
PODS = "pods"
USUAL = {OS: "linux", ARCH: "amd64"}
WELL_KNOWN = "node.kubernetes.io/"  # taints that controllers set, not people
Amounts = Mapping[str, int]
Labels = tuple[tuple[str, str], ...]


class _Demand(NamedTuple):
    """What the workloads of one pool ask for."""

    pods: tuple[Amounts, ...]  # requests of every pod, those of rollouts counted
    daemons: Amounts  # requests of the daemon pods that every node has
    apart: int  # pods that never share a node with each other, at most


def assume_pools(setup: Setup) -> tuple[Pool, ...]:
    """The pools that suit the workloads of the input."""
    zones = _zones(setup)
    groups = _groups(setup)
    names = _names(setup)
    pools = []
    for labels, workloads in groups.items():
        demand = _demand(setup, workloads, _daemons(setup, labels))
        pools.append(_sized(demand, zones, labels, _taints(workloads) if labels else (), names.pop(labels, ())))
    return tuple(pools)


# -- which nodes ------------------------------------------------------------------------------------


def _groups(setup: Setup) -> dict[Labels, list[Workload]]:
    """The workloads by the node labels that they ask for; those that any node suits come first.

    A DaemonSet that any node suits asks for no node of its own: it runs on all of them.
    """
    found: dict[Labels, list[Workload]] = {(): []}
    for workload in setup.workloads:
        labels = _wanted_labels(workload.template)
        found.setdefault(labels, []).append(workload)
    if not found[()] and len(found) > 1:
        del found[()]
    return found


def _wanted_labels(template: PodTemplate) -> Labels:
    """The labels that a node needs so that the pods may run on it, beyond those that all nodes have."""
    wanted = {**_from_terms(template.required_terms or ()), **dict(template.node_selector)}
    return as_labels(
        {key: value for key, value in wanted.items() if key not in (HOSTNAME, ZONE) and _is_unusual(key, value)}
    )


def _is_unusual(key: str, value: str) -> bool:
    return USUAL.get(key) != value


def _from_terms(terms: Sequence[NodeTerm]) -> dict[str, str]:
    """Labels that satisfy the first of the terms, which are alternatives."""
    found = {}
    for requirement in terms[0].expressions if terms else ():
        value = _satisfying(requirement)
        if value is not None:
            found[requirement.key] = value
    return found


def _satisfying(requirement: Requirement) -> str | None:
    """A value that the requirement admits; None if it admits a node without the label."""
    key, operator, values = requirement.key, requirement.operator, requirement.values
    if operator == "In":
        return USUAL[key] if USUAL.get(key) in values else values[0]
    if operator == "Exists":
        return USUAL.get(key, "true" if "/" not in key else "")
    if operator in ("Gt", "Lt"):
        beside = str(int(values[0]) + (1 if operator == "Gt" else -1))
        return beside if is_label_value(beside) else None  # no label is a number below zero: nothing satisfies it
    return None


def _taints(workloads: Sequence[Workload]) -> tuple[Taint, ...]:
    """The taints that people put on such nodes: those that all pods which ask for them tolerate by key, for ever."""
    sets = [
        {(t.key, t.effect or NO_SCHEDULE, t.value) for t in w.template.tolerations if _is_lasting(t)} for w in workloads
    ]
    common = set.intersection(*sets) if sets else set()
    values = {(key, effect): value for key, effect, value in sorted(common)}  # a node has one taint of a key and effect
    return tuple(Taint(key, value, effect) for (key, effect), value in values.items())


def _is_lasting(toleration: Toleration) -> bool:
    """True if it is for a taint that people set, and pods are not evicted after a while all the same."""
    return bool(toleration.key) and not toleration.key.startswith(WELL_KNOWN) and toleration.seconds is None


def _zones(setup: Setup) -> tuple[str, ...]:
    """The zones that the input names, filled up to three."""
    terms = [term for w in setup.workloads for term in w.template.required_terms or ()]
    terms += [term for volume in setup.volumes for term in volume.terms or ()]
    named = [
        value for term in terms for r in term.expressions if r.key == ZONE and r.operator == "In" for value in r.values
    ]
    named += [dict(w.template.node_selector)[ZONE] for w in setup.workloads if ZONE in dict(w.template.node_selector)]
    named += [dict(volume.labels)[ZONE] for volume in setup.volumes if ZONE in dict(volume.labels)]
    distinct = list(dict.fromkeys(named))
    return (*distinct, *ZONE_NAMES[: max(0, len(ZONE_NAMES) - len(distinct))])


def _names(setup: Setup) -> dict[Labels, tuple[str, ...]]:
    """The names of nodes that the input speaks of, by pool."""
    found: dict[Labels, list[str]] = {}
    for workload in setup.workloads:
        template = workload.template
        named = [workload.bound_to, template.node_name, dict(template.node_selector).get(HOSTNAME)]
        named += [value for term in template.required_terms or () for value in _hosts(term)]
        found.setdefault(_wanted_labels(template), []).extend(name for name in named if name)
    volumes = [value for volume in setup.volumes for term in volume.terms or () for value in _hosts(term)]
    first = next(iter(_groups(setup)))
    found.setdefault(first, []).extend(volumes)
    return _each_once(found)


def _each_once(found: Mapping[Labels, Sequence[str]]) -> dict[Labels, tuple[str, ...]]:
    """Every name that a node can have, in the pool with the most labels that asks for it: it suits the others, too."""
    owners: dict[str, Labels] = {}
    for labels in sorted(found, key=len):
        owners |= dict.fromkeys(filter(is_dns_subdomain, found[labels]), labels)
    return {
        labels: tuple(name for name in dict.fromkeys(names) if owners.get(name) == labels)
        for labels, names in found.items()
    }


def _hosts(term: NodeTerm) -> Iterator[str]:
    for requirement in (*term.expressions, *term.fields):
        if requirement.key in (HOSTNAME, "metadata.name") and requirement.operator == "In":
            yield from requirement.values


# -- how large, and how many ------------------------------------------------------------------------


def _daemons(setup: Setup, labels: Labels) -> Amounts:
    """What the daemon pods on one node of the pool request together."""
    here = [w for w in setup.workloads if w.kind == DAEMON_SET and set(_wanted_labels(w.template)) <= set(labels)]
    return _total(_requests(setup, workload) for workload in here)


def _demand(setup: Setup, workloads: Sequence[Workload], daemons: Amounts) -> _Demand:
    largest = {a.target: a.max_replicas for a in setup.autoscalers}
    pods: list[Amounts] = []
    sizes = [
        (one, min(MAX_COUNTED, max(one.replicas, largest.get(one.ref, 0))))
        for one in workloads
        if one.kind != DAEMON_SET
    ]
    for workload, size in sizes:
        pods += [_requests(setup, workload)] * (size + min(MAX_COUNTED, _surge(workload, size)))
    alone = [(one, size) for one, size in sizes if _keeps_apart(one, one)]
    apart = [sum(size for other, size in alone if _keeps_apart(one, other)) for one, _ in alone]
    return _Demand(tuple(pods), daemons, max(apart, default=0))


def _requests(setup: Setup, workload: Workload) -> Amounts:
    return {**pod_requests(workload.template, setup.settings.kubernetes_version).true, PODS: 1}


def _surge(workload: Workload, size: int) -> int:
    """How many pods a rollout adds."""
    strategy = workload.strategy
    if workload.kind != "Deployment" or not strategy.rolling:
        return 0
    return -(-strategy.max_surge * size // 100) if strategy.surge_percent else strategy.max_surge


def _keeps_apart(one: Workload, other: Workload) -> bool:
    """True if no node takes a pod of each; it does not matter who of them repels the other."""
    ports = [{(p.port, p.protocol) for c in each.template.containers for p in c.host_ports} for each in (one, other)]
    return bool(ports[0] & ports[1]) or _repels(one, other) or _repels(other, one)


def _repels(one: Workload, other: Workload) -> bool:
    if one.namespace != other.namespace:
        return False
    labels, terms = dict(other.template.labels), one.template.pod_anti_affinity.required
    return any(t.topology_key == HOSTNAME and t.selector is not None and t.selector.matches(labels) for t in terms)


def _sized(
    demand: _Demand, zones: tuple[str, ...], labels: Labels, taints: tuple[Taint, ...], names: tuple[str, ...]
) -> Pool:
    """The smallest nodes that few of are enough; beyond ROOMY cores only where one pod needs more."""
    fitting = [shape for shape in SHAPES if all(_fits(pod, demand.daemons, shape) for pod in demand.pods)]
    shapes = fitting or [_exact(demand)]
    roomy = [shape for shape in shapes if shape[0] <= ROOMY_MILLI] or shapes[:1]
    chosen = next((shape for shape in roomy if _nodes_for(demand, shape) < FEW_NODES), roomy[-1])
    least = max(_nodes_for(demand, chosen), demand.apart) + 1  # one to spare
    count = min(MAX_ASSUMED, -(-max(least, len(names)) // len(zones)) * len(zones))
    return Pool(
        count=count,
        cpu_milli=chosen[0],
        memory_bytes=chosen[1],
        others=_others(demand),
        zones=zones,
        labels=labels,
        taints=taints,
        names=names,
    )


def _fits(pod: Amounts, daemons: Amounts, shape: tuple[int, int]) -> bool:
    both = _total((pod, daemons))
    return both.get("cpu", 0) <= shape[0] and both.get("memory", 0) <= shape[1]


def _exact(demand: _Demand) -> tuple[int, int]:
    """A node for the largest pod, where no usual one is large enough."""
    both = [_total((pod, demand.daemons)) for pod in demand.pods]
    cpu, memory = SHAPES[-1]
    return max(cpu, *(b.get("cpu", 0) for b in both)), max(memory, *(b.get("memory", 0) for b in both))


def _nodes_for(demand: _Demand, shape: tuple[int, int]) -> int:
    """How many nodes take all pods: first fit, largest first."""
    room = {"cpu": shape[0], "memory": shape[1], PODS: 110}
    empty = {name: amount - demand.daemons.get(name, 0) for name, amount in room.items()}
    nodes: list[dict[str, int]] = []
    for pod in sorted(demand.pods, key=lambda one: (one.get("memory", 0), one.get("cpu", 0)), reverse=True):
        place = next((node for node in nodes if all(node[n] >= pod.get(n, 0) for n in node)), None)
        if place is None:
            place = dict(empty)
            nodes.append(place)
        for name in place:
            place[name] -= pod.get(name, 0)
    return len(nodes)


def _others(demand: _Demand) -> tuple[tuple[str, int], ...]:
    """Extended resources: each node has what all pods ask for together."""
    total = _total((*demand.pods, demand.daemons))
    return tuple(sorted((n, amount) for n, amount in total.items() if n not in ("cpu", "memory", PODS) and amount))


def _total(amounts: Iterable[Amounts]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in amounts:
        for name, amount in one.items():
            found[name] = found.get(name, 0) + amount
    return found
