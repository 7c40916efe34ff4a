"""Nodes as one reader is shown them: what it does not say that it reads raises an error where it is read.

Readers say what they read as `Mentions`, beside their code. Only checked runs show nodes like this
(`kubeproof.cluster.nodes.places.Layout.show_to`): all others trust what these found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, SupportsIndex

from kubeproof.cluster.labels import GuardedMap, MentionedLabels
from kubeproof.cluster.loops.mentions import CPU, MEMORY, POD_SLOTS, NodeReads
from kubeproof.cluster.objects import Node
from kubeproof.errors import FootprintError

_AMOUNTS = {"cpu_milli": CPU, "memory_bytes": MEMORY, "pods": POD_SLOTS}
_get = object.__getattribute__


class ShownAmounts(tuple[tuple[str, int], ...]):
    """Resources of a node of which only some may be read."""

    reads: NodeReads

    def __new__(cls, amounts: tuple[tuple[str, int], ...], reads: NodeReads) -> ShownAmounts:
        made = super().__new__(cls, amounts)
        made.reads = reads
        return made

    def __iter__(self) -> Iterator[tuple[str, int]]:
        for name, amount in super().__iter__():
            self.reads.check_resource(name)
            yield name, amount

    def __reduce__(self) -> tuple[type[ShownAmounts], tuple[Any, NodeReads]]:
        return ShownAmounts, (tuple(tuple.__iter__(self)), self.reads)


class ShownNode(Node):
    """A node of which only what its reader mentions may be read."""

    __slots__ = ("reads",)
    reads: NodeReads

    def __init__(self, node: Node, reads: NodeReads) -> None:
        for field in fields(Node):
            object.__setattr__(self, field.name, _get(node, field.name))
        plain = _get(node, "labels")
        labels = MentionedLabels(tuple(tuple.__iter__(plain)), reads.labels, reads.reader)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "others", ShownAmounts(tuple(tuple.__iter__(_get(node, "others"))), reads))
        object.__setattr__(self, "sizes", tuple(ShownNode(size, reads) for size in _get(node, "sizes")))
        object.__setattr__(self, "reads", reads)

    def __getattribute__(self, name: str) -> Any:
        if name in _AMOUNTS:
            _get(self, "reads").check_resource(_AMOUNTS[name])
        elif name == "taints" and not _get(self, "reads").taints:
            raise FootprintError(
                f"E700 taints of nodes are read, and {_get(self, 'reads').reader} does not mention them"
            )
        return _get(self, name)

    def rename(self, name: str) -> ShownNode:
        return self._with(name=name)

    def resize(self, size: Node) -> ShownNode:
        amounts = {name: _get(size, name) for name in ("cpu_milli", "memory_bytes", "others")}
        return self._with(**amounts, sizes=())

    def _with(self, **changes: object) -> ShownNode:
        other = ShownNode(self, _get(self, "reads"))
        for name, value in changes.items():
            object.__setattr__(other, name, value)
        return other

    def __eq__(self, other: object) -> bool:
        return other.__class__ is ShownNode and _content(self) == _content(other)

    def __hash__(self) -> int:
        return hash(_content(self))

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return _restore, ({field.name: _get(self, field.name) for field in fields(Node)}, _get(self, "reads"))


def _restore(values: dict[str, Any], reads: NodeReads) -> ShownNode:
    return ShownNode(Node(**values), reads)


def _content(node: object) -> tuple[object, ...]:
    compared = (field.name for field in fields(Node) if field.compare)
    return (*(_get(node, name) for name in compared), _get(node, "reads"))


def find_offered(node: Node) -> dict[str, int]:
    """What a node offers of each resource, without the number of pods; it tells which of them are read."""
    reads: NodeReads = node.reads  # type: ignore[attr-defined]
    basic = ((CPU, node.cpu_milli), (MEMORY, node.memory_bytes))
    return GuardedMap((*basic, *tuple.__iter__(node.others)), reads.check_resource)
