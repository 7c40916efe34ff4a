"""Fields that the Kubernetes API does not have, and API versions that it no longer has."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.api.api_versions import REMOVED
from kubeproof.cluster.api.versions import in_words
from kubeproof.cluster.wiring import ref_of
from kubeproof.verify.checks.declaration import ERROR, Check, Found
from kubeproof.verify.checks.scene import Scene


def _unknown_fields(scene: Scene) -> Iterator[Found]:
    for field, source in scene.loaded.unknown:
        remedy = f"Did you mean {field.close}?" if field.close else ""
        if field.place:
            remedy = f"It belongs to {field.place}; correct its indentation"
        yield Found(_ref(field.owner), f"{field.path} is not a field of the Kubernetes API", source, remedy=remedy)


def _ref(owner: str) -> str:
    """The reference of an object that may be written without its namespace."""
    kind, _, rest = owner.partition("/")
    namespace, slash, name = rest.rpartition("/")
    return ref_of(kind, namespace if slash else "default", name)


def _find_removed_versions(scene: Scene) -> Iterator[Found]:
    version = scene.setup.settings.kubernetes_version
    for one in scene.wiring.written:
        removed = REMOVED.get((one.version, one.kind))
        if removed is None or not removed.is_gone(version):
            continue
        message = f"{one.version} of {one.kind} is not served since Kubernetes {in_words(removed.since)}"
        remedy = f"Write apiVersion: {removed.instead}" if removed.instead else "Remove it: there is no later version"
        yield Found(one.ref, message, one.source, remedy=remedy)


CHECKS = (
    Check(
        id="K001",
        key="unknown-field",
        severity=ERROR,
        title="a field that the Kubernetes API does not have",
        explanation=(
            "kubectl asks for strict validation, and the API server refuses the object; without it the field is "
            "dropped in silence, and what it was meant to say never happens. Most are misspelt or stand one level too "
            "high or too low."
        ),
        remedy="Correct its name or its place, or remove it",
        find=_unknown_fields,
    ),
    Check(
        id="K002",
        key="removed-api",
        severity=ERROR,
        title="an API version that the API server no longer serves",
        explanation=(
            "Versions of the API are removed one after the other; an object written for a removed one is refused. "
            "What counts is the Kubernetes version that is verified (kubernetesVersion of the Scenario). Where "
            "the version that replaced it has the same fields, the object is verified as of that one all the same."
        ),
        remedy="Write the version that replaced it",
        find=_find_removed_versions,
    ),
)
