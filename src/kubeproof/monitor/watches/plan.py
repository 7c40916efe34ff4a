"""What a set of rules asks of every partition: which watches there are, and which events each of them hears."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter, methodcaller
from typing import Any

from kubeproof.monitor.event import Event
from kubeproof.monitor.rules.predicates import parse as parse_predicate
from kubeproof.monitor.rules.rules import (
    AtMost,
    Chain,
    EqualCounts,
    FollowedBy,
    Heartbeat,
    Ltl,
    Matching,
    Never,
    Pattern,
    Rule,
)
from kubeproof.monitor.watches.desk import Desk, Label, Watch
from kubeproof.monitor.watches.equal import equal_counts_watch
from kubeproof.monitor.watches.formulas import formula_watch
from kubeproof.monitor.watches.keys import KeyWatch
from kubeproof.monitor.watches.other import HeartbeatWatch, NeverWatch, RunLimitWatch, WindowLimitWatch
from kubeproof.monitor.watches.pairs import CountWatch, any_watch

Handler = Callable[[Event], None]
Choice = Callable[[Any], Handler]  # of what a watch does with an event
Test = Callable[[Event], bool]
_PAIRS: dict[Matching, Callable[..., Any]] = {
    Matching.COUNT: CountWatch,
    Matching.KEY: KeyWatch,
    Matching.ANY: any_watch,
}
_FIRST, _THEN, _EVENT = attrgetter("on_first"), attrgetter("on_then"), attrgetter("on_event")


class Slot:
    """One watch that every partition may have: how to make it, and what it does with which events."""

    __slots__ = ("_body", "_label", "_listens", "_make", "first", "then")

    def __init__(
        self, make: Callable[..., Any], body: Any, label: Label, listens: Iterable[tuple[Pattern, Choice]] = ()
    ) -> None:
        self._make, self._body, self._label = make, body, label
        self._listens = [(pattern.name, _test(pattern), choose) for pattern, choose in listens]
        self.first = self.then = ""  # events whose loss it must hear of

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self._listens]

    def make(self, desk: Desk) -> Watch:
        """The watch of one partition."""
        watch: Watch = self._make(self._body, self._label, desk)
        return watch

    def handlers(self, watch: Watch) -> list[tuple[str, Handler]]:
        """What the watch does with events, by their names; one that hears all has a single entry without one."""
        if not self._listens:
            return [("", _EVENT(watch))]
        return [(name, _guard(test, choose(watch))) for name, test, choose in self._listens]


class Plan:
    """The slots of a set of rules. With `has_runs` false, rules about whole runs have none."""

    def __init__(self, rules: Iterable[Rule], *, has_runs: bool = True) -> None:
        self.slots: list[Slot] = []
        for rule in rules:
            self.slots += self._slots(rule, has_runs)
        self.always = [number for number, slot in enumerate(self.slots) if not slot.names]
        self.names: dict[str, list[int]] = {}  # event -> slots that hear it
        self.firsts: dict[str, list[int]] = {}
        self.thens: dict[str, list[int]] = {}
        for number, slot in enumerate(self.slots):
            for name in dict.fromkeys(slot.names):
                self.names.setdefault(name, []).append(number)
            if slot.first:
                self.firsts.setdefault(slot.first, []).append(number)
                self.thens.setdefault(slot.then, []).append(number)

    def _slots(self, rule: Rule, has_runs: bool) -> Iterator[Slot]:
        pairs = rule.body.links if isinstance(rule.body, Chain) else (rule.body,)
        place = len(self.slots)
        for offset, body in enumerate(pairs):
            yield from _slot(body, Label(rule.name, rule.severity, place + offset), has_runs)


def _slot(body: Any, label: Label, has_runs: bool) -> Iterator[Slot]:
    match body:
        case FollowedBy(first, then, _, matching):
            slot = Slot(_PAIRS[matching], body, label, ((then, _THEN), (first, _FIRST)))
            if matching is not Matching.KEY:  # what is lost for one key is no loss for another
                slot.first, slot.then = str(first), str(then)
            yield slot
        case AtMost(event, _, per):
            if per is not None or has_runs:
                yield Slot(RunLimitWatch if per is None else WindowLimitWatch, body, label, ((event, _EVENT),))
        case EqualCounts(events, per):
            if per is not None or has_runs:
                listens = ((event, methodcaller("handler", place)) for place, event in enumerate(events))
                yield Slot(equal_counts_watch, body, label, listens)
        case Never(event):
            yield Slot(NeverWatch, body, label, ((event, _EVENT),))
        case Heartbeat(event):
            yield Slot(HeartbeatWatch, body, label, ((event, _EVENT),))
        case Ltl():
            yield Slot(formula_watch, body, label)


def _test(pattern: Pattern) -> Test | None:
    return parse_predicate(pattern.where).holds if pattern.where else None


def _guard(test: Test | None, handle: Handler) -> Handler:
    """The handler, for those events only for which the pattern's predicate holds."""
    if test is None:
        return handle

    def handle_wanted(event: Event) -> None:
        if test(event):
            handle(event)

    return handle_wanted
