"""Replays an interleaving with whole tables and one packet, by code that shares nothing with the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.objects import Source
from kubeproof.errors import InternalError
from kubeproof.logic.automata.operations import closure
from kubeproof.network.checking.concrete import Choice, Packet, choices
from kubeproof.network.checking.replay import Hop, PathReader, falls_out
from kubeproof.network.checking.witness import LOOP, Witness
from kubeproof.network.model import Network, Snapshot
from kubeproof.network.properties.automata import PathProperty
from kubeproof.network.properties.parameters import Parameters
from kubeproof.network.rollouts.changes import Course, apply_all
from kubeproof.network.rollouts.flight import Flight, Taken
from kubeproof.network.rollouts.result import Event, Interleaving, When
from kubeproof.values import dataclass


@dataclass(slots=True)
class _Run:
    """How far a replay is."""

    applied: set[int]
    stage: int
    events: list[Event]
    nodes: list[str]
    words: list[tuple[int, ...]]
    hops: list[Hop]
    met_before: int = 0  # changes that had come when the packet was sent
    loop_event: int | None = None


def steps_of(flight: Flight) -> tuple[list[Taken], list[Taken]]:
    """The steps to the bad end, and once round if it is a loop."""
    assert flight.end is not None
    steps: list[Taken] = []
    at = flight.end
    while (taken := flight.steps[at]).before is not None:
        steps.append(taken)
        at = taken.before
    around = [Taken(at, None, to.node) for to in flight.loop]
    return steps[::-1], around


def replay_flight(
    network: Network, course: Course, packet: Packet, flight: Flight, one: PathProperty | None, *, stands: bool = False
) -> Interleaving:
    """The interleaving that a search found, if rules and changes produce it and the property itself rejects it.

    Without a property only the path is replayed. `stands`: the rollout stands still while the packet goes round.
    """
    replayer = _Replayer(network, course, packet, one)
    steps, around = steps_of(flight)
    run = replayer.run(steps, around, flight, stands=stands)
    if one is not None:
        replayer.judge(run, flight.how)
    return _interleaving(packet, run, flight, len(course.changes))


class _Replayer:
    """One packet, one rollout."""

    def __init__(self, network: Network, course: Course, packet: Packet, one: PathProperty | None) -> None:
        self._network = network
        self._course = course
        self._packet = packet
        self._property = one
        self._reader = None if one is None else PathReader(network, one, lambda at, rule, to: at)
        self._at = Parameters(packet.source, packet.source, packet.destination, process_id=packet.traffic.process)
        self._came_from: str | None = None
        self._loop_start: int | None = None

    def run(self, steps: Sequence[Taken], around: Sequence[Taken], flight: Flight, *, stands: bool) -> _Run:
        how, onward = flight.how, flight.onward
        run = _Run(set(), 0, [], [self._packet.source], [], [])
        for taken in steps:
            if taken.to is None:
                self._change(run, taken)
            else:
                self._hop(run, taken.to)
        if how == LOOP:
            if not stands:
                self._finish(run)
            self._loop_start, run.loop_event = len(run.nodes) - 1, len(run.events)
            for taken in around:
                assert taken.to is not None
                self._hop(run, taken.to)
            run.nodes.pop()
        else:
            self._stop(run, how, onward)
        return run

    def _change(self, run: _Run, taken: Taken) -> None:
        starts = [sum(map(len, self._course.stages[:place])) for place in range(len(self._course.stages) + 1)]
        stage = range(starts[run.stage], starts[run.stage + 1])
        numbers = [number for number in stage if number not in run.applied]
        if taken.change == -1:
            run.stage += 1
        else:
            numbers = [number for number in numbers if number == taken.change]
            if not numbers:
                raise InternalError(f"E700 change {taken.change} comes out of turn")
        self._make(run, numbers)

    def _make(self, run: _Run, numbers: Sequence[int]) -> None:
        for number in numbers:
            run.applied.add(number)
            change = self._course.changes[number]
            run.events.append(Event("change", str(change), source=change.source))
        if len(run.nodes) == 1:
            run.met_before = len(run.applied)

    def _finish(self, run: _Run) -> None:
        """The rest of the rollout, before a round that lasts for ever."""
        self._make(run, [number for number in range(len(self._course.changes)) if number not in run.applied])

    def _snapshot(self, run: _Run) -> Snapshot:
        return apply_all(self._course.base, (self._course.changes[number] for number in sorted(run.applied)))

    def _hop(self, run: _Run, to: str) -> None:
        here = self._at.current_node
        options = choices(self._network, self._snapshot(run), self._packet, here, self._came_from)
        taken = next((number for number, option in enumerate(options) if option.to == to), None)
        if taken is None or here == self._packet.destination:
            raise InternalError(f"E700 {here} does not send it to {to}")
        self._tell(run, options[taken], f"forwards to {to}")
        branch = taken + 1 if len(options) > 1 and self._at.path_id == 0 else self._at.path_id
        self._at = replace(self._at, current_node=to, hop_count=self._at.hop_count + 1, path_id=branch)
        self._came_from = here
        run.nodes.append(to)

    def _stop(self, run: _Run, how: str, onward: str | None) -> None:
        here = self._at.current_node
        if here == self._packet.destination:
            self._tell(run, None, "delivered")
            return
        options = choices(self._network, self._snapshot(run), self._packet, here, self._came_from)
        lost = next((option for option in options if option.to == onward), None)
        if (how == "dropped" or onward is not None) and lost is None:
            raise InternalError(f"E700 {here} does not do that to it")
        if how == "dropped":
            self._tell(run, lost, "drops it" if lost and lost.rule else "has no rule for it and drops it")
        elif onward is not None:
            self._tell(run, lost, f"forwards to {onward}")
        else:
            self._tell(run, None, "is where it must not be")

    def _tell(self, run: _Run, taken: Choice | None, action: str) -> None:
        letters = () if self._reader is None else self._reader.letters(self._at, taken)
        names = () if self._reader is None else self._reader.names(letters)
        rule = taken.rule if taken is not None else None
        here = self._at.current_node
        run.events.append(Event("packet", action, here, rule.source if rule else Source(), names))
        run.words.append(letters)
        run.hops.append(Hop(here, action, rule, names))

    def judge(self, run: _Run, how: str) -> None:
        """Raises InternalError if the property does not reject the word."""
        one, reader = self._property, self._reader
        assert one is not None
        assert reader is not None
        word = reader.word(run.words, self._at, Witness(tuple(run.nodes), how, self._loop_start), run.hops[-1])
        closed = closure(one.automaton)
        length = len(word.stem) + (0 if how == "here" else closed.size + len(word.loop))
        if not falls_out(closed, word, length) and (how == "here" or one.automaton.accepts(word)):
            raise InternalError(f"E700 the path from {self._packet.source} does not violate {one.name}")


def is_path_of(network: Network, version: Snapshot, packet: Packet, nodes: Sequence[str], how: str) -> bool:
    """True if one configuration alone can send the packet that way."""
    came_from = None
    for place, node in enumerate(nodes):
        if node == packet.destination:
            return place == len(nodes) - 1
        if place == len(nodes) - 1 and how != "dropped":
            return True
        to = nodes[place + 1] if place + 1 < len(nodes) else None
        if all(choice.to != to for choice in choices(network, version, packet, node, came_from)):
            return False
        came_from = node
    return True


def _interleaving(packet: Packet, run: _Run, flight: Flight, changes: int) -> Interleaving:
    made = sum(event.kind == "change" for event in run.events)
    if not made:
        when = When.BEFORE
    else:
        when = When.AFTER if run.met_before == len(run.applied) and run.met_before == changes else When.DURING
    return Interleaving(
        packet.traffic,
        packet.source,
        packet.destination,
        tuple(run.events),
        flight.how,
        run.loop_event,
        when,
        flight.cost,
    )
