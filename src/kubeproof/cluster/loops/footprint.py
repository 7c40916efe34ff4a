"""What a loop, an event or a fact reads and does, told beside its code: all that reductions and proofs ask of it.

Whoever says nothing reads and does everything: reductions then do not apply, which is slow and never wrong. Each class
speaks for itself, since a subclass may do more than its base. `kubeproof.model.checked` holds loops to what they say.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, Flag, auto
from functools import reduce
from operator import or_
from typing import Any, TypeVar

from kubeproof.values import dataclass

One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Workloads:
    """Some workloads by number, or all of them (None)."""

    numbers: frozenset[int] | None

    def __contains__(self, number: int) -> bool:
        return self.numbers is None or number in self.numbers

    def __bool__(self) -> bool:
        return self.numbers is None or bool(self.numbers)

    def __or__(self, other: Workloads) -> Workloads:
        return EVERYBODY if self.numbers is None or other.numbers is None else Workloads(self.numbers | other.numbers)


EVERYBODY = Workloads(None)
NOBODY = Workloads(frozenset())


def some(numbers: Iterable[int]) -> Workloads:
    """These workloads."""
    return Workloads(frozenset(numbers))


class Writes(Flag):
    """What somebody changes in a cluster; its own memory and its workload's status aside."""

    USAGE = auto()  # what pods use, and the traffic that they get
    SIZES = auto()  # spec.replicas of what users write
    REPLICA_SETS = auto()  # the size of a Deployment's ReplicaSet
    TEMPLATES = auto()  # which pod template a workload asks for
    OBJECTS = auto()  # workloads come
    REMOVALS = auto()  # workloads go
    BUDGETS = auto()  # disruption budgets come, go or change
    PODS = auto()  # pods are created
    BINDINGS = auto()  # pods get a node
    PHASES = auto()  # pods start, turn ready, end
    CRASHES = auto()  # containers exit
    DELETIONS = auto()  # pods get a deletionTimestamp: `Deletes` says whose
    ROUTES = auto()  # who sends traffic to a pod
    CORDONS = auto()  # nodes are closed and opened
    DRAINS = auto()  # nodes are emptied, go down for maintenance and come back
    CONDITIONS = auto()  # what is known of silent nodes, and their taints
    FAILURES = auto()  # kubelets fall silent and speak again
    OUTAGES = auto()  # the same for all nodes of a domain at once
    ARRIVALS = auto()  # nodes come
    DEPARTURES = auto()  # nodes go for good

    @classmethod
    def everything(cls) -> Writes:
        """All there is."""
        return ~cls(0)


EVERYTHING = Writes.everything()
NOTHING = Writes(0)
RESIZING = Writes.SIZES | Writes.TEMPLATES | Writes.OBJECTS | Writes.REMOVALS  # after which other pods are wanted
ON_NODES = (
    Writes.CORDONS | Writes.DRAINS | Writes.FAILURES | Writes.OUTAGES | Writes.ARRIVALS | Writes.DEPARTURES
)  # what may hit any node


class Deletes(Enum):
    """Whose pods a loop or event may delete."""

    NO_PODS = "none"
    SURPLUS = "pods of its own workload, if these are more than its size"
    TAINTED = "pods that a NoExecute taint of their node evicts"
    OWN = "pods of its own workload"
    GUARDED = "pods of anybody, as far as their budgets allow"
    ANY = "pods of anybody"


class Sizing(Enum):
    """Which numbers of pods a loop or event brings about."""

    KEPT = "those that are written already"
    TOLD = "those that its `sizes_for` tells, or of a declared event its `sizes`"
    ANY = "any"


class Clocks(Flag):
    """What takes a while in what somebody does."""

    PHASES = auto()  # of pods, within the ranges of their phases
    MAINTENANCE = auto()  # of nodes that are down for it
    TAINTS = auto()  # of pods on a tainted node
    SILENCE = auto()  # of nodes that failed
    BACK_OFF = auto()  # of containers that are restarted
    PERIOD = auto()  # between two rounds of a loop, and all that it remembers of earlier ones
    OTHER = auto()


class Scope(Enum):
    """From where one occurrence of an event takes pods away."""

    NOWHERE = "nowhere"
    WORKLOAD = "its target"
    NODE = "one node"
    DOMAIN = "the nodes of one domain"
    ANYWHERE = "any nodes"


class Among(Enum):
    """What pods of other workloads, of which a proof knows nothing, may do to the steps of a loop."""

    HELD_UP = "hold them up for ever"
    BY_ITSELF = "nothing: they follow from its own workload, or from what is known of a node"
    CHOOSING = "take room on nodes, and sway the scores by which it chooses one"
    FILLED = "take the room on the nodes that its pods are made for"
    EMPTYING = "stay on the node that it waits to be empty"
    TAINTING = "be all that makes the taint of a node matter"
    RETRYING = "let its back-off be over at any moment"
    IN_ROUNDS = "let its next round come at any moment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """What somebody reads and does, as far as a reduction or a proof asks for it."""

    writes: Writes = EVERYTHING
    deletes: Deletes = Deletes.ANY
    sizing: Sizing = Sizing.ANY
    clocks: Clocks = ~Clocks(0)
    tells_starts: Workloads = EVERYBODY  # of whose pods it tells those that start from those that are ready
    chooses_by_start: Workloads = NOBODY  # beside those: only to choose whom it deletes, or moves on
    tells_ends: Workloads = EVERYBODY  # whose terminating pods it sees
    chooses_by_end: Workloads = NOBODY  # beside those: only while a pod of its own waits for a node, or to move them on
    overlooks_ends: Workloads = NOBODY  # beside those: without deciding anything by them
    sees_objects: Workloads = EVERYBODY  # whose object it writes, or ReplicaSet's size it reads, not being its loop
    sees_new_pods: Workloads = EVERYBODY  # whose pods without a node it takes together with those of others
    wakes_on: Writes = EVERYTHING  # it does nothing before somebody else writes some of this
    among: Among = Among.HELD_UP
    takes_young: bool = False  # it can be shown young pods as one more place: `kubeproof.model.reductions.young_pods`

    # Of events, as they are declared.
    is_moment: bool = True  # it happens; otherwise it says how pods are
    is_consequence: bool = False  # it follows from what is, and does not come as it likes
    ends_later: bool = True  # what it does may end by itself, whenever it likes
    concerns_all: str = "it is not known whom an event concerns"  # why all workloads, in words; "": it does not
    takes_pods_of: Scope = Scope.ANYWHERE
    reshapes: bool = True  # pods may ask for something else afterwards, beside what its `form` says
    has_even_usage: bool = False  # what it says of usage is the same for all pods of its workload, at any time


UNKNOWN = Footprint()
# Looks at no pods and no objects, takes nobody's pods, writes no sizes, has no clocks. What it writes, it has to say.
QUIET = Footprint(
    deletes=Deletes.NO_PODS,
    sizing=Sizing.KEPT,
    clocks=Clocks(0),
    tells_starts=NOBODY,
    tells_ends=NOBODY,
    sees_objects=NOBODY,
    sees_new_pods=NOBODY,
)
# Of declared events: what happens at a moment, and changes nothing later. From where it takes pods, it has to say.
MOMENT = Footprint(ends_later=False, concerns_all="")
# Of declared events: how the pods of a workload are.
CIRCUMSTANCE = Footprint(writes=NOTHING, is_moment=False, concerns_all="", takes_pods_of=Scope.NOWHERE)


def awake(footprints: Iterable[tuple[One, Footprint]]) -> tuple[tuple[One, Footprint], ...]:
    """Those that may ever do something, given what the others write; each with what it says."""
    waiting, found, written = list(footprints), [], NOTHING
    while waking := [one for one in waiting if one[1].wakes_on == EVERYTHING or one[1].wakes_on & written]:
        waiting = [one for one in waiting if one[1].wakes_on != EVERYTHING and not one[1].wakes_on & written]
        written = reduce(or_, (footprint.writes for _, footprint in waking), written)
        found += waking
    return tuple(found)


def footprint_of(one: Any) -> Footprint:
    """What it says of itself; everything if its own class says nothing."""
    return one.footprint if "footprint" in vars(type(one)) else UNKNOWN
