"""How much CPU and memory pods really use: what events say, or half of the request.

Usage is in milli-units of the resource (millicores; thousandths of a byte would be exact for memory, too).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kubeproof.cluster.objects import PodTemplate
from kubeproof.cluster.state import NEVER

DEFAULT_PERCENT = 50
CPU = "cpu"
MEMORY = "memory"


class Level(NamedTuple):
    """An amount of use: percent of the request, or milli-units."""

    percent: int | None = None
    amount_milli: int | None = None

    def of(self, request_milli: int) -> int:
        """The use of one pod with this request."""
        if self.amount_milli is not None:
            return self.amount_milli
        return request_milli * (self.percent or 0) // 100


class UsageRule(NamedTuple):
    """What decides a workload's use of one resource: an event's memory picks the level, or the pod's age does."""

    resource: str
    workload: int
    levels: tuple[Level, ...]
    memory: int | None = None  # index of the memory whose first number is the level
    until_s: tuple[int, ...] = ()  # pattern: level i lasts until this age; the last one for ever
    is_shared: bool = False  # the level is a total, shared by the ready pods
    cut: int | None = None  # index of the memory whose first number is 1 while pods get no traffic
    idle: Level = Level(0)  # what one pod uses then


def memories_read(rules: Iterable[UsageRule]) -> tuple[int, ...]:
    """The memories that rules point to, ascending."""
    found = {memory for rule in rules for memory in (rule.memory, rule.cut) if memory is not None}
    return tuple(sorted(found))


def is_cut(rule: UsageRule, memories: Mapping[int, tuple[int, ...]]) -> bool:
    """True while the rule's pods get no traffic."""
    return rule.cut is not None and memories[rule.cut][0] == 1


def request_milli(template: PodTemplate, resource: str) -> int:
    """The request of one pod: the sum over its containers, in milli-units."""
    if resource == CPU:
        return sum(container.cpu_milli or 0 for container in template.containers)
    return 1000 * sum(container.memory_bytes or 0 for container in template.containers)


def pod_usage(
    rule: UsageRule | None, template: PodTemplate, resource: str, age_s: int, memories: Mapping[int, tuple[int, ...]]
) -> int:
    """The use of one running pod; `memories` holds those that rules point to."""
    request = request_milli(template, resource)
    if rule is None:
        return request * DEFAULT_PERCENT // 100
    if is_cut(rule, memories):
        return rule.idle.of(request)
    return rule.levels[level_number(rule, age_s, memories)].of(request)


def level_number(rule: UsageRule, age_s: int, memories: Mapping[int, tuple[int, ...]]) -> int:
    """Which level applies now."""
    if rule.memory is not None:
        return memories[rule.memory][0]
    if age_s == NEVER:
        return len(rule.levels) - 1
    return next((i for i, until in enumerate(rule.until_s) if age_s < until), len(rule.levels) - 1)
