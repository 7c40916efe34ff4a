"""StatefulSets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.kinds import STATEFUL_SET
from kubeproof.cluster.objects import StatefulRules
from kubeproof.cluster.volumes import Claim
from kubeproof.manifests.kinds.workloads import ReadWorkload, count_or_percent, read_replicated, selector_and_template
from kubeproof.manifests.yaml.fields import Fields


def read_stateful_set(fields: Fields) -> ReadWorkload:
    """A StatefulSet after defaulting: one replica, OrderedReady, RollingUpdate from ordinal 0 on."""
    spec = fields.require_child("spec")
    claims = tuple(_claim_templates(spec))
    selector, template = selector_and_template(spec, replaced={claim.name for claim in claims})
    rules = _rules(spec)
    read = read_replicated(fields, spec, STATEFUL_SET, template, selector, schema="StatefulSetSpec", stateful=rules)
    return replace(read, workload=replace(read.workload, claim_templates=claims))


def _claim_templates(spec: Fields) -> Iterator[Claim]:
    """The claims that each ordinal gets, named by their template."""
    names: set[str] = set()
    for fields in spec.children("volumeClaimTemplates"):
        from kubeproof.manifests.kinds.storage import read_claim  # most inputs have no use for it

        claim = read_claim(fields)
        if claim.name in names:
            fields.require_child("metadata").fail("name", f"is {claim.name} again", remedy="Names are unique")
        names.add(claim.name)
        yield claim


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
