"""What all events have in common: how a Scenario declares them, and what each tells of itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from kubeproof.cluster.api.selector_text import selector_text
from kubeproof.cluster.chances import Chance
from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.loops.footprint import UNKNOWN, Footprint, Scope, Writes, footprint_of
from kubeproof.cluster.loops.mentions import Mentions, mention_requirements
from kubeproof.cluster.objects import Node, Source, Workload
from kubeproof.errors import InternalError
from kubeproof.events.manual import Manual
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass, replace

if TYPE_CHECKING:
    from kubeproof.cluster.loops.control import Loop
    from kubeproof.cluster.nodes.places import Layout
    from kubeproof.cluster.steering.policies import PodDisruptionBudget
    from kubeproof.cluster.usage import Level, UsageRule
    from kubeproof.events.common import Around, EventSource

Budgets = tuple["PodDisruptionBudget", ...]
STABLE = "stable"
CREATED, DELETED, APPLIED = "created", "deleted", "applied"  # of a budget
EVERY_REVISION, INITIAL_REVISION, NEW_REVISION = "all", "initial", "new"  # whose pods an event is about
Moves = tuple[tuple[float, ...], ...]  # per level at the begin of a tick, the probability of each at its end
WEB = "target: Deployment/shop/web"  # of examples


class Problem(NamedTuple):
    """What is wrong with an event: of which field, and what to write instead."""

    field: str
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """Which nodes an event may hit: by label selector, by name, or (both None) all."""

    selector: LabelSelector | None = None
    names: tuple[str, ...] | None = None

    def admits(self, node: Node) -> bool:
        """True if the event may hit this node."""
        if self.names is not None and node.name not in self.names:
            return False
        return self.selector is None or self.selector.matches(node.label_map)

    def mention(self, found: Mentions) -> None:
        """Adds what it reads of nodes."""
        mention_requirements(found, self.selector.requirements if self.selector else ())
        found.names |= set(self.names or ())

    @property
    def one_of(self) -> str:
        """One of the nodes, in words."""
        if self == NodeChoice():
            return "a node"
        if self.names is not None and len(self.names) == 1 and self.selector is None:
            return f"node {self.names[0]}"
        return f"a node {self.which}"

    @property
    def which(self) -> str:
        """How they are chosen, in words."""
        names = [] if self.names is None else [f"of {', '.join(self.names) or 'none'}"]
        labels = [] if self.selector is None else [f"with {selector_text(self.selector) or 'any labels'}"]
        return " ".join((*names, *labels))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What is common to all events, and what each of them has to say of itself.

    A new event is a subclass with its `manuals`, its `footprint` and a description, beside the loop that makes it
    happen, and one line in `kubeproof.events.declarations`. Readers, words and documentation follow from these.
    """

    footprint: ClassVar[Footprint] = UNKNOWN
    end_field: ClassVar[str] = ""  # the field that says whether what it does ends later; "": it has no end to speak of
    manuals: ClassVar[tuple[Manual, ...]] = ()  # the keys that it is written with; (): those of another event

    name: str  # unique in the Scenario; given, or made from key and position
    max: int = 1
    after: str | None = None  # "stable", or the name of another event
    and_after: tuple[str, ...] = ()  # what must be so beside `after`; "stable" stands last, and never beside itself
    must: bool = False  # it does not stay away for ever where it is possible
    source: Source = field(default=Source(), compare=False)
    chance: Chance | None = None  # how likely it is, for each subject; None: open
    recovery: Chance | None = None  # how likely its end is, where it has one
    crews: int | None = None  # so many ends at a time are worked on; None: each by itself

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

    def with_form(self, form: Workload) -> Self:
        """The event that writes this instead."""
        raise InternalError(f"E700 event {self.name} has another form, and nobody says how to change it")

    @property
    def is_chosen(self) -> bool:
        """True if it happens at a moment that nothing else decides about."""
        footprint = footprint_of(self)
        return footprint.is_moment and not footprint.is_consequence

    @property
    def sizes(self) -> tuple[int, ...]:
        """Every spec.replicas that it writes, as far as it says which."""
        return ()

    @property
    def ends_any_time(self) -> bool:
        """True if what it does may end whenever it likes: a node, or traffic, comes back."""
        footprint = footprint_of(self)
        return footprint.is_moment and footprint.ends_later and bool(getattr(self, "recovers", True))

    @property
    def may_silence_for_good(self) -> bool:
        """True if a node may fall silent and stay so: pods that are taken from it never end."""
        return bool(footprint_of(self).writes & Writes.FAILURES) and not getattr(self, "comes_back", False)

    @property
    def may_end(self) -> bool:
        """True if what it does ends later, by an end that a Scenario may speak of."""
        return bool(self.end_field) and bool(getattr(self, self.end_field))

    def with_end(self, has_end: bool) -> Self:
        """The event that ends later, or does not."""
        change: dict[str, Any] = {self.end_field: has_end}
        return replace(self, **change) if self.end_field else self

    @property
    def has_one_chance(self) -> bool:
        """True if its chance is that of all its alternatives together, and not of each."""
        return False

    @property
    def hits_several(self) -> bool:
        """True if one occurrence may take pods away from several nodes."""
        return footprint_of(self).takes_pods_of in (Scope.DOMAIN, Scope.ANYWHERE)

    @property
    def new_revisions(self) -> int:
        """How many later revisions its workload gets by it, with the pod template that it has."""
        return 0

    @property
    def may_uncordon(self) -> bool:
        """True if it may open nodes that others have closed."""
        return bool(footprint_of(self).writes & Writes.CORDONS)

    def levels_of(self, resource: str) -> tuple[int | None, ...] | None:
        """The levels of a pod's use of a resource, in percent of its request as far as they are; None: not known."""
        return None if footprint_of(self).writes & Writes.USAGE else ()

    @property
    def level_count(self) -> int:
        """Between how many levels it moves; 0 if it is no matter of levels."""
        return 0

    @property
    def moves(self) -> Moves | None:
        """The probabilities of its moves between levels, if the Scenario tells them."""
        return None

    def with_moves(self, moves: Moves) -> Self:
        """The event that moves between its levels with these probabilities."""
        raise InternalError(f"E700 event {self.name} has {self.level_count} levels, and nobody says how it moves")

    @property
    def happens_anyway(self) -> bool:
        """True if no run stays without it, whether it must happen or not."""
        return False

    @property
    def never_ready(self) -> str:
        """The revision of its subject whose pods never become ready, if it says so of one; "": it does not."""
        return ""

    @property
    def run_s(self) -> tuple[int, int] | None:
        """The least and most seconds that pods of its subject run before they succeed, if it says how many."""
        return None

    @property
    def changes_budgets(self) -> bool:
        """True if it says which disruption budgets there are before and after it."""
        return type(self).write_budgets is not Event.write_budgets

    def write_budgets(self, budgets: Budgets, *, has_happened: bool) -> Budgets:
        """The budgets that there are before or after it, of all that the input has."""
        return budgets

    @property
    def budget_form(self) -> PodDisruptionBudget | None:
        """What a budget looks like afterwards, if it writes all of one."""
        return None

    def with_budget_form(self, form: PodDisruptionBudget) -> Self:
        """The event that writes this budget instead."""
        raise InternalError(f"E700 event {self.name} has another budget, and nobody says how to change it")

    @property
    def brings(self) -> str | None:
        """The workload of the input that is not there before it."""
        return None

    def use_rule(self, memory: int) -> UsageRule | None:
        """What pods of its subject use, at the level that this memory has; None: it says nothing of that."""
        return None

    @property
    def use_without_traffic(self) -> Level | None:
        """What each pod of its subject uses while it is cut off, if it cuts it off: its memory's first number is 1."""
        return None

    @property
    def decides_use_of(self) -> tuple[str, ...]:
        """The resources of which it tells what the pods of its subject really use."""
        return ()

    def is_domain_down(self, layout: Layout, place: int, memory: tuple[int, ...]) -> bool:
        """True if the nodes of a place are lost with their domain; asked of events that take whole domains."""
        raise InternalError(f"E700 event {self.name} takes domains, and nobody says which are down")

    @property
    def empties_nodes(self) -> bool:
        """True if pods of a node are evicted after it."""
        return footprint_of(self).takes_pods_of in (Scope.NODE, Scope.DOMAIN, Scope.ANYWHERE)

    @property
    def drains(self) -> bool:
        """True if it asks the eviction API for pods of a node."""
        return False

    @property
    def marks_nodes(self) -> bool:
        """True if it has to know which nodes it has worked on."""
        return False

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

    @property
    def times(self) -> str:
        """How often it may happen, in words."""
        most: int | None = self.max
        if most is None:
            return "any number of times"
        return "at most once" if most == 1 else f"at most {most} times"

    def describe(self) -> str:
        """What it does to whom, how often, and how it ends, in one line."""
        raise InternalError(f"E700 nobody says what event {self.name} is")

    @staticmethod
    def unfit(workload: Workload) -> str:
        """Why it cannot be about the workload; "" if it can."""
        return ""

    def problems(self) -> Iterator[Problem]:
        """What contradicts itself in it."""
        yield from ()

    def refuse(self, nodes: Iterable[Node], workloads: Iterable[Workload]) -> Iterator[Problem]:
        """Why it cannot happen to these."""
        yield from ()

    def default_times(self, nodes: Iterable[Node]) -> int:
        """How often it may happen if it does not say so."""
        return 1

    def first_memory(self, most: int) -> tuple[int, ...]:
        """What it remembers before it has happened; `most`: how often it may."""
        return (most,)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        """What makes it happen: the first begins it, others end what has begun. None if it is no moment."""
        yield from ()


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of a resource is used: percent of a base (request, allocatable), or a quantity in thousandths.

    Exactly one of the two is given. Memory in thousandths of a byte, like an autoscaler's AverageValue.
    """

    percent: int | None = None
    amount_milli: int | None = None

    def __str__(self) -> str:
        return f"{self.percent}%" if self.percent is not None else f"{self.amount_milli}m"
