"""Who is who among the objects of an input: names that the API server would make up, and objects that come twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from os.path import dirname

from kubeproof.cluster.objects import Source
from kubeproof.manifests.kinds.catalogue import READ_KINDS
from kubeproof.manifests.loaded import DUPLICATE, NAMED, ReadingNote
from kubeproof.manifests.objects import Document, identity_of, is_modelled_kind, show_name
from kubeproof.manifests.yaml.tree import Entry, Mapping, Scalar, plain
from kubeproof.values import dataclass

_LONGEST_PREFIX = 58  # the API server cuts a generateName there, and adds five characters
_SHOWN = 3
_LAST_COUNTS = "the last counts, as with kubectl apply"
_ALIKE = "they say the same"

Identity = tuple[str, str, str]  # "group/Kind", namespace, name


@dataclass(frozen=True, slots=True)
class Repeated:
    """An object that comes again later in the input."""

    first: Document
    last: Document

    @property
    def is_alike(self) -> bool:
        """True if both say the same, so that it does not matter which of them counts."""
        return _essence(self.first) == _essence(self.last)

    @property
    def is_contradiction(self) -> bool:
        """True if they stand side by side and differ; other folders hold other variants."""
        return not self.is_alike and dirname(self.first.file) == dirname(self.last.file)


def _essence(document: Document) -> object:
    """What counts of an object: of a Namespace its labels, which selectors read."""
    if document.kind != "Namespace":
        return plain(document.mapping)
    metadata = document.mapping.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return {} if labels is None else plain(labels)


def name_objects(documents: Iterable[Document]) -> list[ReadingNote]:
    """Gives objects that have a generateName alone a name, the same one whenever the input is read.

    The API server adds five random characters, we add a number.
    """
    count: Counter[tuple[str, str]] = Counter()
    named = []
    for document in documents:
        metadata = document.mapping.get("metadata")
        prefix = metadata.get("generateName") if isinstance(metadata, Mapping) else None
        if not isinstance(metadata, Mapping) or metadata.get("name") is not None or not isinstance(prefix, Scalar):
            continue
        count[document.kind, prefix.text] += 1
        name = f"{prefix.text[:_LONGEST_PREFIX]}{count[document.kind, prefix.text]:05}"
        value = Scalar(name, plain=False, line=prefix.line, column=prefix.column)
        metadata.entries["name"] = Entry(value, prefix.line, prefix.column)
        named.append(_note_name(document, prefix))
    return named


def _note_name(document: Document, prefix: Scalar) -> ReadingNote:
    why = "it has a generateName alone, so that every kubectl create makes another one; one of them is verified"
    return ReadingNote(NAMED, "note", show_name(document), why, Source(document.file, prefix.line))


def find_repeated(documents: Sequence[Document]) -> list[Repeated]:
    """The objects that come again later, each with the last one of the same group, kind, namespace and name."""
    last: dict[Identity, Document] = {}
    for document in documents:
        identity = identify(document)
        if identity is not None:
            last[identity] = document
    pairs = ((document, last.get(identify(document) or ("", "", ""))) for document in documents)
    return [Repeated(one, other) for one, other in pairs if other is not None and other is not one]


def identify(document: Document) -> Identity | None:
    """What two objects have in common that are one in a cluster; None without a name."""
    namespace, name = identity_of(document)
    if not name and (document.kind not in READ_KINDS or READ_KINDS[document.kind].is_named):
        return None
    group = "" if is_modelled_kind(document) else document.version.rpartition("/")[0]  # of which one is left
    return f"{group}/{document.kind}", namespace or "default", name


def note_repeated(repeated: Iterable[Repeated]) -> list[ReadingNote]:
    """One note for each file whose objects count although others have them, too.

    Kinds that are not modelled decide nothing, so they are not told.
    """
    together: dict[tuple[str, bool], list[Repeated]] = {}
    for pair in repeated:
        if is_modelled_kind(pair.first):
            together.setdefault((pair.last.file, pair.is_alike), []).append(pair)
    return [_note_pairs(together[key]) for key in sorted(together)]


def _note_pairs(pairs: Sequence[Repeated]) -> ReadingNote:
    times = Counter(show_name(pair.last) for pair in pairs)
    shown = [f"{name} comes {'twice' if count == 1 else f'{count + 1} times'}" for name, count in times.items()]
    more = [f"{len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    return ReadingNote(
        DUPLICATE,
        "warning" if any(pair.is_contradiction for pair in pairs) else "note",
        ", ".join((*shown[:_SHOWN], *more)),
        _ALIKE if pairs[0].is_alike else _LAST_COUNTS,
        pairs[0].last.place,
        tuple(pair.first.place for pair in pairs),
    )
