"""Recorded runs of a real control plane: who did what to which object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parent / "data"
LOOPS = ("evictions", "creations")  # stop rules that count rounds
BURST_S = 1.0  # writes of one control loop that follow each other faster than this are one run of the loop


class Recorded(NamedTuple):
    """One write that the API server granted, or a mark of the driver."""

    time_s: float
    who: str
    verb: str
    object: str  # Pod/shop/web-6b46cbd97f-qlrcs
    node: str = ""  # of the pod, where it has one
    amount: int | None = None  # replicas, percent
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it was recorded."""

    name: str  # c3-1
    header: dict[str, Any]
    actions: tuple[Recorded, ...]

    @property
    def case(self) -> str:
        return str(self.header["case"]).lower()


def read_run(path: Path) -> Run:
    """The run in a file of JSON lines: a header, then one action per line."""
    header, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return Run(path.stem, header, tuple(_recorded(line) for line in lines))


def all_runs() -> tuple[Run, ...]:
    """Every committed run, by name."""
    return tuple(read_run(path) for path in sorted(DATA.glob("*.jsonl")))


def _recorded(line: dict[str, Any]) -> Recorded:
    node = line.get("node", "")
    return Recorded(line["t"], line["who"], line["verb"], line["object"], node, line.get("to"), line.get("from"))


class Census(NamedTuple):
    """What the actions so far have made of the target's pods."""

    pods: int
    ready: int
    unplaced: int
    evictions: int
    creations: int


def census(actions: Sequence[Recorded], target: str) -> Census:
    """Counts the pods of a Deployment; their names begin with its own."""
    alive: dict[str, bool] = {}  # pod -> ready
    unplaced: set[str] = set()
    evictions = creations = 0
    for action in actions:
        pod = action.object
        if not pod.startswith(f"Pod/{target.removeprefix('Deployment/')}-"):
            continue
        if action.verb == "create":
            alive[pod] = False
            creations += 1
        elif action.verb == "start" and pod in alive:
            alive[pod] = True
        elif action.verb == "cannot-place":
            unplaced.add(pod)
        elif action.verb == "bind":
            unplaced.discard(pod)
        elif action.verb in ("evict", "delete", "reject"):
            evictions += action.verb == "evict" and pod in alive
            alive.pop(pod, None)
            unplaced.discard(pod)
    return Census(len(alive), sum(alive.values()), len(unplaced), evictions, creations)


def until_broken(run: Run) -> tuple[Recorded, ...]:
    """The run up to the action that breaks the intent, or that completes the rounds asked for of a loop.

    What breaks a bound counts with the whole burst of its control loop, and what others do during the burst comes
    after it: to the model that is one step.
    """
    actions = run.actions
    last = breaking(run)
    if last is None:
        return actions
    if run.header["stop"]["kind"] in LOOPS:
        return actions[: last + 1]
    breaker = actions[last]
    first = _burst_begins(actions, last)
    burst = [a for a in actions[first:] if _is_same_loop(a, breaker) and abs(a.time_s - breaker.time_s) < BURST_S]
    return (*actions[:first], *burst)


def breaking(run: Run) -> int | None:
    """The index of the action with which the stop rule of the run first holds; None if it never does."""
    kind, count = run.header["stop"]["kind"], run.header["stop"]["count"]
    complete = False
    for index in range(len(run.actions)):
        now = census(run.actions[: index + 1], run.header["target"])
        if kind in ("pods-below", "ready-below"):
            amount = now.pods if kind == "pods-below" else now.ready
            if complete and amount < count:
                return index
            complete = complete or now.ready >= count
        elif {
            "pods-above": now.pods > count,
            "unschedulable": now.unplaced >= count,
            "evictions": now.evictions >= count,
            "creations": now.creations >= count,
        }[kind]:
            return index
    return None


def _burst_begins(actions: Sequence[Recorded], last: int) -> int:
    first = last
    for index in range(last, -1, -1):
        if _is_same_loop(actions[index], actions[last]):
            if actions[first].time_s - actions[index].time_s >= BURST_S:
                break
            first = index
    return first


def _is_same_loop(one: Recorded, other: Recorded) -> bool:
    return (one.who, one.verb) == (other.who, other.verb)
