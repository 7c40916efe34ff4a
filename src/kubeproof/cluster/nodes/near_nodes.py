"""Classes of nodes whose sizes differ a little, as those of machines of one type do.

The node that stands for such a class has a node of each size in `Node.sizes`: first one that has the least of every
resource, last one that has the most of it, between them the sizes that there are. Whoever reads what a node has asks
for all sizes. Where they agree the nodes cannot be told apart; where they do not, `NodeSizeMatters` says what tells
them apart, and the search begins again with a class for each answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from kubeproof.cluster.objects import Node
from kubeproof.errors import KubeproofError

T = TypeVar("T")
Tells = Callable[[Node], object]  # an answer that depends on what a node has
MOST_DIFFERENCE = 200  # one part in so many: nodes of one machine type differ less


class NodeSizeMatters(KubeproofError):
    """Nodes of one class get different answers."""

    def __init__(self, tells: Tells) -> None:
        super().__init__("nodes of nearly the same size are told apart")
        self.tells = tells


def agree(node: Node, answer: Callable[[Node], T]) -> T:
    """The answer for every node of a class; raises NodeSizeMatters if there are several."""
    if not node.sizes:
        return answer(node)
    first, *others = (answer(size) for size in node.sizes[1:-1])
    if any(other != first for other in others):
        raise NodeSizeMatters(answer)
    return first


def agree_monotone(node: Node, answer: Callable[[Node], T]) -> T:
    """The same for an answer that, with more of a resource, never turns back to what it was with less of it."""
    if not node.sizes:
        return answer(node)
    first = answer(node.sizes[0])
    return first if answer(node.sizes[-1]) == first else agree(node, answer)


def smallest(node: Node) -> Node:
    """The node with the least that a node of its class has."""
    return node.resize(node.sizes[0]) if node.sizes else node


def join_near(nodes: Sequence[Node], resources: frozenset[str] | None, told_by: Sequence[Tells]) -> tuple[Node, ...]:
    """The nodes, each with the sizes of those that nearly equal it and that nothing of `told_by` tells from it.

    Of resources beyond CPU and memory those given count, or all.
    """
    plain = [_plain(node, resources) for node in nodes]
    groups: dict[object, list[list[Node]]] = {}
    found: list[list[Node]] = []
    for size in plain:
        alike = groups.setdefault((size.pods, tuple(name for name, _ in size.others), _answers(size, told_by)), [])
        group = next((one for one in alike if _is_near(one[0], size)), None)
        if group is None:
            group = []
            alike.append(group)
        group.append(size)
        found.append(group)
    sizes = {id(group): _sizes(group) for group in found}
    return tuple(replace(node, sizes=sizes[id(group)]) for node, group in zip(nodes, found, strict=True))


def _plain(node: Node, resources: frozenset[str] | None) -> Node:
    others = tuple(sorted(pair for pair in node.others if resources is None or pair[0] in resources))
    return Node("", cpu_milli=node.cpu_milli, memory_bytes=node.memory_bytes, pods=node.pods, others=others)


def _answers(size: Node, told_by: Iterable[Tells]) -> tuple[object, ...]:
    return tuple(tells(size) for tells in told_by)


def _is_near(one: Node, other: Node) -> bool:
    pairs = zip(_amounts(one), _amounts(other), strict=True)
    return all(MOST_DIFFERENCE * abs(a - b) <= min(a, b) for a, b in pairs)


def _amounts(node: Node) -> tuple[int, ...]:
    return (node.cpu_milli, node.memory_bytes, *(amount for _, amount in node.others))


def _sizes(group: Sequence[Node]) -> tuple[Node, ...]:
    different = sorted(dict.fromkeys(group), key=_amounts)
    if len(different) == 1:
        return ()
    return (_bound_by(different, min), *different, _bound_by(different, max))


def _bound_by(sizes: Sequence[Node], of: Callable[[Iterable[int]], int]) -> Node:
    cpu, memory, *others = (of(amounts) for amounts in zip(*map(_amounts, sizes), strict=True))
    names = [name for name, _ in sizes[0].others]
    return replace(sizes[0], cpu_milli=cpu, memory_bytes=memory, others=tuple(zip(names, others, strict=True)))
