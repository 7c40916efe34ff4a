"""How much CPU and memory pods really use: what events say, or half of the request.

Usage is in milli-units of the resource (millicores; thousandths of a byte would be exact for memory, too). A pod uses
what its containers use together, as metrics-server adds them up; containers are those that keep running, sidecars
included. An event speaks of one container, or of the pod as a whole: then a percentage holds for every container, and
an amount is divided among them in proportion to their requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import Container, PodTemplate
from kubeproof.cluster.state import NEVER
from kubeproof.named_tuples import NamedTuple

DEFAULT_PERCENT = 50
CPU = "cpu"
MEMORY = "memory"
SIDECARS_SINCE = versions.SIDECARS.since
WHOLE = ""  # in place of a container's name: the pod
Memories = Mapping[int, tuple[int, ...]]  # those that rules point to


class Level(NamedTuple):
    """An amount of use: percent of the request, or milli-units."""

    percent: int | None = None
    amount_milli: int | None = None

    def of(self, request_milli: int) -> int:
        """The use of one pod, or of one container, with this request."""
        if self.amount_milli is not None:
            return self.amount_milli
        return request_milli * (self.percent or 0) // 100


class UsageRule(NamedTuple):
    """What decides a workload's use of one resource: an event's memory picks the level, or the pod's age does.

    One rule speaks of the whole pod, or several speak of one container each.
    """

    resource: str
    workload: int
    levels: tuple[Level, ...]
    memory: int | None = None  # index of the memory whose first number is the level
    until_s: tuple[int, ...] = ()  # pattern: level i lasts until this age; the last one for ever
    is_shared: bool = False  # the level is a total, shared by the ready pods
    cut: int | None = None  # index of the memory whose first number is 1 while pods get no traffic
    idle: Level = Level(0)  # what one pod uses then, whatever container the rule speaks of
    container: str = WHOLE
    parts: tuple[tuple[str, int], ...] = ()  # by what an amount is divided among containers, if not by their requests


def memories_read(rules: Iterable[UsageRule]) -> tuple[int, ...]:
    """The memories that rules point to, ascending."""
    found = {memory for rule in rules for memory in (rule.memory, rule.cut) if memory is not None}
    return tuple(sorted(found))


def is_cut(rule: UsageRule, memories: Memories) -> bool:
    """True while the rule's pods get no traffic."""
    return rule.cut is not None and memories[rule.cut][0] == 1


def containers_of(template: PodTemplate, version: tuple[int, int]) -> tuple[Container, ...]:
    """Those that run as long as the pod does: sidecars are among them, other init containers are not."""
    sidecars = (one for one in template.init_containers if one.restartable_init and version >= SIDECARS_SINCE)
    return (*template.containers, *sidecars)


def request_milli(template: PodTemplate, resource: str) -> int:
    """The request of one pod: the sum over its containers, in milli-units."""
    return sum(container_request(container, resource) for container in template.containers)


def container_request(container: Container, resource: str) -> int:
    """The request of one container in milli-units; 0 if it omits it."""
    return (container.cpu_milli or 0) if resource == CPU else 1000 * (container.memory_bytes or 0)


class Pod(NamedTuple):
    """What the use of a running pod depends on, events aside."""

    containers: tuple[Container, ...]
    age_s: int = NEVER


def rules_about(rules: Iterable[UsageRule], resource: str, workload: int) -> tuple[UsageRule, ...]:
    """The rules about one resource of a workload's pods."""
    return tuple(rule for rule in rules if rule.resource == resource and rule.workload == workload)


def find_shared_rule(rules: Iterable[UsageRule], memories: Memories) -> UsageRule | None:
    """The rule about a load that the workload's pods share now; None if each has a use of its own."""
    return next((rule for rule in rules if rule.is_shared and not is_cut(rule, memories)), None)


def share_of(rule: UsageRule, age_s: int, memories: Memories, pods: int) -> Level:
    """What one of so many pods gets of the load that they share."""
    total = rule.levels[level_number(rule, age_s, memories)].amount_milli or 0
    return Level(None, total // max(pods, 1))


def uses(
    rules: tuple[UsageRule, ...], pod: Pod, resource: str, memories: Memories, share: Level | None = None
) -> tuple[int, ...]:
    """What the containers of one running pod use, by the rules about it; `share` is its part of a shared load."""
    requests = tuple(container_request(container, resource) for container in pod.containers)
    whole = share or _whole(rules, pod.age_s, memories)
    if whole is not None:
        told = dict(rules[0].parts) if rules else {}
        return _divide(whole, tuple(told.get(one.name, 0) for one in pod.containers) if told else requests)
    own = {rule.container: rule.levels[level_number(rule, pod.age_s, memories)] for rule in rules}
    usual = Level(DEFAULT_PERCENT)
    pairs = zip(pod.containers, requests, strict=True)
    return tuple(own.get(container.name, usual).of(request) for container, request in pairs)


def pod_usage(
    rules: tuple[UsageRule, ...], pod: Pod, resource: str, memories: Memories, share: Level | None = None
) -> int:
    """What one running pod uses: all its containers together."""
    whole = share or _whole(rules, pod.age_s, memories)
    if whole is None:
        return sum(uses(rules, pod, resource, memories))
    return whole.of(sum(container_request(container, resource) for container in pod.containers))


def _whole(rules: tuple[UsageRule, ...], age_s: int, memories: Memories) -> Level | None:
    """The level of the pod as a whole; None if containers have levels of their own. Without traffic none has."""
    if not rules:
        return Level(DEFAULT_PERCENT)
    if is_cut(rules[0], memories):
        return rules[0].idle
    first = rules[0]
    return first.levels[level_number(first, age_s, memories)] if first.container == WHOLE else None


def _divide(level: Level, requests: tuple[int, ...]) -> tuple[int, ...]:
    """The parts of the containers: of an amount in proportion to requests, or equal ones where there are none."""
    if level.amount_milli is None:
        return tuple(level.of(request) for request in requests)
    total = sum(requests)
    if not total:
        return tuple(level.amount_milli // len(requests) for _ in requests)
    return tuple(level.amount_milli * request // total for request in requests)


def level_number(rule: UsageRule, age_s: int, memories: Memories) -> int:
    """Which level applies now."""
    if rule.memory is not None:
        return memories[rule.memory][0]
    if age_s == NEVER:
        return len(rule.levels) - 1
    return next((i for i, until in enumerate(rule.until_s) if age_s < until), len(rule.levels) - 1)
