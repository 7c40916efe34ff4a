"""Hooks of charts: objects that helm makes at one moment of a release, and that belong to no running cluster.

`helm template` writes all of them. Those of an installation run with it, and stay in the input. What runs when a
release is upgraded, rolled back, tested or deleted does not stand beside its workloads
(helm.sh/docs/topics/charts_hooks).
"""

from __future__ import annotations

from kubeproof.cluster.objects import Source
from kubeproof.manifests.folders.collected import Collected
from kubeproof.manifests.folders.files import is_rendered_chart
from kubeproof.manifests.objects import Document
from kubeproof.manifests.yaml.tree import Mapping, Scalar

ANNOTATION = "helm.sh/hook"
OF_AN_INSTALLATION = frozenset({"pre-install", "post-install", "crd-install"})
NOT_INSTALLED = "a hook of a chart that does not run when it is installed"


def leave_out_hooks(collected: Collected) -> None:
    """Takes hooks of other moments out of what charts stand for, and notes it."""
    left = [one for one in collected.documents if is_rendered_chart(one.file) and _is_of_another_moment(one)]
    collected.drop(left)
    for one in left:
        collected.skip(NOT_INSTALLED, Source(one.file, one.mapping.line))


def _is_of_another_moment(document: Document) -> bool:
    moments = _moments_of(document)
    return bool(moments) and not moments & OF_AN_INSTALLATION


def _moments_of(document: Document) -> frozenset[str]:
    """When the object is made, as its annotation tells; empty if it is no hook."""
    metadata = document.mapping.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    told = annotations.get(ANNOTATION) if isinstance(annotations, Mapping) else None
    return frozenset(told.text.replace(" ", "").split(",")) - {""} if isinstance(told, Scalar) else frozenset()
