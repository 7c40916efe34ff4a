"""Models of one's own of the published family, in a file: which model, from which setting, with which constants."""

from __future__ import annotations

import os

from kubeproof.errors import ManifestError, UsageError
from kubeproof.manifests.folders.files import read_inputs
from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.tree import Mapping
from kubeproof.quantify.published.parameters import NAMES, SETTINGS, AutoscalingParameters, change
from kubeproof.values import dataclass

VERSION, KIND = "kubeproof.dev/v1alpha1", "AutoscalingModel"
MODELS = ("base", "latency", "energy", "scalability", "full")
MOST_STEPS = 10**9


@dataclass(frozen=True, slots=True)
class OwnModel:
    """One model to check."""

    name: str
    model: str
    parameters: AutoscalingParameters
    changed: tuple[str, ...]  # the parameters that the file gives
    steps: int | None


def load_models(path: str) -> tuple[OwnModel, ...]:
    """The models in a file; raises ManifestError with the line of what is wrong."""
    if os.path.isdir(path):
        raise ManifestError("is a directory", file=printable(path), line=0, remedy="Name one file of models")
    file = next(iter(read_inputs([path], stdin=None, bounds=Bounds())))
    return read_models(file.content, file.shown)


def read_models(content: bytes, file: str) -> tuple[OwnModel, ...]:
    """The models that the content of a file describes, one per document."""
    found: list[OwnModel] = []
    for root in read_documents(content, file=file, budget=Budget(Bounds())):
        if not isinstance(root, Mapping):
            raise ManifestError("holds no mapping", file=file, line=1, remedy=f"Write objects of kind {KIND}")
        fields = Fields(root, "", Log(file, KIND))
        found.append(_read(fields))
        if found[-1].name in [one.name for one in found[:-1]]:
            fields.fail("metadata", f"has the name {printable(found[-1].name)} again", remedy="Name each model once")
    if not found:
        raise ManifestError("holds no model", file=file, line=1, remedy=f"Write an object of kind {KIND}")
    return tuple(found)


def _read(fields: Fields) -> OwnModel:
    for key, value in (("apiVersion", VERSION), ("kind", KIND)):
        if fields.require_text(key) != value:
            fields.fail(key, "is not that of a model of autoscaling", remedy=f"Write {key}: {value}")
    name = fields.require_child("metadata").require_text("name")
    spec = fields.require_child("spec")
    setting = spec.integer("setting", least=1, most=max(SETTINGS)) or 1
    given = _read_parameters(spec)
    model = spec.word("model", MODELS, MODELS[0])
    steps = spec.integer("steps", least=1, most=MOST_STEPS)
    try:
        parameters = change(SETTINGS[setting], given)
    except UsageError as problem:
        raise ManifestError(
            _plain(problem),
            file=spec.source.file, line=spec.line_of("parameters"), remedy="docs/reference/quantify.md lists them",
        ) from None  # fmt: skip
    spec.finish_strictly("model", "setting", "steps", "parameters")
    fields.finish_strictly("apiVersion", "kind", "metadata", "spec")
    return OwnModel(name, model, parameters, tuple(given), steps)


def _read_parameters(spec: Fields) -> dict[str, str]:
    child = spec.child("parameters")
    if child is None:
        return {}
    for key in sorted(child.mapping.entries):
        if key not in NAMES:
            child.fail(key, "is no parameter", remedy=suggestion(key, NAMES))
    return {key: child.number(key) or "" for key in child.mapping.entries}


def _plain(problem: UsageError) -> str:
    """What is wrong, without the code and the flag of the command line."""
    _, _, text = str(problem).removesuffix("Correct --set.").strip().rstrip(".").partition(" ")
    return text.removeprefix("--set ")
