"""What checking a network gives."""

from __future__ import annotations

from enum import Enum

from kubeproof.network.checking.replay import Hop
from kubeproof.network.model import Event, Traffic
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict


class Liveness(Enum):
    """What is known of the liveness part after the last snapshot."""

    NONE = "none"  # the property is a safety property
    VERIFIED = "verified"  # from some snapshot on, up to the last
    NOT_VERIFIED = "not verified"  # not yet: some packets were lost in the last snapshot
    UNDETERMINED = "undetermined"  # the safety part is violated in the last snapshot, which leaves nothing to wait for
    VIOLATED = "violated"  # some packets go round for ever in the last snapshot


VERDICTS = (Verdict.HOLDS, Verdict.HOLDS_BOUNDED, Verdict.VIOLATED, Verdict.VACUOUS, Verdict.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """One packet that shows a violation, and who else is affected in the same snapshot."""

    part: str  # safety, liveness; or witness, of something that is possible as wanted
    snapshot: int  # from 0
    snapshot_name: str
    traffic: Traffic
    source: str
    destination: str
    hops: tuple[Hop, ...]
    how: str  # here, dropped, delivered, loop
    loop_start: int | None
    pairs: int  # in this snapshot, this one included
    others: tuple[tuple[str, str], ...]  # the next few pairs

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(hop.node for hop in self.hops)


@dataclass(frozen=True, slots=True)
class SnapshotOutcome:
    """Pairs of a source and a destination for which a snapshot is bad."""

    name: str
    unsafe: int
    unmet: int  # safe, but the packets are lost
    endless: int  # safe, but the packets go round for ever


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a process that violates a property."""

    process: str
    part: str  # safety or liveness
    letter: str
    snapshot: int
    snapshot_name: str
    event: Event


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """The answer for one property."""

    name: str
    verdict: Verdict
    is_safe: bool
    liveness: Liveness
    pairs: int  # packet classes per snapshot
    states: int  # product states explored, all snapshots
    snapshots: tuple[SnapshotOutcome, ...]
    counterexamples: tuple[Counterexample, ...] = ()
    since: int | None = None  # the snapshot, from 0, from which on everything is met
    steps: tuple[Step, ...] = ()  # of a process, for properties of processes
    meaning: str = ""  # instead of the usual line about the two parts
    reasons: tuple[str, ...] = ()  # why something is impossible


def make_undecided(name: str) -> PropertyResult:
    """The answer for a property that an interrupt left open."""
    return PropertyResult(name, Verdict.UNKNOWN, True, Liveness.NONE, 0, 0, (), meaning="not decided, interrupted")


@dataclass(frozen=True, slots=True)
class NetworkResult:
    """All answers for one network."""

    network: str
    results: tuple[PropertyResult, ...]
    notes: tuple[str, ...] = ()  # what the input leaves open or the model leaves out
    loops: tuple[Counterexample, ...] = ()  # packets that go round, though no property tells so; of the first snapshots
    nodes: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    ends: frozenset[str] = frozenset()  # nodes that traffic starts at or goes to
    is_interrupted: bool = False  # some are open because of that

    @property
    def verdict(self) -> Verdict:
        """The worst of all."""
        found = {result.verdict for result in self.results}
        for word in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.VACUOUS, Verdict.HOLDS_BOUNDED):
            if word in found and (word != Verdict.VACUOUS or found == {Verdict.VACUOUS}):
                return word
        return Verdict.HOLDS
