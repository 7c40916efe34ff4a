"""Strict validation: fields of objects that the Kubernetes API does not have, at any depth.

Mirrors `fieldValidation: Strict` of the API server, which kubectl asks for: objects with an unknown field are refused.
Versions and kinds that the table of fields lacks are left alone, and so is what only the API server writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache

from kubeproof.cluster.objects import Source
from kubeproof.manifests.loaded import Omission, UnknownField
from kubeproof.manifests.objects import Document, show_name
from kubeproof.manifests.validation.api_types import KINDS, TYPES
from kubeproof.manifests.yaml.fields import path_below
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Mapping, Sequence, Value, is_null
from kubeproof.named_tuples import NamedTuple

_SURE, _LIKELY = 0.8, 0.6  # how alike a misspelling and what is meant are


class _Held(NamedTuple):
    """The type of a field's objects; `is_map` if they stand under keys of their own."""

    type: str  # "": nothing that has fields
    is_map: bool = False


_Fields = dict[str, _Held]


@lru_cache(maxsize=1)
def _kinds() -> dict[tuple[str, str], str]:
    return {(version, kind): type_ for version, kind, type_ in map(str.split, KINDS.strip().splitlines())}


@lru_cache(maxsize=1)
def _types() -> dict[str, _Fields]:
    lines = TYPES.strip().replace("\n ", " ").splitlines()
    return {name: dict(map(_field, fields)) for name, *fields in map(str.split, lines)}


def _field(word: str) -> tuple[str, _Held]:
    name, _, held = word.partition(":")
    return name, _Held(held.removeprefix("*"), held.startswith("*"))


def is_known(document: Document) -> bool:
    """True if all fields of such an object are known."""
    return (document.version, document.kind) in _kinds()


def unknown_fields(document: Document, owner: str) -> Iterator[tuple[UnknownField, Source]]:
    """The fields that the API does not have, each with its place."""
    if is_known(document):
        root = _Level("", _kinds()[document.version, document.kind], None)
        for field, line in _walk(document.mapping, root, owner):
            yield field, Source(document.file, line)


def all_unknown_fields(
    documents: Iterable[Document], omissions: Iterable[Omission]
) -> tuple[tuple[UnknownField, Source], ...]:
    """Those of all documents; of kinds whose fields are not all known, those that their readers met."""
    found: list[tuple[UnknownField, Source]] = []
    known = set()
    for document in documents:
        owner = show_name(document)
        found += unknown_fields(document, owner)
        known |= {owner} if is_known(document) else set()
    met = ((one.unknown, one.source) for one in omissions if one.unknown is not None)
    return (*found, *((field, source) for field, source in met if field.owner not in known))


class _Level(NamedTuple):
    """Where the walk is, and what is above."""

    path: str
    type: str
    above: _Level | None


def _walk(mapping: Mapping, level: _Level, owner: str) -> Iterator[tuple[UnknownField, int]]:
    fields = _types()[level.type]
    for key, entry in mapping.entries.items():
        path = path_below(level.path, key)
        if key not in fields:
            if not is_null(entry.value):
                yield UnknownField(owner, path, *_guess_meant(key, level)), entry.line
        elif fields[key].type:
            yield from _inside(entry.value, _Level(path, fields[key].type, level), owner, is_map=fields[key].is_map)


def _inside(value: Value, level: _Level, owner: str, *, is_map: bool) -> Iterator[tuple[UnknownField, int]]:
    """Looks into an object, into the elements of a list of objects, and into the values of a map of them."""
    if isinstance(value, Sequence):
        for index, item in enumerate(value.items):
            yield from _inside(item, level._replace(path=f"{level.path}[{index}]"), owner, is_map=False)
    elif isinstance(value, Mapping) and is_map:
        for key, entry in value.entries.items():
            yield from _inside(entry.value, level._replace(path=path_below(level.path, key)), owner, is_map=False)
    elif isinstance(value, Mapping):
        yield from _walk(value, level, owner)


def _guess_meant(key: str, level: _Level) -> tuple[str, str]:
    """The field of that name which may be meant, and where a field of exactly this name belongs."""
    fields = _types()[level.type]
    sure = get_close_matches(key[:100], fields, 1, _SURE)
    if sure:
        return sure[0], ""
    place = _place_of(key, level)
    likely = get_close_matches(key[:100], fields, 1, _LIKELY)
    return (likely[0], "") if likely and not place else ("", place)


def _place_of(key: str, level: _Level) -> str:
    """The level above or just below that has a field of this name; such are often indented wrongly."""
    types = _types()
    below = [name for name, held in types[level.type].items() if held.type and key in types[held.type]]
    if below:
        return path_below(level.path, below[0])
    above = level.above
    while above is not None and above.above is not None:  # metadata and kind are everywhere at the top
        if key in types[above.type]:
            return printable(above.path)
        above = above.above
    return ""
