"""Work for workers: functions that processes of any executor can import."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from kubeproof.cluster.scale import Scale
from kubeproof.errors import UsageError
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.resize import Size
from kubeproof.verify.scaling.result import SizeAnswer
from kubeproof.verify.scaling.sweep import verify_size

PATIENCE_S = 1800  # other work may have all processors: nothing waits so long where they are free


@dataclass(frozen=True)
class Number:
    """A task about a number; `marks` is a folder in which tries leave a mark."""

    number: int
    does: str = "square"
    marks: str = ""

    @property
    def key(self) -> str:
        return f"number {self.number}"


def numbers(count: int, marks: object = "", **others: str) -> tuple[Number, ...]:
    """Tasks 0 to count - 1; `n3="dies"` makes task 3 do that."""
    return tuple(Number(n, others.get(f"n{n}", "square"), str(marks)) for n in range(count))


def handle(task: Number) -> object:
    """Squares the number, or misbehaves as told."""
    return _DEEDS[task.does](task)


def offset(by: int, task: Number) -> int:
    return task.number + by


def where(process: int, task: Number) -> tuple[int, bool]:
    """The square of the number, and whether it was worked out in this process."""
    return task.number**2, os.getpid() == process


def tries(task: Number) -> int:
    """How often the task was begun."""
    return len(list(Path(task.marks).glob(f"{task.number}-*")))


def _mark(task: Number) -> int:
    """Leaves a mark, if there is a folder for it, and returns how many there were before."""
    if not task.marks:
        return 0
    before = tries(task)
    Path(task.marks, f"{task.number}-{before}").touch()
    return before


def _square(task: Number) -> int:
    _mark(task)
    return task.number**2


def _die(task: Number) -> None:
    _mark(task)
    os.kill(os.getpid(), signal.SIGKILL)


def _die_once(task: Number) -> int:
    if _mark(task) == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return task.number**2


def _refuse(task: Number) -> None:
    _mark(task)
    raise UsageError(f"number {task.number} is not wanted", "Take another")


def _fail(task: Number) -> None:
    raise ZeroDivisionError("no number")


def _run_out(task: Number) -> None:
    raise MemoryError


def _leave(task: Number) -> None:
    raise SystemExit(3)


def _give_a_function(task: Number) -> object:
    return lambda: task


def _chatter(task: Number) -> int:
    print("stray words of a worker")
    return task.number**2


def _give_much(task: Number) -> bytes:
    return bytes([task.number]) * 1_000_000


def _hear_interrupt(task: Number) -> str:
    os.kill(os.getpid(), signal.SIGINT)
    return "deaf"


def _never_end(task: Number) -> None:
    signal.pause()


_DEEDS = {
    "square": _square,
    "dies": _die,
    "dies once": _die_once,
    "refuses": _refuse,
    "fails": _fail,
    "runs out of memory": _run_out,
    "leaves": _leave,
    "gives a function": _give_a_function,
    "chatters": _chatter,
    "gives much": _give_much,
    "never ends": _never_end,
    "hears an interrupt": _hear_interrupt,
}


def verify_size_dying_once(loaded: Loaded, scale: Scale, options: VerifyOptions, size: Size) -> SizeAnswer:
    """What a sweep does for one size, and dies in the middle of the first one of two pods."""
    mark = Path(loaded.files[0]).with_name("killed once")
    if size.pod_total == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return verify_size(loaded, scale, options, size)
