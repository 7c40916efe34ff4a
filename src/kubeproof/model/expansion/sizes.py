"""The sizes that pods may get from vertical pod autoscalers, as workloads of a setup, and the loops for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from kubeproof.cluster.kinds import KINDS, REPLICA_SET
from kubeproof.cluster.loops.footprint import Writes, footprint_of
from kubeproof.cluster.objects import Container, Setup, Workload
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.vertical import INITIAL, OFF, VerticalPodAutoscaler, is_size, sizes_of
from kubeproof.cluster.usage import (
    CPU,
    DEFAULT_PERCENT,
    MEMORY,
    WHOLE,
    Level,
    Pod,
    UsageRule,
    container_request,
    containers_of,
    find_shared_rule,
    rules_about,
    share_of,
    uses,
)
from kubeproof.controllers.vpa.controller import LEAST_CHANGE
from kubeproof.controllers.vpa.recommendation import Rules, is_far_off, recommend, resize
from kubeproof.errors import UsageError
from kubeproof.events.declarations import Event
from kubeproof.model.expansion.ordinals import find_written_sizes

RESIZED_KINDS = tuple(kind.name for kind in KINDS.values() if kind.has_replica_set)
MOST_SIZES = 20  # of one workload: each is a workload of its own to every loop


def working(setup: Setup, events: tuple[Event, ...]) -> tuple[VerticalPodAutoscaler, ...]:
    """The autoscalers that do anything here."""
    return tuple(vpa for vpa in setup.verticals if vpa.mode != OFF and not why_idle(setup, vpa, events))


def why_idle(setup: Setup, vpa: VerticalPodAutoscaler, events: tuple[Event, ...]) -> str:
    """Why an autoscaler is not modelled for its target, "" if it is."""
    target = next((one for one in setup.workloads if one.ref == vpa.target), None)
    if target is None:
        return f"its target {vpa.target} is not in the input"
    if not target.rules.has_replica_set:
        return f"only pods of {', '.join(RESIZED_KINDS)} get new requests here"
    if any(quota.namespace == target.namespace for quota in setup.quotas):
        return "a ResourceQuota of the namespace would have to follow"
    if any(other.target == vpa.target and other.mode != OFF for other in setup.verticals if other is not vpa):
        return "several are for one target"
    if any(_rolls_out(event, target) for event in events) or target.template.node_name:
        return "rollouts and pods that name their node do not go together with it here"
    return ""


def _rolls_out(event: Event, target: Workload) -> bool:
    if event.subject != target.ref or Writes.TEMPLATES not in footprint_of(event).writes:
        return False
    return event.form is None or event.form.template != target.template


def rules_of(setup: Setup) -> Rules:
    """The recommender's flags."""
    return Rules(setup.settings.vpa_margin_permille, setup.settings.vpa_history_s)


def with_sizes(setup: Setup, events: tuple[Event, ...], rules: tuple[UsageRule, ...]) -> Setup:
    """The setup with a workload for every size that pods of a target may get; `rules` say what they use."""
    more: list[Workload] = []
    for vpa in working(setup, events):
        number, target = next((i, one) for i, one in enumerate(setup.workloads) if one.ref == vpa.target)
        found = [target.template]
        for usage in _usages(setup, events, number, rules):
            template = resize(target.template, recommend(vpa, target.template, usage, rules_of(setup)))
            found += [template] if template not in found else []
        if len(found) > MOST_SIZES:
            raise UsageError(
                f"pods of {target.ref} may get {len(found)} different requests",
                f"Allow at most {MOST_SIZES}: fewer levels of use, or fewer replicas that share a load",
            )
        kind = REPLICA_SET if target.rules.owns_replica_sets else target.kind
        for index, template in enumerate(found[1:], start=1):
            name = f"{target.name}-size{index}"
            size = replace(target, kind=kind, name=name, replicas=0, owner=target.ref, template=template, resized=True)
            more.append(size)
    return replace(setup, workloads=(*setup.workloads, *more))


def asks_age(setup: Setup, events: tuple[Event, ...], vpa: VerticalPodAutoscaler, rules: tuple[UsageRule, ...]) -> bool:
    """True if pods may be within the bounds and so far off that the updater replaces them when they are old.

    `setup` has the sizes that pods may get; without such a case nobody keeps the ages of its pods.
    """
    if vpa.mode == INITIAL:
        return False
    number = next(i for i, one in enumerate(setup.workloads) if one.ref == vpa.target)
    base = setup.workloads[number].template
    templates = [setup.workloads[size].template for size in sizes_of(setup, number)]
    told = (recommend(vpa, base, usage, rules_of(setup)) for usage in _usages(setup, events, number, rules))
    return any(is_far_off(template, one, LEAST_CHANGE) for one in told for template in templates)


def _usages(
    setup: Setup, events: tuple[Event, ...], workload: int, rules: tuple[UsageRule, ...]
) -> Iterator[dict[str, tuple[int, ...]]]:
    """What the containers of one pod of the workload may ever use."""
    cpu, memory = (_amounts(setup, events, workload, resource, rules) for resource in (CPU, MEMORY))
    for one, other in product(cpu, memory):
        yield {CPU: one, MEMORY: tuple(amount // 1000 for amount in other)}


def _amounts(
    setup: Setup, events: tuple[Event, ...], workload: int, resource: str, rules: tuple[UsageRule, ...]
) -> list[tuple[int, ...]]:
    """Every use of one resource, container by container: at each level of each rule, and without traffic."""
    told = _in_amounts(setup, rules, workload, resource)
    pod = Pod(_containers(setup, workload))
    pods = range(1, most_pods(setup, events, setup.workloads[workload].ref) + 1)
    found: dict[tuple[int, ...], None] = {}
    for memories in _memories(told):
        load = find_shared_rule(told, memories)
        shares = [None] if load is None else [share_of(load, NEVER, memories, count) for count in pods]
        found |= dict.fromkeys(uses(told, pod, resource, memories, share) for share in shares)
    return list(found)


def _memories(rules: tuple[UsageRule, ...]) -> Iterator[dict[int, tuple[int, ...]]]:
    """Every combination of levels, then those of pods without traffic."""
    levels = {rule.memory: range(len(rule.levels)) for rule in rules if rule.memory is not None}
    cuts = tuple(dict.fromkeys(rule.cut for rule in rules if rule.cut is not None))
    for is_off in (0, 1) if cuts else (0,):
        for chosen in product(*levels.values()):
            numbers = dict(zip(levels, chosen, strict=True)) | dict.fromkeys(cuts, is_off)
            yield {memory: (number,) for memory, number in numbers.items()}


def most_pods(setup: Setup, events: tuple[Event, ...], ref: str) -> int:
    """How many pods of a workload may be ready at once."""
    sizes = [workload.replicas for workload in setup.workloads if workload.ref == ref]
    sizes += [autoscaler.max_replicas for autoscaler in setup.autoscalers if autoscaler.target == ref]
    sizes += find_written_sizes(events, ref)
    return max(sizes, default=1)


def absolute(setup: Setup, rules: tuple[UsageRule, ...]) -> tuple[UsageRule, ...]:
    """The rules with amounts instead of percentages where pods have several sizes: a pod's use does not follow them.

    What nobody speaks of is, as without sizes, half of what the manifest requests.
    """
    bases = {w.ref: index for index, w in enumerate(setup.workloads) if w.owner is None}
    sized = {member: bases[str(one.owner)] for member, one in enumerate(setup.workloads) if is_size(setup, member)}
    sized |= {base: base for base in sized.values()}
    found = [rule for rule in rules if rule.workload not in sized]
    for member, base in sorted(sized.items()):
        for resource in (CPU, MEMORY):
            found += [rule._replace(workload=member) for rule in _in_amounts(setup, rules, base, resource)]
    return tuple(found)


def _in_amounts(setup: Setup, rules: tuple[UsageRule, ...], base: int, resource: str) -> tuple[UsageRule, ...]:
    """The rules about one resource of a workload's pods in amounts, by the requests of its manifest."""
    requests = {one.name: container_request(one, resource) for one in _containers(setup, base)}
    whole, parts = sum(requests.values()), tuple(requests.items())
    told = tuple(
        rule._replace(
            levels=tuple(Level(None, level.of(requests.get(rule.container, whole))) for level in rule.levels),
            idle=Level(None, rule.idle.of(whole)),
            parts=parts,
        )
        for rule in rules_about(rules, resource, base)
    )
    if any(rule.container == WHOLE for rule in told):
        return told
    untold = [name for name in requests if name not in {rule.container for rule in told}] if told else [WHOLE]
    halves = ((name, requests.get(name, whole) * DEFAULT_PERCENT // 100) for name in untold)
    return (
        *told,
        *(UsageRule(resource, base, (Level(None, half),), container=name, parts=parts) for name, half in halves),
    )


def _containers(setup: Setup, workload: int) -> tuple[Container, ...]:
    return containers_of(setup.workloads[workload].template, setup.settings.kubernetes_version)
