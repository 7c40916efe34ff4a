"""Objects of other makers that size a workload, such as a ScaledObject of KEDA: not modelled, so proofs are left open.

One whose target is not in the input sizes nobody there: samples of operators lie beside their own manifests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kubeproof.cluster.objects import Workload
from kubeproof.manifests.loaded import Omission
from kubeproof.manifests.yaml import tree
from kubeproof.manifests.yaml.tree import Scalar, Value

_KEYS = ("scaleTargetRef", "workloadRef")
Target = tuple[str, str]  # namespace, name


def names_target(root: Value) -> bool:
    """True if an object says how many pods a workload has, as autoscalers of all makes do."""
    return any(True for _ in _references(root))


def target_of(root: Value) -> Target | None:
    """The workload that an object sizes; None if it does not say so in the usual way."""
    names = [_text(reference, "name") for reference in _references(root)]
    if len(names) != 1 or not names[0]:
        return None
    return _text(_at(root, "metadata"), "namespace") or "default", names[0]


def without_idle(
    omissions: Iterable[Omission], sized: Mapping[Omission, Target], workloads: Iterable[Workload]
) -> Iterator[Omission]:
    """The omissions; those of objects that size nobody in the input decide about nobody."""
    there = {(one.namespace, one.name) for one in workloads}
    for one in omissions:
        yield replace(one, touches=()) if one in sized and sized[one] not in there else one


def _references(root: Value) -> Iterator[Value]:
    spec = _at(root, "spec")
    return (found for key in _KEYS if (found := _at(spec, key)) is not None)


def _at(value: Value | None, key: str) -> Value | None:
    return value.get(key) if isinstance(value, tree.Mapping) else None


def _text(value: Value | None, key: str) -> str:
    found = _at(value, key)
    return found.text if isinstance(found, Scalar) else ""
