"""Workloads by themselves, without all that a proof whatever the others do cannot use.

What pods request, how long they take and what things are called decides nothing there. So it is left out, and
workloads that differ in nothing else have one proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof.cluster.kinds import DECLARED
from kubeproof.cluster.labels import LabelSelector, Requirement, as_labels
from kubeproof.cluster.loops.footprint import ON_NODES, Writes, footprint_of
from kubeproof.cluster.objects import (
    Container,
    Node,
    PodAffinity,
    PodTemplate,
    PodTerm,
    Readiness,
    Setup,
    SpreadConstraint,
    Workload,
)
from kubeproof.cluster.services import Service
from kubeproof.cluster.steering.profiles import NODE_AFFINITY, TAINT_TOLERATION
from kubeproof.controllers.evictions.budgets import ask_for_ends
from kubeproof.controllers.scheduler.plugins.node_affinity import required_affinity_matches
from kubeproof.controllers.scheduler.plugins.taint_toleration import keeps_pods_off
from kubeproof.controllers.scheduler.registry import INTER_POD_AFFINITY, POD_TOPOLOGY_SPREAD, SCORE_ORDER
from kubeproof.events.declarations import Event, find_writes_of
from kubeproof.intents.catalogue import entry
from kubeproof.manifests.loaded import Loaded, Scenario
from kubeproof.verify.proofs.crowd.healing import drifts
from kubeproof.verify.proofs.slicing import Slice

MANY = 1_000_000  # pods that a node takes
KEPT = frozenset({TAINT_TOLERATION, NODE_AFFINITY, POD_TOPOLOGY_SPREAD, INTER_POD_AFFINITY})
OWN_KEYS = frozenset(
    {
        *("pod-template-hash", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"),
        *("job-name", "batch.kubernetes.io/job-name", "controller-uid", "batch.kubernetes.io/controller-uid"),
    }
)  # labels that tell pods of one workload apart
MEMBER = "member"
COUNTED = tuple(kind.name for kind in DECLARED if kind.has_replica_set)  # owners that count their pods


def free(part: Slice, *, is_scored: bool = False) -> Loaded:
    """The part for a scheduler that may choose any node its own rules admit, with the intents that it may prove.

    With `is_scored` it keeps the scores that depend on its own pods and on what nodes are like.
    """
    setup, scenario = part.loaded.setup, part.loaded.scenario
    unscored = frozenset(SCORE_ORDER) - (KEPT if is_scored else frozenset())
    smaller = replace(
        setup,
        nodes=tuple(map(_roomy, setup.nodes)),
        workloads=tuple(
            replace(w, template=_weightless(w.template, is_scored=is_scored, ends_at_once=_ends_unseen(setup, n)))
            for n, w in enumerate(setup.workloads)
        ),
        profiles=tuple(
            replace(profile, disabled_score=profile.disabled_score | unscored) for profile in setup.profiles
        ),
        autoscalers=(),
        quotas=(),
        services=setup.services if is_scored or _has_hard_defaults(setup) else (),
        priority_classes=(),
    )
    awaited = {name for event in scenario.events for name in event.awaited}
    events = tuple(
        replace(_with_weightless(event), must=False)
        for event in scenario.events
        if footprint_of(event).writes != Writes.USAGE or event.name in awaited
    )
    if not drifts(part.loaded):  # then there is nothing to undo
        smaller = replace(smaller, settings=replace(setup.settings, gitops_interval_s=None))
    intents = tuple(intent for intent in scenario.intents if entry(intent.key).is_provable_alone)
    freed = replace(scenario, events=events, intents=intents)
    return _rename(Loaded(smaller, freed)) if _may_rename(smaller, freed) else Loaded(smaller, freed)


def flatten(loaded: Loaded, short: Sequence[int]) -> Loaded | None:
    """The freed part on one node that takes all its pods, which end at once; None if it may matter where they are.

    Nothing happens to nodes then, all pods always find room, since more nodes admit them than may be `short` of it, per
    workload, and no rule compares nodes. Nobody counts pods that end,
    or tells those that have started from those that have not, as long as they are not ready.
    """
    setup, scenario = loaded.setup, loaded.scenario
    if find_writes_of(scenario.events) & ON_NODES or scenario.start.placement or scenario.start.pods:
        return None
    if _has_hard_defaults(setup) or not all(map(_may_run_anywhere, setup.workloads)):
        return None
    templates = [workload.template for workload in setup.workloads]
    if not _finds_room(setup, short):
        return None
    node = next((n for n in setup.nodes if all(_admits(n, template) for template in templates)), None)
    if node is None:
        return None
    workloads = tuple(replace(w, template=replace(w.template, grace_s=0, readiness=None)) for w in setup.workloads)
    return replace(loaded, setup=replace(setup, nodes=(node,), workloads=workloads))


def _finds_room(setup: Setup, short: Sequence[int]) -> bool:
    """True if more nodes admit the pods of each workload than may be short of room."""
    if not any(short):
        return True
    if any(profile.added_affinity is not None for profile in setup.profiles):
        return False
    admitting = (sum(_admits(node, workload.template) for node in setup.nodes) for workload in setup.workloads)
    return all(count > most for count, most in zip(admitting, short, strict=True))


def _ends_unseen(setup: Setup, number: int) -> bool:
    """True if nobody asks for pods of a workload that end: they might as well be gone at once.

    A drained node waits for them; that it is empty earlier is one of the runs. Ports, claims and affinity of the pods
    hold others up until they are gone, and so does a rollout that takes all pods down first.
    """
    workload = setup.workloads[number]
    template = workload.template
    is_counted = workload.kind in COUNTED and workload.strategy.rolling and workload.owner is None
    is_asked_for = any(
        one.template.pod_affinity != PodAffinity() or one.template.pod_anti_affinity != PodAffinity()
        for one in setup.workloads
    )
    ports = any(container.host_ports for container in (*template.containers, *template.init_containers))
    return is_counted and not (is_asked_for or ports or template.claims or ask_for_ends(setup, number))


def _may_run_anywhere(workload: Workload) -> bool:
    """True for pods of which only numbers matter, wherever they run."""
    template = workload.template
    required = template.pod_affinity.required or template.pod_anti_affinity.required
    spread = any(constraint.hard for constraint in template.spread)
    ports = any(container.host_ports for container in template.containers)
    is_counted = workload.kind in COUNTED and workload.strategy.rolling
    return is_counted and not (required or spread or ports or template.claims)


def _admits(node: Node, template: PodTemplate) -> bool:
    is_open = not node.unschedulable and not keeps_pods_off(node.taints, template.tolerations)
    return is_open and required_affinity_matches(template, dict(node.labels), node.name)


def _with_weightless(event: Event) -> Event:
    if event.form is None:
        return event
    template = _weightless(event.form.template, is_scored=False, ends_at_once=False)
    return event.with_form(replace(event.form, template=template))


def _has_hard_defaults(setup: Setup) -> bool:
    """True if a scheduler's default constraints may refuse nodes: they count the pods of Services."""
    return any(constraint.hard for profile in setup.profiles for constraint in profile.default_spread or ())


def _roomy(node: Node) -> Node:
    return replace(node, images=(), pods=MANY, cpu_milli=MANY, memory_bytes=MANY, others=())


def _weightless(template: PodTemplate, *, is_scored: bool, ends_at_once: bool) -> PodTemplate:
    """The template without requests, images, priority, and durations; what they decide is left open."""
    containers = (*template.containers, *(one for one in template.init_containers if one.restartable_init))
    ports = tuple(port for container in containers for port in container.host_ports)
    return replace(
        template,
        containers=(Container("main", host_ports=ports),),
        init_containers=(),
        overhead=(),
        own_requests=(),
        volume_images=(),
        priority=None,
        priority_class="",
        preemption_policy="",
        preferred_terms=template.preferred_terms if is_scored else (),
        readiness=None if template.readiness is None else Readiness(),
        grace_s=0 if ends_at_once else min(template.grace_s, 1),
        pre_stop_s=0,
    )


# -- names ------------------------------------------------------------------------------------------


def _may_rename(setup: Setup, scenario: Scenario) -> bool:
    """True if nothing but labels of templates decides which pods a selector means."""
    kinds = all(not workload.rules.runs_to_completion and workload.owner is None for workload in setup.workloads)
    keys = {one.key for selector in _selectors(setup) for one in selector.requirements}
    keys |= {key for service in setup.services for key, _ in service.selector}
    is_keyed = any(
        constraint.match_label_keys for workload in setup.workloads for constraint in workload.template.spread
    ) or any(term.match_label_keys or term.mismatch_label_keys for w in setup.workloads for term in _terms(w.template))
    has_claims = any(workload.template.claims or workload.claim_templates for workload in setup.workloads)
    placed = scenario.start.placement or scenario.start.pods or setup.settings.gitops_ignored
    if _has_hard_defaults(setup) or any(event.form is not None for event in scenario.events):
        return False
    selecting = any(intent.selector is not None for intent in scenario.intents)
    return kinds and not (keys & OWN_KEYS or is_keyed or has_claims or placed or selecting)


def _selectors(setup: Setup) -> Iterator[LabelSelector]:
    for workload in setup.workloads:
        yield workload.selector
        yield from (one.selector for one in workload.template.spread if one.selector is not None)
        yield from (term.selector for term in _terms(workload.template) if term.selector is not None)
    yield from (budget.selector for budget in setup.budgets if budget.selector is not None)


def _terms(template: PodTemplate) -> Iterator[PodTerm]:
    for affinity in (template.pod_affinity, template.pod_anti_affinity):
        yield from affinity.required
        yield from (weighted.term for weighted in affinity.preferred)


def _rename(loaded: Loaded) -> Loaded:
    """The input with names that say nothing, and selectors that name the workloads which they match."""
    setup, scenario = loaded.setup, loaded.scenario
    names = _Names(setup)
    refs = {w.ref: names.of(number, w).ref for number, w in enumerate(setup.workloads)}
    budgets = [
        replace(b, name=f"budget-{number}", selector=names.selecting(b.selector))
        for number, b in enumerate(setup.budgets)
        if any(w.namespace == b.namespace for w in setup.workloads) and names.means_any(b.selector)
    ]
    workloads = tuple(names.of(number, workload) for number, workload in enumerate(setup.workloads))
    services = tuple(
        Service(service.namespace, f"service-{number}", ((f"service-{number}", "yes"),))
        for number, service in enumerate(names.services)
    )
    intents = tuple(
        replace(intent, name=f"intent-{number}", severity="error", target=refs.get(str(intent.target), intent.target))
        for number, intent in enumerate(scenario.intents)
    )
    events = tuple(_retarget(event, refs) for event in scenario.events)
    return Loaded(
        replace(setup, workloads=workloads, budgets=tuple(budgets), services=services),
        Scenario(start=scenario.start, events=events, intents=intents),
    )


def _retarget(event: Event, refs: dict[str, str]) -> Event:
    target = event.subject
    return event if target is None else replace(event, target=refs[target])  # type: ignore[call-arg]


class _Names:
    """Names by position."""

    def __init__(self, setup: Setup) -> None:
        self._labels = [dict(workload.template.labels) for workload in setup.workloads]
        self.services = [
            service
            for service in setup.services
            if any(service.selects(workload.namespace, workload.template.labels) for workload in setup.workloads)
        ]

    def of(self, number: int, workload: Workload) -> Workload:
        """The workload with a name by position, its labels and selectors likewise."""
        template = workload.template
        renamed = replace(
            template,
            labels=as_labels({MEMBER: str(number)} | self._label_services(workload)),
            spread=tuple(map(self._spread, template.spread)),
            pod_affinity=self._affinity(template.pod_affinity),
            pod_anti_affinity=self._affinity(template.pod_anti_affinity),
        )
        selector = self.selecting(workload.selector) or LabelSelector()
        return replace(workload, name=f"member-{number}", template=renamed, selector=selector)

    def _label_services(self, workload: Workload) -> dict[str, str]:
        """A label for each Service that selects the pods."""
        served = (s.selects(workload.namespace, workload.template.labels) for s in self.services)
        return {f"service-{number}": "yes" for number, selects in enumerate(served) if selects}

    def means_any(self, selector: LabelSelector | None) -> bool:
        """True if the selector matches pods of one of the workloads."""
        return selector is not None and any(selector.matches(labels) for labels in self._labels)

    def selecting(self, selector: LabelSelector | None) -> LabelSelector | None:
        """A selector that matches the same of these workloads; an empty one stays, since some read it differently."""
        if selector is None or selector.is_empty:
            return selector
        meant = tuple(str(number) for number, labels in enumerate(self._labels) if selector.matches(labels))
        return LabelSelector((Requirement(MEMBER, "In", meant),))

    def _spread(self, constraint: SpreadConstraint) -> SpreadConstraint:
        return replace(constraint, selector=self.selecting(constraint.selector))

    def _affinity(self, affinity: PodAffinity) -> PodAffinity:
        def rename_term(term: PodTerm) -> PodTerm:
            return replace(term, selector=self.selecting(term.selector))

        preferred = tuple(replace(one, term=rename_term(one.term)) for one in affinity.preferred)
        return PodAffinity(tuple(map(rename_term, affinity.required)), preferred)
