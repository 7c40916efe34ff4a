"""What the reader's terminal can show."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

WHEN = ("auto", "always", "never")


def is_terminal(stream: TextIO | None) -> bool:
    """True if the stream is an open terminal."""
    return stream is not None and not stream.closed and stream.isatty()


def wants_colour(choice: str, stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> bool:
    """True if output to the stream should be coloured; `auto` respects NO_COLOR and dumb terminals."""
    if choice != "auto":
        return choice == "always"
    return is_terminal(stream) and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def shows_unicode(stream: TextIO | None) -> bool:
    """True if box-drawing characters survive on the stream."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    return encoding.lower().replace("-", "").replace("_", "").startswith("utf")
