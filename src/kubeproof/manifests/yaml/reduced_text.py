"""Documents as YAML with every key in the line where it stood, so that places told of the original stay right.

Mappings are written line by line as people write them, and in braces where lines do not allow it: where several keys
share a line, or where an alias stands for a value from above.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.manifests.yaml.reads import Reads, empty, is_api_name
from kubeproof.manifests.yaml.tree import Entry, Mapping, Scalar, ScalarKind, Sequence, Value
from kubeproof.manifests.yaml.writer import scalar

_STEP = "  "


def write_reduced(roots: Iterable[Value], reads: Reads) -> str:
    """The documents without all that nobody read."""
    page = _Page()
    for root in roots:
        kept = reads.reduce_document(root)
        if isinstance(kept, Mapping) and kept.entries:
            page.add_document(_anchor(kept, root))
    return page.text()


def _anchor(kept: Value, given: Value) -> Value:
    """What is kept, with the first key of every mapping, whose line is the mapping's: emptied where nobody read it.

    Only names of the API are added. Elsewhere a brace marks the line.
    """
    if isinstance(kept, Sequence) and isinstance(given, Sequence) and len(kept.items) == len(given.items):
        pairs = zip(kept.items, given.items, strict=True)
        return Sequence(tuple(_anchor(one, other) for one, other in pairs), kept.line, kept.column)
    if not isinstance(kept, Mapping) or not isinstance(given, Mapping) or not kept.entries:
        return kept
    first = next(iter(given.entries))
    entries = {
        key: Entry(_anchor(entry.value, given.entries[key].value), entry.line, entry.column)
        for key, entry in kept.entries.items()
        if key in given.entries
    }
    if first not in entries and is_api_name(first) and _stands_first(given, first):
        entry = given.entries[first]
        entries = {first: Entry(empty(entry.value), entry.line, entry.column), **entries}
    return Mapping(entries, kept.line, kept.column)


def _stands_first(mapping: Mapping, key: str) -> bool:
    return (mapping.entries[key].line, mapping.entries[key].column) == (mapping.line, mapping.column)


class _Page:
    """Lines, written from the top down."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._lowest: dict[int, int] = {}  # by identity of a value, while its document is written

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    def add_document(self, root: Value) -> None:
        """Adds a document, with a line that parts it from the one before."""
        if not isinstance(root, Mapping):
            return
        self._lowest.clear()
        has_room = root.line > len(self._lines) + bool(self._lines)
        if has_room and self._is_block(root, root.line - 1):
            self._reach(root.line - 1)
            if self._lines:
                self._lines[-1] = self._lines[-1] or "---"
            self._block(root, "")
            return
        self._reach(max(root.line, len(self._lines) + 1))
        self._write("--- ")
        self._flow(root, _STEP)

    # Keys and items, each on a line of its own

    def _block(self, value: Mapping | Sequence, pad: str, *, begins: str = "") -> None:
        """Writes a mapping or list; its first line begins where another one stopped if `begins` is given."""
        if isinstance(value, Sequence):
            for item in value.items:
                self._reach(item.line)
                self._write(f"{pad}-")
                self._value(item, item.line, f"{pad}{_STEP}", is_item=True)
            return
        for number, (key, entry) in enumerate(value.entries.items()):
            self._reach(entry.line)
            self._write(f"{begins if begins and not number else pad}{scalar(key)}:")
            self._value(entry.value, entry.line, f"{pad}{_STEP}")

    def _value(self, value: Value, line: int, pad: str, *, is_item: bool = False) -> None:
        if isinstance(value, Scalar):
            self._write(f" {_leaf(value)}")
        elif is_item and isinstance(value, Mapping) and self._is_block(value, line - 1):
            self._block(value, pad, begins=" ")
        elif not is_item and self._is_block(value, line):
            self._block(value, pad)
        else:
            self._write(" ")
            self._flow(value, pad)

    # Braces and brackets, over as many lines as it takes

    def _flow(self, value: Value, pad: str) -> None:
        if isinstance(value, Scalar) or self._parts(value):
            self._reach(value.line, pad)
        if isinstance(value, Scalar):
            self._write(_leaf(value))
        elif isinstance(value, Sequence):
            self._write("[")
            for number, item in enumerate(value.items):
                self._write(", " if number else "")
                self._flow(item, pad)
            self._write("]")
        else:
            self._write("{")
            for number, (key, entry) in enumerate(value.entries.items()):
                self._write(", " if number else "")
                self._reach(entry.line, pad)
                self._write(f"{scalar(key)}: ")
                self._flow(entry.value, pad)
            self._write("}")

    def _is_block(self, value: Value, above: int) -> bool:
        """True if every key or item begins a line of its own, below `above` and below all of the one before it."""
        if isinstance(value, Scalar):
            return False
        parts = self._parts(value)
        if not parts or (isinstance(value, Mapping) and parts[0][0] != value.line):
            return False
        for line, inner in parts:
            if line <= above:
                return False
            above = max(line, self._last_line(inner))
        return True

    @staticmethod
    def _parts(value: Mapping | Sequence) -> list[tuple[int, Value]]:
        """The values inside, each with the line in which it, or its key, begins."""
        if isinstance(value, Mapping):
            return [(entry.line, entry.value) for entry in value.entries.values()]
        return [(item.line, item) for item in value.items]

    def _last_line(self, value: Value) -> int:
        """The lowest line of anything in the value."""
        if isinstance(value, Scalar):
            return value.line
        known = self._lowest.get(id(value))
        if known is None:
            lines = [max(line, self._last_line(inner)) for line, inner in self._parts(value)]
            known = self._lowest[id(value)] = max([value.line, *lines])
        return known

    def _reach(self, line: int, pad: str = "") -> None:
        """Goes down to a line; one above cannot be reached any more, so that writing goes on here."""
        if line > len(self._lines):
            self._lines += [""] * (line - len(self._lines))
            self._lines[-1] = pad

    def _write(self, text: str) -> None:
        self._lines[-1] += text


def _leaf(value: Scalar) -> str:
    if value.plain and value.kind is ScalarKind.NULL:
        return "null"
    return value.text if value.plain and value.kind is not ScalarKind.STRING else scalar(value.text)
