"""Typed reading of one mapping, with errors that name the place and a record of what was read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field
from functools import partial
from typing import NoReturn, TypeVar

from kubeproof.cluster.api.versions import GATED, Rule
from kubeproof.cluster.objects import Source
from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.manifests.loaded import Disk, Group, Omission, ReadingNote, Sort, UnknownField
from kubeproof.manifests.validation.deciding import NOTHING, NUMBER, RESTARTS, decides, find_touched, reference
from kubeproof.manifests.validation.schema import FIELDS
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reads import Reads, empty
from kubeproof.manifests.yaml.tree import (
    TRUE_WORDS,
    Mapping,
    Scalar,
    ScalarKind,
    Sequence,
    Value,
    describe,
    is_null,
    whole_number,
)
from kubeproof.values import dataclass

T = TypeVar("T")
LARGEST_INT32 = 2**31 - 1
_SIMPLE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_NUMBERS = (ScalarKind.INTEGER, ScalarKind.FLOAT)


@dataclass(slots=True)
class Log:
    """One object being read: its place, its name, its error class, and what was left out of it."""

    file: str
    owner: str  # "Deployment/shop/web", for messages
    error: type[ManifestError] = ManifestError
    omissions: list[Omission] = field(default_factory=list)
    reads: Reads = field(default_factory=Reads)  # what of it was read
    problems: list[ManifestError] = field(default_factory=list)  # kept so that one does not hide the others
    notes: list[ReadingNote] = field(default_factory=list)  # what was assumed
    ref: str = ""  # the same with its whole name: messages cut long ones; "": the owner is not cut

    def fail(
        self, problem: str, *, line: int, remedy: str, is_about_shape: bool = False, is_missing: bool = False
    ) -> NoReturn:
        """Raises this object's error at a line of its file."""
        found = self.error(f"{self.owner}: {problem}", file=self.file, line=line, remedy=remedy)
        found.is_about_shape, found.is_missing = is_about_shape, is_missing
        raise found

    def gather(self, read: Callable[[], T], otherwise: T) -> T:
        """What is read, or the other value if that is refused: the error is kept for later."""
        try:
            return read()
        except HostileInputError:
            raise
        except ManifestError as problem:
            self.problems.append(problem)
            return otherwise

    def raise_gathered(self) -> None:
        """Raises the first of the errors that were kept, in the order of lines, with all others beside it."""
        found = sorted(self.problems, key=lambda one: (one.file != self.file, one.file, one.line))
        if found:
            found[0].together = tuple(found)
            raise found[0]

    def omit(
        self,
        what: str,
        *,
        line: int,
        why: str = "not modelled",
        rule: Rule | None = None,
        decides: str = NOTHING,
        disk: Disk | None = None,
        group: Group | None = None,
    ) -> None:
        """Records something that the model does not take into account, or not before the version of a rule.

        `decides` says about whom it may decide: see `kubeproof.manifests.validation.deciding`.
        """
        object_ref = self.ref or reference(self.owner)
        patterns = find_touched(decides, object_ref)
        place = Source(self.file, line)
        self.omissions.append(
            Omission(
                f"{what} of {self.owner}", place, why, rule, patterns, group=group, owner=object_ref,
                is_bounded=decides == NUMBER, is_restart=decides == RESTARTS, disk=disk,
            )
        )  # fmt: skip

    def omit_unknown(self, path: str, hint: str, line: int, close: str) -> None:
        """Records a field that the API does not have."""
        what, why = f"unknown field {path} of {self.owner}", f"not in the Kubernetes API{hint}"
        unknown = UnknownField(self.owner, path, close)
        self.omissions.append(Omission(what, Source(self.file, line), why, unknown=unknown, is_checked=True))


def suggestion(word: str, known: Iterable[str]) -> str:
    """`Did you mean …?` for a close match, otherwise the known words."""
    from difflib import get_close_matches

    words = sorted(known)
    close = get_close_matches(word[:100], words, n=1)
    if close:
        return f"Did you mean {printable(close[0])}?"
    shown = ", ".join(printable(w) for w in words[:20])
    more = f" and {len(words) - 20} more" if len(words) > 20 else ""
    return f"Known: {shown}{more}" if words else "There are none"


def path_below(path: str, key: str) -> str:
    """The path of a key below another: `spec.template`, `metadata.labels["a/b"]`."""
    if _SIMPLE_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f'{path}["{printable(key)}"]'


class Fields:
    """A cursor over one mapping; every getter marks its key as read, `finish` deals with the rest.

    Explicit nulls count as absent, as the API server treats them. What is not read through a cursor is in no snapshot
    and in no saved result (`reads.Reads`).
    """

    __slots__ = ("_marks", "_seen", "log", "mapping", "path")

    def __init__(self, mapping: Mapping, path: str, log: Log) -> None:
        self.mapping = mapping
        self.path = path
        self.log = log
        self._seen: set[str] = set()
        self._marks = log.reads.marks(mapping)

    # Places and failures

    @property
    def source(self) -> Source:
        return Source(self.log.file, self.mapping.line)

    def line_of(self, key: str) -> int:
        """The line of the key, or of the mapping when it has no such key."""
        return self.mapping.line_of(key)

    def path_of(self, key: str) -> str:
        """The path of a key below the object: `spec.template`, `metadata.labels["a/b"]`."""
        return path_below(self.path, key)

    def fail(
        self, key: str, problem: str, *, remedy: str, is_about_shape: bool = False, is_missing: bool = False
    ) -> NoReturn:
        """Raises the object's error about the value of a key."""
        told = f"{self.path_of(key)} {problem}"
        line = self.line_of(key)
        self.log.fail(told, line=line, remedy=remedy, is_about_shape=is_about_shape, is_missing=is_missing)

    def _misfit(self, key: str, value: Value, remedy: str, more: str = "") -> NoReturn:
        self.fail(key, f"is {describe(value)}{more}", remedy=remedy, is_about_shape=True)

    def _missing(self, key: str) -> NoReturn:
        self.fail(key, "is required", remedy=f"Add {key}", is_about_shape=True)

    def omit(
        self,
        key: str,
        why: str = "not modelled",
        rule: Rule | None = None,
        *,
        decides: str = NOTHING,
        disk: Disk | None = None,
    ) -> None:
        """Records that the value of a key is not taken into account, or not before the version of a rule."""
        self._seen.add(key)
        self._marks.setdefault(key, False)
        what, line = f"field {self.path_of(key)}", self.line_of(key)
        group = Group(Sort.FIELD, key if _SIMPLE_KEY.fullmatch(key) else printable(key))
        self.log.omit(what, line=line, why=why, rule=rule, decides=decides, disk=disk, group=group)

    def note_gate(self, schema: str, key: str) -> None:
        """Records a field that is read, if it is dropped in some versions."""
        rule = GATED.get((schema, key))
        if rule is not None and self.has(key):
            self.omit(key, "", rule)

    # Values

    def has(self, key: str) -> bool:
        """True if the key has a value other than null; nothing else of it is kept."""
        self._marks.setdefault(key, False)
        return self.mapping.get(key) is not None

    def value(self, key: str) -> Value | None:
        """The raw value of the key, marked as read."""
        self._seen.add(key)
        self._marks[key] = True
        return self.mapping.get(key)

    def keys(self) -> list[str]:
        """The keys with a value, in file order."""
        return [key for key in self.mapping.entries if self.has(key)]

    def text(self, key: str) -> str | None:
        """The value as a string; unquoted numbers and booleans are refused as the API server does."""
        value = self.value(key)
        if value is None:
            return None
        return self._text(value, key)

    def require_text(self, key: str) -> str:
        """The value as a string that is neither absent nor empty."""
        text = self.text(key)
        if not text:
            self._missing(key)
        return text

    def word(self, key: str, allowed: Iterable[str], default: str) -> str:
        """The value as one of the allowed words."""
        text = self.text(key)
        if text is None:
            return default
        if text not in allowed:
            self.fail(key, f"is {printable(text)!r}", remedy=suggestion(text, allowed))
        return text

    def number(self, key: str) -> str | None:
        """The text of a number or of a string, exactly as written: for quantities, versions and durations."""
        value = self.value(key)
        if value is None:
            return None
        if isinstance(value, Scalar) and (value.kind in _NUMBERS or value.kind is ScalarKind.STRING):
            return value.text
        if isinstance(value, Scalar) and value.kind is ScalarKind.ODD_NUMBER and not self._is_ours():
            odd = whole_number(value.text)
            if odd is not None:
                return str(odd)
        self._misfit(key, value, "Write a number or a quoted string")

    def integer(self, key: str, *, least: int = 0, most: int = LARGEST_INT32) -> int | None:
        """The value as an integer within bounds."""
        value = self.value(key)
        if value is None:
            return None
        number = self._whole(value)
        if number is None:
            self._misfit(key, value, "Write a plain decimal integer, unquoted")
        if not least <= number <= most:
            self.fail(key, f"is {number}", remedy=f"It lies between {least} and {most}")
        return number

    def _whole(self, value: Value) -> int | None:
        """An integer of at most 64 digits, see guard; in objects of Kubernetes also in notations that kubectl takes."""
        if isinstance(value, Scalar) and value.kind is ScalarKind.INTEGER:
            return int(value.text)
        if isinstance(value, Scalar) and value.kind is ScalarKind.ODD_NUMBER and not self._is_ours():
            return whole_number(value.text)
        return None

    def _is_ours(self) -> bool:
        return self.log.error is not ManifestError

    def boolean(self, key: str) -> bool | None:
        """The value as a boolean."""
        value = self.value(key)
        if value is None:
            return None
        if not isinstance(value, Scalar) or value.kind is not ScalarKind.BOOLEAN:
            self._misfit(key, value, "Write true or false, unquoted")
        return value.text.lower() in TRUE_WORDS

    def child(self, key: str) -> Fields | None:
        """The value as a mapping."""
        value = self.value(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self._misfit(key, value, "Write a mapping")
        return Fields(value, self.path_of(key), self.log)

    def require_child(self, key: str) -> Fields:
        """The value as a mapping that is not absent."""
        child = self.child(key)
        if child is None:
            self._missing(key)
        return child

    def items(self, key: str) -> tuple[Value, ...]:
        """The elements of a list; empty if absent."""
        value = self.value(key)
        if value is None:
            return ()
        if not isinstance(value, Sequence):
            self._misfit(key, value, "Write a list")
        return value.items

    def children(self, key: str) -> list[Fields]:
        """The elements of a list of mappings."""
        found = []
        for index, item in enumerate(self.items(key)):
            if not isinstance(item, Mapping):
                self._fail_item(key, index, item, "Write a mapping")
            found.append(Fields(item, f"{self.path_of(key)}[{index}]", self.log))
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """The elements of a list of strings."""
        for index, item in enumerate(self.items(key)):
            if not isinstance(item, Scalar) or item.kind is not ScalarKind.STRING:
                self._fail_item(key, index, item, "Quote it" if isinstance(item, Scalar) else "Write a string")
        return tuple(item.text for item in self.items(key) if isinstance(item, Scalar))

    def choose(self, key: str, wanted: Iterable[str]) -> frozenset[str]:
        """Those elements of a list of strings that are among the wanted ones; the others count for nobody."""
        found = frozenset(self.texts(key)) & frozenset(wanted)
        value = self.mapping.get(key)
        if isinstance(value, Sequence):
            kept = tuple(item for item in value.items if isinstance(item, Scalar) and item.text in found)
            self.log.reads.keep(value, Sequence(kept, value.line, value.column))
        return found

    def equals(self, key: str, text: str) -> bool:
        """True if the value is this very text; any other text counts for nobody."""
        found = self.text(key)
        value = self.mapping.get(key)
        if isinstance(value, Scalar) and found != text:
            self.log.reads.keep(value, Scalar("", False, value.line, value.column))
        return found == text

    def is_given(self, key: str) -> bool:
        """True if the key has a value, which counts for nobody: that it is there says it all."""
        value = self.value(key)
        if value is not None:
            self.log.reads.keep(value, empty(value))
        return value is not None

    def text_map(self, key: str) -> dict[str, str]:
        """The value as a mapping of strings to strings, such as labels; a null value is an empty string."""
        child = self.child(key)
        if child is None:
            return {}
        return {name: child.text(name) or "" for name in child.mapping.entries}

    def _text(self, value: Value, key: str) -> str:
        if not isinstance(value, Scalar):
            self._misfit(key, value, "Write a string")
        if value.kind is not ScalarKind.STRING:
            self._misfit(key, value, f'Quote it: "{printable(value.text)}"', ", not a string")
        return value.text

    def _fail_item(self, key: str, index: int, item: Value, remedy: str) -> NoReturn:
        told = f"{self.path_of(key)}[{index}] is {describe(item)}"
        self.log.fail(told, line=item.line, remedy=remedy, is_about_shape=True)

    # What was not read

    def ignore(self, *keys: str) -> None:
        """Marks keys as read without looking at them."""
        self._seen.update(keys)

    def find_unread(self) -> list[str]:
        """The keys nobody asked for that have a value."""
        return [
            key for key, entry in self.mapping.entries.items() if key not in self._seen and not is_null(entry.value)
        ]

    def finish(self, schema: str, unused: dict[str, str | None] | None = None) -> None:
        """Lists every unread field of a Kubernetes object, unless the schema table calls it harmless.

        Whoever reads a custom kind brings its table along: `unused`, as in `kubeproof.manifests.validation.schema`.
        """
        known = FIELDS[schema] if unused is None else unused
        for key in self.mapping.entries:
            if key in self._seen:
                self.note_gate(schema, key)
        for key in self.find_unread():
            if key not in known:
                self._omit_unknown(key, set(known) | self._seen)
            elif known[key] is None:
                self.omit(key, rule=GATED.get((schema, key)), decides=decides(schema, key))

    def _omit_unknown(self, key: str, known: set[str]) -> None:
        from difflib import get_close_matches

        close = get_close_matches(key[:100], sorted(known), n=1)
        hint = f", did you mean {close[0]}?" if close else ""
        self.log.reads.note_unknown(self.mapping, key)
        self.log.omit_unknown(self.path_of(key), hint, self.line_of(key), close[0] if close else "")

    def finish_strictly(self, *known: str) -> None:
        """Refuses every unread field: for our own objects, where a misspelt key would be silently lost."""
        keys = self.find_unread()
        for key in keys[1:]:
            self.log.gather(partial(self._refuse_unknown, key, known), None)
        if keys:
            self._refuse_unknown(keys[0], known)

    def _refuse_unknown(self, key: str, known: Iterable[str]) -> NoReturn:
        remedy = suggestion(key, set(known) | self._seen)
        self.log.fail(f"unknown field {self.path_of(key)}", line=self.line_of(key), remedy=remedy, is_about_shape=True)
