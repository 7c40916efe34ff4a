"""The nodes that are assumed where the input has none: which labels, taints, zones and names they have.

A pool is assumed for the workloads that any node suits, and one more for each set of node labels that workloads ask
for. How large and how many nodes are is another module's: `assumed_sizes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubeproof.cluster.labels import NO_SCHEDULE, NodeTerm, Requirement, Taint, Toleration, as_labels, tolerates_all
from kubeproof.cluster.objects import HOSTNAME, REGION, ZONE, PodTemplate, Setup, Workload
from kubeproof.manifests.assumed.node_pools import ARCH, ASSUMED_REGION, OS, ZONE_NAMES, Pool
from kubeproof.manifests.assumed.sizes import MAX_ZONES, size_pool, zones_needed
from kubeproof.manifests.validation.names import is_dns_subdomain, is_label_value

USUAL = {OS: "linux", ARCH: "amd64"}
FORMER = {"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64"}  # names that kubelets still set, too
FORMER_REGION = "failure-domain.beta.kubernetes.io/region"
WELL_KNOWN = "node.kubernetes.io/"  # taints that controllers set, not people
Labels = tuple[tuple[str, str], ...]


def assume_pools(setup: Setup) -> tuple[Pool, ...]:
    """The pools that suit the workloads of the input."""
    zones = _zones(setup)
    former, domains = _former_labels(setup), _domain_keys(setup)
    names = _names(setup)
    pools = []
    for labels, workloads in _groups(setup).items():
        taints = _taints(workloads) if labels else ()
        guests = [i for i, w in enumerate(setup.workloads) if w in workloads or _may_run(w.template, labels, taints)]
        own = names.pop(labels, ())
        size = size_pool(setup, guests, len(zones), len(own))
        pools.append(
            Pool(
                count=size.nodes,
                cpu_milli=size.cpu_milli,
                memory_bytes=size.memory_bytes,
                pods=size.pods,
                others=size.others,
                zones=zones,
                labels=labels,
                taints=taints,
                names=own,
                former=former,
                zone_keys=domains,
            )
        )
    return tuple(pools)


# -- which nodes ------------------------------------------------------------------------------------


def _groups(setup: Setup) -> dict[Labels, list[Workload]]:
    """The workloads by the node labels that they ask for; those that any node suits come first.

    A DaemonSet that any node suits asks for no node of its own: it runs on all of them.
    """
    found: dict[Labels, list[Workload]] = {(): []}
    for workload in setup.workloads:
        labels = _collect_wanted_labels(workload.template)
        found.setdefault(labels, []).append(workload)
    if not found[()] and len(found) > 1:
        del found[()]
    return found


def _collect_wanted_labels(template: PodTemplate) -> Labels:
    """The labels that a node needs so that the pods may run on it, beyond those that all nodes have."""
    wanted = {**_from_terms(template.required_terms or ()), **dict(template.node_selector)}
    return as_labels(
        {key: value for key, value in wanted.items() if key not in (HOSTNAME, ZONE) and _is_unusual(key, value)}
    )


def _is_unusual(key: str, value: str) -> bool:
    return {**USUAL, **FORMER}.get(key) != value


def _may_run(template: PodTemplate, labels: Labels, taints: tuple[Taint, ...]) -> bool:
    """True unless the labels, names and zones aside, or the taints keep the pods away from such nodes."""
    here = {**USUAL, **FORMER, **dict(labels)}
    if any(here.get(key) != value for key, value in template.node_selector if key not in (HOSTNAME, ZONE)):
        return False
    terms = [[r for r in term.expressions if r.key not in (HOSTNAME, ZONE)] for term in template.required_terms or ()]
    suits = not terms or any(all(r.matches(here) for r in term) for term in terms)
    return suits and tolerates_all(template.tolerations, taints)


def _former_labels(setup: Setup) -> Labels:
    """Labels under the names that they once had, where the input reads them."""
    read = {key for w in setup.workloads for key in _keys_read(w.template)}
    return as_labels({key: value for key, value in {**FORMER, FORMER_REGION: ASSUMED_REGION}.items() if key in read})


def _keys_read(template: PodTemplate) -> Iterator[str]:
    yield from (key for key, _ in template.node_selector)
    yield from (r.key for term in template.required_terms or () for r in term.expressions)
    yield from (r.key for preferred in template.preferred_terms for r in preferred.term.expressions)
    yield from _topology_keys(template)


def _topology_keys(template: PodTemplate) -> Iterator[str]:
    yield from (constraint.topology_key for constraint in template.spread)
    yield from sorted(template.pod_affinity.topology_keys | template.pod_anti_affinity.topology_keys)


def _domain_keys(setup: Setup) -> tuple[str, ...]:
    """Keys of domains that only the input knows, racks or the former name of zones: each zone is one domain."""
    read = {key for w in setup.workloads for key in _topology_keys(w.template)}
    return tuple(sorted(read - {HOSTNAME, ZONE, REGION, FORMER_REGION, *USUAL, *FORMER}))


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
    """The zones that the input names, filled up to three, or to as many as pods need that keep apart."""
    terms = [term for w in setup.workloads for term in w.template.required_terms or ()]
    terms += [term for volume in setup.volumes for term in volume.terms or ()]
    named = [
        value for term in terms for r in term.expressions if r.key == ZONE and r.operator == "In" for value in r.values
    ]
    named += [dict(w.template.node_selector)[ZONE] for w in setup.workloads if ZONE in dict(w.template.node_selector)]
    named += [dict(volume.labels)[ZONE] for volume in setup.volumes if ZONE in dict(volume.labels)]
    distinct = list(dict.fromkeys(named))
    usual = (*ZONE_NAMES, *(f"zone-{chr(ord('a') + number)}" for number in range(len(ZONE_NAMES), MAX_ZONES)))
    others = [name for name in usual if name not in distinct]
    return (*distinct, *others[: max(0, max(len(ZONE_NAMES), zones_needed(setup)) - len(distinct))])


def _names(setup: Setup) -> dict[Labels, tuple[str, ...]]:
    """The names of nodes that the input speaks of, by pool."""
    found: dict[Labels, list[str]] = {}
    for workload in setup.workloads:
        template = workload.template
        named = [workload.bound_to, template.node_name, dict(template.node_selector).get(HOSTNAME)]
        named += [value for term in template.required_terms or () for value in _hosts(term)]
        found.setdefault(_collect_wanted_labels(template), []).extend(name for name in named if name)
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
