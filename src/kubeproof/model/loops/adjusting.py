"""The periodic loops that change what others keep up, with the memories they start with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.footprint import Writes
from kubeproof.cluster.loops.memories import MemoryCell, MemoryName
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup, family, workload_number
from kubeproof.cluster.steering.counted import find_counted, foreign_to, selects
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler
from kubeproof.cluster.usage import CPU, UsageRule
from kubeproof.events.declarations import Event, find_writes_of
from kubeproof.model.by_name.ticks import Ages
from kubeproof.model.expansion.revisions import never_ready
from kubeproof.model.expansion.used import usage_rules
from kubeproof.model.loops.shared import recall_of, share_loops
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.controllers.hpa.ambiguity import Rival
    from kubeproof.controllers.hpa.settings import AutoscalerSettings


@dataclass(frozen=True, slots=True)
class AdjustingPart:
    """The periodic loops that change what others keep up: autoscalers, descheduler; with first memories."""

    loops: tuple[Loop, ...]
    memories: tuple[MemoryCell, ...]


def adjusting_loops(layout: Layout, events: tuple[Event, ...]) -> AdjustingPart:
    """The autoscalers and the descheduler, which setups share; their memories follow those of the events."""
    setup = layout.setup
    part = _autoscalers(layout, events)
    if setup.descheduler is None:
        return part
    from kubeproof.controllers.descheduler.controller import REMEMBERS

    loop = share_loops(layout).descheduler(len(events) + len(part.loops))
    memory = MemoryCell(MemoryName(REMEMBERS), (0, setup.settings.descheduler_interval_s))
    return AdjustingPart((*part.loops, loop), (*part.memories, memory))


def group_loops(layout: Layout, events: tuple[Event, ...], memory: int, claims: tuple[int, ...]) -> AdjustingPart:
    """The cluster autoscaler, whose memory this is, and the machines of its groups; empty without one."""
    flags = layout.setup.cluster_autoscaler
    if flags is None:
        return AdjustingPart((), ())
    from kubeproof.model.loops.machines import machine_loops

    return machine_loops(layout, events, memory, claims)


def vertical_loops(layout: Layout, events: tuple[Event, ...], first: int) -> AdjustingPart:
    """The vertical pod autoscalers, whose memories begin here, and the ReplicaSets that they change the pods of."""
    setup = layout.setup
    if not setup.verticals:
        return AdjustingPart((), ())
    from kubeproof.controllers.vpa.controller import REMEMBERS, VpaController
    from kubeproof.controllers.workloads.resized_replicaset import ResizedReplicaSet
    from kubeproof.model.expansion.sizes import asks_age, rules_of, working

    loops: list[Loop] = []
    memories: list[MemoryCell] = []
    for vpa in working(setup, events):
        target = workload_number(setup, vpa.target)
        if not any(setup.workloads[one].resized for one in family(setup, target)):
            continue  # what it recommends is what stands in the manifest
        own_rules = tuple(rule for rule in usage_rules(setup, events) if rule.workload == target)
        memory = first + len(memories)
        old = asks_age(setup, events, vpa, own_rules)
        loop = VpaController(layout.to(VpaController), vpa, target, memory, own_rules, rules_of(setup), asks_age=old)
        loops += [loop, ResizedReplicaSet(layout.to(ResizedReplicaSet), target, memory)]
        name = MemoryName(REMEMBERS, (vpa.namespace, vpa.name, vpa.target))
        memories.append(MemoryCell(name, (0, loop.period_s, 0)))
    return AdjustingPart(tuple(loops), tuple(memories))


def _autoscalers(layout: Layout, events: tuple[Event, ...]) -> AdjustingPart:
    setup = layout.setup
    working = working_autoscalers(setup)
    if not working:
        return AdjustingPart((), ())
    from kubeproof.controllers.hpa.ahead import REMEMBERS, first_memory
    from kubeproof.controllers.hpa.controller import HpaController

    rules = usage_rules(setup, events)
    settings = autoscaler_settings(setup)
    loops: list[Loop] = []
    for autoscaler in working:
        target, counted = workload_number(setup, autoscaler.target), find_counted(setup, autoscaler)
        own_rules = tuple(rule for rule in rules if rule.workload in counted)
        memory = len(events) + len(loops)
        rivals = tuple(_rivals(setup, autoscaler, counted, len(events)))
        recall = recall_of(setup, counted, autoscaler, own_rules, settings)
        loops.append(
            HpaController(
                layout.to(HpaController),
                autoscaler,
                target,
                memory,
                own_rules,
                rivals,
                settings=settings,
                recall=recall,
            )
        )
    fresh = first_memory(settings.sync_period_s)
    names = (MemoryName(REMEMBERS, (one.namespace, one.name, one.target)) for one in working)
    return AdjustingPart(tuple(loops), tuple(MemoryCell(name, fresh) for name in names))


def working_autoscalers(setup: Setup) -> tuple[HorizontalPodAutoscaler, ...]:
    """The autoscalers whose target is in the input; others find nothing to scale."""
    known = {workload.ref for workload in setup.workloads if not workload.rules.runs_to_completion}
    return tuple(autoscaler for autoscaler in setup.autoscalers if autoscaler.target in known)


def autoscaler_settings(setup: Setup) -> AutoscalerSettings:
    """The autoscaler's flags."""
    from kubeproof.controllers.hpa.settings import AutoscalerSettings

    flags = setup.settings
    return AutoscalerSettings(
        version=flags.kubernetes_version,
        tolerance=flags.hpa_tolerance_permille / 1000,
        downscale_stabilization_s=flags.downscale_stabilization_s,
        sync_period_s=flags.hpa_period_s,
    )


def _rivals(setup: Setup, autoscaler: HorizontalPodAutoscaler, counted: tuple[int, ...], first: int) -> Iterator[Rival]:
    """The other autoscalers that select pods which this one counts; memories of autoscalers begin at `first`."""
    from kubeproof.controllers.hpa.ambiguity import Rival

    for at, other in enumerate(working_autoscalers(setup)):
        target = setup.workloads[workload_number(setup, other.target)]
        if other is not autoscaler and any(selects(target, setup.workloads[number]) for number in counted):
            yield Rival(other.name, target.selector, first + at)


def foreign_counted(setup: Setup) -> frozenset[int]:
    """The workloads whose pods an autoscaler counts although it is another one's."""
    return frozenset(number for autoscaler in working_autoscalers(setup) for number in foreign_to(setup, autoscaler))


def jobs_counted(setup: Setup) -> frozenset[int]:
    """The Jobs whose pods an autoscaler counts, finished ones as long as they are listed."""
    return frozenset(number for number in foreign_counted(setup) if setup.workloads[number].rules.counts_completions)


def may_run_unready(setup: Setup, events: tuple[Event, ...]) -> frozenset[int]:
    """The workloads whose pods may run without being ready: probed, crashed, never ready, or on a silent node."""
    everybody = frozenset(range(len(setup.workloads)))
    if find_writes_of(events) & (Writes.FAILURES | Writes.CRASHES):
        return everybody
    probed = {w for w in everybody if setup.workloads[w].template.readiness is not None}
    return never_ready(setup, events) | probed


def ages_that_matter(setup: Setup, rules: tuple[UsageRule, ...], unready: frozenset[int]) -> Ages:
    """Per workload, the pod ages at which its usage or an autoscaler's trust in it changes, ascending.

    The initialization period is about pods that run without being ready; all others are trusted after one sample.
    """
    ages: list[set[int]] = [set() for _ in setup.workloads]
    for rule in rules:
        ages[rule.workload] |= set(rule.until_s)
    for autoscaler in working_autoscalers(setup):
        from kubeproof.controllers.hpa.controller import ages_read

        if any(metric.name == CPU for metric in autoscaler.metrics):
            for member in find_counted(setup, autoscaler):
                ages[member] |= set(ages_read(autoscaler_settings(setup), may_be_unready=member in unready))
    return tuple(tuple(sorted(own)) for own in ages)


def lives_that_matter(setup: Setup, events: tuple[Event, ...], rules: tuple[UsageRule, ...]) -> Ages:
    """Per workload, how long its pods have to have had their node until a loop decides otherwise, ascending."""
    lives: list[set[int]] = [set() for _ in setup.workloads]
    if setup.descheduler is not None:
        from kubeproof.controllers.descheduler.ages import ages_asked

        for own, asked in zip(lives, ages_asked(setup, setup.descheduler), strict=True):
            own |= set(asked)
    if setup.verticals:
        from kubeproof.cluster.steering.vertical import sizes_of
        from kubeproof.controllers.vpa.controller import LONG_LIFE_S
        from kubeproof.model.expansion.sizes import asks_age, working

        for vpa in working(setup, events):
            target = workload_number(setup, vpa.target)
            own_rules = tuple(rule for rule in rules if rule.workload == target)
            for member in sizes_of(setup, target) if asks_age(setup, events, vpa, own_rules) else ():
                lives[member].add(LONG_LIFE_S)
    return tuple(tuple(sorted(own)) for own in lives)
