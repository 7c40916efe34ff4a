"""Turns bytes into positioned trees, one per YAML document, without recursion.

The tree is built straight from parser events, so depth and size are checked before anything is built, and
nothing is ever constructed from a tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import yaml

from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.manifests.yaml.foreign_notations import as_kubectl_reads, json_documents, key_text
from kubeproof.manifests.yaml.guard import Budget, check_scalar, decode
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.resource_schemas import without_schemas
from kubeproof.manifests.yaml.tree import Entry, Mapping, Scalar, ScalarKind, Sequence, Value
from kubeproof.named_tuples import NamedTuple

_ALLOWED_TAGS = {
    yaml.ScalarEvent: frozenset({"!", "tag:yaml.org,2002:str"}),
    yaml.SequenceStartEvent: frozenset({"!", "tag:yaml.org,2002:seq"}),
    yaml.MappingStartEvent: frozenset({"!", "tag:yaml.org,2002:map"}),
}
_MERGE = "<<"
_JSON = ("{", "[")


class RepeatedKey(NamedTuple):
    """A key that comes again in its mapping: where it counts, and where it stood first."""

    key: str
    line: int
    first: int


def read_documents(
    content: bytes, *, file: str, budget: Budget, repeated: list[RepeatedKey] | None = None
) -> Iterator[Value]:
    """Yields the non-empty documents of a file; raises ManifestError at the first flaw.

    A key that comes twice in a mapping is a flaw, unless it is to be added to `repeated`: the last one counts then, as
    for kubectl.
    """
    budget.take_bytes(len(content), file=file)
    text = decode(content, file=file)
    try:
        if text[:1] in _JSON:
            yield from _json(text, file, budget, repeated)
        else:
            yield from _yaml(without_schemas(text), file, budget, repeated)
    except yaml.YAMLError as problem:
        raise _syntax_error(problem, file) from None


def _yaml(text: str, file: str, budget: Budget, repeated: list[RepeatedKey] | None) -> list[Value]:
    try:
        return list(_documents(text, file, budget, repeated))
    except yaml.YAMLError:
        mended = as_kubectl_reads(text)
        if mended is None:
            raise
    return list(_documents(mended, file, budget, repeated))


def _json(text: str, file: str, budget: Budget, repeated: list[RepeatedKey] | None) -> list[Value]:
    """The documents of a text that begins as JSON, which is YAML but for details."""
    try:
        return list(_documents(text, file, budget, repeated))
    except yaml.YAMLError:
        parts = json_documents(text)
        if parts is None:
            raise
    return [root for part in parts for root in _documents(part, file, budget, repeated)]


def _documents(text: str, file: str, budget: Budget, repeated: list[RepeatedKey] | None) -> Iterator[Value]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml when PyYAML was built with it
    builder = _Builder(file, budget, repeated)
    for event in yaml.parse(text, Loader=loader):
        document = builder.take(event)
        if document is not None and not _is_empty(document):
            yield document


def _is_empty(document: Value) -> bool:
    return isinstance(document, Scalar) and document.kind is ScalarKind.NULL


def _syntax_error(problem: yaml.YAMLError, file: str) -> ManifestError:
    """The parser's complaint with its place, without any of the file's text."""
    mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
    words = getattr(problem, "problem", None) or getattr(problem, "reason", None) or "it does not parse"
    return ManifestError(
        f"not valid YAML: {printable(str(words))}",
        file=file,
        line=1 if mark is None else mark.line + 1,
        remedy="Correct the syntax there or just above; indent with spaces, never with tabs",
    )


class _Open:
    """A sequence or mapping whose end has not been seen."""

    __slots__ = ("anchor", "column", "entries", "is_mapping", "items", "key", "line", "merges", "size")

    def __init__(self, event: Any, *, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.anchor: str | None = event.anchor
        self.line: int = event.start_mark.line + 1
        self.column: int = event.start_mark.column + 1
        self.items: list[Value] = []
        self.entries: dict[str, Entry] = {}
        self.merges: list[Entry] = []
        self.key: Scalar | None = None
        self.size = 1

    def close(self) -> Value:
        if not self.is_mapping:
            return Sequence(tuple(self.items), self.line, self.column)
        return Mapping(self.entries, self.line, self.column)


class _Builder:
    """Builds one document at a time from parser events."""

    def __init__(self, file: str, budget: Budget, repeated: list[RepeatedKey] | None) -> None:
        self._file = file
        self._repeated = repeated
        self._budget = budget
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Value, int]] = {}  # anchor -> value, expanded size
        self._keys: dict[str, str] = {}  # one copy of every key text
        self._root: Value | None = None
        self._handlers: dict[type, Callable[[Any], None]] = {
            yaml.DocumentStartEvent: self._start_document,
            yaml.ScalarEvent: self._scalar,
            yaml.AliasEvent: self._alias,
            yaml.SequenceStartEvent: self._start,
            yaml.MappingStartEvent: self._start,
            yaml.SequenceEndEvent: self._end,
            yaml.MappingEndEvent: self._end,
        }

    def take(self, event: Any) -> Value | None:
        """Consumes one event; returns the document when the event ends one."""
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)
        return self._root if isinstance(event, yaml.DocumentEndEvent) else None

    def _start_document(self, event: Any) -> None:
        self._budget.take_document(file=self._file, line=event.start_mark.line + 1)
        self._anchors.clear()
        self._root = None

    def _scalar(self, event: Any) -> None:
        line = event.start_mark.line + 1
        self._check_tag(event, line)
        plain = event.style is None or event.style == ""
        plain = plain and event.tag is None
        check_scalar(event.value, plain=plain, bounds=self._budget.bounds, file=self._file, line=line)
        self._budget.take_nodes(1, file=self._file, line=line)
        scalar = Scalar(event.value, plain, line, event.start_mark.column + 1)
        self._remember(event.anchor, scalar, 1)
        self._place(scalar, 1)

    def _alias(self, event: Any) -> None:
        line = event.start_mark.line + 1
        if event.anchor not in self._anchors:
            raise self._bad_alias(event.anchor, line)
        value, size = self._anchors[event.anchor]
        self._budget.take_nodes(size, file=self._file, line=line)
        self._place(value, size, line=line, column=event.start_mark.column + 1)

    def _bad_alias(self, anchor: str, line: int) -> ManifestError:
        """The error for an alias that names a value around it, or nothing at all."""
        name = printable(anchor)
        if any(part.anchor == anchor for part in self._open):
            return HostileInputError(
                f"alias *{name} stands inside the value it names",
                file=self._file,
                line=line,
                remedy="Write the value out; it would contain itself",
            )
        return ManifestError(
            f"alias *{name} has no anchor &{name} before it",
            file=self._file,
            line=line,
            remedy="Add the anchor",
        )

    def _start(self, event: Any) -> None:
        line = event.start_mark.line + 1
        self._check_tag(event, line)
        if len(self._open) >= self._budget.bounds.depth:
            raise HostileInputError(
                f"nested more than {self._budget.bounds.depth} levels deep",
                file=self._file,
                line=line,
                remedy="No Kubernetes object is nested like this; correct the indentation or brackets",
            )
        self._budget.take_nodes(1, file=self._file, line=line)
        self._open.append(_Open(event, is_mapping=isinstance(event, yaml.MappingStartEvent)))

    def _end(self, event: Any) -> None:
        part = self._open.pop()
        if part.merges:
            self._merge(part)
        value = part.close()
        self._remember(part.anchor, value, part.size)
        self._place(value, part.size)

    def _remember(self, anchor: str | None, value: Value, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)

    def _check_tag(self, event: Any, line: int) -> None:
        if event.tag is not None and event.tag not in _ALLOWED_TAGS[type(event)]:
            raise HostileInputError(
                f"tag {printable(event.tag)}",
                file=self._file,
                line=line,
                remedy="Kubernetes objects need no tags; remove it",
            )

    def _place(self, value: Value, size: int, *, line: int | None = None, column: int | None = None) -> None:
        """Puts a finished value where it belongs: root, list item, key, or value of the waiting key."""
        if not self._open:
            self._root = value
            return
        part = self._open[-1]
        part.size += size
        if not part.is_mapping:
            part.items.append(value)
        elif part.key is None:
            part.key = self._as_key(value, line or value.line, column or value.column)
        else:
            self._add_entry(part, part.key, value)
            part.key = None

    def _as_key(self, value: Value, line: int, column: int) -> Scalar:
        """The value as a key; what is no text is a key as the YAML reader of kubectl writes it, if it does."""
        text = key_text(value) if isinstance(value, Scalar) else None
        if isinstance(value, Scalar) and text is not None:
            return Scalar(self._keys.setdefault(text, text), value.plain, line, column)
        if isinstance(value, Scalar):
            raise ManifestError(
                f"key {printable(value.text) or 'null'} is taken for {value.kind.value}",
                file=self._file,
                line=line,
                remedy="Quote it",
            )
        raise ManifestError(
            "a key that is a list or a mapping",
            file=self._file,
            line=line,
            remedy="Keys are text; a template placeholder such as {{ … }} has to be rendered first",
        )

    def _add_entry(self, part: _Open, key: Scalar, value: Value) -> None:
        if key.plain and key.text == _MERGE:
            part.merges.append(Entry(value, key.line, key.column))
            return
        before = part.entries.get(key.text)
        if before is not None and self._repeated is not None:
            self._repeated.append(RepeatedKey(key.text, key.line, before.line))
        elif before is not None:
            raise ManifestError(
                f"key {printable(key.text)} again, first on line {before.line}",
                file=self._file,
                line=key.line,
                remedy="Remove one of the two",
            )
        part.entries[key.text] = Entry(value, key.line, key.column)

    def _merge(self, part: _Open) -> None:
        """Adds the keys of `<<` that the mapping does not set itself; earlier sources win."""
        if len(part.merges) > 1:
            raise ManifestError(
                f"key << again, first on line {part.merges[0].line}",
                file=self._file,
                line=part.merges[1].line,
                remedy="Use one << with a list of aliases",
            )
        entry = part.merges[0]
        sources = entry.value.items if isinstance(entry.value, Sequence) else (entry.value,)
        for source in sources:
            if not isinstance(source, Mapping):
                raise ManifestError(
                    "<< takes a mapping or a list of mappings",
                    file=self._file,
                    line=entry.line,
                    remedy="Correct it",
                )
            for key, inherited in source.entries.items():
                part.entries.setdefault(key, inherited)
