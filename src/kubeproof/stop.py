"""The wish that work ends before it is done, on its way from whoever has it to the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


class Stop:
    """Whether work is to end before it is done: somebody asked for it, or an interrupt was heard on the way.

    Long work looks at it several times a second. It is never taken back, so that whatever would come next ends at
    once, too, and an interrupt that ended one search of many ends all of them.
    """

    __slots__ = ("is_asked", "is_obeyed")

    def __init__(self) -> None:
        self.is_asked = False
        self.is_obeyed = False  # the work has ended, and what is known is on its way

    def ask(self) -> None:
        """From now on all work that looks here is to end."""
        self.is_asked = True

    def obey(self) -> None:
        """Says that the work has ended, if it was asked to: nobody needs to break it off."""
        self.is_obeyed = self.is_asked


def until(stop: Stop, items: Iterable[T]) -> Iterator[T]:
    """The items that come before somebody asks to stop, or an interrupt breaks off the making of the next one."""
    following = iter(items)
    try:
        while not stop.is_asked:
            try:
                item = next(following)
            except StopIteration:
                break
            yield item
        stop.obey()
    except KeyboardInterrupt:
        stop.ask()
        stop.obey()
