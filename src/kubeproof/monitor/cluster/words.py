"""A formula on a stream: its safety part at once, the rest when the cluster rests or goes round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from kubeproof.intents.predicates.temporal import Temporal
from kubeproof.logic.automata.graph import reaching_cycles
from kubeproof.logic.machine import BROKEN, SAFE, Machine
from kubeproof.logic.machine import Memory as WordMemory
from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.cluster.judges import FAR, _Base
from kubeproof.monitor.cluster.sight import Sight

MOST_LETTERS = 2_000  # of a loop that is recognised


class WordJudge(_Base):
    """Reads a letter per moment."""

    word: WordMemory | None = None
    rest = 0

    @cached_property
    def _temporal(self) -> Temporal:
        assert self.monitor.temporal is not None
        return self.monitor.temporal

    @cached_property
    def _letters(self) -> list[int]:
        return []

    def look(self, sight: Sight) -> Iterator[Alarm]:
        temporal, machine = self._temporal, self._temporal.machine
        values = temporal.values(sight.workloads, sight.places, ())
        letter = temporal.letter(values, temporal.look_for(sight.tags, sight.actions), is_stable=False)
        self.word = machine.step(self.word or machine.start, letter)
        self.rest = temporal.letter(values, temporal.nothing_happened, is_stable=True)
        self.since_us = sight.time_us
        if sight.is_external or len(self._letters) >= MOST_LETTERS:
            self._letters.clear()
            self.loops.forget()
        self._letters.append(letter)
        if self.word == BROKEN and not self.is_told:
            self.is_told = True
            yield self.alarm(f"no continuation satisfies {self.monitor.intent.formula}", sight.time_us, sight.time_us)
        elif not self.is_told:
            yield from self._again(sight, machine)

    def _again(self, sight: Sight, machine: Machine) -> Iterator[Alarm]:
        place = len(self._letters)
        found = self.loops.visit(sight, (place,))
        if found is None:
            return
        visits, (begun, *_) = found
        self.loops.note(visits + 1, (place,))
        if visits + 1 < self.patience.repeats or self.word in (None, SAFE):
            return
        assert self.word is not None
        if breaks_in_loop(machine, self.word, self._letters[begun:]):
            self.is_told = True
            yield self.alarm(f"a loop that breaks {self.monitor.intent.formula}", self.calm_us, sight.time_us)

    def due(self) -> float:
        waits = self.word not in (None, BROKEN, SAFE) and not self.is_told
        return self.since_us + self.patience.within_us if waits else FAR

    def expire(self, now_us: int) -> Iterator[Alarm]:
        assert self.word is not None
        begun, self.since_us = self.since_us, now_us
        machine = self._temporal.machine
        self.word = machine.step(self.word, self.rest)
        if machine.breaks_at_rest(self.word, self.rest):
            self.is_told = True
            formula = self.monitor.intent.formula
            yield self.alarm(f"breaks {formula}: nothing has changed for {self._span}", begun, now_us)


def breaks_in_loop(machine: Machine, memory: WordMemory, letters: Sequence[int]) -> bool:
    """True if a run with this memory breaks the formula by reading the letters again and again."""
    size, ways = len(letters), machine.size[1]
    if not size:
        return False
    successors = tuple(
        tuple((place + 1) % size * ways + after for after in machine.after(way, letters[place]))
        for place in range(size)
        for way in range(ways)
    )
    accepting = frozenset(p * ways + way for p in range(size) for way in range(ways) if machine.is_accepting(way))
    return not reaching_cycles(successors, accepting).isdisjoint(machine.ways(memory))
