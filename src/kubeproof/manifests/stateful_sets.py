"""StatefulSets."""

from __future__ import annotations

from kubeproof.cluster.objects import STATEFUL_SET, StatefulRules, Workload
from kubeproof.manifests.fields import Fields
from kubeproof.manifests.metadata import read_metadata
from kubeproof.manifests.workloads import ReadWorkload, count_or_percent, read_replicas, selector_and_template


def read_stateful_set(fields: Fields) -> ReadWorkload:
    """A StatefulSet after defaulting: one replica, OrderedReady, RollingUpdate from ordinal 0 on."""
    metadata = read_metadata(fields)
    spec = fields.required_child("spec")
    selector, template = selector_and_template(spec)
    workload = Workload(
        kind=STATEFUL_SET,
        namespace=metadata.namespace,
        name=metadata.name,
        template=template,
        replicas=read_replicas(spec),
        selector=selector,
        min_ready_s=spec.integer("minReadySeconds") or 0,
        source=fields.source,
        replicas_given=spec.has("replicas"),
        stateful=_rules(spec),
    )
    spec.finish("StatefulSetSpec")
    fields.finish("Object")
    return ReadWorkload(workload, metadata.owner, spec.has("replicas"))


def _rules(spec: Fields) -> StatefulRules:
    policies = ("OrderedReady", "Parallel")
    parallel = spec.word("podManagementPolicy", policies, "OrderedReady") == "Parallel"
    strategy = spec.child("updateStrategy")
    if strategy is None:
        return StatefulRules(_first_ordinal(spec), parallel)
    rolling = strategy.word("type", ("RollingUpdate", "OnDelete"), "RollingUpdate") == "RollingUpdate"
    limits = strategy.child("rollingUpdate")
    strategy.finish("StatefulSetUpdateStrategy")
    if limits is None:
        return StatefulRules(_first_ordinal(spec), parallel, rolling)
    if not rolling:
        strategy.fail("rollingUpdate", "must be absent with OnDelete", remedy="Remove it")
    partition = limits.integer("partition") or 0
    unavailable = count_or_percent(limits, "maxUnavailable", largest_percent=100, default=(1, False))
    if not unavailable[0]:
        limits.fail("maxUnavailable", "is 0", remedy="Allow at least one pod to be missing")
    limits.finish("StatefulSetRollingUpdate")
    return StatefulRules(_first_ordinal(spec), parallel, rolling, partition, unavailable)


def _first_ordinal(spec: Fields) -> int:
    ordinals = spec.child("ordinals")
    if ordinals is None:
        return 0
    start = ordinals.integer("start") or 0
    ordinals.finish("StatefulSetOrdinals")
    return start
