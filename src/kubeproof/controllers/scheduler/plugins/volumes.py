"""VolumeBinding, VolumeZone and VolumeRestrictions: a pod goes where its volumes can be reached.

Mirror `plugins/volumebinding`, `plugins/volumezone` and `plugins/volumerestrictions`. What claims are bound to is part
of the setup that a plugin is built for; `kubeproof.cluster.volumes.with_bindings` makes it. Limits of volumes per node,
storage capacity and the disks of in-tree volume types are left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import REGION, ZONE, Setup
from kubeproof.cluster.volumes import (
    ONCE_PER_POD,
    Claim,
    Volume,
    class_of,
    find_claim,
    find_volume,
    is_reached,
    is_unknown,
    ways_to_bind,
)
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import (
    MAX_NODE_SCORE,
    Advice,
    Judging,
    NodeView,
    Refused,
    Rejection,
    declare_filter,
    of_nodes,
    round_half_away,
)

VOLUME_RESTRICTIONS, VOLUME_BINDING, VOLUME_ZONE = "VolumeRestrictions", "VolumeBinding", "VolumeZone"
ONCE_PER_POD_SINCE = versions.ONCE_PER_POD.since
BETA_IS_STABLE_SINCE = versions.BETA_IS_STABLE.since
SCORES_SINCE = versions.STORAGE_SCORES.since
NEW_WORDS_SINCE = versions.NEW_WORDS.since
BETA_LABELS = {"failure-domain.beta.kubernetes.io/zone": ZONE, "failure-domain.beta.kubernetes.io/region": REGION}
ZONE_LABELS = (*BETA_LABELS, ZONE, REGION)

UNREACHED = "didn't match PersistentVolume's node affinity"
UNREACHED_BEFORE = "had volume node affinity conflict"
NO_VOLUME = "didn't find available persistent volumes to bind"
UNBOUND = Rejection("pod has unbound immediate PersistentVolumeClaims", unresolvable=True)
OTHER_ZONE = of_nodes("had no available volume zone", unresolvable=True)
IN_USE = of_nodes(
    "unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    unresolvable=False,
)
KEPT = of_nodes("would wait for a ReadWriteOnce volume that another pod keeps attached elsewhere", unresolvable=True)


def claims_of(setup: Setup, workload: int) -> tuple[Claim | None, ...]:
    """The claims that the workload's pods use; None for those that do not exist."""
    own = setup.workloads[workload]
    return tuple(find_claim(setup, own.namespace, name) for name in own.template.claims)


def waiting_claims(setup: Setup, workload: int) -> tuple[Claim, ...]:
    """The claims that get their volume when a pod of the workload is bound."""
    return tuple(
        claim for claim in claims_of(setup, workload) if claim is not None and not claim.volume and _waits(setup, claim)
    )


def _waits(setup: Setup, claim: Claim) -> bool:
    found = class_of(setup, claim)
    return found is not None and found.waits


class Nowhere:
    """Refuses every node."""

    def __init__(self, rejection: Rejection) -> None:
        self._rejection = rejection

    def reject(self, view: NodeView) -> Rejection | None:
        return self._rejection


class JudgesEachNode(ABC):
    """A filter that comes after one that compares nodes, and so takes the same form."""

    @abstractmethod
    def judge(self, view: NodeView) -> Rejection | None:
        """Why the node is refused, or None."""

    def observe(self, view: NodeView) -> Rejection | None:
        return self.judge(view)

    def prefilter(self, facts: Sequence[Rejection | None], counts: Sequence[int]) -> None:  # noqa: B027
        """Nothing is compared; all filters of this kind keep it so."""

    def reject(self, state: None, fact: Rejection | None) -> Rejection | None:
        return fact

    def explain(self, state: None, fact: Rejection | None) -> str:
        """Nothing beyond the reason."""
        return ""


class VolumeBinding(JudgesEachNode):
    """Bound volumes must be reached from the node; claims that wait must find a volume there, or get one made."""

    def __init__(self, setup: Setup, bound: Sequence[Volume], waiting: tuple[Claim, ...], unreached: str) -> None:
        self._setup = setup
        self._bound = tuple(bound)
        self._waiting = waiting
        self._unreached = unreached

    def judge(self, view: NodeView) -> Rejection | None:
        reasons = []
        if not all(is_reached(volume, view.labels) for volume in self._bound):
            reasons.append(self._unreached)
        if self._waiting and next(ways_to_bind(self._setup, self._waiting, view.labels), None) is None:
            reasons.append(NO_VOLUME)
        return of_nodes(", node(s) ".join(reasons), unresolvable=True) if reasons else None


def barrier(pod: IncomingPod) -> tuple[str, Nowhere] | None:
    """What keeps the pod off every node whatever the nodes are like, with the plugin that says so in PreFilter."""
    claims = claims_of(pod.setup, pod.index)
    for name, claim in zip(pod.template.claims, claims, strict=True):
        if claim is None:
            plugin = VOLUME_RESTRICTIONS if pod.version >= ONCE_PER_POD_SINCE else VOLUME_BINDING
            return plugin, Nowhere(
                Rejection(f'persistentvolumeclaim "{name}" not found', unresolvable=True, lacks_claim=True)
            )
    if any(_is_pending(pod.setup, claim) for claim in claims if claim is not None):
        return VOLUME_BINDING, Nowhere(UNBOUND)
    return None


def _is_pending(setup: Setup, claim: Claim) -> bool:
    """True for a claim that the volume controller has to bind first."""
    return not claim.volume and not is_unknown(setup, claim) and not _waits(setup, claim)


def _reach(one: Refused) -> Advice:
    back = f"bring {one.down} back, or " if one.down else ""
    return Advice(f"{back}let {one.ref} use storage that {one.nodes} can reach ({one.details})", one.at("volumes"))


@declare_filter(Judging.VOLUMES, change=_reach)
def build_binding(pod: IncomingPod) -> VolumeBinding | None:
    """The filter, or None (upstream's Skip) for a pod without claims."""
    claims = [claim for claim in claims_of(pod.setup, pod.index) if claim is not None]
    bound = [found for claim in claims if claim.volume and (found := find_volume(pod.setup, claim.volume)) is not None]
    waiting = waiting_claims(pod.setup, pod.index)
    unreached = UNREACHED if pod.version >= NEW_WORDS_SINCE else UNREACHED_BEFORE
    return VolumeBinding(pod.setup, bound, waiting, unreached) if bound or waiting else None


class SmallerShares:
    """Nodes where the pod's claims fill their volumes less score higher; volumes yet to be made do not count."""

    normalises = False

    def __init__(self, setup: Setup, waiting: tuple[Claim, ...]) -> None:
        self._setup = setup
        self._waiting = waiting

    def score(self, view: NodeView) -> int:
        chosen = next(ways_to_bind(self._setup, self._waiting, view.labels), ())
        sizes: dict[str, list[int]] = {}
        for claim, volume in zip(self._waiting, chosen, strict=False):
            if volume in self._setup.volumes:
                both = sizes.setdefault(claim.storage_class, [0, 0])
                both[0] += claim.request
                both[1] += volume.capacity
        shares = [MAX_NODE_SCORE - request * 100 // capacity for request, capacity in sizes.values() if capacity]
        return round_half_away(sum(shares) / len(shares)) if shares else 0

    def normalise(self, scores: list[int]) -> list[int]:
        return scores


def build_score(pod: IncomingPod) -> SmallerShares | None:
    """The score, or None before 1.37 and for a pod without claims that wait."""
    waiting = waiting_claims(pod.setup, pod.index)
    return SmallerShares(pod.setup, waiting) if waiting and pod.version >= SCORES_SINCE else None


class VolumeZone(JudgesEachNode):
    """Zone and region labels of bound volumes must be the node's, if the node has such labels at all."""

    def __init__(self, wanted: Sequence[tuple[str, frozenset[str]]], *, translates: bool) -> None:
        self._wanted = tuple(wanted)
        self._stable = BETA_LABELS if translates else {}

    def judge(self, view: NodeView) -> Rejection | None:
        if not any(key in view.labels for key in ZONE_LABELS):
            return None
        for key, values in self._wanted:
            value = view.labels.get(key, view.labels.get(self._stable.get(key, key)))
            if value not in values:
                return OTHER_ZONE
        return None


def zones_of(volume: Volume) -> list[tuple[str, frozenset[str]]]:
    """The zone and region labels of a volume; several values are joined by two underscores."""
    return [(key, frozenset(value.split("__"))) for key, value in volume.labels if key in ZONE_LABELS]


@declare_filter(Judging.VOLUMES, change=_reach)
def build_zone(pod: IncomingPod) -> VolumeZone | None:
    """The filter, or None if no bound volume of the pod has such labels."""
    claims = (claim for claim in claims_of(pod.setup, pod.index) if claim is not None and claim.volume)
    volumes = (find_volume(pod.setup, claim.volume) for claim in claims)
    wanted = [zone for volume in volumes if volume is not None for zone in zones_of(volume)]
    return VolumeZone(wanted, translates=pod.version >= BETA_IS_STABLE_SINCE) if wanted else None


class OncePerPod:
    """A claim for one pod only keeps all other pods off every node while a pod has it."""

    def __init__(self, users: frozenset[int], rejection: Rejection) -> None:
        self._users, self._rejection = users, rejection

    def observe(self, view: NodeView) -> bool:
        return any(pod.workload in self._users and pod.alive + pod.terminating > 0 for pod in view.pods)

    def prefilter(self, facts: Sequence[bool], counts: Sequence[int]) -> bool:
        return any(facts)

    def reject(self, state: bool, fact: bool) -> Rejection | None:
        return self._rejection if state else None

    def explain(self, state: bool, fact: bool) -> str:
        """Nothing beyond the reason."""
        return ""


@declare_filter(
    Judging.VOLUMES,
    change="give each pod of {ref} a claim of its own, or let the old pod go first",
    field="volumes",
)
def build_restrictions(pod: IncomingPod) -> OncePerPod | None:
    """The filter, or None if the pod has no claim for one pod only.

    A volume that stays attached is no matter of the real plugin: the pod would get a node, and wait there in
    ContainerCreating. Who asks for the pod sees no difference, and no pod of its own is there beside it.
    """
    claims = [claim for claim in claims_of(pod.setup, pod.index) if claim is not None]
    held = {claim.key for claim in claims if ONCE_PER_POD in claim.modes and pod.version >= ONCE_PER_POD_SINCE}
    own = held | {claim.key for claim in claims if claim.is_kept}
    users = frozenset(
        number
        for number in range(len(pod.setup.workloads))
        if any(claim is not None and claim.key in own for claim in claims_of(pod.setup, number))
    )
    return OncePerPod(users, IN_USE if held else KEPT) if users else None
