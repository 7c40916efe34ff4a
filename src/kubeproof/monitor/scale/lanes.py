"""Splits rules into lanes that do not influence each other, and tells which lanes an event goes to.

Rules that are judged for each key on its own are one lane, split by key. The others hear of each other's lost events by
name, so those that share a name stay together; each such lane is judged in one place per run.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from kubeproof.monitor.event import Event
from kubeproof.monitor.rules.rules import Body, Chain, FollowedBy, Ltl, Matching, Never, Pattern, Rule

Route = tuple[int, int]  # partition, lane


class Lanes:
    """The lanes of a set of rules over a number of partitions."""

    def __init__(self, rules: Sequence[Rule], partitions: int) -> None:
        self._partitions = partitions
        keyed = [rule for rule in rules if is_by_key(rule.body)]
        groups = _connect([rule for rule in rules if not is_by_key(rule.body)])
        self.rules: tuple[tuple[Rule, ...], ...] = (tuple(keyed), *map(tuple, groups))
        self._by_name: dict[str, tuple[int, ...]] = {}
        self._always: tuple[int, ...] = ()
        for lane, members in enumerate(self.rules):
            if any(isinstance(rule.body, Ltl) for rule in members):
                self._always += (lane,)  # each event is one letter
        names = {pattern.name for rule in rules for pattern in _patterns(rule.body)}
        self._by_name = {name: self._listening(name) for name in names}

    def routes(self, event: Event) -> list[Route]:
        """Where the event is judged: one partition for each lane and run, and for each key where that can be."""
        lanes = self._by_name.get(event.name, self._always)
        return [(self._place(lane, event.run, event.key if lane == 0 else ""), lane) for lane in lanes]

    def _place(self, lane: int, run: str, key: str) -> int:
        return crc32(f"{lane}\0{run}\0{key}".encode("utf-8", "surrogatepass")) % self._partitions

    def _listening(self, name: str) -> tuple[int, ...]:
        naming = (
            lane
            for lane, members in enumerate(self.rules)
            if any(pattern.name == name for rule in members for pattern in _patterns(rule.body))
        )
        return tuple(sorted({*naming, *self._always}))


def is_by_key(body: Body) -> bool:
    """True if events of one key say nothing about those of another."""
    match body:
        case FollowedBy() | Chain():
            return body.matching is Matching.KEY
        case Ltl():
            return body.by_key
        case _:
            return isinstance(body, Never)


def _patterns(body: Body) -> tuple[Pattern, ...]:
    match body:
        case FollowedBy():
            return (body.first, body.then)
        case Ltl():
            return ()
        case _:
            return getattr(body, "events", None) or (body.event,)  # type: ignore[union-attr]


def _connect(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Rules that share an event, directly or through others, in the order of the first of them."""
    groups: list[tuple[set[str], list[Rule]]] = []
    for rule in rules:
        names = {pattern.name for pattern in _patterns(rule.body)}
        near = [group for group in groups if group[0] & names]
        joined = (names.union(*(group[0] for group in near)), [one for group in near for one in group[1]] + [rule])
        groups = [group for group in groups if group not in near] + [joined]
    order = {id(rule): number for number, rule in enumerate(rules)}
    return sorted(
        (sorted(members, key=lambda rule: order[id(rule)]) for _, members in groups), key=lambda m: order[id(m[0])]
    )
