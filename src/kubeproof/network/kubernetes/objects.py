"""What Kubernetes says about who may talk to whom: pods, policies, services, ingresses."""

from __future__ import annotations

from dataclasses import field
from enum import IntEnum, StrEnum
from ipaddress import IPv4Network, IPv6Network

from kubeproof.cluster.labels import Labels, LabelSelector
from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass

Block = IPv4Network | IPv6Network


class Sure(IntEnum):
    """How sure it is that something matches."""

    NO = 0
    MAYBE = 1
    YES = 2


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Pods that are alike for the network: those of one workload, or a single one."""

    ref: str  # Deployment/shop/web
    namespace: str
    labels: Labels
    added: tuple[str, ...] = ()  # keys of labels that a controller adds, with values that manifests do not tell
    ports: tuple[tuple[str, str, int], ...] = ()  # name, protocol, number
    host_network: bool = False
    source: Source = field(default=Source(), compare=False)

    def port(self, name: str, protocol: str) -> int | None:
        """The number of a named port; None if no container declares it."""
        return next((number for known, also, number in self.ports if (known, also) == (name, protocol)), None)

    def matches(self, selector: LabelSelector) -> Sure:
        """Whether the selector matches the pods; a label that a controller adds may have any value."""
        labels = dict(self.labels)
        told = [one for one in selector.requirements if one.key in labels or one.key not in self.added]
        if not all(one.matches(labels) for one in told):
            return Sure.NO
        return Sure.YES if len(told) == len(selector.requirements) else Sure.MAYBE


@dataclass(frozen=True, slots=True)
class Outside:
    """Addresses that are no pods of the input; without blocks any address."""

    ref: str
    blocks: tuple[Block, ...] = ()
    source: Source = field(default=Source("<command line>", 1), compare=False)


Party = PodGroup | Outside


@dataclass(frozen=True, slots=True)
class Peer:
    """One entry of `from` or `to`."""

    namespaces: LabelSelector | None = None
    pods: LabelSelector | None = None
    block: Block | None = None
    excepted: tuple[Block, ...] = ()


ANY_PROTOCOL = ""  # of a named port: that of the container's


@dataclass(frozen=True, slots=True)
class PolicyPort:
    """One entry of `ports`; port None for all of the protocol."""

    protocol: str
    port: int | str | None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One rule of a policy; without peers it is for everybody, without ports for every port."""

    peers: tuple[Peer, ...]
    ports: tuple[PolicyPort, ...]
    number: int  # from 1
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Policy:
    """A NetworkPolicy."""

    ref: str
    namespace: str
    selector: LabelSelector
    rules: dict[str, tuple[PolicyRule, ...]]  # by direction that it restricts: Ingress, Egress
    source: Source = field(default=Source(), compare=False)
    namespaces: LabelSelector | None = None  # instead of its own one


class Action(StrEnum):
    """What a rule of an administrator does with what it matches."""

    ACCEPT = "Accept"
    DENY = "Deny"
    PASS = "Pass"  # to policies of namespaces, and then to the baseline


@dataclass(frozen=True, slots=True)
class AdminPeer:
    """One entry of `from` or `to` of an administrator: pods by namespace and labels, nodes, or addresses."""

    namespaces: LabelSelector | None = None  # None: the peer is no pods
    pods: LabelSelector | None = None
    blocks: tuple[Block, ...] = ()
    is_open: bool = False  # nodes or names: which addresses these have is not in manifests


@dataclass(frozen=True, slots=True)
class AdminRule:
    """One rule; the first one that matches a connection decides."""

    action: Action
    peers: tuple[AdminPeer, ...]
    ports: tuple[PolicyPort, ...]
    number: int  # from 1
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class AdminPolicy:
    """A policy of an administrator: AdminNetworkPolicy, BaselineAdminNetworkPolicy or ClusterNetworkPolicy."""

    ref: str
    is_baseline: bool  # decides what nothing else has decided
    priority: int  # lower ones first
    namespaces: LabelSelector
    pods: LabelSelector
    rules: dict[str, tuple[AdminRule, ...]]  # by direction
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class ServicePort:
    """A port of a Service and where it leads."""

    name: str
    protocol: str
    port: int
    target: int | str


@dataclass(frozen=True, slots=True)
class Service:
    """A Service with a selector."""

    ref: str
    namespace: str
    selector: LabelSelector
    ports: tuple[ServicePort, ...]
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Ingress:
    """An Ingress: the services and ports (name or number) that it leads to."""

    ref: str
    backends: tuple[tuple[str, str | int], ...]  # ref of the service, port
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class KubeNetwork:
    """Everything about the network in some manifests."""

    pods: tuple[PodGroup, ...] = ()
    policies: tuple[Policy, ...] = ()
    admin_policies: tuple[AdminPolicy, ...] = ()
    services: tuple[Service, ...] = ()
    ingresses: tuple[Ingress, ...] = ()
    namespaces: dict[str, Labels] = field(default_factory=dict)  # those that are in the input
    notes: tuple[str, ...] = ()
