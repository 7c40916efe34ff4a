"""What reading the input gives: a setup, a scenario, and everything that was left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from kubeproof.cluster.api.versions import Rule
from kubeproof.cluster.objects import Setup, Source
from kubeproof.cluster.running import NamedPod, RunningPods
from kubeproof.cluster.scale import Scale
from kubeproof.cluster.wiring import Wiring
from kubeproof.events.declarations import Event
from kubeproof.events.quantities import QuantifySettings
from kubeproof.intents.declarations import Intent
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.events.workload import WorkloadSpec
    from kubeproof.intents.library.service_levels import ServiceLevel
    from kubeproof.manifests.assumed.node_pools import Pool

RUNNING = "running"
ASSUMED_NODES = "assumed nodes"  # the key of a scope that tells of them
SKIPPED, DUPLICATE, REFUSED, LEFT_ASIDE, NAMED, NAMESPACE = "R001", "R002", "R003", "R004", "R005", "R006"
READING_NOTES = {  # permanent, as the IDs of properties
    SKIPPED: "a file that holds no manifests is left out",
    DUPLICATE: "the same object twice, of which the last counts",
    REFUSED: "a file or object that cannot be used is left out",
    LEFT_ASIDE: "one of several variants of the same cluster is left out",
    NAMED: "an object without a name gets one",
    NAMESPACE: "a namespace that nobody states is taken to be default",
}


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A field that the Kubernetes API does not have."""

    owner: str  # "Deployment/shop/web" as far as the text has it
    path: str
    close: str = ""  # the field that may be meant
    place: str = ""  # where a field of exactly this name would belong


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk that pods name without a claim."""

    source: str  # "gcePersistentDisk": how the volume is written
    name: str  # empty: not told, so that it may be any
    is_read_only: bool


class Sort(StrEnum):
    """What things that are not modelled have in common."""

    KIND = "kind"
    FIELD = "field"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Group:
    """Things that are not modelled for one reason: objects of a kind, fields of a name, or others in a sentence."""

    sort: Sort
    name: str  # "ServiceAccount", "startupProbe"; of others the sentence

    def __str__(self) -> str:
        return self.name if self.sort == Sort.OTHER else f"{self.sort} {self.name}"


@dataclass(frozen=True, slots=True)
class Omission:
    """Something in the input that the model does not take into account."""

    what: str  # "field spec.template.spec.hostNetwork of Deployment/shop/web", "kind Service"
    source: Source
    why: str = "not modelled"  # empty: it is, from the rule's version on
    rule: Rule | None = None  # of a field that the API server drops before a version
    touches: tuple[str, ...] = ()  # patterns of the workloads (Kind/namespace/name) about which it may decide
    unknown: UnknownField | None = None  # of a field that the API does not have
    group: Group | None = None  # what it has in common with others
    close: str = ""  # of an object: the kind that may be meant
    is_checked: bool = False  # checks tell of it, so that reports with checks do not tell it twice
    owner: str = ""  # Kind/namespace/name of the object that has it
    is_bounded: bool = False  # it changes but how many pods the object has, never to more than it declares
    is_priority: bool = False  # it decides but who goes first, and whose pods make room for others
    is_restart: bool = False  # it decides but what becomes of containers that exit
    disk: Disk | None = None  # that pods on one node may be at odds about


@dataclass(frozen=True, slots=True)
class ReadingNote:
    """Something about the input as it was read: what was left out or assumed, where, and why.

    An `error` stands for what no API server would store, and the verdicts do not speak of it; a `warning` for what is
    hardly meant; a `note` for the rest.
    """

    id: str  # of READING_NOTES
    severity: str  # "error", "warning", "note"
    what: str  # "Deployment/shop/web", "3 files"
    why: str  # the reason; of what is refused, what to do about it
    source: Source
    also: tuple[Source, ...] = ()  # further places it speaks of
    is_unrendered: bool = False  # what was left out may hold objects of any kind once it is rendered


@dataclass(frozen=True, slots=True)
class Ignore:
    """An annotation `ignore.kubeproof.dev/ID: reason` of an object."""

    ref: str  # "Deployment/shop/web", "Scenario/name"
    id: str  # as written: ID or key of a property
    reason: str
    source: Source


@dataclass(frozen=True, slots=True)
class Start:
    """Where a run begins: `empty`, `deployed`, an exact placement, or `running` with the pods of the input."""

    mode: str = "empty"
    placement: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()  # workload ref -> (node, pods)
    pods: tuple[RunningPods, ...] = ()  # of `running`

    def spots(self) -> Iterator[tuple[str, str]]:
        """Every workload with every node that it has pods on."""
        yield from ((ref, node) for ref, nodes in self.placement for node, _ in nodes)
        yield from ((one.ref, one.node) for one in self.pods if one.node)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What Kubernetes has no object for."""

    name: str = "default"
    start: Start = Start()
    events: tuple[Event, ...] = ()
    intents: tuple[Intent, ...] = ()
    is_default: bool = False
    scale: Scale | None = None  # None: verify exactly the sizes in the manifests
    source: Source = field(default=Source(), compare=False)
    quantify: QuantifySettings = QuantifySettings()
    workload: WorkloadSpec | None = None  # what `simulate` sends to services
    levels: tuple[ServiceLevel, ...] = ()  # what `simulate` holds runs against; they stand among the intents

    @property
    def stated(self) -> tuple[Intent, ...]:
        """The intents without what of service levels is a bound on states: those are measured whole elsewhere."""
        return tuple(intent for intent in self.intents if not intent.of_level)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The whole input, checked and defaulted."""

    setup: Setup
    scenario: Scenario
    omissions: tuple[Omission, ...] = ()
    files: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # (file, what was read of it)
    ignores: tuple[Ignore, ...] = ()  # violations that annotations accept
    assumed: tuple[Pool, ...] = ()  # the nodes that nobody told of, where the input has no Node objects
    given: tuple[Pool, ...] = ()  # those that --nodes told of instead
    notes: tuple[ReadingNote, ...] = ()  # in the order of their IDs and places
    shaping: tuple[str, ...] = field(default=(), compare=False)  # objects that decide what others are read as
    unpatched: frozenset[str] = frozenset()  # files of kustomizations that could not be rendered, read as they are
    wiring: Wiring = field(default=Wiring(), compare=False)  # what only checks of the manifests read
    unknown: tuple[tuple[UnknownField, Source], ...] = field(default=(), compare=False)  # with their places
    pods: tuple[NamedPod, ...] = field(default=(), compare=False)  # of the start, by the names that they have
