"""PodDisruptionBudgets, policy/v1."""

from __future__ import annotations

import re

from kubeproof.cluster.steering.policies import ALWAYS_ALLOW, IF_HEALTHY_BUDGET, PodDisruptionBudget
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.pods.selectors import read_selector
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Scalar, ScalarKind

_PERCENT = re.compile(r"[0-9]{1,3}%", re.ASCII)


def read_budget(fields: Fields) -> PodDisruptionBudget:
    """The budget; at most one of its amounts may be given, percentages up to 100 %, as the API server demands."""
    metadata = read_metadata(fields)
    spec = fields.require_child("spec")
    if spec.has("minAvailable") and spec.has("maxUnavailable"):
        spec.fail("maxUnavailable", "and minAvailable exclude each other", remedy="Keep one of them")
    budget = PodDisruptionBudget(
        namespace=metadata.namespace,
        name=metadata.name,
        selector=read_selector(spec, "selector"),
        min_available=_amount(spec, "minAvailable"),
        max_unavailable=_amount(spec, "maxUnavailable"),
        unhealthy_policy=spec.word("unhealthyPodEvictionPolicy", (IF_HEALTHY_BUDGET, ALWAYS_ALLOW), IF_HEALTHY_BUDGET),
        source=fields.source,
    )
    spec.finish("PodDisruptionBudgetSpec")
    fields.finish("Object")
    return budget


def _amount(spec: Fields, key: str) -> tuple[int, bool] | None:
    """A number of pods (n, False) or a percentage (n, True); None if absent."""
    value = spec.value(key)
    if value is None:
        return None
    if isinstance(value, Scalar) and value.kind is ScalarKind.INTEGER:
        return spec.integer(key) or 0, False
    text = spec.text(key) or ""
    if not _PERCENT.fullmatch(text) or int(text[:-1]) > 100:
        spec.fail(key, f"is {printable(text)!r}", remedy='Write a number, or a percentage up to "100%"')
    return int(text[:-1]), True
