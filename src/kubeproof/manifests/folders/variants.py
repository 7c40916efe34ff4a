"""Several variants of one cluster in one directory: rendered manifests beside their chart, a release beside sources.

What is found is taken by directory or recipe. Two of these that hold the same workloads for the most part cannot be
meant for one cluster; the larger one is taken. What the user names is always taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from kubeproof.cluster.objects import Source
from kubeproof.manifests.folders.collected import Collected
from kubeproof.manifests.folders.files import Unit
from kubeproof.manifests.folders.kustomizations import note_variants, rank
from kubeproof.manifests.kinds.catalogue import WORKLOAD_READERS
from kubeproof.manifests.loaded import LEFT_ASIDE
from kubeproof.manifests.objects import Document, identity_of, is_modelled_kind
from kubeproof.manifests.yaml.tree import Mapping, Scalar, Value
from kubeproof.manifests.yaml.tree import Sequence as List
from kubeproof.values import dataclass

_DEFAULT = "default"
_DEEPEST = 8  # levels of an object above which containers stand


@dataclass(frozen=True, slots=True)
class _Part:
    """A directory or recipe with its workloads, told by their names and by what they run."""

    unit: Unit
    file: str  # one of its files
    names: frozenset[tuple[str, ...]]  # kind, name
    places: frozenset[tuple[str, ...]]  # kind, name, namespace
    images: frozenset[tuple[str, ...]]  # kind, images

    @property
    def order(self) -> tuple[object, ...]:
        """Which of several is taken: what is named, what holds most, what the names say, manifests before recipes."""
        folder = self.unit.folder
        whole, partly, _ = rank(folder)
        depth = folder.count(os.sep)
        return not self.unit.is_named, -len(self.places), whole, partly, self.unit.is_recipe, depth, folder


def leave_out_variants(collected: Collected) -> None:
    """Takes directories and recipes out of the input that hold what a larger one holds, too, and notes it."""
    parts = _parts(collected)
    if len(parts) < 2:
        return
    kept: list[_Part] = []
    left: dict[Unit, list[_Part]] = {}
    for part in sorted(parts, key=lambda part: part.order):
        rival = None if part.unit.is_named else next((one for one in kept if _is_variant(part, one)), None)
        if rival is None:
            kept.append(part)
        else:
            left.setdefault(rival.unit, []).append(part)
    for part in kept:
        if part.unit in left:
            _leave_out(collected, left[part.unit])
            _note_left(collected, part, left[part.unit])


def _note_left(collected: Collected, taken: _Part, left: Sequence[_Part]) -> None:
    """Notes what was left out; whoever was noted to be left out in favour of one of these is among them."""
    folders = {part.unit.folder for part in left}
    before = [note for note in collected.notes if note.id == LEFT_ASIDE and _folder(note.source) in folders]
    files = [*(part.file for part in left), *(place.file for note in before for place in note.also)]
    collected.notes = [note for note in collected.notes if note not in before]
    collected.notes.append(note_variants(taken.file, files))


def _folder(source: Source) -> str:
    return os.path.dirname(source.file)


def _leave_out(collected: Collected, parts: Iterable[_Part]) -> None:
    units = {part.unit for part in parts}
    files = {file for file, unit in collected.units.items() if unit in units}
    collected.drop([one for one in collected.documents if one.file in files])
    collected.files = [file for file in collected.files if file not in files]


def _parts(collected: Collected) -> list[_Part]:
    """The directories and recipes that hold workloads."""
    together: dict[Unit, list[Document]] = {}
    for document in collected.documents:
        unit = collected.units.get(document.file)
        if unit is not None and document.kind in WORKLOAD_READERS and is_modelled_kind(document):
            together.setdefault(unit, []).append(document)
    return [_part(unit, documents) for unit, documents in together.items()]


def _part(unit: Unit, documents: Sequence[Document]) -> _Part:
    named = [(one.kind, *reversed(identity_of(one))) for one in documents]
    run = [(one.kind, *sorted(_images(one.mapping))) for one in documents]
    return _Part(
        unit,
        os.path.join(unit.folder, os.path.basename(documents[0].file.rstrip(">"))),
        frozenset(one[:2] for one in named),
        frozenset((kind, name, namespace or _DEFAULT) for kind, name, namespace in named),
        frozenset(run),
    )


def _is_variant(part: _Part, larger: _Part) -> bool:
    """True if more than half of the workloads of a part are in the larger one, too.

    A recipe may put them into a namespace of its own, a chart also gives them names after its release.
    """
    if 2 * len(part.places & larger.places) > len(part.places):
        return True
    if (part.unit.is_recipe or larger.unit.is_recipe) and 2 * len(part.names & larger.names) > len(part.names):
        return True
    is_chart = part.unit.is_chart or larger.unit.is_chart
    return is_chart and 2 * len(part.images & larger.images) > len(part.images)


def _images(value: Value, depth: int = 0) -> Iterable[str]:
    """The images of all containers, without tags."""
    if isinstance(value, List):
        for item in value.items:
            yield from _images(item, depth)
    elif isinstance(value, Mapping) and depth <= _DEEPEST:
        image = value.get("image")
        if isinstance(image, Scalar):
            yield image.text.partition("@")[0].rpartition("/")[2].partition(":")[0]
        for entry in value.entries.values():
            yield from _images(entry.value, depth + 1)
