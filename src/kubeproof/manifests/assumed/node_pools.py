"""Pools of equal nodes, given in a few words instead of Node objects: `6x4cpu,16Gi,zones=3,pool=web`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from kubeproof.cluster.api.quantity import QuantityError, milli, units
from kubeproof.cluster.labels import Labels, Taint, as_labels
from kubeproof.cluster.objects import HOSTNAME, REGION, ZONE
from kubeproof.errors import UsageError
from kubeproof.manifests.kinds.nodes import DEFAULT_PODS
from kubeproof.manifests.pods.templates import EFFECTS
from kubeproof.manifests.validation.names import is_label_key, is_label_value
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.writer import as_yaml
from kubeproof.values import dataclass

OS, ARCH, INSTANCE = "kubernetes.io/os", "kubernetes.io/arch", "node.kubernetes.io/instance-type"
ASSUMED_REGION = "assumed-region"
ZONE_NAMES = ("zone-a", "zone-b", "zone-c")
MAX_NODES, MAX_ZONES = 5_000, 26
FORM = "COUNTxCPU,MEMORY[,zones=N][,pods=N][,taint=KEY=VALUE:EFFECT][,LABEL=VALUE]..."
_SHAPE = re.compile(r"(?P<count>[0-9]{1,6})x(?P<cpu>[0-9.]+m?)(?:cpu)?", re.ASCII)
_GIBIBYTE = 2**30
_IN_BYTES = ("ephemeral-storage", "hugepages-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Equal nodes, dealt out to zones in turn."""

    count: int
    cpu_milli: int
    memory_bytes: int
    pods: int = DEFAULT_PODS
    others: tuple[tuple[str, int], ...] = ()  # extended resources
    zones: tuple[str, ...] = ZONE_NAMES
    labels: Labels = ()  # beyond those that every kubelet and cloud sets
    taints: tuple[Taint, ...] = ()
    names: tuple[str, ...] = ()  # of the first nodes; the others are numbered
    former: Labels = ()  # labels that every kubelet and cloud sets, under the names that they once had
    zone_keys: tuple[str, ...] = ()  # further labels whose value is the zone


def parse_pool(text: str) -> Pool:
    """The pool that a `--nodes` value asks for."""
    shape, *rest = text.split(",")
    found = _SHAPE.fullmatch(shape.strip())
    if found is None or not rest:
        raise _wrong(text, "it is not of the form COUNTxCPU,MEMORY")
    try:
        cpu, memory = milli(found["cpu"]), units(rest[0].strip())
    except QuantityError as problem:
        raise _wrong(text, str(problem)) from None
    count = int(found["count"])
    if not 0 < count <= MAX_NODES or cpu <= 0 or memory <= 0:
        raise _wrong(text, f"count, CPU and memory must be above 0, and the count at most {MAX_NODES}")
    return _with_words(text, Pool(count=count, cpu_milli=cpu, memory_bytes=memory), rest[1:])


def _with_words(text: str, pool: Pool, words: Sequence[str]) -> Pool:
    """The pool with what stands after its shape."""
    zones, pods, taints = pool.zones[: pool.count], pool.pods, []
    labels: dict[str, str] = {}
    for word in words:
        key, equals, value = (part.strip() for part in word.partition("="))
        if not equals:
            raise _wrong(text, f"{printable(word)!r} has no =")
        if key in ("zones", "pods"):
            amount = _positive(text, key, value)
            if key == "zones" and amount > pool.count:
                raise _wrong(text, f"{pool.count} node(s) cannot be in {amount} zones")
            zones, pods = (_zone_names(text, amount), pods) if key == "zones" else (zones, amount)
        elif key == "taint":
            taints.append(_parse_taint(text, value))
            if len({(one.key, one.effect) for one in taints}) < len(taints):
                raise _wrong(text, f"taint {taints[-1].key} with effect {taints[-1].effect} stands there twice")
        elif is_label_key(key) and is_label_value(value):
            labels[key] = value
        else:
            raise _wrong(text, f"{printable(word)!r} is no label")
    return Pool(
        count=pool.count,
        cpu_milli=pool.cpu_milli,
        memory_bytes=pool.memory_bytes,
        pods=pods,
        zones=zones,
        labels=as_labels(labels),
        taints=tuple(taints),
    )


def _positive(text: str, key: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", value, re.ASCII) or not int(value):
        raise _wrong(text, f"{key} must be a number above 0")
    return int(value)


def _zone_names(text: str, count: int) -> tuple[str, ...]:
    if count > MAX_ZONES:
        raise _wrong(text, f"there may be at most {MAX_ZONES} zones")
    return tuple(f"zone-{chr(ord('a') + number)}" for number in range(count))


def _parse_taint(text: str, value: str) -> Taint:
    name, colon, effect = value.rpartition(":")
    key, _, inner = name.partition("=")
    if not colon or effect not in EFFECTS or not is_label_key(key) or not is_label_value(inner):
        raise _wrong(text, f"a taint is KEY=VALUE:EFFECT with an effect of {', '.join(EFFECTS)}")
    return Taint(key, inner, effect)


def _wrong(text: str, problem: str) -> UsageError:
    return UsageError(f"--nodes {printable(text)!r}: {problem}", f"Write {FORM}, e.g. 6x4cpu,16Gi,zones=3.")


# -- as nodes ---------------------------------------------------------------------------------------


def write_nodes(pools: Sequence[Pool]) -> str:
    """The Node objects of the pools as a YAML stream."""
    return "".join(f"---\n{as_yaml(node)}" for node in _nodes(pools))


def _nodes(pools: Sequence[Pool]) -> Iterator[dict[str, Any]]:
    given = {name for pool in pools for name in pool.names}
    numbered = (name for number in count(1) if (name := f"node-{number}") not in given)
    for position, pool in enumerate(pools):
        for index in range(pool.count):
            name = pool.names[index] if index < len(pool.names) else next(numbered)
            yield _node(name, pool, pool.zones[index % len(pool.zones)], position)


def _node(name: str, pool: Pool, zone: str, position: int) -> dict[str, Any]:
    usual = {HOSTNAME: name, ZONE: zone, REGION: ASSUMED_REGION, OS: "linux", ARCH: "amd64"}
    usual |= dict.fromkeys(pool.zone_keys, zone) | dict(pool.former)
    labels = {**usual, INSTANCE: f"pool-{position + 1}", **dict(pool.labels)}
    amounts = {"cpu": f"{pool.cpu_milli}m", "memory": str(pool.memory_bytes), "pods": str(pool.pods)}
    node: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    if pool.taints:
        node["spec"] = {"taints": [{"key": t.key, "value": t.value, "effect": t.effect} for t in pool.taints]}
    node["status"] = {"allocatable": amounts | {resource: str(amount) for resource, amount in pool.others}}
    return node


def describe(pools: Sequence[Pool]) -> str:
    """The pools in one line."""
    return "; ".join(_describe_one(pool) for pool in pools)


def _describe_one(pool: Pool) -> str:
    cpu = f"{pool.cpu_milli / 1000:g} CPU"
    zones = min(pool.count, len(pool.zones))
    parts = [f"{pool.count} node{'s' * (pool.count > 1)} of {cpu} and {_memory(pool.memory_bytes)}"]
    parts += [f"{pool.pods} pods"] if pool.pods != DEFAULT_PODS else []
    parts += [f"{_amount(resource, amount)} {resource}" for resource, amount in pool.others]
    parts += [f"{key}={value}" for key, value in pool.labels]
    parts += [f"taint {t.key}{f'={t.value}' if t.value else ''}:{t.effect}" for t in pool.taints]
    return f"{', '.join(parts)} in {zones} zone{'s' * (zones > 1)}"


def _amount(resource: str, amount: int) -> str:
    return _memory(amount) if resource.startswith(_IN_BYTES) else str(amount)


def _memory(amount: int) -> str:
    return f"{amount / _GIBIBYTE:g} GiB" if amount % (_GIBIBYTE // 4) == 0 else f"{amount} bytes"
