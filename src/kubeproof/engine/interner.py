"""Values as numbers."""

from __future__ import annotations

from collections.abc import Hashable


class Interner:
    """Numbers values in order of first appearance."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.values: list[Hashable] = []

    def __len__(self) -> int:
        return len(self.values)

    def number(self, value: Hashable) -> int:
        """The number of a value, a new one if it is new."""
        found = self.numbers.get(value)
        if found is None:
            found = self.numbers[value] = len(self.values)
            self.values.append(value)
        return found
