"""Persistent volumes, claims and storage classes, and which volume a claim may get.

Mirrors `FindMatchingVolume` of `k8s.io/component-helpers/storage/volume` and the provisioning check of the scheduler's
volume binder. A claim that waits for its first consumer gets its volume in the moment its first pod is bound; one that
does not, from the volume controller. From then on both keep it for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from kubeproof.cluster.labels import Labels, LabelSelector, NodeTerm, Requirement
from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.objects import HOSTNAME, ZONE, Setup, Source
from kubeproof.values import dataclass

NO_PROVISIONER = "kubernetes.io/no-provisioner"
ONCE, ONCE_PER_POD = "ReadWriteOnce", "ReadWriteOncePod"
# Node labels that say where a volume of these provisioners can be reached, the first that a node has.
REACH = {
    "ebs.csi.aws.com": ("topology.ebs.csi.aws.com/zone", ZONE),
    "pd.csi.storage.gke.io": ("topology.gke.io/zone", ZONE),
    "disk.csi.azure.com": ("topology.disk.csi.azure.com/zone", ZONE),
    "cinder.csi.openstack.org": ("topology.cinder.csi.openstack.org/zone", ZONE),
    "kubernetes.io/aws-ebs": (ZONE,),
    "kubernetes.io/gce-pd": (ZONE,),
    "kubernetes.io/azure-disk": (ZONE,),
    "rancher.io/local-path": (HOSTNAME,),
}
# Provisioners of volumes that no node attaches: a second node mounts them as the first did, whatever the claim says.
NEVER_ATTACHED = frozenset(
    {
        "efs.csi.aws.com",
        "file.csi.azure.com",
        "k8s.io/minikube-hostpath",
        "nfs.csi.k8s.io",
        "rancher.io/local-path",
    }
)


@dataclass(frozen=True, slots=True)
class Volume:
    """A PersistentVolume."""

    name: str
    capacity: int = 0  # bytes
    storage_class: str = ""
    modes: tuple[str, ...] = ()
    is_block: bool = False
    terms: tuple[NodeTerm, ...] | None = None  # nodes that reach it; None: all
    labels: Labels = ()
    claim: str = ""  # namespace/name of the claim that it is kept for
    attaches: bool = True  # one node at a time, where it is mounted once
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Claim:
    """A PersistentVolumeClaim."""

    namespace: str
    name: str
    request: int = 0  # bytes
    storage_class: str = ""
    modes: tuple[str, ...] = ()
    is_block: bool = False
    selector: LabelSelector | None = None
    volume: str = ""  # name of the volume that it is bound to
    is_kept: bool = False  # one pod mounts it, and keeps it attached to its node until it is gone: nobody else starts
    source: Source = field(default=Source(), compare=False)

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


Topologies = tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]  # alternatives, each of (label, values)


@dataclass(frozen=True, slots=True)
class StorageClass:
    """A StorageClass."""

    name: str
    provisioner: str
    waits: bool = False  # volumeBindingMode WaitForFirstConsumer
    topologies: Topologies = ()  # allowedTopologies; empty: all
    is_default: bool = False
    source: Source = field(default=Source(), compare=False)

    @property
    def provisions(self) -> bool:
        return self.provisioner not in ("", NO_PROVISIONER)

    def reach(self, labels: Mapping[str, str]) -> Labels:
        """The node labels that bind a volume made for such a node; empty if it is reached from everywhere."""
        keys = sorted({key for term in self.topologies for key, _ in term})
        if not keys:
            keys = [key for key in REACH.get(self.provisioner, ()) if key in labels][:1]
        return tuple((key, labels[key]) for key in keys if key in labels)

    def allows(self, labels: Mapping[str, str]) -> bool:
        """True if a volume may be made for such a node."""
        if not self.topologies:
            return True
        return any(all(labels.get(key) in values for key, values in term) for term in self.topologies)

    @property
    def labels_read(self) -> frozenset[str]:
        """The node labels that decide about its volumes."""
        return frozenset(key for term in self.topologies for key, _ in term) | frozenset(
            REACH.get(self.provisioner, ())
        )


def class_of(setup: Setup, claim: Claim) -> StorageClass | None:
    """The claim's class; None without one, or if the input does not have it."""
    return next((one for one in setup.storage_classes if one.name == claim.storage_class), None)


def is_unknown(setup: Setup, claim: Claim) -> bool:
    """True if an unbound claim's class is not in the input: its volume is taken as there, reached from everywhere."""
    return not claim.volume and bool(claim.storage_class) and class_of(setup, claim) is None


def is_reached(volume: Volume, labels: Mapping[str, str]) -> bool:
    """True if a node with these labels reaches the volume; node names do not count."""
    return volume.terms is None or any(term.matches(labels, "") for term in volume.terms)


def find_claim(setup: Setup, namespace: str, name: str) -> Claim | None:
    """The claim by its name."""
    return next((one for one in setup.claims if (one.namespace, one.name) == (namespace, name)), None)


def find_volume(setup: Setup, name: str) -> Volume | None:
    """The volume by its name."""
    return next((one for one in setup.volumes if one.name == name), None)


# -- which volume a claim gets ----------------------------------------------------------------------


def suitable(setup: Setup, claim: Claim, labels: Mapping[str, str] | None, taken: frozenset[str]) -> list[Volume]:
    """The smallest of the free volumes that the claim can have, all that are equally small.

    With `labels` only those that such a node reaches. A volume kept for the claim is the only one in question.
    """
    kept = [volume for volume in setup.volumes if volume.claim == claim.key and _is_large(volume, claim)]
    kept = [volume for volume in kept if volume.storage_class == claim.storage_class and volume.name not in taken]
    if kept:
        return [volume for volume in kept[:1] if labels is None or is_reached(volume, labels)]
    used = taken | {other.volume for other in setup.claims}
    free = [v for v in setup.volumes if not v.claim and v.name not in used and fits(v, claim)]
    if labels is not None:
        free = [volume for volume in free if is_reached(volume, labels)]
    least = min((volume.capacity for volume in free), default=0)
    return [volume for volume in free if volume.capacity == least]


def _is_large(volume: Volume, claim: Claim) -> bool:
    return volume.capacity >= claim.request and volume.is_block == claim.is_block


def fits(volume: Volume, claim: Claim) -> bool:
    """True if a volume that is kept for nobody can be the claim's."""
    return (
        _is_large(volume, claim)
        and volume.storage_class == claim.storage_class
        and set(claim.modes) <= set(volume.modes)
        and (claim.selector is None or claim.selector.matches(dict(volume.labels)))
    )


def provision(setup: Setup, claim: Claim, labels: Mapping[str, str]) -> Volume | None:
    """The volume that is provisioned for the claim when its pod goes to such a node; None if none can be."""
    found = class_of(setup, claim)
    if found is None or not found.provisions or not found.allows(labels):
        return None
    reach = found.reach(labels)
    where = ",".join(value for _, value in reach)
    terms = (NodeTerm(tuple(Requirement(key, "In", (value,)) for key, value in reach)),) if reach else None
    name = f"provisioned for {claim.key}" + (f" in {where}" if where else "")
    attaches = found.provisioner not in NEVER_ATTACHED
    return Volume(name, claim.request, claim.storage_class, claim.modes, claim.is_block, terms, (), claim.key, attaches)


def is_attached_once(setup: Setup, claim: Claim) -> bool:
    """True if the claim's volume may be one that is attached to one node at a time, as far as the input shows."""
    if claim.modes != (ONCE,):
        return False
    if claim.volume:
        volume = find_volume(setup, claim.volume)
        return volume is None or volume.attaches
    own, is_contested = _find_declared(setup, claim)
    made = [one for node in setup.nodes if (one := provision(setup, claim, node.label_map)) is not None]
    is_open = not made and (is_contested or not own)
    return is_open or any(volume.attaches for volume in (*own, *made))


def _find_declared(setup: Setup, claim: Claim) -> tuple[list[Volume], bool]:
    """The declared volumes that the claim may get, and whether other claims may take them all before it."""
    kept = [one for one in suitable(setup, claim, None, frozenset()) if one.claim]
    if kept:
        return kept, False
    free = [one for one in setup.volumes if not one.claim and fits(one, claim)]
    others = [one for one in setup.claims if one.key != claim.key]
    others += [template for workload in setup.workloads for template in workload.claim_templates]
    return free, any(fits(volume, other) for volume in free for other in others)


# -- claims whose volume is decided during a run ----------------------------------------------------


CHOSEN = MemoryKind("claim", Holds.VOLUME)  # which volume an open claim got; 0: none yet


def open_claims(setup: Setup) -> tuple[int, ...]:
    """The claims that pods use and that get their volume during the run."""
    used = {(w.namespace, name) for w in setup.workloads for name in w.template.claims}
    return tuple(
        index
        for index, claim in enumerate(setup.claims)
        if (claim.namespace, claim.name) in used and not claim.volume and not is_unknown(setup, claim)
    )


def possible_volumes(setup: Setup) -> tuple[Volume, ...]:
    """All volumes that a run may know: declared ones, then those that may be provisioned."""
    made: dict[str, Volume] = {}
    for index in open_claims(setup):
        for node in setup.nodes:
            volume = provision(setup, setup.claims[index], node.label_map)
            if volume is not None:
                made[volume.name] = volume
    return (*setup.volumes, *(made[name] for name in sorted(made)))


def with_bindings(setup: Setup, bound: tuple[int, ...]) -> Setup:
    """The setup with the open claims bound to possible volumes, numbered from 1; 0 leaves a claim open."""
    possible = possible_volumes(setup)
    claims = list(setup.claims)
    made = []
    for index, number in zip(open_claims(setup), bound, strict=True):
        if number:
            volume = possible[number - 1]
            claims[index] = replace(claims[index], volume=volume.name)
            made += [volume] if number > len(setup.volumes) else []
    return replace(setup, claims=tuple(claims), volumes=(*setup.volumes, *made))


def ways_to_bind(setup: Setup, waiting: tuple[Claim, ...], labels: Mapping[str, str]) -> Iterator[tuple[Volume, ...]]:
    """Every choice of volumes for a pod's claims on such a node, smallest claims first; none if it cannot go there.

    A pod that mounts one claim twice asks for two volumes, as upstream does.
    """
    order = sorted(range(len(waiting)), key=lambda position: waiting[position].request)
    for chosen in _ways(setup, [waiting[position] for position in order], labels, frozenset()):
        placed = dict(zip(order, chosen, strict=True))
        yield tuple(placed[position] for position in range(len(waiting)))


def _ways(
    setup: Setup, claims: list[Claim], labels: Mapping[str, str], taken: frozenset[str]
) -> Iterator[tuple[Volume, ...]]:
    if not claims:
        yield ()
        return
    volumes = suitable(setup, claims[0], labels, taken)
    if not volumes:
        made = provision(setup, claims[0], labels)
        volumes = [made] if made is not None else []
    for volume in volumes:
        for rest in _ways(setup, claims[1:], labels, taken | {volume.name}):
            yield (volume, *rest)
