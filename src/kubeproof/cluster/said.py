"""Sentences about a state: text for people, and beside it what it says whatever the names and numbers."""

from __future__ import annotations

from collections.abc import Iterable


class Said(str):
    """A sentence that knows what it says: whoever looks for one cause in several asks that, and never its words."""

    shape: str  # what it says, without names and numbers that differ from workload to workload

    def __new__(cls, text: str, shape: str) -> Said:
        """The sentence with its shape."""
        made = super().__new__(cls, text)
        made.shape = shape
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """The sentence and its shape, for copies."""
        return str(self), self.shape


NOTHING_SAID = Said("", "")


def join_said(sentences: Iterable[Said]) -> Said:
    """Several sentences as one."""
    every = tuple(sentences)
    return Said("; ".join(every), "; ".join(one.shape for one in every))


def not_created(count: int, reason: Said) -> Said:
    """That so many pods are not let in."""
    return Said(f"{count} pod(s) cannot be created: {reason}", f"pods cannot be created: {reason.shape}")
