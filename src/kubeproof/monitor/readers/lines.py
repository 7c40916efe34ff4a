"""Lines of a file, plain or compressed, however long the file and however hostile its lines."""

from __future__ import annotations

import gzip
import os
import select
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from kubeproof.errors import EventError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.monitor.readers.losses import Lost, refuse

Idle = Callable[[], None]
STDIN = "-"
LONGEST_LINE = 2**20  # bytes; audit events with bodies stay far below
_CHUNK = 2**18
_GZIP = b"\x1f\x8b"


def lines_of(path: str, idle: Idle | None = None, lost: Lost = refuse) -> Iterator[str]:
    """The lines of a file with their ends; `-` is standard input, gzip is recognised by its first bytes.

    `idle` is called while standard input has nothing to read, at once and then every second. Instead of a line that is
    no text, or too long, there is an empty one, so that lines keep their numbers; a file that breaks off ends there.
    """
    shown = printable(path)
    number = 0
    try:
        with _open(path) as file:
            for line in _lines(_patient(file, idle if path == STDIN else None)):
                number += 1
                yield _decode(line, shown, number, lost)
    except (OSError, EOFError, ValueError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or "damaged or cut off"
        remedy = "Check the path and its permissions"
        found = EventError(f"cannot be read: {reason}", file=shown, line=number, remedy=remedy)
        if not number:
            raise found from None
        lost(found)


def _decode(line: bytes | None, shown: str, number: int, lost: Lost) -> str:
    """The line as text; None is one that is too long."""
    if line is None:
        remedy = "Events are one per line; leave large bodies out of the log"
        lost(EventError("a line of more than a mebibyte", file=shown, line=number, remedy=remedy))
        return "\n"
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        lost(EventError("not valid UTF-8", file=shown, line=number, remedy="Save it as UTF-8"))
        return "\n"


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    if path == STDIN:
        yield sys.stdin.buffer
        return
    with open(path, "rb") as file:
        if not file.peek(2).startswith(_GZIP):
            yield file
            return
        with gzip.GzipFile(fileobj=file) as content:
            yield content  # type: ignore[misc]  # reads bytes, which is all that is asked of it


def _patient(file: BinaryIO, idle: Idle | None) -> Callable[[int], bytes]:
    """Reads what is there, and says so before it has to wait."""
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    if idle is None or os.name != "posix":
        return read

    def read_or_wait(size: int) -> bytes:
        wait_s = 0.0
        while not select.select([file], [], [], wait_s)[0]:
            idle()
            wait_s = 1.0
        return read(size)

    return read_or_wait


def _lines(read: Callable[[int], bytes]) -> Iterator[bytes | None]:
    """Complete lines as soon as they are there, None for one that is too long; the last one may lack its end."""
    rest, is_long = b"", False
    while chunk := read(_CHUNK):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield None if is_long else line + b"\n"
            is_long = False
        if len(rest) > LONGEST_LINE or is_long:
            rest, is_long = b"", True  # what follows up to its end is not remembered
    if is_long:
        yield None
    elif rest:
        yield rest
