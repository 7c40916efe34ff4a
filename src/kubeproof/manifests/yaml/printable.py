"""Text from manifests made safe to show: it is hostile until proven otherwise."""

from __future__ import annotations

_LONGEST = 200


def printable(text: str) -> str:
    """The text with control, bidirectional, surrogate and other invisible characters escaped, cut if long."""
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else _escape(c) for c in shown)


def _escape(character: str) -> str:
    """The character as Python would write it in a string literal."""
    return ascii(character)[1:-1]
