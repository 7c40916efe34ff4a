"""What checking or planning a rollout gives."""

from __future__ import annotations

from enum import StrEnum

from kubeproof.cluster.objects import Source
from kubeproof.network.model import Traffic
from kubeproof.network.rollouts.changes import Change
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict


class When(StrEnum):
    """When a packet has to be sent for something bad to happen to it."""

    BEFORE = "before"  # no change is needed: the old configuration does it
    DURING = "during"
    AFTER = "after"  # sent when all changes that it meets have come: the new configuration does it


@dataclass(frozen=True, slots=True)
class Event:
    """One step of an interleaving: a change, or what becomes of the packet at a node."""

    kind: str  # change, packet
    text: str
    node: str = ""
    source: Source = Source()
    letters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Interleaving:
    """One packet and the changes that it meets, replayed; a shortest one."""

    traffic: Traffic
    origin: str
    destination: str
    events: tuple[Event, ...]
    how: str  # here, dropped, delivered, loop
    loop_start: int | None  # the event that begins the round
    when: When
    steps: int  # hops and changes


@dataclass(frozen=True, slots=True)
class RolloutAnswer:
    """The answer to one question about a rollout."""

    name: str
    verdict: Verdict
    classes: int  # of packets that were followed
    broken: int  # classes with a bad end
    states: int
    examples: tuple[Interleaving, ...] = ()
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class RolloutResult:
    """All answers for one rollout."""

    network: str
    changes: int
    stages: int
    answers: tuple[RolloutAnswer, ...]
    loops: tuple[Interleaving, ...] = ()  # packets that go round while the rollout stands still, asked for or not
    notes: tuple[str, ...] = ()
    is_interrupted: bool = False

    @property
    def verdict(self) -> Verdict:
        """The worst of all."""
        found = {answer.verdict for answer in self.answers}
        for word in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.VACUOUS):
            if word in found and (word is not Verdict.VACUOUS or found == {Verdict.VACUOUS}):
                return word
        return Verdict.HOLDS


@dataclass(frozen=True, slots=True)
class Round:
    """Changes that may come in any order, and whether packets must leave before the next round begins."""

    changes: tuple[Change, ...]
    waits: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that cannot come next, and the packet that shows it."""

    change: Change
    property: str
    example: Interleaving


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A safe order, or that there is none."""

    network: str
    verdict: Verdict  # HOLDS: there is a plan; VIOLATED: it is proved that there is none
    rounds: tuple[Round, ...]
    properties: tuple[str, ...]
    changes: int
    groups: int  # of changes that no packet class meets together
    configurations: int  # looked at
    reason: str = ""
    stuck: tuple[Change, ...] = ()  # what had been changed where it went furthest
    refusals: tuple[Refusal, ...] = ()  # why nothing can come after that
    notes: tuple[str, ...] = ()
    is_interrupted: bool = False
