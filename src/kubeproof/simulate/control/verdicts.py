"""How the intents of a Scenario fare along one run.

What forbids a state or a step is violated at the moment it comes about. What speaks of endless runs can be refuted by
the end of a run at rest, or by a state that comes again without any event in between: then it may come for ever, and no
loop is kept waiting, since between two instants none has urgent work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from kubeproof.cluster.loops.control import Role
from kubeproof.intents.monitor import CYCLE, IN_STABLE, NEVER, PERSISTENT, RECURRENT, STEP, WORD, Monitor
from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.monitor import Truth, monitor_of
from kubeproof.model.by_name.abstraction import anonymous
from kubeproof.model.letters import letter_number
from kubeproof.simulate.control.walk import Taken, Walk
from kubeproof.simulate.control.words import describe
from kubeproof.verdicts import Verdict

AT_REST = (IN_STABLE, RECURRENT, PERSISTENT)
MOST_REMEMBERED = 100_000  # states in search of a loop
BROKEN = "no continuation of the run satisfies the formula"


class Verdicts:
    """What is known of every intent so far."""

    def __init__(self, walk: Walk, weigh: Callable[[], float] = lambda: 1.0) -> None:
        self._walk, self._weigh = walk, weigh
        monitors = walk.plan.monitors
        self.weights = [0.0] * len(monitors)  # of a violated intent what the run counted for at that moment
        self.violated_s: list[int | None] = [None] * len(monitors)
        self.details = [""] * len(monitors)
        self._mattered = [not monitor.needs_relevance for monitor in monitors]
        self._temporal = {at: _Word(walk, monitor) for at, monitor in enumerate(monitors) if monitor.kind == WORD}
        self._cycles = [at for at, monitor in enumerate(monitors) if monitor.kind == CYCLE]
        self._steps = [at for at, monitor in enumerate(monitors) if monitor.kind == STEP]
        self._resting = [at for at, monitor in enumerate(monitors) if monitor.kind == IN_STABLE]
        self._nevers = [at for at, monitor in enumerate(monitors) if monitor.kind == NEVER]
        self._past: dict[object, int] = {}  # states at instants since the last event, with the steps before them
        self._tags: list[int] = []
        self._look()
        for at, word in self._temporal.items():
            if word.is_broken:  # by the first state: perhaps no step ever comes
                self._violate(at, BROKEN)

    def note(self, taken: Taken) -> None:
        """A step has been taken."""
        if self._walk.judge.changed:
            self._look()
        for at in self._steps:
            if taken.tags & self._walk.plan.monitors[at].tags:
                words = describe(taken)
                self._violate(at, f"{taken.actor} takes a step that is forbidden{': ' if words else ''}{words}")
        for at, word in self._temporal.items():
            if self.violated_s[at] is None and word.is_broken_by(taken):
                self._violate(at, BROKEN)
        if self._cycles:
            if taken.decision.role == Role.EVENT:
                self._past.clear()
                self._tags.clear()
            else:
                self._tags.append(taken.tags)

    def _look(self) -> None:
        for at, (_, bad, matters) in enumerate(self._walk.observed):
            self._mattered[at] |= bool(matters)
            if bad and at in self._nevers:
                self._violate(at, "the state is forbidden")

    def at_instant(self) -> None:
        """Nobody has urgent work; time is about to pass."""
        bad = [at for at in self._resting if self.violated_s[at] is None and self._walk.observed[at][1]]
        if bad and self._walk.is_stable():
            for at in bad:
                self._violate(at, "the cluster is at rest in a state that is forbidden there")
        undecided = [at for at in self._cycles if self.violated_s[at] is None]
        if undecided and self._tags:
            self._seek_loop(undecided)

    def _seek_loop(self, undecided: list[int]) -> None:
        state = anonymous(self._walk.model, self._walk.state)
        begin = self._past.get(state)
        if begin is None:
            if len(self._past) < MOST_REMEMBERED:
                self._past[state] = len(self._tags)
            return
        passed = 0
        for tags in self._tags[begin:]:
            passed |= tags
        for at in undecided:
            if passed & self._walk.plan.monitors[at].tags:
                self._violate(at, "the same state came again without any event: this may go on for ever")

    def at_end(self) -> None:
        """The run is over."""
        bad = [at for at, m in enumerate(self._walk.plan.monitors) if m.kind in AT_REST and self._walk.observed[at][1]]
        open_ones = [at for at in bad if self.violated_s[at] is None]
        if not open_ones:
            return
        is_stable = self._walk.is_stable()
        for at in open_ones:
            if is_stable:
                self._violate(at, "the run ends at rest, and nothing will change it")
            else:
                self.details[at] = "not so when the run ended, but the cluster was not at rest"

    def _violate(self, at: int, detail: str) -> None:
        if self.violated_s[at] is None:
            self.violated_s[at] = self._walk.now_s
            self.weights[at] = self._weigh()
            found = self._walk.judge.describe_found(at, self._walk.state, self._walk.views.cells)
            self.details[at] = f"{detail}: {found}" if found else detail

    def verdict(self, at: int) -> Verdict:
        """The verdict of one intent."""
        if self.violated_s[at] is not None:
            return Verdict.VIOLATED
        return Verdict.SAMPLED_OK if self._mattered[at] else Verdict.VACUOUS


class _Word:
    """A formula along the run: what is known of it after so many letters."""

    def __init__(self, walk: Walk, monitor: Monitor) -> None:
        assert monitor.temporal is not None
        self._walk, self._temporal = walk, monitor.temporal
        self._machine = monitor_of(self._temporal.formula, Alphabet(propositions=self._temporal.names))
        self._at = self._machine.initial
        self._read(None)

    def is_broken_by(self, taken: Taken) -> bool:
        """Reads the letter after a step; True if the formula can hold no more."""
        self._read(taken)
        return self.is_broken

    @property
    def is_broken(self) -> bool:
        return self._machine.verdicts[self._at] is Truth.VIOLATED

    def _read(self, taken: Taken | None) -> None:
        is_stable = self._temporal.reads_stability and self._walk.is_stable()
        step = cast("Any", taken)
        letter = letter_number(self._walk.model, self._temporal, self._walk.state, step, is_stable=is_stable)
        self._at = self._machine.step(self._at, letter)
