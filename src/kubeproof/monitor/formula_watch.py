"""Watch for formulas of linear temporal logic over predicates on events."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kubeproof.logic.monitor import Monitor, Verdict, monitor_of
from kubeproof.logic.parser import parse as parse_formula
from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.desk import Desk, Label
from kubeproof.monitor.event import Event
from kubeproof.monitor.other_watches import PlainWatch
from kubeproof.monitor.predicates import Predicate
from kubeproof.monitor.predicates import parse as parse_predicate
from kubeproof.monitor.rules import Ltl
from kubeproof.monitor.times import shown_time


@lru_cache(maxsize=1_000)
def _monitor(formula: str) -> Monitor:
    """The formula's monitor, made once: every run has a watch of its own."""
    return monitor_of(parse_formula(formula))


@lru_cache(maxsize=10_000)
def _predicate(text: str) -> Predicate:
    return parse_predicate(text)


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
        if monitor.verdicts[state] is Verdict.VIOLATED:
            text = f"{self._body.formula} is violated by {event[1]} at {shown_time(event[0])}"
            self._raise(Kind.FORMULA, event[1], text, self._starts[key], event[0], key=key)
            del self._states[key], self._starts[key]
        elif self._body.by_key and state == monitor.initial:
            del self._states[key], self._starts[key]

    def _begin(self, key: str, now: int) -> None:
        if len(self._states) >= self._desk.most_pending:  # the key that was seen first is given up
            oldest = next(iter(self._states))
            text = f"too many keys are followed; {oldest!r} is given up"
            label, start = self._label, self._starts[oldest]
            alarm = Alarm(label.rule, Kind.OVERFLOW, oldest, text, start, now, now, label.severity, "UNKNOWN")
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
