"""Objects as the API server of a version keeps them: fields whose gate is off are dropped when they are written.

Readers note every field of `kubeproof.cluster.api.versions` that the input has, whatever the version. Here the version
is known: what it keeps is modelled or listed as usual, what it drops is taken out of the objects and listed with
the gate. Where the rest of the object is not valid without the field, the API server refuses it, and so does this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from kubeproof.cluster.api.versions import (
    LABEL_KEYS,
    MATCH_LABEL_KEYS,
    MAX_UNAVAILABLE,
    MIN_DOMAINS,
    NOT_YET,
    POD_RESOURCES,
    REPLACEMENT_POLICY,
    SIDECARS,
    START_ORDINAL,
    TOLERANCE_PER_DIRECTION,
    UNHEALTHY_EVICTION,
    VOLUME_IMAGES,
    Rule,
    in_words,
)
from kubeproof.cluster.objects import (
    PodAffinity,
    PodTemplate,
    PodTerm,
    Settings,
    Setup,
    WeightedPodTerm,
    Workload,
)
from kubeproof.cluster.steering.policies import (
    IF_HEALTHY_BUDGET,
    HorizontalPodAutoscaler,
    PodDisruptionBudget,
    ScalingRules,
)
from kubeproof.errors import ManifestError
from kubeproof.events.declarations import Apply, Event
from kubeproof.manifests.loaded import Loaded, Omission

T = TypeVar("T")
Off = AbstractSet[Rule]  # the rules that do not hold yet


def as_written(loaded: Loaded) -> Loaded:
    """The input as the API server of its version keeps it, with everything that it drops listed."""
    settings = loaded.setup.settings
    if any(omission.rule for omission in loaded.omissions):
        omissions = (told for omission in loaded.omissions if (told := _settle(omission, settings)) is not None)
        loaded = replace(loaded, omissions=tuple(dict.fromkeys(omissions)))
    off = {rule for rule in (*WORKLOADS, *BUDGETS, *AUTOSCALERS) if not _holds(rule, settings)}
    if not off:
        return loaded
    events = tuple(_drop_from_event(event, off) for event in loaded.scenario.events)
    scenario = replace(loaded.scenario, events=events)
    return replace(loaded, setup=_drop_from_setup(loaded.setup, off), scenario=scenario)


def _holds(rule: Rule, settings: Settings) -> bool:
    is_kubernetes = rule.component == "Kubernetes"
    return rule.holds_in(settings.kubernetes_version if is_kubernetes else settings.descheduler_version)


def _settle(omission: Omission, settings: Settings) -> Omission | None:
    """What is left to tell of a field in this version; None if it is modelled."""
    rule = omission.rule
    if rule is None:
        return omission
    if _holds(rule, settings):
        return replace(omission, rule=None) if omission.why else None
    if rule.refuses:
        raise ManifestError(
            f"{omission.what} is refused by Kubernetes {in_words(settings.kubernetes_version)}: {_why_off(rule)}",
            file=omission.source.file,
            line=omission.source.line,
            remedy=f"Remove it, or set kubernetesVersion to {in_words(rule.since)} or later",
        )
    return Omission(omission.what, omission.source, f"dropped, {_why_off(rule)}")


def _why_off(rule: Rule) -> str:
    if rule.component == "descheduler":
        return f"the descheduler does not know it before {in_words(rule.since)}"
    if rule.since == NOT_YET:
        return f"gate {rule.gate} is off by default"
    return f"gate {rule.gate} is off before {in_words(rule.since)}"


# -- what is dropped from which object ----------------------------------------------------------


def _drop_from_setup(setup: Setup, off: Off) -> Setup:
    return replace(
        setup,
        workloads=tuple(_drop(workload, WORKLOADS, off) for workload in setup.workloads),
        budgets=tuple(_drop(budget, BUDGETS, off) for budget in setup.budgets),
        autoscalers=tuple(_drop(autoscaler, AUTOSCALERS, off) for autoscaler in setup.autoscalers),
    )


def _drop_from_event(event: Event, off: Off) -> Event:
    if isinstance(event, Apply):
        return replace(event, workload=_drop(event.workload, WORKLOADS, off))
    if event.budget_form is not None:
        return event.with_budget_form(_drop(event.budget_form, BUDGETS, off))
    return event


def _drop(declared: T, drops: Mapping[Rule, Callable[[T], T]], off: Off) -> T:
    for rule, drop in drops.items():
        declared = drop(declared) if rule in off else declared
    return declared


def _of_template(drop: Callable[[PodTemplate], PodTemplate]) -> Callable[[Workload], Workload]:
    return lambda workload: replace(workload, template=drop(workload.template))


def _plain_terms(affinity: PodAffinity) -> PodAffinity:
    def plain(term: PodTerm) -> PodTerm:
        return replace(term, match_label_keys=(), mismatch_label_keys=())

    preferred = tuple(WeightedPodTerm(one.weight, plain(one.term)) for one in affinity.preferred)
    return PodAffinity(tuple(plain(term) for term in affinity.required), preferred)


def _without_tolerance(autoscaler: HorizontalPodAutoscaler) -> HorizontalPodAutoscaler:
    def plain(rules: ScalingRules | None) -> ScalingRules | None:
        return None if rules is None else replace(rules, tolerance_milli=None)

    return replace(autoscaler, scale_up=plain(autoscaler.scale_up), scale_down=plain(autoscaler.scale_down))


BUDGETS: Mapping[Rule, Callable[[PodDisruptionBudget], PodDisruptionBudget]] = MappingProxyType(
    {UNHEALTHY_EVICTION: lambda budget: replace(budget, unhealthy_policy=IF_HEALTHY_BUDGET)}
)
AUTOSCALERS: Mapping[Rule, Callable[[HorizontalPodAutoscaler], HorizontalPodAutoscaler]] = MappingProxyType(
    {TOLERANCE_PER_DIRECTION: _without_tolerance}
)
WORKLOADS: Mapping[Rule, Callable[[Workload], Workload]] = MappingProxyType(
    {
        MIN_DOMAINS: _of_template(
            lambda pod: replace(pod, spread=tuple(replace(one, min_domains=1) for one in pod.spread))
        ),
        MATCH_LABEL_KEYS: _of_template(
            lambda pod: replace(pod, spread=tuple(replace(one, match_label_keys=()) for one in pod.spread))
        ),
        LABEL_KEYS: _of_template(
            lambda pod: replace(
                pod,
                pod_affinity=_plain_terms(pod.pod_affinity),
                pod_anti_affinity=_plain_terms(pod.pod_anti_affinity),
            )
        ),
        SIDECARS: _of_template(
            lambda pod: replace(
                pod, init_containers=tuple(replace(one, restartable_init=False) for one in pod.init_containers)
            )
        ),
        VOLUME_IMAGES: _of_template(lambda pod: replace(pod, volume_images=())),
        POD_RESOURCES: _of_template(lambda pod: replace(pod, own_requests=())),
        START_ORDINAL: lambda workload: replace(workload, stateful=replace(workload.stateful, start=0)),
        MAX_UNAVAILABLE: lambda workload: replace(
            workload, stateful=replace(workload.stateful, max_unavailable=(1, False))
        ),
        REPLACEMENT_POLICY: lambda workload: replace(workload, job=replace(workload.job, only_failed=False)),
    }
)
