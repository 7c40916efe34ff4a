"""Answers of an API server as plain values, within the bounds that files have to keep to as well."""

from __future__ import annotations

import json
import math
from typing import Any

from kubeproof.errors import ClusterError, ManifestError
from kubeproof.manifests.yaml.guard import Bounds, check_scalar
from kubeproof.manifests.yaml.printable import printable

REMEDY = "Check the server's address; no API server sends this"
_SHOWN = 100  # characters of what is complained about


class _UnfitError(ValueError):
    """Something that JSON readers take and Kubernetes never sends."""


def parse_answer(body: bytes, server: str, bounds: Bounds = Bounds()) -> dict[str, Any]:
    """The object that a body holds; anything else, and anything built to break a reader, is refused.

    Duplicate keys, NaN, endless numbers, half surrogate pairs and endless nesting are refused: readers of them
    disagree, or break.
    """
    try:
        value = json.loads(
            body.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_int=lambda text: int(_digits(text, bounds)),
            parse_float=lambda text: _float(_digits(text, bounds)),
        )
        _check(value, bounds)
    except _UnfitError as problem:
        raise ClusterError(f"{server} sends {problem}", REMEDY) from None
    except RecursionError:
        raise ClusterError(f"{server} sends {_too_deep(bounds)}", REMEDY) from None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ClusterError(f"{server} does not answer as an API server does", "Check the server's address")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _UnfitError("an object with the same key twice")
    return found


def _no_constant(text: str) -> None:
    raise _UnfitError(f"the number {text}, which is not JSON")


def _digits(text: str, bounds: Bounds) -> str:
    if len(text) > bounds.digits:
        raise _UnfitError(f"a number with more than {bounds.digits} digits")
    return text


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _UnfitError(f"the number {text}")
    return number


def _too_deep(bounds: Bounds) -> str:
    return f"a value nested more than {bounds.depth} levels deep"


def _check(root: Any, bounds: Bounds) -> None:
    """Goes through a value without recursion, level by level."""
    level, depth, left = [root], 0, bounds.nodes
    while level:
        left -= len(level)
        if depth > bounds.depth or left < 0:
            raise _UnfitError(_too_deep(bounds) if left >= 0 else f"more than {bounds.nodes:,} values in one answer")
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                for key in value:
                    _check_text(key, bounds)
                inner += value.values()
            elif isinstance(value, list):
                inner += value
            elif isinstance(value, str):
                _check_text(value, bounds)
        level, depth = inner, depth + 1


def _check_text(text: str, bounds: Bounds) -> None:
    if text.isascii() and len(text) < _SHOWN:
        return  # nearly all
    try:
        check_scalar(text, plain=False, bounds=bounds, file="", line=0)
    except ManifestError as problem:
        raise _UnfitError(problem.problem) from None


def show(value: object) -> str:
    """A value as messages show it."""
    return printable(str(value)[:_SHOWN])
