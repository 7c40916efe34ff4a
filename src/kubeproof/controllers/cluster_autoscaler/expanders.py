"""Which group grows when several could: the expanders of `expander/` of kubernetes/autoscaler.

A chain of expanders narrows the options; what is left after the last one is chosen from at random.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from kubeproof.cluster.nodes.node_groups import LEAST_NODES, LEAST_WASTE, MOST_PODS, PRIORITY, NodeGroup, Priorities
from kubeproof.named_tuples import NamedTuple


class Option(NamedTuple):
    """A group that could grow: by how many nodes, and which pods would run there."""

    group: int
    nodes: int
    pods: tuple[tuple[int, int], ...]  # (workload, pods)


class Requests(NamedTuple):
    """What one pod of a workload requests."""

    cpu_milli: int
    memory_bytes: int


def best(
    chain: Sequence[str],
    options: Sequence[Option],
    groups: Sequence[NodeGroup],
    requests: Mapping[int, Requests],
    priorities: Priorities,
) -> tuple[Option, ...]:
    """The options of which any may be chosen."""
    left = tuple(options)
    for name in chain:
        if len(left) < 2:
            break
        if name == MOST_PODS:
            left = _least(left, [-sum(count for _, count in option.pods) for option in left])
        elif name == LEAST_NODES:
            left = _least(left, [option.nodes for option in left])
        elif name == LEAST_WASTE:
            left = _least(left, [waste(option, groups[option.group], requests) for option in left])
        elif name == PRIORITY:
            left = _prefer(left, groups, priorities)
    return left


def _least(options: tuple[Option, ...], costs: Sequence[Fraction | int]) -> tuple[Option, ...]:
    return tuple(option for option, cost in zip(options, costs, strict=True) if cost == min(costs))


def waste(option: Option, group: NodeGroup, requests: Mapping[int, Requests]) -> Fraction:
    """The unused fraction of CPU plus the unused fraction of memory on the new nodes (`leastwaste.BestOptions`)."""
    cpu = sum(requests[workload].cpu_milli * count for workload, count in option.pods)
    memory = sum(requests[workload].memory_bytes * count for workload, count in option.pods)
    total_cpu, total_memory = group.template.cpu_milli * option.nodes, group.template.memory_bytes * option.nodes
    return _rate_unused(cpu, total_cpu) + _rate_unused(memory, total_memory)


def _rate_unused(used: int, total: int) -> Fraction:
    return Fraction(total - used, total) if total else Fraction(0)


def _prefer(options: tuple[Option, ...], groups: Sequence[NodeGroup], priorities: Priorities) -> tuple[Option, ...]:
    """The options of the highest priority that matches; groups without any are left out, unless all are."""
    highest = [
        max((value for value, patterns in priorities if _matches(groups[option.group].name, patterns)), default=-1)
        for option in options
    ]
    if max(highest) < 0:
        return options
    return tuple(option for option, value in zip(options, highest, strict=True) if value == max(highest))


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(re.search(pattern, name) for pattern in patterns)
