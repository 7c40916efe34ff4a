"""What is run and what comes back: tasks with a key, outcomes with a value or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kubeproof.errors import KubeproofError
from kubeproof.values import dataclass

V = TypeVar("V")
Work = Callable[[Any], Any]  # a function of a module, or a partial of one: it is pickled once per worker


class Task(Protocol):
    """A picklable description of one piece of work; keys are unique and the same in every run."""

    @property
    def key(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Outcome(Generic[V]):
    """What became of one task: its value, or why there is none."""

    key: str
    value: V | None = None
    error: str = ""  # code, problem and remedy; "" when the task was done

    @property
    def is_error(self) -> bool:
        """True if the task gave no value."""
        return bool(self.error)


class TaskProgress(NamedTuple):
    """Where a run stands."""

    done: int
    total: int
    running: tuple[str, ...]  # keys, in task order
    last: Outcome[Any] | None  # what ended just now; None at the beginning


Answer = tuple[Any, str]  # a value and "", or None and the error: what travels between processes


def answer_of(work: Work, task: Task) -> Answer:
    """Does one task; whatever it raises becomes the error, never the end of the run."""
    try:
        return work(task), ""
    except (Exception, SystemExit) as problem:
        return None, error_text(task.key, problem)


def error_text(key: str, problem: BaseException) -> str:
    """One line for an exception; our own errors keep their words."""
    if isinstance(problem, KubeproofError):
        return str(problem)
    if isinstance(problem, MemoryError):
        return f"E302 {key}: out of memory. Set --memory or --max-states to stop in time, or use fewer workers."
    return f"E700 {key}: {type(problem).__name__}: {problem}. This is a fault of Kubeproof: please report it."


def poisoned(key: str) -> str:
    """The error of a task that took its worker down each time it was tried."""
    return (
        f"E703 {key}: the process that worked on it died, twice. Most likely the system killed it for lack of "
        "memory: use fewer workers, or set --memory or --max-states."
    )
