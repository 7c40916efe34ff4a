"""Events as a Scenario declares them; what each does is in the module named after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import reduce
from operator import or_

from kubeproof.cluster.chances import Chance
from kubeproof.cluster.footprint import NOTHING, Footprint, Scope, Writes, footprint_of
from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.mentions import Mentions, mention_requirements
from kubeproof.cluster.objects import ZONE, Node, Source, Workload
from kubeproof.cluster.policies import PodDisruptionBudget
from kubeproof.values import dataclass

STABLE = "stable"
Moves = tuple[tuple[float, ...], ...]  # per level at the begin of a tick, the probability of each at its end


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """Which nodes an event may hit: by label selector, by name, or (both None) all."""

    selector: LabelSelector | None = None
    names: tuple[str, ...] | None = None

    def admits(self, node: Node) -> bool:
        """True if the event may hit this node."""
        if self.names is not None and node.name not in self.names:
            return False
        return self.selector is None or self.selector.matches(dict(node.labels))

    def mention(self, found: Mentions) -> None:
        """Adds what it reads of nodes."""
        mention_requirements(found, self.selector.requirements if self.selector else ())
        found.names |= set(self.names or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Fields common to all events."""

    name: str  # unique in the Scenario; given, or made from key and position
    max: int = 1
    after: str | None = None  # "stable", or the name of another event
    and_after: tuple[str, ...] = ()  # what must be so beside `after`; "stable" stands last, and never beside itself
    must: bool = False  # it does not stay away for ever where it is possible
    source: Source = field(default=Source(), compare=False)
    chance: Chance | None = None  # how likely it is, for each subject; None: open
    recovery: Chance | None = None  # how likely its end is, where it has one

    @property
    def conditions(self) -> tuple[str, ...]:
        """All that it waits for: names of other events, and `stable`."""
        return () if self.after is None else (self.after, *self.and_after)

    @property
    def awaited(self) -> tuple[str, ...]:
        """The names of the events that it waits for."""
        return tuple(name for name in self.conditions if name != STABLE)

    @property
    def waits_for_rest(self) -> bool:
        """True if it happens in stable states only."""
        return STABLE in self.conditions

    @property
    def subject(self) -> str | None:
        """The reference of the workload that it is about, if it is about one."""
        return getattr(self, "target", None)

    @property
    def form(self) -> Workload | None:
        """What its workload looks like afterwards, if it writes all of it."""
        return None

    @property
    def is_chosen(self) -> bool:
        """True if it happens at a moment that nothing else decides about."""
        told = footprint_of(self)
        return told.is_moment and not told.is_consequence

    @property
    def sizes(self) -> tuple[int, ...]:
        """Every spec.replicas that it writes, as far as it says which."""
        return ()

    @property
    def ends_any_time(self) -> bool:
        """True if what it does may end whenever it likes: a node, or traffic, comes back."""
        return footprint_of(self).ends_later and bool(getattr(self, "recovers", True))

    @property
    def hits_several(self) -> bool:
        """True if one occurrence may take pods away from several nodes."""
        return footprint_of(self).takes_pods_of in (Scope.DOMAIN, Scope.ANYWHERE)

    @property
    def one_node(self) -> str | None:
        """The name of the node that it is about, if it is about one."""
        return None

    @property
    def domain_key(self) -> str | None:
        """The label by whose value it chooses nodes, if it does; which one is remembered."""
        return None

    def mention_nodes(self, found: Mentions) -> None:
        """Adds what it reads of nodes."""
        choice = getattr(self, "nodes", None)
        if choice is not None:
            choice.mention(found)
        if self.one_node is not None:
            found.names.add(self.one_node)
        if self.domain_key is not None:
            found.topology.add(self.domain_key)
            found.numeric_keys.add(self.domain_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFailure(Event):
    """A node's kubelet stops; with `recovers` it may come back."""

    nodes: NodeChoice = NodeChoice()
    recovers: bool = True
    together: bool = False  # `max` nodes in one step
    or_fewer: bool = False  # with `together`: that many or fewer, once
    max: int | None = 1  # type: ignore[assignment]  # None: any number of failures
    comes_back: bool = False  # with `recovers`: it does come back, sooner or later; no run ends without it

    footprint = Footprint(
        writes=Writes.FAILURES,
        concerns_all="",
        takes_pods_of=Scope.NODE,
    )

    @property
    def hits_several(self) -> bool:
        return self.together and self.max != 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneFailure(Event):
    """All nodes of one domain fail together; with `recovers` they may come back together."""

    topology_key: str = ZONE
    recovers: bool = True

    footprint = Footprint(
        writes=Writes.FAILURES | Writes.OUTAGES,
        concerns_all="",
        takes_pods_of=Scope.DOMAIN,
    )

    @property
    def domain_key(self) -> str:
        return self.topology_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Cordon(Event):
    """An operator marks a node unschedulable; with `reversible` also back."""

    nodes: NodeChoice = NodeChoice()
    reversible: bool = False

    footprint = Footprint(
        writes=Writes.CORDONS,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain(Event):
    """An operator drains a node: cordons it, then evicts its pods through the eviction API, retrying."""

    nodes: NodeChoice = NodeChoice()
    concurrent: int = 1
    uncordon: bool = False
    each_once: bool = False  # no node twice: with `max` as many as there are nodes, each in its turn, in any order

    footprint = Footprint(
        writes=Writes.DRAINS | Writes.CORDONS,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NODE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance(Event):
    """An operator drains a node, takes it down, brings it back and uncordons it."""

    nodes: NodeChoice = NodeChoice()
    concurrent: int = 1
    each_once: bool = False  # as for Drain

    footprint = Footprint(
        writes=Writes.DRAINS | Writes.CORDONS,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NODE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRemoval(Event):
    """A Node object is deleted for good, drained before or with all that runs there."""

    nodes: NodeChoice = NodeChoice()
    drain_first: bool = True

    footprint = Footprint(
        writes=Writes.DRAINS | Writes.DEPARTURES,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NODE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale(Event):
    """A user sets spec.replicas of a workload to any of the values, once each."""

    target: str  # Workload.ref
    replicas: tuple[int, ...]

    footprint = Footprint(
        writes=Writes.SIZES,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.WORKLOAD,
    )

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class Create(Event):
    """A workload of the input that is absent until the event."""

    target: str

    footprint = Footprint(
        writes=Writes.OBJECTS | Writes.PODS,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.WORKLOAD,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateNode(Event):
    """A Node of the input that is absent until the event."""

    node: str

    footprint = Footprint(
        writes=Writes.ARRIVALS,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
    )

    @property
    def one_node(self) -> str:
        return self.node


CREATED, DELETED, APPLIED = "created", "deleted", "applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChange(Event):
    """A PodDisruptionBudget comes, goes, or becomes another one."""

    budget: str  # namespace/name
    verb: str  # CREATED: it is absent before; DELETED; APPLIED: `content` is what it looks like afterwards
    content: PodDisruptionBudget | None = None

    footprint = Footprint(
        writes=Writes.BUDGETS,
        ends_later=False,
        concerns_all="a budget that changes may be anybody's",
        takes_pods_of=Scope.NOWHERE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply(Event):
    """A user applies an object: `workload` is what it looks like after defaulting.

    If a workload of that ref is in the input, the apply updates it, otherwise it creates it.
    """

    workload: Workload
    replicas_given: bool = True

    footprint = Footprint(
        writes=Writes.SIZES | Writes.TEMPLATES | Writes.OBJECTS | Writes.PODS,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.WORKLOAD,
    )

    @property
    def subject(self) -> str:
        return self.workload.ref

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.workload.replicas,)

    @property
    def form(self) -> Workload:
        return self.workload


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of a resource is used: percent of a base (request, allocatable), or a quantity in thousandths.

    Exactly one of the two is given. Memory in thousandths of a byte, like an autoscaler's AverageValue.
    """

    percent: int | None = None
    amount_milli: int | None = None

    def __str__(self) -> str:
        return f"{self.percent}%" if self.percent is not None else f"{self.amount_milli}m"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageChange(Event):
    """The real usage of a workload's pods moves between levels; with one level it is constant."""

    resource: str  # cpu, memory
    target: str
    container: str = ""  # "": the pod as a whole
    levels: tuple[Usage, ...]
    initial: int = 0  # index of the level at the start
    max: int | None = None  # type: ignore[assignment]  # None: any number of changes
    moves: Moves | None = None

    footprint = Footprint(
        writes=Writes.USAGE,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePattern(Event):
    """The real usage of a workload's pods as a function of their age; not a moment."""

    resource: str  # cpu, memory
    target: str
    container: str = ""  # "": the pod as a whole
    phases: tuple[tuple[Usage, int | None], ...]  # usage and for how many seconds; None (last only): for ever

    footprint = Footprint(
        writes=Writes.USAGE,
        is_moment=False,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuLoad(Event):
    """A total CPU load that the ready pods share; it moves between levels."""

    target: str
    levels: tuple[int, ...]  # thousandths of a core, for all pods together
    initial: int = 0
    service: str = ""  # whose requests make the load
    requests: tuple[int, ...] = ()  # per second, level by level
    max: int | None = None  # type: ignore[assignment]  # None: any number of changes
    moves: Moves | None = None

    footprint = Footprint(
        writes=Writes.USAGE,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable(Event):
    """The workload's pods get no traffic: they run and stay ready, but use no more CPU than an idle pod."""

    target: str
    recovers: bool = True
    idle: Usage = Usage(percent=0)  # what one pod uses meanwhile
    max: int | None = 1  # type: ignore[assignment]  # None: any number of faults

    footprint = Footprint(
        writes=Writes.USAGE,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPanic(Event):
    """A node fails whenever its real CPU usage passes a level, and recovers when freed."""

    above: Usage = Usage(percent=95)  # percent of the node's allocatable CPU
    nodes: NodeChoice = NodeChoice()
    max: int | None = None  # type: ignore[assignment]  # None: whenever the level is passed

    footprint = Footprint(
        writes=Writes.FAILURES,
        is_consequence=True,
        ends_later=False,
        concerns_all="a panic of any node counts for all",
        takes_pods_of=Scope.NODE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PodCrash(Event):
    """A container of one of the workload's pods exits."""

    target: str
    max: int | None = 1  # type: ignore[assignment]  # None: any number of crashes

    footprint = Footprint(
        writes=Writes.CRASHES,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
    )


def written_by(events: Iterable[Event]) -> Writes:
    """All that the events may change."""
    return reduce(or_, (footprint_of(event).writes for event in events), NOTHING)


def marks_nodes(event: Event) -> bool:
    """True if the event has to know which nodes it has worked on."""
    return isinstance(event, Drain | Maintenance) and event.each_once


def is_drain(event: Event) -> bool:
    """True if the event asks the eviction API for pods of a node."""
    return isinstance(event, Drain | Maintenance) or (isinstance(event, NodeRemoval) and event.drain_first)


EVERY_REVISION = "all"
INITIAL_REVISION = "initial"
NEW_REVISION = "new"


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverReady(Event):
    """Pods of a revision never become ready; not a moment."""

    target: str
    revision: str = EVERY_REVISION  # all, initial, new

    footprint = Footprint(
        writes=Writes.PHASES,
        is_moment=False,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completes(Event):
    """How long the pods of a Job (or of a CronJob's Jobs) run before they succeed; not a moment."""

    target: str
    least_s: int
    most_s: int

    footprint = Footprint(
        writes=Writes.PHASES,
        is_moment=False,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.NOWHERE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Event):
    """A user deletes a workload."""

    target: str

    footprint = Footprint(
        writes=Writes.REMOVALS | Writes.DELETIONS,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.WORKLOAD,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout(Event):
    """A user gives a Deployment a new revision of its pod template, or with `back` its previous one."""

    target: str
    back: bool = False

    footprint = Footprint(
        writes=Writes.TEMPLATES,
        ends_later=False,
        concerns_all="",
        takes_pods_of=Scope.WORKLOAD,
    )
