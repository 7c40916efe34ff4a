"""Speed and size of the two kernels on a synthetic system; prints one JSON line per kernel.

    python benchmarks/engine_micro.py [SIZE] [ENGINE...]

SIZE is the number of values per counter (default 4: about 4**10 states). Ten counters go round, each with its
own actor, the first with the help of an event; an eleventh actor reads all of them; an observer watches two.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from kubeproof.engine.limits import STATES_BETWEEN_JUDGEMENTS
from kubeproof.engine.search import Store, make_kernel
from kubeproof.engine.system import Effect, Role, Turn

COUNTERS = 10
NO_LIMIT = 2**31 - 2


@dataclass(frozen=True)
class Counter:
    """Steps its slot up, round at the top, seeing also its neighbour."""

    name: str
    reads: tuple[int, ...]
    size: int
    stage: int = Turn.ALWAYS

    def view(self, position: int, cell: int) -> int:
        return cell if position == 0 else cell % 2

    def act(self, views: tuple[int, ...]) -> Sequence[Effect]:
        if views[1]:
            return []
        role = Role.EVENT if self.reads[0] == 1 and views[0] == 0 else Role.URGENT
        return [Effect(role, 1, ((self.reads[0], "up"),), self.name)]


@dataclass(frozen=True)
class Overseer:
    """Sees every counter dimly and has something to do only when all are high."""

    reads: tuple[int, ...]
    size: int
    name: str = "overseer"
    stage: int = Turn.ALWAYS

    def view(self, position: int, cell: int) -> bool:
        return cell + 1 >= self.size

    def act(self, views: tuple[bool, ...]) -> Sequence[Effect]:
        if not all(views):
            return []
        return [Effect(Role.OPTIONAL, 2, tuple((slot, "reset") for slot in self.reads), self.name)]


@dataclass(frozen=True)
class Watcher:
    """Remembers whether the first two counters are high now."""

    reads: tuple[int, ...] = (1, 2)

    def view(self, position: int, cell: int) -> bool:
        return cell > 1

    def observe(self, memory: object, views: tuple[bool, ...]) -> object:
        return all(views)

    def flags(self, memory: object) -> int:
        return 1 if memory else 0


@dataclass(frozen=True)
class Counters:
    """The system."""

    size: int
    symmetric: tuple[()] = ()
    observer: Watcher = Watcher()

    @property
    def initial(self) -> tuple[tuple[object, ...], ...]:
        return ((None, *(0,) * COUNTERS),)

    @property
    def actors(self) -> tuple[Counter | Overseer, ...]:
        slots = range(1, COUNTERS + 1)
        counters = [Counter(f"counter-{slot}", (slot, slot % COUNTERS + 1), self.size) for slot in slots]
        return (*counters, Overseer(tuple(slots), self.size))

    def edit(self, slot: int, cell: int, operation: object) -> Sequence[int]:
        return [(cell + 1) % self.size if operation == "up" else 0]


def timed_run(kernel: Store, system: Counters) -> float:
    """Seconds for a full exploration."""
    start = time.perf_counter()
    for cells in system.initial:
        kernel.add_initial(cells)
    while not kernel.run(STATES_BETWEEN_JUDGEMENTS, NO_LIMIT):
        pass
    return time.perf_counter() - start


def measure(engine: str, size: int) -> dict[str, object]:
    """Cold and warm speed and the size of a state."""
    system = Counters(size)
    kernel = make_kernel(system, engine=engine)  # type: ignore[arg-type]
    cold = timed_run(kernel, system)
    kernel.clear_states()  # type: ignore[attr-defined]
    warm = timed_run(kernel, system)
    start = time.perf_counter()
    cyclic = kernel.cyclic_components() if hasattr(kernel, "cyclic_components") else None
    return {
        "engine": kernel.name,
        "states": len(kernel),
        "transitions": kernel.transitions,
        "cold_states_per_s": round(len(kernel) / cold),
        "cold_transitions_per_s": round(kernel.transitions / cold),
        "warm_states_per_s": round(len(kernel) / warm),
        "warm_transitions_per_s": round(kernel.transitions / warm),
        "bytes_per_state": round(kernel.bytes_used() / len(kernel), 1),
        "memo_misses": kernel.misses,
        "cyclic_components": None if cyclic is None else len(cyclic),
        "components_s": None if cyclic is None else round(time.perf_counter() - start, 3),
    }


def main(arguments: Sequence[str]) -> None:
    size = int(arguments[0]) if arguments else 4
    for engine in arguments[1:] or ("compiled", "python"):
        print(json.dumps(measure(engine, size)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
