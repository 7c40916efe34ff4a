"""Changes the text of a manifest where a field stands, and nowhere else.

ruamel.yaml, a library for round trips, says where each key and value begins and ends; the text between stays as it is,
with its comments, quotes, anchors and line ends. What comes out is read again with the reader of this room and compared
with what was meant, so that a text that cannot be changed in one place is refused, never damaged.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kubeproof.errors import EnvironmentProblem, KubeproofError
from kubeproof.manifests.editing.operations import Operation, Path, Plain, apply, settle
from kubeproof.manifests.yaml import tree
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.writer import as_lines, as_yaml, scalar
from kubeproof.named_tuples import NamedTuple

_Node = Any  # of ruamel.yaml


class CannotSpliceError(Exception):
    """The text has no place of its own for the change."""


class Piece(NamedTuple):
    """A part of the text that another one takes the place of."""

    begin: int
    end: int
    text: str


def read_plain(text: str, file: str) -> list[Plain]:
    """The documents of a text as plain values, empty ones left out."""
    return list(_read(text, file))


@lru_cache(maxsize=64)
def _read(text: str, file: str) -> tuple[Plain, ...]:
    """The same, kept: many changes of one text are looked at. Nobody writes into what is read."""
    roots = read_documents(text.encode(), file=file, budget=Budget(Bounds()), repeated=[])
    return tuple(tree.plain(root) for root in roots)


def splice(text: str, document: int, operations: tuple[Operation, ...], *, file: str = "") -> str:
    """The text with the changes in its document of this number; raises CannotSpliceError if there is no place."""
    wanted = read_plain(text, file)
    for operation in operations:
        done = settle(wanted[document], operation)
        text = _splice_one(text, document, done)
        wanted[document] = apply(wanted[document], (done,))
    try:
        found = read_plain(text, file)
    except KubeproofError as problem:
        raise CannotSpliceError(str(problem)) from None
    if found != wanted:
        raise CannotSpliceError("the value is shared with others by an anchor, or stands in a place of its own kind")
    return text


def append_object(text: str, value: Plain) -> str:
    """The text with one more document at its end."""
    newline = _newline_of(text)
    gap = "" if not text or text.endswith("\n") else newline
    parting = f"---{newline}" if text.strip() else ""
    return f"{text}{gap}{parting}{as_yaml(value).replace(chr(10), newline)}"


def remove_document(text: str, document: int, *, file: str = "") -> str:
    """The text without its document of this number; raises CannotSpliceError if it has no lines of its own."""
    wanted, roots = read_plain(text, file), _compose(text)
    lines = text.splitlines(keepends=True)
    if document >= min(len(roots), len(wanted)):
        raise CannotSpliceError("there is no such document")
    del wanted[document]
    first, last = roots[document].start_mark.line, _last_line(text, roots[document])
    marks = [at for at, line in enumerate(lines) if _is_mark(line)]
    begin = max((at for at in marks if at <= first), default=0)
    end = min((at for at in marks if at > last), default=len(lines))
    if begin == 0 and end < len(lines) and not _is_mark(lines[0]):
        end += 1  # the mark that divides it from the next one
    left = "".join([*lines[:begin], *lines[end:]])
    try:
        found = read_plain(left, file)
    except KubeproofError as problem:
        raise CannotSpliceError(str(problem)) from None
    if found != wanted:
        raise CannotSpliceError("the document shares lines with another")
    return left


def _is_mark(line: str) -> bool:
    return line.rstrip() == "---" or line.startswith(("--- ", "---\t"))


def _last_line(text: str, root: _Node) -> int:
    return text.count("\n", 0, _content_end(None, root))


def _splice_one(text: str, document: int, operation: Operation) -> str:
    try:
        root = _compose(text)[document]
        above, missing = _find(root, operation.path[:-1])
        if missing:
            raise CannotSpliceError("a part of it comes from elsewhere")
        piece = _remove(text, above, operation.path[-1]) if operation.is_removed else _put(text, above, operation)
    except (IndexError, AttributeError) as problem:
        raise CannotSpliceError(str(problem)) from None
    return text[: piece.begin] + piece.text + text[piece.end :]


def require_editor() -> None:
    """Raises with what to install, if texts cannot be changed here."""
    _compose("")


@lru_cache(maxsize=64)
def _compose(text: str) -> list[_Node]:
    """The documents with the places of all their parts; empty ones left out, as the reader leaves them out."""
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
    except ImportError:
        message = "E401 manifests are changed with ruamel.yaml, which is not installed. pip install 'kubeproof[fix]'."
        raise EnvironmentProblem(message) from None
    try:
        roots = list(YAML(typ="rt", pure=True).compose_all(text))
    except (YAMLError, ValueError) as problem:
        raise CannotSpliceError(str(problem).splitlines()[0]) from None
    return [root for root in roots if root is not None and not (root.id == "scalar" and not root.value)]


def line_of(text: str, document: int, path: Path) -> int:
    """The line, from 1, where a field of a document stands; that of what would hold it, if it is not there."""
    try:
        roots = _compose(text)
    except CannotSpliceError:
        return 1
    node, missing = _find(roots[document], path)
    above, _ = _find(roots[document], path[:-1])
    key = next((key for key, value in _entries(above) if value is node), None) if not missing else None
    return int((node if key is None else key).start_mark.line) + 1


# Finding


def _find(node: _Node, path: Path) -> tuple[_Node, Path]:
    """The node there, or the last one on the way and what is missing after it."""
    for number, part in enumerate(path):
        child = _child(node, part)
        if child is None:
            return node, path[number:]
        node = child
    return node, ()


def _child(node: _Node, part: str | int) -> _Node | None:
    if isinstance(part, int):
        return node.value[part] if node.id == "sequence" and part < len(node.value) else None
    return next((value for key, value in _entries(node) if key.value == part), None)


def _entries(node: _Node) -> list[tuple[_Node, _Node]]:
    return list(node.value) if node.id == "mapping" else []


def _content_end(key: _Node | None, value: _Node) -> int:
    """Where the value ends, without line ends and comments behind it."""
    if value.id == "scalar":
        if value.start_mark.index == value.end_mark.index and not value.value:
            return int(key.end_mark.index) + 1 if key is not None else int(value.start_mark.index)
        is_block = value.style in ("|", ">")
        written = value.end_mark.buffer[value.start_mark.index : value.end_mark.index] if is_block else ""
        return int(value.start_mark.index) + len(written.rstrip()) if is_block else int(value.end_mark.index)
    if value.flow_style or not value.value:
        return int(value.end_mark.index)
    if value.id == "mapping":
        return _content_end(*value.value[-1])
    return _content_end(None, value.value[-1])


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    """Where the line ends, before its line end."""
    end = text.find("\n", index)
    end = len(text) if end < 0 else end
    return end - 1 if end and text[end - 1 : end] == "\r" else end


def _after_line(text: str, index: int) -> int:
    """Where the next line begins."""
    end = text.find("\n", index)
    return len(text) if end < 0 else end + 1


def _newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


# Values as text


def _flow(value: Plain, is_json: bool) -> str:
    write: Callable[[str], str] = json.dumps if is_json else scalar
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write(key)}: {_flow(inner, is_json)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(inner, is_json) for inner in value) + "]"
    return write(value) if isinstance(value, str) else json.dumps(value)


def _is_json(node: _Node) -> bool:
    """True if keys there are quoted."""
    return any(key.style == '"' for key, _ in _entries(node))


# Putting


def _put(text: str, above: _Node, operation: Operation) -> Piece:
    part, value = operation.path[-1], operation.value
    child = _child(above, part)
    if child is not None:
        return _replace(text, above, child, value, part)
    if above.flow_style or not above.value:
        return _insert_flow(above, part, value)
    if isinstance(part, int):
        item = as_lines([value], above.start_mark.column)
        return _insert_lines(text, _content_end(None, above.value[-1]), item)
    return _insert_lines(text, _place_after(above), as_lines({part: value}, above.value[0][0].start_mark.column))


def _replace(text: str, above: _Node, child: _Node, value: Plain, part: str | int) -> Piece:
    begin, end = child.start_mark.index, child.end_mark.index
    if child.anchor is not None:
        raise CannotSpliceError("the value has an anchor")
    if child.id == "scalar" and child.style in ("|", ">"):
        raise CannotSpliceError("the value is a block of text")
    gap = ""
    is_block = child.id != "scalar" and not child.flow_style
    if begin == end or is_block:
        end = begin if begin == end else _content_end(None, child)
        if isinstance(part, int):
            raise CannotSpliceError("the item is empty or a block")
        begin, gap = next(key for key, _ in _entries(above) if key.value == part).end_mark.index + 1, " "
        end = max(begin, end) if is_block else begin
        if "#" in text[begin:end]:
            raise CannotSpliceError("there are comments in the value")
    return Piece(begin, end, gap + _flow(value, _is_json(above) or _is_json(child)))


def _insert_flow(above: _Node, part: str | int, value: Plain) -> Piece:
    is_json = _is_json(above)
    written = _flow(value, is_json) if isinstance(part, int) else _flow({part: value}, is_json)[1:-1]
    if not above.value:
        return Piece(
            above.start_mark.index,
            above.end_mark.index,
            f"[{written}]" if isinstance(part, int) else ("{" + written + "}"),
        )
    last = above.value[-1]
    end = _content_end(*last) if isinstance(last, tuple) else _content_end(None, last)
    return Piece(end, end, f", {written}")


def _place_after(above: _Node) -> int:
    """Behind which value of a mapping a new key stands well: the last of those in one line that come first."""
    place: int | None = None
    for key, value in _entries(above):
        end = _content_end(key, value)
        if value.start_mark.line != key.start_mark.line or (value.id != "scalar" and not value.flow_style):
            break
        if "\n" in value.end_mark.buffer[key.start_mark.index : end]:
            break
        place = end
    return _content_end(*above.value[-1]) if place is None else place


def _insert_lines(text: str, after: int, lines: list[str]) -> Piece:
    end, newline = _line_end(text, after), _newline_of(text)
    return Piece(end, end, "".join(f"{newline}{line}" for line in lines))


# Removing


def _remove(text: str, above: _Node, part: str | int) -> Piece:
    values = [(key, value) for key, value in _entries(above)] or [(None, value) for value in above.value]
    number = part if isinstance(part, int) else [key.value for key, _ in values].index(part)
    key, value = values[number]
    begin = (key or value).start_mark.index
    if above.flow_style:
        return _remove_flow(values, number, begin)
    end = _content_end(key, value)
    if key is None:
        floor = _content_end(*values[number - 1]) if number else 0
        begin = text.rfind("-", floor, begin)
    start = _line_start(text, begin)
    if not text[start:begin].strip():
        return Piece(start, _after_line(text, end), "")
    if number + 1 == len(values) or key is None:
        raise CannotSpliceError("it shares its line with something else")
    following = values[number + 1][0].start_mark.index
    if "#" in text[end:following]:
        raise CannotSpliceError("a comment stands behind it")
    return Piece(begin, following, "")


def _remove_flow(values: list[tuple[_Node | None, _Node]], number: int, begin: int) -> Piece:
    if number:
        return Piece(_content_end(*values[number - 1]), _content_end(*values[number]), "")
    following_key, following = values[1]
    return Piece(begin, (following_key or following).start_mark.index, "")
