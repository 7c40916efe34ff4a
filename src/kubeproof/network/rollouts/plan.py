"""Looks for an order of changes that keeps properties, or proves that there is none.

Between two changes all packets that are on their way leave. So a packet meets one change at most, and an order is safe
if and only if each of its steps is, given what was changed before. The steps form a graph over sets of changes, which
is searched depth first, dead ends remembered. What a packet class says of a step depends only on the changes that the
class can meet, and is remembered by those; changes that no class meets together are planned apart.

Whether any order will do is asked first, which is one check. The waits between steps come last: each is left out if the
plan is still safe without it, and changes side by side are united if any order of them is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.errors import NothingToCheckError
from kubeproof.network.model import Network, Snapshot
from kubeproof.network.properties.machine import Prepared
from kubeproof.network.properties.named import Wanted
from kubeproof.network.rollouts.changes import RULE, Change, Course, apply_all, find_changes
from kubeproof.network.rollouts.flight import Flight, PacketClass, Rollout, bits_of
from kubeproof.network.rollouts.result import Interleaving, PlanResult, Refusal, Round
from kubeproof.network.rollouts.verify import RolloutChecker, prepare_all, show_flight
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What is asked of a plan."""

    unit: str = RULE
    most_configurations: int = 100_000
    most_states: int = 1_000_000  # of one packet class


class TooMany(Exception):
    """A limit was met, or somebody asked to stop."""


def make_plan(
    network: Network,
    old: Snapshot,
    new: Snapshot,
    wanted: Sequence[Wanted],
    options: PlanOptions = PlanOptions(),
    stop: Stop | None = None,
) -> PlanResult:
    """An order of changes from the old configuration to the new one, or the proof that there is none."""
    prepared, notes = prepare_all(wanted)
    if not prepared:
        raise NothingToCheckError("E301 no property to keep. Add spec.properties to a file, or --property, --ltl.")
    changes = find_changes(old, new, options.unit)
    planner = _Planner(network, old, changes, prepared, options, stop or Stop())
    names = tuple(one.property.name for one in prepared)
    try:
        found = planner.plan()
    except TooMany as problem:
        asked = stop is not None and stop.is_asked
        if asked and stop is not None:
            stop.obey()
        return PlanResult(
            network.name, Verdict.UNKNOWN, (), names, len(changes), planner.groups, planner.looked_at, str(problem),
            notes=notes, is_interrupted=asked,
        )  # fmt: skip
    verdict = Verdict.VIOLATED if found is None else Verdict.HOLDS
    return PlanResult(
        network.name, verdict, found or (), names, len(changes), planner.groups, planner.looked_at,
        planner.reason, planner.stuck, planner.refusals, notes,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Concern:
    """A packet class, what is asked of it, and the changes that it can meet."""

    prepared: Prepared
    packets: PacketClass
    relevant: int


class _Planner:
    """One plan."""

    def __init__(
        self,
        network: Network,
        old: Snapshot,
        changes: tuple[Change, ...],
        prepared: Sequence[Prepared],
        options: PlanOptions,
        stop: Stop,
    ) -> None:
        self._network = network
        self._old = old
        self._changes = changes
        self._options = options
        self._stop = stop
        self._concerns = list(self._find_concerns(prepared))
        self._known: dict[tuple[int, int, int | None], Flight | None] = {}
        self.groups = 0
        self.looked_at = 0
        self.reason = ""
        self.stuck: tuple[Change, ...] = ()
        self.refusals: tuple[Refusal, ...] = ()

    def _find_concerns(self, prepared: Sequence[Prepared]) -> Iterator[_Concern]:
        course = Course(self._old, (self._changes,))
        checker = RolloutChecker(self._network, course)
        for one in prepared:
            for packets in checker.classes(one):
                yield _Concern(one, packets, Rollout(self._network, course, packets).relevant)

    def plan(self) -> tuple[Round, ...] | None:
        """The rounds of a plan; None if there is none."""
        everything = (1 << len(self._changes)) - 1
        groups = self._find_groups()
        self.groups = len(groups)
        if self._is_epoch_safe(0, [tuple(range(len(self._changes)))]):
            return (Round(self._changes, waits=False),) if self._changes else ()
        for applied, which in ((0, "old"), (everything, "new")):
            for number in range(len(self._concerns)):
                if (flight := self._ask(number, applied, None)) is not None:
                    self._refuse(applied, None, number, flight)
                    self.reason = f"the {which} configuration itself violates it"
                    return None
        order: list[int] = []
        for group in groups:
            found = self._search(group)
            if found is None:
                self.reason = f"every order of {group.bit_count()} changes was excluded"
                return None
            order += found
        return tuple(self._loosen(order))

    def _find_groups(self) -> list[int]:
        """Changes that some class can meet together, transitively; those that nobody meets are one group."""
        groups: list[int] = []
        free = (1 << len(self._changes)) - 1
        for concern in self._concerns:
            mask = concern.relevant
            free &= ~mask
            apart = [group for group in groups if not group & mask]
            for group in groups:
                mask |= group if group & mask else 0
            groups = [*apart, mask] if mask else apart
        return [group for group in (*groups, free) if group]

    # The search

    def _search(self, group: int) -> list[int] | None:
        """An order of the changes of a group, depth first; None if all were excluded."""
        dead: set[int] = set()
        path: list[tuple[int, Iterator[int]]] = [(0, self._candidates(0, group))]
        order: list[int] = []
        furthest: tuple[int, int] = (-1, 0)
        while path:
            applied, candidates = path[-1]
            if applied == group:
                return order
            if applied.bit_count() > furthest[0]:
                furthest = applied.bit_count(), applied
            for number in candidates:
                after = applied | 1 << number
                if after not in dead and self._is_safe(applied, number):
                    order.append(number)
                    path.append((after, self._candidates(after, group)))
                    break
            else:
                dead.add(applied)
                path.pop()
                if order:
                    order.pop()
        self._explain(furthest[1], group)
        return None

    def _candidates(self, applied: int, group: int) -> Iterator[int]:
        """Changes that may come next, those that bring rules before those that only take some away."""
        self._count()
        rest = list(bits_of(group & ~applied))
        return iter(sorted(rest, key=lambda number: not any(edit.added for edit in self._changes[number].edits)))

    def _count(self) -> None:
        self.looked_at += 1
        if self._stop.is_asked:
            raise TooMany("interrupted")
        if self.looked_at > self._options.most_configurations:
            raise TooMany(f"more than {self._options.most_configurations:,} configurations; see --max-configurations")

    def _is_safe(self, applied: int, number: int) -> bool:
        return self._find_refusal(applied, number) is None

    def _find_refusal(self, applied: int, number: int) -> tuple[int, Flight] | None:
        """The first class that a change breaks."""
        for place, concern in enumerate(self._concerns):
            if concern.relevant >> number & 1 and (flight := self._ask(place, applied, number)) is not None:
                return place, flight
        return None

    def _ask(self, place: int, applied: int, number: int | None) -> Flight | None:
        """How a class is violated while a change comes (or none); None if it is not."""
        concern = self._concerns[place]
        key = (place, applied & concern.relevant, number)
        if key not in self._known:
            course = self._step(key[1], number)
            flight = RolloutChecker(self._network, course, self._options.most_states).follow(
                concern.prepared, concern.packets
            )
            if flight.is_cut and flight.end is None:
                raise TooMany(f"a packet class has more than {self._options.most_states:,} states")
            self._known[key] = flight if flight.end is not None else None
        return self._known[key]

    def _step(self, applied: int, number: int | None) -> Course:
        base = apply_all(self._old, (self._changes[one] for one in bits_of(applied)))
        return Course(base, () if number is None else ((self._changes[number],),))

    # Why there is none

    def _explain(self, applied: int, group: int) -> None:
        """Where the search went furthest, and what speaks against everything that could come next."""
        self.stuck = tuple(self._changes[number] for number in bits_of(applied))
        for number in bits_of(group & ~applied):
            found = self._find_refusal(applied, number)
            if found is not None:
                self._refuse(applied, number, *found)

    def _refuse(self, applied: int, number: int | None, place: int, flight: Flight) -> None:
        concern = self._concerns[place]
        change = Change() if number is None else self._changes[number]
        example = self._show(self._step(applied & concern.relevant, number), concern, flight)
        self.refusals = (*self.refusals, Refusal(change, concern.prepared.property.name, example))

    def _show(self, course: Course, concern: _Concern, flight: Flight) -> Interleaving:
        return show_flight(self._network, course, concern.packets, flight, concern.prepared.property)

    # Fewer waits

    def _loosen(self, order: Sequence[int]) -> list[Round]:
        """The same plan with fewer waits and rounds, each left out only if the plan is safe without it."""
        epochs: list[list[tuple[int, ...]]] = [
            [(number,)] for number in order
        ]  # between waits; within, stages of changes in any order
        place = 0
        while place + 1 < len(epochs):
            joined = [*epochs[place][:-1], (*epochs[place][-1], *epochs[place + 1][0]), *epochs[place + 1][1:]]
            behind = [*epochs[place], *epochs[place + 1]]
            applied = sum(1 << one for epoch in epochs[:place] for stage in epoch for one in stage)
            self._count()
            for stages in (joined, behind):
                if self._is_epoch_safe(applied, stages):
                    epochs[place : place + 2] = [stages]
                    break
            else:
                place += 1
        return [
            Round(tuple(self._changes[one] for one in stage), waits=number == len(epoch) - 1 and last < len(epochs) - 1)
            for last, epoch in enumerate(epochs)
            for number, stage in enumerate(epoch)
        ]

    def _is_epoch_safe(self, applied: int, stages: Sequence[tuple[int, ...]]) -> bool:
        met = sum(1 << one for stage in stages for one in stage)
        base = apply_all(self._old, (self._changes[one] for one in bits_of(applied)))
        course = Course(base, tuple(tuple(self._changes[one] for one in stage) for stage in stages))
        checker = RolloutChecker(self._network, course, self._options.most_states)
        for concern in self._concerns:
            if concern.relevant & met:
                flight = checker.follow(concern.prepared, concern.packets)
                if flight.end is not None or flight.is_cut:
                    return False
        return True
