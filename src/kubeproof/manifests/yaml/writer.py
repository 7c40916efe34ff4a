"""Writes plain values as YAML that every reader takes for the same values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from kubeproof.manifests.yaml.tree import ScalarKind, kind_of

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_-]+)*", re.ASCII)

_CONTROLS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


def as_yaml(value: dict[str, Any]) -> str:
    """A mapping in block style, ending in a newline."""
    return "".join(f"{line}\n" for line in _block(value, ""))


def as_lines(value: dict[str, Any] | list[Any], column: int) -> list[str]:
    """A mapping, or the items of a list, in block style from that column on."""
    return list(_block(value, " " * column))


def _block(value: Any, pad: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _entry(f"{pad}{scalar(str(key))}:", inner, pad)
        return
    for inner in value:
        if _is_leaf(inner):
            yield f"{pad}- {_leaf(inner)}"
            continue
        first, *rest = _block(inner, f"{pad}  ")
        yield f"{pad}- {first.lstrip()}"
        yield from rest


def _entry(head: str, inner: Any, pad: str) -> Iterator[str]:
    if _is_leaf(inner):
        yield f"{head} {_leaf(inner)}"
    else:
        yield head
        yield from _block(inner, f"{pad}  ")


def _is_leaf(value: Any) -> bool:
    return not isinstance(value, dict | list) or not value


def _leaf(value: Any) -> str:
    return scalar(value) if isinstance(value, str) else json.dumps(value)


def scalar(text: str) -> str:
    """Plain where every reader takes it for text, otherwise quoted as in JSON, which YAML includes."""
    is_plain = _PLAIN.fullmatch(text) is not None and kind_of(text) is ScalarKind.STRING
    if is_plain:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
