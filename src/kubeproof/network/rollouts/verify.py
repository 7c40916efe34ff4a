"""Checks a rollout: every packet class, whatever the order of changes and whenever packets are sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof.errors import InternalError, NothingToCheckError, UsageError
from kubeproof.network.checking.blocks import Blocks
from kubeproof.network.checking.concrete import Packet
from kubeproof.network.model import Network
from kubeproof.network.properties.automata import PathProperty
from kubeproof.network.properties.letters import Letters
from kubeproof.network.properties.library import no_drop
from kubeproof.network.properties.machine import Prepared, prepare
from kubeproof.network.properties.named import Wanted
from kubeproof.network.properties.patterns import NodeSet
from kubeproof.network.rollouts.changes import Course, union_of
from kubeproof.network.rollouts.flight import Flight, PacketClass, Rollout, fly
from kubeproof.network.rollouts.judges import Judge, MachineJudge, OneVersion, Wanderer
from kubeproof.network.rollouts.replay import is_path_of, replay_flight
from kubeproof.network.rollouts.result import Interleaving, RolloutAnswer, RolloutResult
from kubeproof.stop import Stop, until
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

PER_PACKET = "per-packet consistency"
PER_FLOW = "per-flow consistency"
MOST_LOOPS = 5
_WHOLE = {"OVERLAP", "SKEWED", "SHARED_QUEUE"}


@dataclass(frozen=True, slots=True)
class RolloutOptions:
    """What is asked of a rollout."""

    per_packet: bool = False
    per_flow: bool = False
    most_states: int = 1_000_000  # of one packet class


def verify_rollout(
    network: Network,
    course: Course,
    wanted: Sequence[Wanted],
    options: RolloutOptions = RolloutOptions(),
    stop: Stop | None = None,
) -> RolloutResult:
    """The answers; those that are known, if it is to stop before all are."""
    stop = stop or Stop()
    prepared, notes = prepare_all(wanted)
    if not prepared and not options.per_packet and not options.per_flow:
        raise NothingToCheckError("E301 nothing is asked of packets. Add properties, --per-packet or --per-flow.")
    checker = RolloutChecker(network, course, options.most_states)
    asked = [*((one.property.name, one) for one in prepared)]
    names = [name for name, _ in asked] + [PER_PACKET] * options.per_packet + [PER_FLOW] * options.per_flow
    known = tuple(until(stop, _answers(checker, prepared, options)))
    rest = tuple(
        RolloutAnswer(name, Verdict.UNKNOWN, 0, 0, 0, meaning="not decided, interrupted")
        for name in names[len(known) :]
    )
    loops = () if rest else tuple(until(stop, checker.find_loops()))
    return RolloutResult(
        network.name, len(course.changes), len(course.stages), known + rest, loops, notes, is_interrupted=bool(rest)
    )


def _answers(checker: RolloutChecker, prepared: Sequence[Prepared], options: RolloutOptions) -> Iterator[RolloutAnswer]:
    for one in prepared:
        yield checker.ask(one)
    if options.per_packet:
        yield checker.ask_per_packet()
    if options.per_flow:
        yield checker.ask_per_flow()


def prepare_all(wanted: Sequence[Wanted], *, whole: bool = False) -> tuple[list[Prepared], tuple[str, ...]]:
    """The properties of packets, and notes about those that are not; `whole`: facts about all packets are fine, too."""
    found, notes = [], []
    for one in wanted:
        if not isinstance(one, PathProperty):
            notes.append(f"{one.name} is about events of processes, which changes of rules do not concern")
        elif one.reads & _WHOLE and not whole:
            names = ", ".join(sorted(one.reads & _WHOLE))
            raise UsageError(f"{one.name} reads {names}, a fact about all packets of a snapshot", "Leave it out here.")
        else:
            found.append(prepare(one))
    return found, tuple(notes)


class RolloutChecker:
    """One rollout of one network."""

    def __init__(self, network: Network, course: Course, most_states: int = 1_000_000) -> None:
        self._network = network
        self._course = course
        self._most_states = most_states
        self._union = union_of(course)

    def classes(self, prepared: Prepared | None) -> Iterator[PacketClass]:
        """Packets that neither rules nor the property tell apart."""
        one = prepared.property if prepared is not None else no_drop()
        blocks = Blocks(self._network, one, one.reads)
        for traffic in self._network.traffic:
            groups = [(source,) for source in traffic.sources] if blocks.knows_source else None
            for destination in traffic.destinations:
                for group in groups or blocks.of(self._union, traffic.sources):
                    sources = tuple(source for source in group if source != destination)
                    if sources:
                        yield PacketClass(traffic, sources, destination)

    def ask(self, prepared: Prepared) -> RolloutAnswer:
        """A property's answer."""
        found = [(packets, self.follow(prepared, packets)) for packets in self.classes(prepared)]
        return self._answer(prepared.property.name, found, prepared.property)

    def follow(self, prepared: Prepared, packets: PacketClass) -> Flight:
        """The shortest way in which a packet violates a property."""
        rollout = Rollout(self._network, self._course, packets)
        source, goal = packets.sources[0], packets.destination
        letters = Letters(
            prepared.property, NodeSet((goal,), self._network.addresses), self._network.addresses, source,
            packets.traffic.process,
        )  # fmt: skip
        flight = Flight({})
        for machine in (prepared.safety, prepared.liveness):
            if machine is not None:
                judge = MachineJudge(prepared, machine, letters, source, goal)
                flight = _shorter(flight, self._fly(rollout, judge))
        return flight

    def _fly(self, rollout: Rollout, judge: Judge, *, wants_rounds: bool = False) -> Flight:
        return fly(rollout, judge, most_states=self._most_states, wants_rounds=wants_rounds)

    def ask_per_packet(self) -> RolloutAnswer:
        """Whether every packet meets one configuration only."""
        found = [(packets, self._mixed(packets)) for packets in self.classes(None)]
        return self._answer(PER_PACKET, found, None)

    def _mixed(self, packets: PacketClass) -> Flight:
        versions = [Rollout(self._network, Course(one, ()), packets) for one in self._course.versions]
        return self._fly(Rollout(self._network, self._course, packets), OneVersion(versions))

    def ask_per_flow(self) -> RolloutAnswer:
        """Whether all packets of a flow that lasts as long as the rollout meet the same configuration."""
        found: list[tuple[PacketClass, Flight]] = []
        examples: list[Interleaving] = []
        for group in self.classes(None):
            for source in group.sources:
                packets = PacketClass(group.traffic, (source,), group.destination)
                flights = [self._leaves(packets, number) for number in range(len(self._course.versions))]
                loyal = [flight for flight in flights if flight.end is None]
                found.append((packets, loyal[0] if loyal else flights[0]))
                if not loyal and not examples:
                    shown = {flight.cost: flight for flight in (flights[0], flights[-1])}
                    examples = [self._replay(packets, flight, None) for flight in shown.values()]
        answer = self._answer(PER_FLOW, found, None, is_shown=False)
        return replace(answer, examples=tuple(examples))

    def _leaves(self, packets: PacketClass, number: int) -> Flight:
        """A packet that does not go as one configuration would send it."""
        version = Rollout(self._network, Course(self._course.versions[number], ()), packets)
        return self._fly(Rollout(self._network, self._course, packets), OneVersion([version]))

    def find_loops(self) -> Iterator[Interleaving]:
        """Packets that go round while the rollout stands still at some point, the first few."""
        shown = 0
        for packets in self.classes(None):
            flight = self._fly(Rollout(self._network, self._course, packets), Wanderer(), wants_rounds=True)
            if flight.end is not None:
                yield self._replay(packets, flight, None, stands=True)
                shown += 1
            if shown == MOST_LOOPS:
                return

    def _answer(
        self,
        name: str,
        found: Sequence[tuple[PacketClass, Flight]],
        one: PathProperty | None,
        *,
        is_shown: bool = True,
    ) -> RolloutAnswer:
        bad = [(packets, flight) for packets, flight in found if flight.end is not None]
        cut = any(flight.is_cut for _, flight in found)
        states = sum(flight.states for _, flight in found)
        if not found:
            return RolloutAnswer(name, Verdict.VACUOUS, 0, 0, 0)
        if not bad:
            meaning = f"a packet class has more than {self._most_states:,} states" if cut else ""
            return RolloutAnswer(name, Verdict.UNKNOWN if cut else Verdict.HOLDS, len(found), 0, states, (), meaning)
        packets, flight = min(bad, key=lambda pair: pair[1].cost)
        examples = (self._replay(packets, flight, one),) if is_shown else ()
        if one is None:
            self._confirm_mixed(packets, flight, examples)
        return RolloutAnswer(name, Verdict.VIOLATED, len(found), len(bad), states, examples)

    def _confirm_mixed(self, packets: PacketClass, flight: Flight, examples: Sequence[Interleaving]) -> None:
        """Raises InternalError if one configuration alone sends a packet the way that is shown."""
        for example in examples:
            nodes = [event.node for event in example.events if event.kind == "packet"]
            nodes += [flight.onward] if flight.onward is not None else []
            packet = Packet(example.origin, example.destination, packets.traffic)
            for version in self._course.versions:
                if is_path_of(self._network, version, packet, nodes, flight.how):
                    raise InternalError(f"E700 {version.name} sends a packet from {example.origin} that way")

    def _replay(
        self, packets: PacketClass, flight: Flight, one: PathProperty | None, *, stands: bool = False
    ) -> Interleaving:
        return show_flight(self._network, self._course, packets, flight, one, stands=stands)


def show_flight(
    network: Network,
    course: Course,
    packets: PacketClass,
    flight: Flight,
    one: PathProperty | None,
    *,
    stands: bool = False,
) -> Interleaving:
    """What a search found, replayed."""
    at = flight.end
    assert at is not None
    while (before := flight.steps[at].before) is not None:
        at = before
    packet = Packet(at.node, packets.destination, packets.traffic)
    return replay_flight(network, course, packet, flight, one, stands=stands)


def _shorter(one: Flight, other: Flight) -> Flight:
    """The flight with the shorter bad end; the states of both."""
    chosen = other if one.end is None or (other.end is not None and other.cost < one.cost) else one
    chosen.states = one.states + other.states
    chosen.is_cut = one.is_cut or other.is_cut
    return chosen
