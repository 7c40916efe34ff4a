"""JSON values one after the other, on one line or on several, as `kubectl get -w -o json` prints them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kubeproof.errors import EventError

LARGEST = 16 * 2**20  # characters of one value


def values_of(lines: Iterable[str], file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a stream, each with the line on which it ends; each is given as soon as it is complete."""
    text, number = "", 0
    decoder = json.JSONDecoder()
    for line in lines:
        number += 1
        text += line
        if not line.rstrip().endswith(("}", "]")):
            _check(len(text), file, number)
            continue
        while text := text.lstrip():
            try:
                value, end = decoder.raw_decode(text)
            except RecursionError:
                raise _wrong(file, number) from None
            except ValueError:
                break  # not complete yet
            text = text[end:]
            if not isinstance(value, dict):
                raise _wrong(file, number)
            yield number, value
        _check(len(text), file, number)
    if text.strip():
        raise _wrong(file, number)


def _check(size: int, file: str, line: int) -> None:
    if size > LARGEST:
        raise EventError("an object of more than 16 mebibytes", file=file, line=line, remedy="Watch fewer objects")


def _wrong(file: str, line: int) -> EventError:
    return EventError("not valid JSON", file=file, line=line, remedy="Write JSON objects one after the other")
