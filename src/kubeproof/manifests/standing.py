"""The objects of an input, each once, and the workloads that a run begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kubeproof.cluster.objects import Setup, Source, Workload
from kubeproof.cluster.steering.policies import PriorityClass
from kubeproof.manifests.folders import fence
from kubeproof.manifests.folders.collected import (
    Collected,
    attempt,
    excuse,
)
from kubeproof.manifests.folders.own_reports import WHAT, WHY
from kubeproof.manifests.folders.recognising import UNPATCHED, why_template
from kubeproof.manifests.identities import find_repeated, name_objects, note_repeated
from kubeproof.manifests.kinds.priorities import is_unknown_class, omit_class, with_priority
from kubeproof.manifests.loaded import Omission
from kubeproof.manifests.objects import (
    Document,
    Objects,
    check_bound,
    check_served,
    read_object,
    reference_of,
    standing_workloads,
)
from kubeproof.manifests.validation.admission import check_admitted
from kubeproof.manifests.validation.outdated import replace_outdated
from kubeproof.manifests.yaml import tree

if TYPE_CHECKING:
    pass

_NO_NODE = "left out: it runs on a node that is not in the input, and pods of nodes that do not exist are deleted"


def read_objects(collected: Collected) -> Objects:
    """The objects of the input, each once; of those that come twice the last, as `kubectl apply` leaves it."""
    objects = Objects()
    objects.omissions += [Omission(WHAT, Source(report, 1), WHY) for report in collected.reports]
    objects.omissions += [Omission("a link", Source(link, 1), fence.WHY) for link in collected.links]
    collected.notes += name_objects(collected.documents)
    if collected.is_tolerant or collected.only_given:
        collected.documents = replace_outdated(collected.documents)
    collected.drop([one for one in collected.documents if not attempt(collected, partial(check_served, one))])
    repeated = find_repeated(collected.documents)
    told = [pair for pair in repeated if not any(collected.is_unrendered(one.file) for one in (pair.first, pair.last))]
    collected.notes += note_repeated(told)
    collected.drop(pair.first for pair in repeated)
    collected.drop([one for one in collected.documents if not _attempt_object(one, objects, collected)])
    return objects


def _attempt_object(document: Document, objects: Objects, collected: Collected) -> bool:
    """Reads one object; True if that worked. Of one that turns out to be a template that is told."""
    before = len(collected.errors)
    if attempt(collected, partial(read_object, document, objects)):
        return True
    reason = why_template(collected.errors[before].problem) if collected.is_tolerant else ""
    if not reason and collected.is_unrendered(document.file):
        reason = UNPATCHED
    if reason:
        excuse(collected, before, document.place, reason)
    return False


def read_workloads(objects: Objects, collected: Collected) -> tuple[Workload, ...]:
    """The workloads a run begins with, each with the priority that admission gives to its pods."""
    classes = tuple(objects.priority_classes)
    nodes = {node.name for node in objects.nodes}
    standing = standing_workloads(objects)
    if not nodes:
        standing = tuple(_place_anew(one, objects, collected) for one in standing)
    found: list[Workload] = []
    for workload in standing:
        if collected.is_tolerant and workload.bound_to not in (None, *nodes):
            objects.omissions.append(Omission(workload.ref, workload.source, _NO_NODE))
        else:
            attempt(collected, partial(_add_prioritized, workload, classes, nodes, found))
    _drop_lost(collected, standing, found)
    objects.omissions += [omit_class(one) for one in found if is_unknown_class(one, classes)]
    return tuple(found)


def _place_anew(workload: Workload, objects: Objects, collected: Collected) -> Workload:
    """A running pod of an input without any Node objects: nobody knows its node, so it finds one again."""
    if workload.bound_to is None:
        return workload
    for document in collected.documents:
        if reference_of(document) == workload.ref:
            document.mapping.entries.pop("status", None)  # a replay, which has assumed nodes, must not see it either
            spec = document.mapping.get("spec")
            if isinstance(spec, tree.Mapping):
                spec.entries.pop("nodeName", None)
    why = "its node is not in the input: it begins without one, and finds one again"
    objects.omissions.append(Omission(f"place of {workload.ref}", workload.source, why))
    return replace(workload, bound_to=None, template=replace(workload.template, node_name=None))


def _add_prioritized(
    workload: Workload, classes: Sequence[PriorityClass], nodes: set[str], found: list[Workload]
) -> None:
    check_bound(workload, nodes)
    found.append(with_priority(workload, classes))


def leave_out_refused(setup: Setup, objects: Objects, collected: Collected) -> Setup:
    """The setup without Pods that LimitRanges and quotas do not let in."""
    check = partial(check_admitted, setup=setup, ranges=objects.limit_ranges)
    let_in = tuple(one for one in setup.workloads if attempt(collected, partial(check, one)))
    _drop_lost(collected, setup.workloads, let_in)
    return replace(setup, workloads=let_in)


def _drop_lost(collected: Collected, before: Sequence[Workload], after: Sequence[Workload]) -> None:
    """Takes workloads that are refused out of what a replay reads."""
    lost = {one.ref for one in before} - {one.ref for one in after}
    if lost:
        collected.drop([one for one in collected.documents if reference_of(one) in lost])
