"""The Scenario object: versions, settings, start, events, intents and scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.footprint import Writes, footprint_of
from kubeproof.cluster.objects import Node, Settings, Workload
from kubeproof.events.declarations import Event
from kubeproof.events.quantities import QuantifySettings
from kubeproof.intents.declarations import Intent
from kubeproof.intents.library.service_levels import LEVEL_KEYS, ServiceLevel
from kubeproof.manifests.components.controller_settings import read_settings
from kubeproof.manifests.late import read_workload
from kubeproof.manifests.loaded import RUNNING, Scenario, Start
from kubeproof.manifests.scenarios.default_scenario import default_intents
from kubeproof.manifests.scenarios.events.chances import read_quantify
from kubeproof.manifests.scenarios.events.fields import Surroundings
from kubeproof.manifests.scenarios.intents.declared import read_intents
from kubeproof.manifests.scenarios.intents.targets import resolve
from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.tree import Entry, Mapping
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler
    from kubeproof.cluster.scale import Scale
    from kubeproof.events.workload import WorkloadSpec

VERSION = "kubeproof.dev/v1alpha1"


@dataclass(frozen=True, slots=True)
class ReadScenario:
    """A Scenario and the settings it makes."""

    scenario: Scenario
    settings: Settings
    cluster_autoscaler: ClusterAutoscaler | None = None


def read_scenario(fields: Fields, around: Surroundings) -> ReadScenario:
    """The scenario with every target resolved; unknown fields are refused."""
    log = fields.log
    name = log.gather(partial(_name, fields), "")
    spec = fields.child("spec") or Fields(Mapping({}, fields.mapping.line, fields.mapping.column), "spec", fields.log)
    fields.ignore("apiVersion", "kind")
    log.gather(partial(fields.finish_strictly, "spec", "metadata"), None)
    settings = log.gather(partial(read_settings, spec), Settings())
    autoscaler = log.gather(partial(_cluster_autoscaler, spec, around.nodes), None)
    start = log.gather(partial(_start, spec, around), Start())
    quantify = log.gather(partial(read_quantify, spec, around.nodes), QuantifySettings())
    before = len(log.problems)
    versioned = replace(around, kubernetes_version=settings.kubernetes_version)
    events: tuple[Event, ...] = log.gather(partial(_events, spec, versioned), ())
    since = len(log.problems)
    intents = _intents(spec, around, events)
    log.gather(partial(_check_nodes_there, spec, start, events), None)
    scale = log.gather(partial(_scale, spec, around, events, intents), None)
    workload = log.gather(partial(read_workload, spec, around, events), None) if spec.has("workload") else None
    no_levels: tuple[ServiceLevel, ...] = ()
    levels = log.gather(partial(_levels, spec, around, workload), no_levels)
    if levels:
        intents = log.gather(lambda: (*intents, *_capacities(levels, workload, around)), intents)
    if since > before:
        _forget_follow_ups(log, since)
    spec.ignore("intents")
    log.gather(partial(spec.finish_strictly, "events", "scale", "workload"), None)  # of which a run may have none
    log.raise_gathered()
    scenario = Scenario(
        name=name,
        start=start,
        events=events,
        intents=intents,
        scale=scale,
        source=fields.source,
        quantify=quantify,
        workload=workload,
        levels=levels,
    )
    return ReadScenario(scenario, settings, autoscaler)


def _events(spec: Fields, around: Surroundings) -> tuple[Event, ...]:
    if not spec.has("events"):
        return ()
    from kubeproof.manifests.scenarios.events.declared import read_events

    return read_events(spec, around)


def _scale(spec: Fields, around: Surroundings, events: Sequence[Event], intents: Sequence[Intent]) -> Scale | None:
    if not spec.has("scale"):
        return None
    from kubeproof.manifests.scenarios.scale import read_scale

    return read_scale(spec, around, events, intents)


def _intents(spec: Fields, around: Surroundings, events: Sequence[Event]) -> tuple[Intent, ...]:
    workloads = [*around.workloads, *_find_created(events, around.workloads)]
    if spec.mapping.get("intents") is not None:
        surroundings = replace(around, workloads=workloads, events=events)
        return spec.log.gather(partial(read_intents, spec, surroundings), ())
    return default_intents(
        workloads,
        around.budgets,
        events,
        autoscalers=around.autoscalers,
        is_descheduled=around.is_descheduled,
    )


def _levels(spec: Fields, around: Surroundings, workload: WorkloadSpec | None) -> tuple[ServiceLevel, ...]:
    """The service levels, which few Scenarios have."""
    if spec.mapping.get("intents") is None:
        return ()
    if not any(set(one.mapping.entries) & LEVEL_KEYS for one in spec.children("intents")):
        return ()
    from kubeproof.manifests.scenarios.intents.service_levels import read_levels

    return read_levels(spec, around, workload)


def _capacities(
    levels: tuple[ServiceLevel, ...], workload: WorkloadSpec | None, around: Surroundings
) -> tuple[Intent, ...]:
    """What of service levels is a bound on states."""
    from kubeproof.manifests.scenarios.intents.capacity import capacities_of

    return capacities_of(levels, workload, around.workloads, around.autoscalers, around.nodes)


def _forget_follow_ups(log: Log, since: int) -> None:
    """Forgets what may be wrong only because an event is missing: targets that it brings, formulas that name it."""
    log.problems[since:] = [problem for problem in log.problems[since:] if problem.is_about_shape]


def read_controllers(controllers: Mapping, nodes: Sequence[Node]) -> tuple[Settings, ClusterAutoscaler | None]:
    """Settings and autoscaler of an input without a Scenario, from `controllers` alone."""
    at = (controllers.line, controllers.column)
    spec = Fields(Mapping({"controllers": Entry(controllers, *at)}, *at), "spec", Log("", "flags"))
    return read_settings(spec), _cluster_autoscaler(spec, nodes)


def _cluster_autoscaler(spec: Fields, nodes: Sequence[Node]) -> ClusterAutoscaler | None:
    """The autoscaler of node groups, which few Scenarios have."""
    controllers = spec.child("controllers")
    if controllers is None or not controllers.has("clusterAutoscaler"):
        return None
    from kubeproof.manifests.components.node_groups import read_cluster_autoscaler

    return read_cluster_autoscaler(controllers.require_child("clusterAutoscaler"), nodes)


def _check_nodes_there(spec: Fields, start: Start, events: Sequence[Event]) -> None:
    """Nothing begins on a node that an event brings."""
    later = {event.one_node for event in events if Writes.ARRIVALS in footprint_of(event).writes}
    for ref, spots in start.placement:
        for node, _ in spots:
            if node in later:
                spec.fail("start", f"places {ref} on {node}, which an event creates", remedy="Place it elsewhere")


def _name(fields: Fields) -> str:
    metadata = fields.require_child("metadata")
    name = metadata.require_text("name")
    metadata.ignore("namespace", "labels", "annotations")
    metadata.finish_strictly()
    return name


def _find_created(events: Sequence[Event], workloads: Sequence[Workload]) -> list[Workload]:
    """Workloads that only an apply event brings; intents may speak of them."""
    known = {workload.ref for workload in workloads}
    created = {event.form.ref: event.form for event in events if event.form is not None}
    return [workload for ref, workload in created.items() if ref not in known]


def _start(spec: Fields, around: Surroundings) -> Start:
    if not isinstance(spec.value("start"), Mapping):
        return Start(spec.word("start", ("empty", "deployed", RUNNING), "empty"))
    start = spec.require_child("start")
    placement = start.require_child("placement")
    start.finish_strictly()
    placed = [_read_placed(placement, key, around) for key in placement.keys()]  # noqa: SIM118 - not a mapping
    return Start("placement", tuple(sorted(placed)))


def _read_placed(placement: Fields, key: str, around: Surroundings) -> tuple[str, tuple[tuple[str, int], ...]]:
    """One workload's pods per node."""
    found = resolve(placement, key, key, around.workloads)
    if len(found) > 1:
        placement.fail(key, "names several workloads", remedy="Write the kind")
    if found[0].rules.starts_jobs:
        placement.fail(key, "starts Jobs of its own", remedy="Place a Job, or let the CronJob start")
    counts = placement.require_child(key)
    names = {node.name for node in around.nodes}
    pods = {}
    for node in counts.keys():  # noqa: SIM118 - not a mapping
        if node not in names:
            counts.fail(node, "is not a node of the input", remedy=suggestion(node, names), is_missing=True)
        pods[node] = counts.integer(node, most=100_000) or 0
    if found[0].rules.runs_per_node and any(count > 1 for count in pods.values()):
        placement.fail(key, "has several pods on one node", remedy="A DaemonSet keeps one pod per node")
    if found[0].rules.is_pod and sum(pods.values()) > 1:
        placement.fail(key, "is one pod", remedy="Place it on one node")
    if any(pods.values()) and found[0].home is not None and not pods.get(found[0].home):
        placement.fail(key, f"names its node, {found[0].home}, itself", remedy="Place it there, or leave it out")
    return found[0].ref, tuple(sorted((node, count) for node, count in pods.items() if count))
