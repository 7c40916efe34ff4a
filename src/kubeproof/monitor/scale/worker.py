"""A worker: owns a share of the partitions, judges what arrives in them, and takes over those of workers that died."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence

from kubeproof.errors import EnvironmentProblem, UsageError
from kubeproof.manifests.printable import printable
from kubeproof.monitor.alarms import to_value
from kubeproof.monitor.rule_file import read_rules
from kubeproof.monitor.scale.board import Board, Entry, Plan
from kubeproof.monitor.scale.judge import Judge
from kubeproof.monitor.stream import StreamOptions
from kubeproof.values import dataclass

LEASE_MS = 5_000  # a worker that has not been heard of for so long is taken for dead
GIVE_UP_S = 600.0
_TOGETHER = 20  # entries


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

    with board.told():
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


class _Worker:
    """What a worker owns at the moment."""

    def __init__(self, board: Board, plan: Plan, options: WorkOptions) -> None:
        self._board, self._plan, self._me, self._lease_ms = board, plan, options.name, options.lease_ms
        self._clock, self._wait = options.clock, options.wait
        self._rules = read_rules(plan.rules.encode(), board.shown)
        self._judges: dict[int, Judge] = {}
        self._looked = -math.inf
        self.judged = 0

    def turn(self) -> bool:
        """Looks after ownership if it is time, and judges what is there; false if everything is over."""
        if self._clock() - self._looked > self._lease_ms / 5000:
            if self._board.plan() != self._plan:
                return False
            self._share()
            self._looked = self._clock()
        if not self._judges:
            self._wait(0.1)
            return True
        for partition, entries in self._board.new(sorted(self._judges), self._me, _TOGETHER, self._lease_ms // 10):
            self._judge(partition, entries)
        return True

    def forget(self) -> None:
        """Owns nothing: the connection is gone, and with it the certainty."""
        self._judges.clear()
        self._looked = -math.inf

    def _share(self) -> None:
        """Keeps what is ours, gives up what is more than our share, takes what nobody has."""
        partitions = range(self._plan.partitions)
        share = math.ceil(len(partitions) / self._board.enlist(self._me, self._lease_ms))
        for partition in sorted(self._judges):
            if not self._board.keep(partition, self._me, self._lease_ms):
                del self._judges[partition]
        for partition in sorted(self._judges)[share:]:
            del self._judges[partition]
            self._board.give_up(partition, self._me)
        for partition in partitions:
            free = partition not in self._judges and len(self._judges) < share
            if free and self._board.own(partition, self._me, self._lease_ms):
                self._take_over(partition)

    def _take_over(self, partition: int) -> None:
        judge = Judge(self._rules, options_of(self._plan))
        judge.restore(self._board.state(partition))
        self._judges[partition] = judge
        inherited = self._board.inherited(partition, self._me)
        for start in range(0, len(inherited), _TOGETHER):
            self._judge(partition, inherited[start : start + _TOGETHER])

    def _judge(self, partition: int, entries: Sequence[Entry]) -> None:
        judge = self._judges.get(partition)
        if judge is None or not entries:
            return
        alarms = [alarm for _, items in entries for alarm in judge.take(items)]
        texts = [json.dumps(to_value(alarm, 0)) for alarm in alarms]
        done = [number for number, _ in entries]
        if self._board.commit(partition, self._me, self._lease_ms, judge.changes(), texts, done):
            self.judged += len(done)
        else:
            del self._judges[partition]  # somebody else has it, from the last state that was permanent
