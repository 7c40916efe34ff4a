"""Judges one partition of a split stream with the embedded engine; its state moves to whoever goes on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubeproof.errors import InternalError
from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.engine import Partition
from kubeproof.monitor.event import Event
from kubeproof.monitor.intake.arrival import Gaps
from kubeproof.monitor.intake.runs import StreamOptions
from kubeproof.monitor.rules.rules import RuleSet
from kubeproof.monitor.scale.lanes import Lanes
from kubeproof.monitor.scale.splitter import END, FINISH, GAP, TIME, Item
from kubeproof.monitor.watches.plan import Plan

_GAPS = "gaps"


class Judge:
    """All lanes and runs of one partition."""

    def __init__(self, rules: RuleSet, options: StreamOptions) -> None:
        self._options = options
        self._plans = [
            {has_runs: Plan(lane, has_runs=has_runs) for has_runs in (False, True)}
            for lane in Lanes(rules.rules, 1).rules
        ]
        self._runs: dict[str, dict[int, Partition]] = {}
        self._gaps: dict[str, Gaps] = {}
        self._changed: set[tuple[int | str, str]] = set()

    def take(self, items: Iterable[Item]) -> list[Alarm]:
        """The alarms that these items, which come next, give rise to."""
        found: list[Alarm] = []
        for item in items:
            for part in self._judge(item) if isinstance(item[0], int) else self._hear(*item):
                if part.has_raised:
                    found += part.fetch()
        return found

    def open(self) -> int:
        """Obligations that wait."""
        return sum(part.open() for run in self._runs.values() for part in run.values())

    def changes(self) -> dict[str, Any]:
        """What has changed since the last time, as JSON can hold it; None for what is over."""
        found: dict[str, Any] = {}
        for what, run in sorted(self._changed, key=str):
            if isinstance(what, int):
                part = self._runs.get(run, {}).get(what)
                found[f"{what}|{run}"] = None if part is None else part.state()
            else:
                gaps = self._gaps.get(run)
                found[f"{_GAPS}|{run}"] = None if gaps is None else [list(span) for span in gaps.spans]
        self._changed.clear()
        return found

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from all changes that were ever made."""
        for place, value in state.items():
            what, _, run = place.partition("|")
            if what == _GAPS:
                self._gap(run).spans[:] = [(start, end) for start, end in value]
            else:
                self._part(int(what), run).restore(value)

    def _judge(self, item: Item) -> tuple[Partition]:
        lane, *fields = item
        event = Event(*fields)
        part = self._part(lane, event.run)
        part.feed((event,))
        self._changed.add((lane, event.run))
        return (part,)

    def _hear(self, word: str, *rest: Any) -> list[Partition]:
        """Something that every partition is told; gives those whom it concerns."""
        if word == GAP:
            run, now, spans, is_all = rest
            touched = self._advance(run, now)
            known = self._gap(run).spans
            known[:] = [*([] if is_all else known), *((start, end) for start, end in spans)]
            self._changed.add((_GAPS, run))
            return touched
        if word == TIME:
            return self._advance(*rest)
        if word == END:
            return self._over(*rest)
        if word != FINISH:
            raise InternalError(f"E700 an item {word!r} in a partition.")
        for name, run in self._runs.items():
            for lane, part in run.items():
                part.finish(complete=True)
                self._changed.add((lane, name))
        return [part for run in self._runs.values() for part in run.values()]

    def _over(self, name: str, is_known: bool) -> list[Partition]:
        """Concludes a run and forgets it."""
        parts = self._runs.pop(name, {})
        if self._gaps.pop(name, None) is not None:
            self._changed.add((_GAPS, name))
        for lane, part in parts.items():
            if is_known:
                part.finish(complete=True)
            else:
                part.give_up()
            part.forget()
            self._changed.add((lane, name))
        return list(parts.values())

    def _advance(self, name: str, now: int | None) -> list[Partition]:
        parts = self._runs.get(name, {})
        if now is not None:
            for lane, part in parts.items():
                part.advance(now)
                self._changed.add((lane, name))
        return list(parts.values())

    def _gap(self, run: str) -> Gaps:
        return self._gaps.setdefault(run, Gaps())

    def _part(self, lane: int, run: str) -> Partition:
        lanes = self._runs.setdefault(run, {})
        if lane not in lanes:
            lanes[lane] = Partition(
                self._plans[lane][bool(run)],
                run=run,
                gaps=self._gap(run),
                skew_us=self._options.skew_us,
                most_pending=self._options.most_pending,
            )
        return lanes[lane]
