"""What pods use, as events say it."""

from __future__ import annotations

from kubeproof.cluster.objects import Setup, family, workload_number
from kubeproof.cluster.usage import CPU, DEFAULT_PERCENT, Level, UsageRule
from kubeproof.events.declarations import Event


def usage_rules(setup: Setup, events: tuple[Event, ...]) -> tuple[UsageRule, ...]:
    """What pods use; where they have several sizes in amounts that do not follow their requests."""
    rules = _usage_rules(setup, events)
    if not any(workload.resized for workload in setup.workloads):
        return rules
    from kubeproof.model.expansion.sizes import absolute

    return absolute(setup, rules)


def _usage_rules(setup: Setup, events: tuple[Event, ...]) -> tuple[UsageRule, ...]:
    """What the events say about the usage of pods, for all revisions of a workload; memory i belongs to event i."""
    rules: list[UsageRule] = []
    for index, event in enumerate(events):
        rule = event.use_rule(index)
        if rule is not None:
            rules += [rule._replace(workload=member) for member in _find_members(setup, event)]
    for index, event in enumerate(events):
        if event.use_without_traffic is not None:
            rules = _cut_off(rules, _find_members(setup, event), event.use_without_traffic, index)
    return tuple(rules)


def _find_members(setup: Setup, event: Event) -> tuple[int, ...]:
    assert event.subject is not None, f"{event.name} tells what is used, and not by whom"
    return family(setup, workload_number(setup, event.subject))


def _cut_off(rules: list[UsageRule], members: tuple[int, ...], idle: Level, memory: int) -> list[UsageRule]:
    """The rules when the CPU use of these workloads also depends on whether they get traffic."""
    told = {rule.workload for rule in rules if rule.resource == CPU}
    usual = [UsageRule(CPU, member, (Level(DEFAULT_PERCENT),)) for member in members if member not in told]
    return [
        rule._replace(cut=memory, idle=idle) if rule.resource == CPU and rule.workload in members else rule
        for rule in (*rules, *usual)
    ]
