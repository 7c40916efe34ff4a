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
    """True if output to the stream should be coloured.

    `auto` means on terminals; NO_COLOR (any value) says never, CLICOLOR_FORCE (other than 0) always, CLICOLOR=0 and
    dumb terminals not.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return is_terminal(stream) and environment.get("CLICOLOR") != "0" and environment.get("TERM") != "dumb"


def columns(stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> int | None:
    """How wide the terminal is, COLUMNS first; None for files and pipes, whose lines stay whole."""
    if not is_terminal(stream) or stream is None:
        return None
    asked = environment.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def shows_unicode(stream: TextIO | None) -> bool:
    """True if box-drawing characters survive on the stream."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    return encoding.lower().replace("-", "").replace("_", "").startswith("utf")
