"""JSON values one after the other, on one line or on several, as `kubectl get -w -o json` prints them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kubeproof.errors import EventError
from kubeproof.monitor.readers.jsonl import half_character, holds_half_characters
from kubeproof.monitor.readers.losses import Lost, refuse

LARGEST = 16 * 2**20  # characters of one value
_BEGIN = "\n{"  # of a value; inside of one, lines are indented


def values_of(lines: Iterable[str], file: str, lost: Lost = refuse) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a stream, each with the line on which it ends; each is given as soon as it is complete.

    After something that no more text can make a value, reading goes on where a line begins with a brace.
    """
    reader = _Reader(file, lost)
    for line in lines:
        yield from reader.take(line)
    reader.finish()


class _Reader:
    """What has been read of a value that is not complete yet."""

    def __init__(self, file: str, lost: Lost) -> None:
        self._file, self._lost = file, lost
        self._text, self._line = "", 0
        self._is_lost = False  # nothing counts until a line begins with a brace
        self._decoder = json.JSONDecoder()

    def take(self, line: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The values that end with this line."""
        self._line += 1
        if self._is_lost and not line.startswith("{"):
            return
        self._is_lost = False
        self._text += line
        if line.rstrip().endswith(("}", "]")):
            yield from self._values()
        elif not self._can_begin():
            self._lose(self._wrong())
            yield from self._values()
        if len(self._text) > LARGEST:
            self._lose(self._error("an object of more than 16 mebibytes", "Watch fewer objects"))

    def finish(self) -> None:
        """Tells of a value that was never completed."""
        if self._text.strip():
            self._lost(self._wrong())

    def _can_begin(self) -> bool:
        start = self._text.lstrip("\ufeff \t\r\n")
        return not start or start[0] in "{["

    def _values(self) -> Iterator[tuple[int, dict[str, Any]]]:
        while text := self._text.lstrip("\ufeff \t\r\n"):
            try:
                value, end = self._decoder.raw_decode(text)
            except json.JSONDecodeError as problem:
                if _is_cut_off(problem, text) and text[0] in "{[":
                    return
                self._lose(self._wrong())
                continue
            except (ValueError, RecursionError):
                self._lose(self._wrong())
                continue
            self._text = text[end:]
            if not isinstance(value, dict):
                self._lost(self._wrong())
            elif holds_half_characters(text[:end], value):
                self._lost(half_character(self._file, self._line))
            else:
                yield self._line, value
        self._text = ""

    def _lose(self, problem: EventError) -> None:
        """Leaves out what begins here, up to where the next value may begin."""
        self._lost(problem)
        place = self._text.find(_BEGIN, self._text.find("{") + 1)
        self._text = self._text[place + 1 :] if place >= 0 else ""
        self._is_lost = not self._text

    def _wrong(self) -> EventError:
        return self._error("not valid JSON", "Write JSON objects one after the other")

    def _error(self, problem: str, remedy: str) -> EventError:
        return EventError(problem, file=self._file, line=self._line, remedy=remedy)


def _is_cut_off(problem: json.JSONDecodeError, text: str) -> bool:
    """True if more text could make it a value: it is fine as far as it goes."""
    return problem.pos >= len(text.rstrip()) or problem.msg.startswith("Unterminated string")
