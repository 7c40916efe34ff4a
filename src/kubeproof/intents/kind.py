"""What an intent of the library is: all that anybody asks of it, told once.

A new intent is a module in `kubeproof.intents.library` and a line in `kubeproof.intents.catalogue`. Its reader, its
monitor, its words, its documentation and what proofs ask of it follow from what is declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.inaction import Trouble
from kubeproof.cluster.loops.mentions import Mention, mention_everything
from kubeproof.cluster.objects import Workload
from kubeproof.intents.declarations import ALWAYS, EVENTUALLY, EVENTUALLY_ALWAYS, STABLE, Amount, Intent
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.nodes.places import Layout
    from kubeproof.intents.monitor import Monitor
    from kubeproof.intents.predicates.asked import EventMemory

WEB = "target: Deployment/shop/web"  # of examples


class IntentField(Enum):
    """A field that all intents write alike; others are read by a reader of the intent's own."""

    TARGET = "target"
    WHEN = "when"
    AMOUNT = "count"  # of pods, or a percentage of those that are desired
    NUMBER = "count "  # of objects
    NODES = "nodes"
    PHASES = "phases"
    SKEW = "skew"
    EVICTOR = "by"
    CHANGES = "of"

    @property
    def key(self) -> str:
        """How it is called in a Scenario."""
        return self.value.strip()


Fields = tuple["IntentField | str", ...]  # a string is a field that the intent's own reader reads


class Targets(Enum):
    """Whom an intent without a target is about."""

    EACH = auto()  # every workload that it fits, each by itself
    WHOLE = auto()  # the whole cluster
    NONE = auto()  # it never has a target


@dataclass(frozen=True, slots=True)
class AskedIntent:
    """An intent in one layout, from which its monitor is made."""

    intent: Intent
    layout: Layout
    number: int | None  # of its target
    events: Mapping[str, EventMemory]

    @property
    def workload(self) -> int:
        """The number of its target, which it must have."""
        assert self.number is not None, self.intent
        return self.number


def fits_all(workload: Workload) -> bool:
    """For intents that may be about any workload."""
    return True


class OfEachPod(Enum):
    """What has to become of each pod, whatever the others do, so that an intent holds."""

    SETTLES = auto()  # nothing goes round
    READY = auto()  # nor that, and it is ready in the end if it is wanted
    LEAVES = auto()  # nor that, and it leaves every node that is drained and stays up


def says_more(intent: Intent, least: int) -> OfEachPod | None:
    """For intents that do not follow from what becomes of each pod in the end."""
    return None


def follows_from_rest(intent: Intent, least: int) -> OfEachPod | None:
    """For intents that hold if nothing goes round."""
    return OfEachPod.SETTLES


def follows_from_readiness(intent: Intent, least: int) -> OfEachPod | None:
    """For intents that hold if nothing goes round, and all pods that are wanted are ready in the end."""
    return OfEachPod.READY


def follows_from_leaving(intent: Intent, least: int) -> OfEachPod | None:
    """For intents that hold if nothing goes round, and all pods leave nodes that are drained."""
    return OfEachPod.LEAVES


def counts_in_the_end(intent: Intent, least: int) -> OfEachPod | None:
    """For intents that ask for so many pods in the end, of which there are at least so many."""
    amount = intent.count or Amount(1)
    is_enough = amount.number <= 100 if amount.percent else amount.number <= least
    return OfEachPod.READY if intent.when in (STABLE, EVENTUALLY, EVENTUALLY_ALWAYS) and is_enough else None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentKind:
    """One intent of the library; its ID is permanent."""

    id: str
    key: str
    category: str
    text: str  # what it says, in a sentence or two
    claim: Callable[[Intent, str, str], str]  # the same of one intent: who, and when
    broken_by: str
    example: str  # an entry of spec.intents
    watch: Callable[[AskedIntent], Monitor]
    typed_fields: Fields
    default_when: str = ""  # "": it fixes its own moment
    kivi: str = ""  # what it is called there, and how it differs
    aliases: tuple[str, ...] = ()  # other names a Scenario may use for it
    targets: Targets = Targets.EACH
    fits: Callable[[Workload], bool] = fits_all  # whom it can be about
    is_upper_bound: bool = False  # `always` holds from the first state on, not only once all is as desired
    is_sum_of_parts: bool = False  # without a target it holds for the whole if it holds for every part of the input
    is_provable_alone: bool = False  # the target's own pods decide, so that proofs whatever the others do apply
    asks_of_each_pod: Callable[[Intent, int], OfEachPod | None] = says_more  # where at least so many are wanted
    holds_job_by_job: bool = False  # of a CronJob it holds if it does of each of its Jobs, whatever the others do
    awaits: str = ""  # what an event has to do before there is anything to say: "drains a node"
    troubles: tuple[Trouble, ...] = ()  # what is wrong where it is broken, beside what the last state shows
    follows_traffic: bool = False  # asks who gets traffic while it terminates
    reads_nodes: Mention = mention_everything  # what it reads of nodes beside those that its fields name
    unseen: str = ""  # why no object of the API shows it, so that a stream cannot be watched for it

    @property
    def whole_text(self) -> str:
        """What it says, and its names elsewhere."""
        return f"{self.text} Kivi: {self.kivi}" if self.kivi else self.text

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its fields."""
        return tuple(one if isinstance(one, str) else one.key for one in self.typed_fields)

    @property
    def own_fields(self) -> tuple[str, ...]:
        """Those that a reader of its own reads."""
        return tuple(one for one in self.typed_fields if isinstance(one, str))

    @property
    def is_timed(self) -> bool:
        """True if a Scenario may say when it holds."""
        return IntentField.WHEN in self.typed_fields

    def bounds(self, intent: Intent) -> bool:
        """True if the intent holds from the very first state on."""
        return self.is_upper_bound and intent.when == ALWAYS
