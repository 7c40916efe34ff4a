"""The scenario that applies when the input has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof.cluster.objects import Setup, Workload
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, PodDisruptionBudget
from kubeproof.cluster.usage import CPU, MEMORY, container_request, containers_of
from kubeproof.events.declarations import Drain, Event, NodeFailure, Usage, UsageChange, is_drain
from kubeproof.intents.declarations import EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.manifests.loaded import Scenario


def default_scenario(setup: Setup) -> Scenario:
    """One node failure with recovery, one drain, usage of autoscaled workloads between low and high, and intents."""
    events = (NodeFailure(name="nodeFailure-1"), Drain(name="drain-2"), *usage_swings(setup))
    is_descheduled = setup.descheduler is not None
    intents = default_intents(
        setup.workloads, setup.budgets, events, autoscalers=setup.autoscalers, is_descheduled=is_descheduled
    )
    return Scenario(events=events, intents=intents, is_default=True)


def usage_swings(setup: Setup) -> Iterator[UsageChange]:
    """For each autoscaler that aims at a utilization: usage from half of it to half as much again.

    What is said of whole pods holds for their containers: a container is named only where nobody looks at the pod.
    """
    known = {workload.ref: workload for workload in setup.workloads}
    version = setup.settings.kubernetes_version
    aims = [
        (autoscaler.target, metric)
        for autoscaler in setup.autoscalers
        for metric in autoscaler.metrics
        if _is_share(metric, known.get(autoscaler.target), version)
    ]
    whole = {(target, metric.name) for target, metric in aims if not metric.container}
    said: set[tuple[str, str, str]] = set()
    for target, metric in aims:
        key = (target, metric.name, metric.container)
        if key in said or (metric.container and key[:2] in whole):
            continue
        said.add(key)
        levels = (Usage(percent=metric.value // 2), Usage(percent=metric.value + metric.value // 2))
        name = f"{metric.name}Change-{2 + len(said)}"
        yield UsageChange(name=name, resource=metric.name, target=target, container=metric.container, levels=levels)


def _is_share(metric: Metric, target: Workload | None, version: tuple[int, int]) -> bool:
    """True for the utilization of a resource that the target's pods, or the container that is meant, request."""
    is_share = metric.type in ("Resource", "ContainerResource") and metric.target_type == "Utilization"
    if target is None or not is_share or metric.value < 2 or metric.name not in (CPU, MEMORY):
        return False
    meant = (one for one in containers_of(target.template, version) if metric.container in ("", one.name))
    return any(container_request(one, metric.name) > 0 for one in meant)


def default_intents(
    workloads: Sequence[Workload],
    budgets: Sequence[PodDisruptionBudget] = (),
    events: Sequence[Event] = (),
    *,
    autoscalers: Sequence[HorizontalPodAutoscaler] = (),
    is_descheduled: bool = False,
) -> tuple[Intent, ...]:
    """The cluster settles, drains complete, no pod is pending for ever, enough are ready in the end, Jobs complete."""
    intents = [Intent(key="settles", name="settles")]
    if any(is_drain(event) for event in events):
        intents.append(Intent(key="drainCompletes", name="drainCompletes"))
    intents += [_about(w, "noPendingForever") for w in workloads]
    intents += [_about(w, "noEvictionLoop") for w in workloads if is_descheduled and not w.rules.is_pod]
    for workload in workloads:
        if workload.rules.runs_per_node:
            intents.append(replace(_about(workload, "runsOnEveryNode"), when=EVENTUALLY_ALWAYS))
        elif workload.rules.replaces_pods and (least := _least_ready(workload, budgets, autoscalers)) > 0:
            intents.append(replace(_about(workload, "minReady"), when=EVENTUALLY_ALWAYS, count=Amount(least)))
    return (*intents, *(_about(w, "completes") for w in workloads if w.rules.runs_to_completion))


def _about(workload: Workload, key: str) -> Intent:
    return Intent(key=key, name=f"{key} {workload.ref}", target=workload.ref, source=workload.source)


def _least_ready(
    workload: Workload, budgets: Sequence[PodDisruptionBudget], autoscalers: Sequence[HorizontalPodAutoscaler]
) -> int:
    """What its rollout strategy leaves of the replicas, or what its budgets want, whichever is more."""
    replicas = _lasting(workload, autoscalers)
    wanted = [budget_wants(budget, replicas) for budget in budgets if covers(budget, workload)]
    return max([replicas - workload.strategy.unavailable_of(replicas), *wanted])


def _lasting(workload: Workload, autoscalers: Sequence[HorizontalPodAutoscaler]) -> int:
    """The replicas that it always comes back to: an autoscaler may take it down to its own minimum, as it should."""
    least = [autoscaler.min_replicas for autoscaler in autoscalers if autoscaler.target == workload.ref]
    return min(least) if least and workload.replicas else workload.replicas


def covers(budget: PodDisruptionBudget, workload: Workload) -> bool:
    """True if the budget counts the workload's pods."""
    is_near = budget.namespace == workload.namespace and budget.selector is not None
    return is_near and bool(budget.selector and budget.selector.matches(dict(workload.template.labels)))


def budget_wants(budget: PodDisruptionBudget, replicas: int) -> int:
    """The healthy pods that a budget wants of so many, at most all; percentages are rounded up."""
    if budget.min_available is not None:
        return min(replicas, _of(budget.min_available, replicas))
    return max(0, replicas - _of(budget.max_unavailable, replicas)) if budget.max_unavailable is not None else 0


def _of(amount: tuple[int, bool], replicas: int) -> int:
    number, is_percent = amount
    return -(-number * replicas // 100) if is_percent else number
