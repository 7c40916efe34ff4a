"""Makes text from manifests harmless for a terminal."""

from __future__ import annotations


def escape(text: str) -> str:
    r"""The text with everything that does not print as itself spelled out as `\n`, `\x1b`, `\u202e`.

    That covers control characters, direction overrides, zero-width characters and line separators: a name in
    a manifest can neither move the cursor, nor add lines, nor reorder what the reader sees.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _spell(char) for char in text)


def _spell(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
