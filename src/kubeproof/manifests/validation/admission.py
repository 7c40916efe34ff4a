"""What the API server does to pods when they are created: LimitRanges fill in and refuse, quotas want numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.objects import Setup, Workload
from kubeproof.cluster.said import Said
from kubeproof.cluster.steering.quotas import LimitRange
from kubeproof.errors import ManifestError
from kubeproof.events.declarations import Apply, Event
from kubeproof.manifests.loaded import Loaded


def admit(loaded: Loaded, ranges: Sequence[LimitRange]) -> Loaded:
    """The input with every pod template as its pods come out of admission; pods that run have been there before."""
    setup, scenario = loaded.setup, loaded.scenario
    if not ranges and not setup.quotas:
        return loaded
    workloads = tuple(_admit_workload(workload, setup, ranges) for workload in setup.workloads)
    events = tuple(_event(event, setup, ranges) for event in scenario.events)
    return replace(loaded, setup=replace(setup, workloads=workloads), scenario=replace(scenario, events=events))


def check_admitted(workload: Workload, setup: Setup, ranges: Sequence[LimitRange]) -> None:
    """Refuses a Pod that the API server does not let in."""
    if workload.rules.is_pod and (ranges or setup.quotas):
        _admit_workload(workload, setup, ranges)


def _event(event: Event, setup: Setup, ranges: Sequence[LimitRange]) -> Event:
    return (
        replace(event, workload=_admit_workload(event.workload, setup, ranges)) if isinstance(event, Apply) else event
    )


def _admit_workload(workload: Workload, setup: Setup, ranges: Sequence[LimitRange]) -> Workload:
    from kubeproof.controllers.admission.limit_ranger import refusals, with_defaults

    if workload.bound_to is not None:
        return workload
    own = sorted((one for one in ranges if one.namespace == workload.namespace), key=lambda one: one.name)
    filled = replace(workload, template=with_defaults(workload.template, own))
    reasons = [*refusals(filled.template, own, setup.settings.kubernetes_version), *_find_unstated(filled, setup)]
    if reasons and workload.rules.is_pod:
        raise ManifestError(
            f"{workload.ref}: the API server refuses it: {reasons[0]}",
            file=workload.source.file,
            line=workload.source.line,
            remedy="Change its resources, or the LimitRange or ResourceQuota of its namespace",
        )
    return replace(filled, refused=tuple(reasons))


def _find_unstated(workload: Workload, setup: Setup) -> list[Said]:
    from kubeproof.controllers.admission.quota import find_unstated, is_meant

    found = ((quota, find_unstated(workload.template, quota)) for quota in setup.quotas if is_meant(quota, workload))
    told = [f"ResourceQuota {quota.name}: must specify {', '.join(names)}" for quota, names in found if names]
    return [Said(one, one) for one in told]
