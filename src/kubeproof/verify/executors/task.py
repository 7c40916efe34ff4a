"""What is run and what comes back: tasks with a key, outcomes with a value or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from kubeproof.errors import InternalError, KubeproofError, LimitReached
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

V = TypeVar("V")
Work = Callable[[Any], Any]  # a function of a module, or a partial of one: it is pickled once per worker


class Task(Protocol):
    """A picklable description of one piece of work; keys are unique and the same in every run."""

    @property
    def key(self) -> str: ...


class TaskError(str):
    """Why a task gave no value: one line, which begins with its code; empty when it did."""

    code: str

    def __new__(cls, code: str = "", text: str = "") -> TaskError:
        """The line, and the code by itself."""
        made = super().__new__(cls, text)
        made.code = code
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Both, for the way between processes."""
        return self.code, str(self)


DONE = TaskError()
DIED = "E703"  # the code of a task that takes its worker down


@dataclass(frozen=True, slots=True)
class TaskResult(Generic[V]):
    """What became of one task: its value, or why there is none."""

    key: str
    value: V | None = None
    error: TaskError = DONE  # code, problem and remedy; empty when the task was done

    @property
    def is_error(self) -> bool:
        """True if the task gave no value."""
        return bool(self.error)


class TaskProgress(NamedTuple):
    """Where a run stands."""

    done: int
    total: int
    running: tuple[str, ...]  # keys, in task order
    last: TaskResult[Any] | None  # what ended just now; None at the beginning


Answer = tuple[Any, TaskError]  # a value and nothing, or None and the error: what travels between processes


def answer_of(work: Work, task: Task) -> Answer:
    """Does one task; whatever it raises becomes the error, never the end of the run."""
    try:
        return work(task), DONE
    except (Exception, SystemExit) as problem:
        return None, error_text(task.key, problem)


def error_text(key: str, problem: BaseException) -> TaskError:
    """One line for an exception; our own errors keep their words."""
    if isinstance(problem, KubeproofError):
        return TaskError(problem.code, str(problem))
    if isinstance(problem, MemoryError):
        told = f"{key}: out of memory. Set --memory or --max-states to stop in time, or use fewer workers."
        return TaskError(LimitReached.code, f"{LimitReached.code} {told}")
    told = f"{key}: {type(problem).__name__}: {problem}. This is a fault of Kubeproof: please report it."
    return TaskError(InternalError.code, f"{InternalError.code} {told}")


def make_poisoned(key: str) -> TaskError:
    """The error of a task that took its worker down each time it was tried."""
    told = (
        f"{key}: the process that worked on it died, twice. Most likely the system killed it for lack of "
        "memory: use fewer workers, or set --memory or --max-states."
    )
    return TaskError(DIED, f"{DIED} {told}")
