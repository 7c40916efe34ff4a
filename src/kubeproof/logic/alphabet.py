"""Letters of automata, and sets of them.

A set of letters is an integer whose bit i stands for letter i; so union, intersection and difference of the
guards of transitions are single machine-like operations, whatever the letters are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from kubeproof.errors import UsageError
from kubeproof.values import dataclass

MOST_PROPOSITIONS = 12  # 4,096 letters


@dataclass(frozen=True)
class Alphabet:
    """Either named letters, of which one is read at a time, or propositions, any of which may be true at a time."""

    letters: tuple[str, ...] = ()
    propositions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.propositions) > MOST_PROPOSITIONS:
            raise UsageError(
                f"the property has {len(self.propositions)} propositions, at most {MOST_PROPOSITIONS} are possible",
                "Combine some of them into one predicate.",
            )

    @property
    def size(self) -> int:
        return len(self.letters) if self.letters else 1 << len(self.propositions)

    @cached_property
    def everything(self) -> int:
        """The set of all letters."""
        return (1 << self.size) - 1

    @cached_property
    def _holding(self) -> dict[str, int]:
        return {name: self._with(place) for place, name in enumerate(self.propositions)}

    def _with(self, place: int) -> int:
        """The letters in which the proposition is true: bit `place` of the letter's number is set."""
        run = 1 << place
        block = ((1 << run) - 1) << run
        guard = 0
        for start in range(0, self.size, 2 * run):
            guard |= block << start
        return guard

    def where(self, proposition: str) -> int:
        """The letters in which the proposition is true."""
        return self._holding[proposition]

    def letter(self, value: str | Iterable[str]) -> int:
        """The number of a letter: a name, or the propositions that are true (others are ignored)."""
        if isinstance(value, str):
            return self.letters.index(value)
        true = set(value)
        return sum(1 << place for place, name in enumerate(self.propositions) if name in true)

    def name(self, number: int) -> str:
        """How a letter is shown."""
        if self.letters:
            return self.letters[number]
        return "{" + ",".join(self.true_in(number)) + "}"

    def true_in(self, number: int) -> tuple[str, ...]:
        """The propositions that are true in a letter."""
        return tuple(name for place, name in enumerate(self.propositions) if number >> place & 1)


def members(guard: int) -> Iterator[int]:
    """The numbers of the letters in a set, ascending."""
    while guard:
        lowest = guard & -guard
        yield lowest.bit_length() - 1
        guard ^= lowest


@lru_cache(maxsize=10_000)
def partition(guards: tuple[int, ...], everything: int) -> tuple[int, ...]:
    """The coarsest partition of all letters in which each guard is a union of classes, in order of lowest letter."""
    classes = [everything] if everything else []
    for guard in guards:
        split = [piece for one in classes for piece in (one & guard, one & ~guard)]
        classes = [piece for piece in split if piece]
    return tuple(sorted(classes, key=lambda piece: piece & -piece))
