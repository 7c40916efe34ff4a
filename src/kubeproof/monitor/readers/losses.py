"""What becomes of records that cannot be read: refused, or counted as lost while the rest is read on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from kubeproof.errors import EventError

Lost = Callable[[EventError], None]  # hears of every record that cannot be read, in the order of the stream
MOST_AT_THE_START = 100  # records without a single good one: this is something else than was thought
MOST_PLACES = 5  # that are told
T = TypeVar("T")


def refuse(problem: EventError) -> None:
    """Takes the first record that cannot be read for the end."""
    raise problem


class Tolerance:
    """Reads on after a bad record of one file. A file without a single good one is refused, with its first problem."""

    def __init__(self, tell: Lost) -> None:
        self._tell = tell
        self._held: list[EventError] | None = []  # until the first good record comes

    def note_loss(self, problem: EventError) -> None:
        """Notes a record that cannot be read."""
        if self._held is None:
            self._tell(problem)
            return
        self._held.append(problem)
        if len(self._held) >= MOST_AT_THE_START:
            raise self._held[0]

    def pass_on(self, records: Iterable[T], is_good: Callable[[T], bool] = lambda record: True) -> Iterator[T]:
        """The records; what was lost before the first good one is told with it."""
        stream = iter(records)
        for first in stream:
            if not is_good(first):
                yield first
                continue
            held, self._held = self._held or [], None
            for problem in held:
                self._tell(problem)
            yield first
            yield from stream
        if self._held:
            raise self._held[0]


class Tally:
    """How many records could not be read, and where the first of them stand."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.places: list[str] = []

    def add(self, problem: EventError) -> None:
        """Counts one, and remembers its place."""
        self.count += 1
        self.note(problem)

    def note(self, problem: EventError) -> None:
        """Remembers the place, as long as there are few; the count is somebody else's."""
        if len(self.places) < MOST_PLACES:
            place = f"{problem.file}:{problem.line}" if problem.line else problem.file
            self.places.append(f"{place}: {problem.problem}")
