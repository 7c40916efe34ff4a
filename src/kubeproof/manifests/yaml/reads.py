"""What readers looked at: the only parts of an object that a snapshot or a saved result may hold.

Every cursor (`fields.Fields`) notes here which keys of its mapping it read, and which it only saw to be there. So what
is kept follows from what is modelled: a field that a reader begins to use is kept from then on, all others never are.
"""

from __future__ import annotations

from kubeproof.manifests.validation.schema import FIELDS
from kubeproof.manifests.yaml.tree import Entry, Mapping, Scalar, ScalarKind, Sequence, Value

Marks = dict[str, bool]  # key -> whether its value was read; False: only that it is there
NEVER_KEPT = frozenset({"Secret", "ConfigMap"})
_INLINE = "manifest"  # in a Scenario: an object of Kubernetes, of which no more is kept than of any other
_API_NAMES = frozenset(name for table in FIELDS.values() for name in table)
_LONGEST_KEY = 300
_LIST = "List"
_EMPTY = {ScalarKind.INTEGER: "0", ScalarKind.FLOAT: "0", ScalarKind.ODD_NUMBER: "0", ScalarKind.BOOLEAN: "false"}


class Reads:
    """The keys that were read of mappings, and what stands for a value of which only a part counts."""

    __slots__ = ("_instead", "_marks", "_unknown", "dropped", "hides_unknown")

    def __init__(self, *, hides_unknown: bool = False) -> None:
        self.hides_unknown = hides_unknown  # fields that the API does not have stay, but not their names
        self.dropped: set[int] = set()  # identities of objects that do not belong to the input after all
        self._unknown: dict[tuple[int, str], str] = {}
        # By identity: equal mappings are different places. The values are held, so that no identity is used again.
        self._marks: dict[int, tuple[Mapping, Marks]] = {}
        self._instead: dict[int, tuple[Value, Value]] = {}

    def marks(self, mapping: Mapping) -> Marks:
        """The marks of a mapping, to be added to."""
        return self._marks.setdefault(id(mapping), (mapping, {}))[1]

    def note_unknown(self, mapping: Mapping, key: str) -> None:
        """Notes a field that the API does not have as far as we know."""
        self.marks(mapping).setdefault(key, False)
        self._unknown.setdefault((id(mapping), key), f"unknown{len(self._unknown) + 1}")

    def _show_key(self, mapping: Mapping, key: str) -> str:
        return self._unknown.get((id(mapping), key), key) if self.hides_unknown else key

    def keep(self, value: Value | None, instead: Value | None = None) -> None:
        """Keeps another value in the place of one that was read, or all of the value itself."""
        if value is not None:
            self._instead[id(value)] = (value, value if instead is None else instead)

    def reduce(self, value: Value) -> Value:
        """The value without all that nobody read."""
        known = self._instead.get(id(value))
        if known is not None:
            return known[1]
        if isinstance(value, Sequence):
            return Sequence(tuple(self.reduce(item) for item in value.items), value.line, value.column)
        return self._reduce_mapping(value) if isinstance(value, Mapping) else value

    def _reduce_mapping(self, mapping: Mapping) -> Mapping:
        _, marks = self._marks.get(id(mapping), (mapping, {}))
        kept = {
            self._show_key(mapping, key): _entry(entry, self.reduce(entry.value) if marks[key] else empty(entry.value))
            for key, entry in mapping.entries.items()
            if key in marks and len(key) <= _LONGEST_KEY
        }
        return Mapping(kept, mapping.line, mapping.column)

    def reduce_document(self, root: Value) -> Value | None:
        """A document of the input, lists of objects opened; None if nothing of it may be kept."""
        if not isinstance(root, Mapping) or id(root) in self.dropped or _text(root, "kind") in NEVER_KEPT:
            return None
        if _text(root, "kind") == "Scenario":
            return self._scenario(root)
        if not is_list(root):
            return self.reduce(root) if id(root) in self._marks else None
        entries = {key: entry for key, entry in root.entries.items() if key in ("apiVersion", "kind", "items")}
        items = root.get("items")
        if "items" in entries and isinstance(items, Sequence):
            kept = [found for item in items.items if (found := self.reduce_document(item)) is not None]
            entries["items"] = _entry(root.entries["items"], Sequence(tuple(kept), items.line, items.column))
        return Mapping(entries, root.line, root.column)

    def _scenario(self, value: Value) -> Value:
        """All of a Scenario, whose reader refuses what it does not know; of objects in it what was read of them."""
        if isinstance(value, Sequence):
            return Sequence(tuple(self._scenario(item) for item in value.items), value.line, value.column)
        if not isinstance(value, Mapping):
            return value
        kept = {}
        for key, entry in value.entries.items():
            found = self.reduce_document(entry.value) if key == _INLINE else self._scenario(entry.value)
            kept[key] = _entry(entry, empty(entry.value) if found is None else found)
        return Mapping(kept, value.line, value.column)


def is_list(root: Mapping) -> bool:
    """True for a list of objects: `List`, or a list of one kind such as `PodList`."""
    kind = _text(root, "kind")
    return kind == _LIST or (kind.endswith(_LIST) and isinstance(root.get("items"), Sequence))


def _entry(entry: Entry, value: Value) -> Entry:
    return Entry(value, entry.line, entry.column)


def _text(mapping: Mapping, key: str) -> str:
    value = mapping.get(key)
    return value.text if isinstance(value, Scalar) else ""


def empty(value: Value) -> Value:
    """A value of the same kind that tells nothing, and is not null unless the value is."""
    if isinstance(value, Mapping):
        return Mapping({}, value.line, value.column)
    if isinstance(value, Sequence):
        return Sequence((), value.line, value.column)
    if value.kind is ScalarKind.NULL:
        return value
    return Scalar(_EMPTY.get(value.kind, ""), value.kind in _EMPTY, value.line, value.column)


def is_api_name(key: str) -> bool:
    """True for a key that is a field of the Kubernetes API, and so nobody's own."""
    return key in _API_NAMES
