"""A worker: owns a share of the partitions, judges what arrives in them, and takes over those of workers that died."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import field

from kubeproof.errors import EnvironmentProblem, UsageError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.monitor.alarms import to_value
from kubeproof.monitor.intake.runs import StreamOptions
from kubeproof.monitor.rules.reader import read_rules
from kubeproof.monitor.scale.board import Board, Entry, Plan
from kubeproof.monitor.scale.judge import Judge
from kubeproof.values import dataclass

LEASE_MS = 5_000  # a worker that has not been heard of for so long is taken for dead
GIVE_UP_S = 600.0
_TOGETHER = 20  # entries
_BREATH = 200  # items between two looks at the clock
_LATENCY_S = 0.1  # between what is judged and what is permanent, if that is cheap
_THRIFT = 8  # otherwise making it permanent may take one part in so many of the time


@dataclass(frozen=True, slots=True)
class WorkOptions:
    """How a worker behaves; clock and waiting can be replaced."""

    name: str
    lease_ms: int = LEASE_MS
    begin_s: float = 60.0  # how long to wait for somebody to begin
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep


def work(board: Board, options: WorkOptions) -> int:
    """Judges until everything is over; gives the number of entries judged. Survives restarts of Redis."""
    import redis

    with board.tell_problems():
        plan = _plan(board, options)
    worker = _Worker(board, plan, options)
    silent_since: float | None = None
    while True:
        try:
            if not worker.turn():
                return worker.judged
            silent_since = None
        except redis.ResponseError as problem:
            if board.plan() == plan:
                raise EnvironmentProblem(f"E401 {board.shown} answers: {printable(str(problem))}.") from None
            return worker.judged  # all streams are gone: everything is over
        except (redis.ConnectionError, redis.TimeoutError) as problem:
            worker.forget()
            silent_since = silent_since if silent_since is not None else options.clock()
            if options.clock() - silent_since > GIVE_UP_S:
                raise EnvironmentProblem(f"E401 {board.shown} is gone: {type(problem).__name__}.") from None
            options.wait(0.5)


def options_of(plan: Plan) -> StreamOptions:
    """The options that everybody judges by."""
    return StreamOptions(*plan.options)


def _plan(board: Board, options: WorkOptions) -> Plan:
    end = options.clock() + options.begin_s
    while (plan := board.plan()) is None:
        if options.clock() >= end:
            remedy = "Begin with kubeproof monitor run --executor on the same address."
            raise UsageError(f"nobody has begun on {board.shown}", remedy)
        options.wait(0.2)
    return plan


@dataclass(slots=True)
class _Owned:
    """A partition that is ours, and what has been judged in it but is not permanent."""

    judge: Judge
    done: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    due: float = -math.inf  # when it is to become permanent


class _Worker:
    """What a worker owns at the moment."""

    def __init__(self, board: Board, plan: Plan, options: WorkOptions) -> None:
        self._board, self._plan, self._me, self._lease_ms = board, plan, options.name, options.lease_ms
        self._clock, self._wait = options.clock, options.wait
        self._rules = read_rules(plan.rules.encode(), board.shown)
        self._owned: dict[int, _Owned] = {}
        self._looked = self._kept = -math.inf
        self.judged = 0

    def turn(self) -> bool:
        """Looks after ownership if it is time, and judges what is there; false if everything is over."""
        if self._clock() - self._looked > self._lease_ms / 5000:
            if self._board.plan() != self._plan:
                return False
            self._share()
            self._looked = self._clock()
        if not self._owned:
            self._wait(0.1)
            return True
        for partition, entries in self._board.new(sorted(self._owned), self._me, _TOGETHER, int(_LATENCY_S * 1000)):
            self._take(partition, entries)
        for partition, owned in sorted(self._owned.items()):
            if owned.done and self._clock() >= owned.due:
                self._commit(partition)
        return True

    def forget(self) -> None:
        """Owns nothing: the connection is gone, and with it the certainty."""
        self._owned.clear()
        self._looked = -math.inf

    def _share(self) -> None:
        """Keeps what is ours, gives up what is more than our share, takes what nobody has."""
        partitions = range(self._plan.partitions)
        share = math.ceil(len(partitions) / self._board.enlist(self._me, self._lease_ms))
        self._keep()
        for partition in sorted(self._owned)[share:]:
            self._commit(partition)
            self._owned.pop(partition, None)
            self._board.give_up(partition, self._me)
        for partition in partitions:
            free = partition not in self._owned and len(self._owned) < share
            if free and self._board.own(partition, self._me, self._lease_ms):
                self._take_over(partition)
                self._keep()

    def _take_over(self, partition: int) -> None:
        """Goes on from the last state that was permanent, with what its owner was given afterwards."""
        owned = self._owned[partition] = _Owned(Judge(self._rules, options_of(self._plan)))
        owned.judge.restore(self._board.state(partition))
        self._take(partition, self._board.inherit(partition, self._me))

    def _take(self, partition: int, entries: Sequence[Entry]) -> None:
        """Judges entries, and says now and then that we are alive: there may be many, and rules may be slow."""
        for number, items in entries:
            owned = self._owned.get(partition)
            if owned is None:  # lost meanwhile
                return
            for start in range(0, len(items), _BREATH):
                found = owned.judge.take(items[start : start + _BREATH])
                owned.alarms += [json.dumps(to_value(alarm, 0)) for alarm in found]
                self._keep()
            owned.done.append(number)

    def _keep(self) -> None:
        """Keeps what is ours, if it is time."""
        if self._clock() - self._kept > self._lease_ms / 5000:
            self._kept = self._clock()
            self._board.enlist(self._me, self._lease_ms)
            for partition in sorted(self._owned):
                if not self._board.keep(partition, self._me, self._lease_ms):
                    del self._owned[partition]

    def _commit(self, partition: int) -> None:
        """Makes permanent what was judged. The state may be large: the more it takes, the more rarely it is written."""
        owned = self._owned[partition]
        begun = self._clock()
        changes = owned.judge.changes()
        if not self._board.commit(partition, self._me, self._lease_ms, changes, owned.alarms, owned.done):
            del self._owned[partition]  # somebody else has it, from the last state that was permanent
            return
        self.judged += len(owned.done)
        owned.done.clear()
        owned.alarms.clear()
        now = self._clock()
        owned.due = now + max(_LATENCY_S, len(self._owned) * _THRIFT * (now - begun))
