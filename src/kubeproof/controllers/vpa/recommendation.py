"""What is recommended for a pod of a given use, and when a pod is so far off that it is evicted.

Mirrors `podResourceRecommender` (`pkg/recommender/logic/recommender.go` of the vertical pod autoscaler), the capping by
resource policies, and `GetUpdatePriority` of the updater. Upstream takes percentiles of a decaying histogram of the
last days; here a pod's use is one number, so that all percentiles are equal to it, and confidence is that of a history
of the declared length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from kubeproof.cluster.objects import Container, PodTemplate
from kubeproof.cluster.steering.vertical import CPU, MEMORY, VerticalPodAutoscaler
from kubeproof.named_tuples import NamedTuple

LEAST = {CPU: 25, MEMORY: 250 * 1024 * 1024}  # pod-recommendation-min-cpu-millicores and -memory-mb, per pod
DAY_S = 86_400
Usage = Mapping[str, Sequence[int]]  # of one pod's containers: millicores, bytes


class Rules(NamedTuple):
    """What lives in flags."""

    margin_permille: int = 1150  # 1 + recommendation-margin-fraction
    history_s: int = DAY_S  # for how long pods have been watched


class Bounds(NamedTuple):
    """What a container should request, and what it may without being replaced."""

    lower: int
    target: int
    upper: int


def bounds(usage: int, least: int, rules: Rules) -> Bounds:
    """The recommendation for a container that uses so much.

    The lower bound is multiplied by (1 + 0.001 / days)^-2, the upper one by 1 + 1 / days.
    """
    target = usage * rules.margin_permille // 1000
    days = Fraction(rules.history_s, DAY_S)
    lower = Fraction(target) / (1 + Fraction(1, 1000) / days) ** 2
    upper = Fraction(target) * (1 + 1 / days)
    return Bounds(max(int(lower), least), max(target, least), max(int(upper), least))


def recommend(
    vpa: VerticalPodAutoscaler, template: PodTemplate, usage: Usage, rules: Rules
) -> tuple[dict[str, Bounds], ...]:
    """Per container the bounds of every controlled resource, by what that container uses."""
    count = len(template.containers)
    found = []
    for number, container in enumerate(template.containers):
        policy = vpa.policy(container.name)
        own: dict[str, Bounds] = {}
        for resource in () if policy.is_off else policy.controlled:
            plain = bounds(usage[resource][number], LEAST[resource] // count, rules)
            least, most = dict(policy.least).get(resource), dict(policy.most).get(resource)
            own[resource] = Bounds(*(_clamp(amount, least, most) for amount in plain))
        found.append(own)
    return tuple(found)


def _clamp(amount: int, least: int | None, most: int | None) -> int:
    amount = amount if least is None else max(amount, least)
    return amount if most is None else min(amount, most)


def request(container: Container, resource: str) -> int:
    """A container's request; 0 if it omits it."""
    return (container.cpu_milli if resource == CPU else container.memory_bytes) or 0


def resize(template: PodTemplate, recommendation: tuple[dict[str, Bounds], ...]) -> PodTemplate:
    """The pod as the admission webhook lets it in: requests are the targets, limits grow in proportion."""
    containers = tuple(
        _resize_container(container, own) for container, own in zip(template.containers, recommendation, strict=True)
    )
    return replace(template, containers=containers)


def _resize_container(container: Container, own: Mapping[str, Bounds]) -> Container:
    limits = dict(container.limits)
    for resource, found in own.items():
        before = request(container, resource)
        if resource in limits and before:
            limits[resource] = limits[resource] * found.target // before
    cpu = own[CPU].target if CPU in own else container.cpu_milli
    memory = own[MEMORY].target if MEMORY in own else container.memory_bytes
    return replace(container, cpu_milli=cpu, memory_bytes=memory, limits=tuple(sorted(limits.items())))


def is_outside(template: PodTemplate, recommendation: tuple[dict[str, Bounds], ...]) -> bool:
    """True if some request of the pod is below its lower or above its upper bound."""
    return any(
        not found.lower <= request(container, resource) <= found.upper
        for container, own in zip(template.containers, recommendation, strict=True)
        for resource, found in own.items()
    )


def is_far_off(template: PodTemplate, recommendation: tuple[dict[str, Bounds], ...], least: Fraction) -> bool:
    """True if the pod is within its bounds and differs from the target by so much, all resources together."""
    return not is_outside(template, recommendation) and -difference(template, recommendation)[1] >= least


def difference(template: PodTemplate, recommendation: tuple[dict[str, Bounds], ...]) -> tuple[int, Fraction]:
    """By what pods are ordered for eviction: those that need more first, then the relatively most different."""
    needs_more = any(
        request(container, resource) < found.target
        for container, own in zip(template.containers, recommendation, strict=True)
        for resource, found in own.items()
    )
    total = Fraction(0)
    for resource in (CPU, MEMORY):
        pairs = [
            (request(container, resource), own[resource].target)
            for container, own in zip(template.containers, recommendation, strict=True)
            if resource in own
        ]
        have, want = sum(one for one, _ in pairs), sum(one for _, one in pairs)
        total += Fraction(abs(have - want), max(have, 1))
    return (0 if needs_more else 1, -total)


def disruptable(configured: int, running: int, evicted: int) -> bool:
    """True if one more running pod may be evicted (`singleGroupStats.isPodDisruptable`, tolerance one half)."""
    tolerance = configured // 2
    if running - evicted > configured - tolerance:
        return True
    return configured == running and tolerance == 0 and evicted == 0


def at_once(configured: int, running: int) -> int:
    """How many running pods may be evicted in one round, budgets aside."""
    evicted = 0
    while evicted < running and disruptable(configured, running, evicted):
        evicted += 1
    return evicted
