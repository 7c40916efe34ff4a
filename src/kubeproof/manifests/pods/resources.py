"""Resource lists: names to exact amounts."""

from __future__ import annotations

from kubeproof.cluster.api.quantity import QuantityError, milli, units
from kubeproof.manifests.validation.names import is_label_key
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

CPU, MEMORY, EPHEMERAL, PODS = "cpu", "memory", "ephemeral-storage", "pods"


def read_amount(fields: Fields, key: str) -> int:
    """The quantity under a resource name: CPU in milli, everything else in whole units, rounded up."""
    text = fields.number(key) or ""
    try:
        amount = milli(text) if key == CPU else units(text)
    except QuantityError as problem:
        fields.fail(key, f"is {printable(text)!r}: {problem}", remedy="Write a quantity such as 500m, 2 or 1.5Gi")
    if text.startswith("-") and text.strip("-0.") != "":
        fields.fail(key, f"is {printable(text)!r}, below zero", remedy="Write a quantity that is not negative")
    return amount


def read_amounts(fields: Fields | None) -> dict[str, int]:
    """All amounts of a resource list, by resource name."""
    if fields is None:
        return {}
    names = fields.keys()
    return {name: read_amount(fields, name) for name in names}


def is_extended(resource: str) -> bool:
    """True for a resource outside kubernetes.io, such as nvidia.com/gpu."""
    prefix, slash, _ = resource.rpartition("/")
    return bool(slash) and not prefix.endswith("kubernetes.io")


def read_container_amounts(fields: Fields | None) -> dict[str, int]:
    """The amounts of a container's requests or limits, whose names are restricted."""
    for key in [] if fields is None else fields.keys():
        if key in (CPU, MEMORY, EPHEMERAL) or key.startswith("hugepages-"):
            continue
        if fields is not None and not ("/" in key and is_label_key(key)):
            fields.fail(
                key,
                "is not a resource a container can ask for",
                remedy="Use cpu, memory, ephemeral-storage, hugepages-<size> or <domain>/<name>",
            )
    return read_amounts(fields)


def others_of(amounts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Everything but CPU, memory and the pod count, sorted."""
    return tuple(sorted((name, n) for name, n in amounts.items() if name not in (CPU, MEMORY, PODS)))
