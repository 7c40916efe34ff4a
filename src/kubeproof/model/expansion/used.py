"""What pods use, as events say it."""

from __future__ import annotations

from itertools import accumulate

from kubeproof.cluster.objects import Setup, family, workload_number
from kubeproof.cluster.usage import CPU, DEFAULT_PERCENT, Level, UsageRule
from kubeproof.events.declarations import CpuLoad, Event, Unreachable, UsageChange, UsagePattern


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
        if isinstance(event, (UsageChange, CpuLoad, UsagePattern)):
            rule = _usage_rule(event, index)
            members = family(setup, workload_number(setup, event.target))
            rules += [rule._replace(workload=member) for member in members]
    for index, event in enumerate(events):
        if isinstance(event, Unreachable):
            rules = _cut_off(rules, family(setup, workload_number(setup, event.target)), event, index)
    return tuple(rules)


def _cut_off(rules: list[UsageRule], members: tuple[int, ...], event: Unreachable, memory: int) -> list[UsageRule]:
    """The rules when the CPU use of these workloads also depends on whether they get traffic."""
    idle = Level(event.idle.percent, event.idle.amount_milli)
    told = {rule.workload for rule in rules if rule.resource == CPU}
    usual = [UsageRule(CPU, member, (Level(DEFAULT_PERCENT),)) for member in members if member not in told]
    return [
        rule._replace(cut=memory, idle=idle) if rule.resource == CPU and rule.workload in members else rule
        for rule in (*rules, *usual)
    ]


def _usage_rule(event: UsageChange | CpuLoad | UsagePattern, memory: int) -> UsageRule:
    if isinstance(event, CpuLoad):
        totals = tuple(Level(None, total) for total in event.levels)
        return UsageRule(CPU, -1, totals, memory, is_shared=True)
    if isinstance(event, UsageChange):
        levels = tuple(Level(level.percent, level.amount_milli) for level in event.levels)
        return UsageRule(event.resource, -1, levels, memory, container=event.container)
    levels = tuple(Level(usage.percent, usage.amount_milli) for usage, _ in event.phases)
    ends = tuple(accumulate(seconds for _, seconds in event.phases if seconds is not None))
    return UsageRule(event.resource, -1, levels, until_s=ends, container=event.container)
