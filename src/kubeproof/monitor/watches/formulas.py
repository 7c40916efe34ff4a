"""Watch for formulas of linear temporal logic over predicates on events."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from itertools import permutations
from typing import Any

from kubeproof.logic.monitor import Monitor, Truth, monitor_of
from kubeproof.logic.parser import parse as parse_formula
from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.event import Event
from kubeproof.monitor.rules.predicates import Predicate
from kubeproof.monitor.rules.predicates import parse as parse_predicate
from kubeproof.monitor.rules.rules import Ltl
from kubeproof.monitor.times import show_time
from kubeproof.monitor.watches.desk import NEVER, Desk, Label
from kubeproof.monitor.watches.other import PlainWatch
from kubeproof.verdicts import Verdict


@lru_cache(maxsize=1_000)
def _monitor(formula: str) -> Monitor:
    """The formula's monitor, made once: every run has a watch of its own."""
    return monitor_of(parse_formula(formula))


@lru_cache(maxsize=10_000)
def _predicate(text: str) -> Predicate:
    return parse_predicate(text)


def formula_watch(body: Ltl, label: Label, desk: Desk) -> FormulaWatch | SkewedFormulaWatch:
    """The watch for a formula; clocks that differ leave the order of events open."""
    return (SkewedFormulaWatch if desk.skew_us else FormulaWatch)(body, label, desk)


class FormulaWatch(PlainWatch):
    """Follows the monitor of a formula, one letter per event; begins anew after a violation.

    A state from which nothing can be violated any more is left as it is. A key that is back where it began is
    forgotten, so that as many keys as one likes can come and go.
    """

    __slots__ = ("_body", "_has_given_up", "_monitor", "_starts", "_states", "_tests")

    def __init__(self, body: Ltl, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body = body
        self._monitor = _monitor(body.formula)
        tests = {name: _predicate(text).holds for name, text in body.where}
        self._tests = [(1 << place, tests[name]) for place, name in enumerate(self._monitor.alphabet.propositions)]
        self._states: dict[str, int] = {}
        self._starts: dict[str, int] = {}
        self._has_given_up = False  # said once

    def on_event(self, event: Event) -> None:
        """One letter."""
        key = event[4] if self._body.by_key else ""
        if self._body.by_key and not key:
            return
        letter = sum(bit for bit, test in self._tests if test(event))
        monitor = self._monitor
        if key not in self._states:
            self._begin(key, event[0])
        state = monitor.step(self._states[key], letter)
        self._states[key] = state
        if monitor.verdicts[state] is Truth.VIOLATED:
            text = f"{self._body.formula} is violated by {event[1]} at {show_time(event[0])}"
            self._raise(Kind.FORMULA, event[1], text, self._starts[key], event[0], key=key)
            del self._states[key], self._starts[key]
        elif self._body.by_key and state == monitor.initial:
            del self._states[key], self._starts[key]

    def _begin(self, key: str, now: int) -> None:
        if len(self._states) >= self._desk.most_pending:  # the key that was seen first is given up
            oldest = next(iter(self._states))
            text = f"too many keys are followed; {oldest!r} is given up"
            label, start = self._label, self._starts[oldest]
            alarm = Alarm(label.rule, Kind.OVERFLOW, oldest, text, start, now, now, label.severity, Verdict.UNKNOWN)
            del self._states[oldest], self._starts[oldest]
            if not self._has_given_up:
                self._desk.report(alarm, self)
            self._has_given_up = True
        self._states[key], self._starts[key] = self._monitor.initial, now

    def state(self) -> Any:
        """State and beginning by key, and whether some were given up."""
        return [[[key, state, self._starts[key]] for key, state in self._states.items()], self._has_given_up]

    def restore(self, state: Any) -> None:
        """Reads on."""
        followed, self._has_given_up = state
        self._states = {key: number for key, number, _ in followed}
        self._starts = {key: start for key, _, start in followed}


MOST_ORDERED = 4  # letters close together of which all orders are followed


class _Word:
    """One key's word: the states that it may have led to, and letters too close for their order to be known."""

    __slots__ = ("about", "last", "letters", "start", "states")

    def __init__(self, state: int, start: int) -> None:
        self.states, self.start = frozenset((state,)), start
        self.letters: list[int] = []
        self.last, self.about = start, ""


class SkewedFormulaWatch(PlainWatch):
    """Follows all states that a formula's monitor may be in where the order of events within `skew` is not known.

    Letters that come within `skew` of each other are read in all orders; of more than a few, any word over them may
    have been read. It is a violation if every one of these words is. One is read when no other can come beside it.
    """

    __slots__ = ("_body", "_has_given_up", "_monitor", "_order", "_scheduled", "_tests", "_words")

    def __init__(self, body: Ltl, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body, self._monitor = body, _monitor(body.formula)
        tests = {name: _predicate(text).holds for name, text in body.where}
        self._tests = [(1 << place, tests[name]) for place, name in enumerate(self._monitor.alphabet.propositions)]
        self._words: dict[str, _Word] = {}
        self._order: deque[tuple[int, str]] = deque()  # when keys were heard, those that were heard again included
        self._has_given_up = self._scheduled = False

    def on_event(self, event: Event) -> None:
        """One letter."""
        key = event[4] if self._body.by_key else ""
        if self._body.by_key and not key:
            return
        word = self._words.get(key)
        if word is not None and word.letters and event[0] - word.last > self._desk.skew_us:
            self._read(key, word)
        word = self._words.get(key) or self._begin(key, event[0])
        word.letters.append(sum(bit for bit, test in self._tests if test(event)))
        word.last, word.about = event[0], event[1]
        self._order.append((event[0], key))
        if not self._scheduled:
            self._scheduled = True
            self._desk.schedule(self._order[0][0] + self._desk.skew_us, self)

    def _begin(self, key: str, now: int) -> _Word:
        if len(self._words) >= self._desk.most_pending:  # the key that was seen first is given up
            oldest = next(iter(self._words))
            start, label = self._words.pop(oldest).start, self._label
            text = f"too many keys are followed; {oldest!r} is given up"
            if not self._has_given_up:
                alarm = Alarm(label.rule, Kind.OVERFLOW, oldest, text, start, now, now, label.severity, Verdict.UNKNOWN)
                self._desk.report(alarm, self)
            self._has_given_up = True
        found = self._words[key] = _Word(self._monitor.initial, now)
        return found

    def due(self) -> float:
        """When the oldest letters have no company any more."""
        self._scheduled = bool(self._order)
        return self._order[0][0] + self._desk.skew_us if self._order else NEVER

    def expire(self, now: int) -> None:
        """Reads letters beside which no other can come."""
        while self._order and self._order[0][0] + self._desk.skew_us < now:
            self._read_at(*self._order.popleft())

    def finish(self, now: int) -> int:
        """Reads what is left; nothing is owed."""
        while self._order:
            self._read_at(*self._order.popleft())
        return 0

    def _read_at(self, time: int, key: str) -> None:
        word = self._words.get(key)
        if word is not None and word.letters and word.last == time:
            self._read(key, word)

    def _read(self, key: str, word: _Word) -> None:
        """Follows the letters, and raises an alarm if all that may have happened is a violation."""
        letters, word.letters = word.letters, []
        verdicts, start = self._monitor.verdicts, self._monitor.initial
        reached = self._after(word.states, letters)
        violated = {state for state in reached if verdicts[state] is Truth.VIOLATED}
        if violated == reached:
            text = f"{self._body.formula} is violated by {word.about} at {show_time(word.last)}"
            self._raise(Kind.FORMULA, word.about, text, word.start, word.last, key=key)
            word.start = word.last
        again = self._reachable(frozenset((start,)), letters) if violated and len(letters) > 1 else {start}
        word.states = frozenset((reached - violated) | (again if violated else frozenset()))
        is_fresh = word.states == {start} and (self._body.by_key or violated == reached)
        if is_fresh:
            del self._words[key]

    def _after(self, states: frozenset[int], letters: list[int]) -> frozenset[int]:
        if len(letters) > MOST_ORDERED and len(set(letters)) > 1:
            return self._reachable(states, letters)
        orders = set(permutations(letters)) if len(set(letters)) > 1 else {tuple(letters)}
        return frozenset(self._follow(state, order) for state in states for order in orders)

    def _follow(self, state: int, letters: tuple[int, ...]) -> int:
        for letter in letters:
            state = self._monitor.step(state, letter)
        return state

    def _reachable(self, states: frozenset[int], letters: list[int]) -> frozenset[int]:
        """All states that some word over the letters leads to; those of a violation begin anew."""
        found, pending = set(states), list(states)
        while pending:
            state = pending.pop()
            for letter in set(letters):
                after = self._monitor.step(state, letter)
                if after not in found:
                    found.add(after)
                    pending.append(after)
        return frozenset(found)

    def state(self) -> Any:
        """Every word, and what is still to be read."""
        words = [[key, sorted(w.states), w.start, w.last, w.letters, w.about] for key, w in self._words.items()]
        return [words, [list(entry) for entry in self._order], self._has_given_up]

    def restore(self, state: Any) -> None:
        """Reads on."""
        words, order, self._has_given_up = state
        for key, states, start, last, letters, about in words:
            word = self._words[key] = _Word(self._monitor.initial, start)
            word.states, word.last, word.letters, word.about = frozenset(states), last, list(letters), about
        self._order = deque((time, key) for time, key in order)
        if self._order:
            self._scheduled = True
            self._desk.schedule(self._order[0][0] + self._desk.skew_us, self)
