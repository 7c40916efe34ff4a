"""StatefulSets."""

from __future__ import annotations

from kubeproof.cluster.objects import STATEFUL_SET, StatefulRules
from kubeproof.manifests.fields import Fields
from kubeproof.manifests.workloads import ReadWorkload, count_or_percent, replicated, selector_and_template


def read_stateful_set(fields: Fields) -> ReadWorkload:
    """A StatefulSet after defaulting: one replica, OrderedReady, RollingUpdate from ordinal 0 on."""
    spec = fields.required_child("spec")
    selector, template = selector_and_template(spec)
    rules = _rules(spec)
    return replicated(fields, spec, STATEFUL_SET, template, selector, schema="StatefulSetSpec", stateful=rules)


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
