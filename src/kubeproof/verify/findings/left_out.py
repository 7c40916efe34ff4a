"""What the model leaves out of an input, and what holds only if that plays no part."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from kubeproof.cluster.counted import counted_by
from kubeproof.cluster.objects import Setup, revisions_of
from kubeproof.cluster.policies import SAMPLED_METRICS
from kubeproof.cluster.priorities import class_values
from kubeproof.cluster.volumes import ONCE, find_claim
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates import calls_of, targeted, targets_of
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.validation.deciding import EVERYBODY
from kubeproof.model.plan import Plan
from kubeproof.verdicts import Verdict
from kubeproof.verify.findings.late_available import only_delays
from kubeproof.verify.findings.unknown_priorities import decide_nothing
from kubeproof.verify.result import IntentResult, OmittedGroup
from kubeproof.verify.words.counted import finished_under_selectors, untargeted
from kubeproof.verify.words.summary import claim

MOST_TOLD = 2  # things that one verdict names; all of them are listed anyway


class LeftOut(NamedTuple):
    """Something that is not modelled, in words, and the workloads about which it may decide."""

    told: str
    touches: tuple[str, ...] = ()  # patterns of references
    group: str = ""  # what it has in common with others: "field minReadySeconds"
    within: str = ""  # the workload of which it changes but the number of pods, never to more than is declared
    is_metric: bool = False  # that number is between the bounds of an autoscaler
    is_priority: bool = False  # it decides but who goes first, and whose pods make room for others
    late: str = ""  # the workload of which ready pods are available later


def told_omissions(loaded: Loaded) -> list[str]:
    """What reading left out, each with its place; what checks tell of is not told here."""
    return [f"{one.what}: {one.why} ({one.source})" for one in loaded.omissions if not one.is_checked]


def left_out(plan: Plan) -> list[str]:
    """Parts of objects that loops cannot take into account: autoscalers without a target, unknown plugins, ages."""
    return [one.told for one in _by_loops(plan)]


def omitted(loaded: Loaded, plan: Plan | None) -> tuple[OmittedGroup, ...]:
    """All that is not modelled, things of one kind together: what may decide first, then what is most.

    An input without any workload has no plan.
    """
    found: dict[str, list[bool]] = {}
    for omission in loaded.omissions:
        if omission.is_checked:
            continue
        told = omission.group or f"{omission.what}: {omission.why} ({omission.source})"
        found.setdefault(told, []).append(bool(omission.touches))
    for one in () if plan is None else _by_loops(plan):
        found.setdefault(one.group or one.told, []).append(bool(one.touches))
    groups = [OmittedGroup(what, len(decides), any(decides)) for what, decides in found.items()]
    return tuple(sorted(groups, key=lambda group: (not group.may_decide, -group.count, group.what)))


def _by_loops(plan: Plan) -> Iterator[LeftOut]:
    yield from _of_autoscalers(plan)
    yield from _of_workloads(plan)
    yield from _of_quotas(plan)
    yield from _idle_verticals(plan)
    yield from _of_descheduler(plan)


def _of_autoscalers(plan: Plan) -> Iterator[LeftOut]:
    """What decides how many pods there are, and so how much room is left for others."""
    yield from (LeftOut(told) for told in untargeted(plan.setup))
    for one in plan.setup.autoscalers:
        for metric in one.metrics:
            if metric.type not in SAMPLED_METRICS:
                name = f"HorizontalPodAutoscaler {one.namespace}/{one.name}"
                told = f"{metric.type} metric of {name}: not modelled ({one.source})"
                group = f"{metric.type} metrics of autoscalers"
                yield LeftOut(told, _everybody_if(plan, one.target), group, within=one.target, is_metric=True)
    yield from (LeftOut(told, (EVERYBODY,)) for told in finished_under_selectors(plan))


def _everybody_if(plan: Plan, target: str) -> tuple[str, ...]:
    """Everybody if the target is there: its pods take room, or leave it."""
    return (EVERYBODY,) if any(workload.ref == target for workload in plan.setup.workloads) else ()


def _of_workloads(plan: Plan) -> Iterator[LeftOut]:
    setup = plan.setup
    profiles = {profile.name for profile in setup.profiles}
    for number, one in enumerate(setup.workloads):
        if one.owner is not None:
            continue
        scheduler, place = one.template.scheduler_name, one.source
        if one.home is None and scheduler not in profiles:
            told = f"schedulerName {scheduler} of {one.ref}: no such scheduler, its pods get no node ({place})"
            yield LeftOut(told, (EVERYBODY,), within=one.ref)
        if one.min_ready_s:
            told = f"minReadySeconds of {one.ref}: ready pods count as available at once ({place})"
            touches = (one.ref,) if revisions_of(setup, number) > 1 else ()
            yield LeftOut(told, touches, "field minReadySeconds", late=one.ref)
        yield from _attached(setup, number)
        if one.rules.runs_per_node and one.template.claims:
            told = f"claims of {one.ref}: daemon pods see them bound as declared, and give none a volume ({place})"
            yield LeftOut(told, (EVERYBODY,))
        if one.rules.has_ordinals and setup.descheduler is not None:
            yield LeftOut(f"descheduler: pods of {one.ref} count as pods of different owners ({place})", (EVERYBODY,))


def _attached(setup: Setup, number: int) -> Iterator[LeftOut]:
    """Volumes that one node at a time mounts, of workloads that have pods on several at once."""
    one = setup.workloads[number]
    surges = revisions_of(setup, number) > 1 and one.strategy.rolling and one.strategy.surge_of(one.replicas) > 0
    if not one.rules.has_replica_set or not (one.replicas > 1 or surges):
        return
    for name in one.template.claims:
        found = find_claim(setup, one.namespace, name)
        if found is not None and found.modes == (ONCE,):
            told = f"attaching of claim {name} of {one.ref}: taken as mounted by any number of nodes ({one.source})"
            yield LeftOut(told, (one.ref,), "attaching of ReadWriteOnce volumes")


def _of_quotas(plan: Plan) -> Iterator[LeftOut]:
    """Quotas that bare Pods of the input exceed by themselves: they are let in here."""
    if not plan.setup.quotas:
        return
    from kubeproof.controllers.quota import is_meant, usage

    version = plan.setup.settings.kubernetes_version
    pairs = zip(plan.setup.workloads, plan.workloads, strict=True)
    there = [one for one, cell in pairs if one.rules.is_pod and cell.exists]
    for quota in plan.setup.quotas:
        meant = [one for one in there if is_meant(quota, one)]
        used = [usage(one.template, version) for one in meant]
        too_much = any(sum(each.get(name, 0) for each in used) > hard for name, hard in quota.hard)
        if too_much and any(one.bound_to is None for one in meant):
            told = f"ResourceQuota {quota.namespace}/{quota.name}: the Pods of the input exceed it and are let in here"
            yield LeftOut(f"{told} ({quota.source})", (f"*/{quota.namespace}/*",))


def _idle_verticals(plan: Plan) -> Iterator[LeftOut]:
    """Vertical autoscalers that do nothing in the model, and why."""
    if not plan.setup.verticals:
        return
    from kubeproof.cluster.vertical import INITIAL, OFF
    from kubeproof.model.expansion.sizes import why_idle

    declared = tuple(workload for workload in plan.setup.workloads if not workload.resized)
    setup = replace(plan.setup, workloads=declared)
    for vpa in setup.verticals:
        reason = why_idle(setup, vpa, plan.declared) if vpa.mode != OFF else ""
        if reason:
            told = f"VerticalPodAutoscaler {vpa.namespace}/{vpa.name}: {reason} ({vpa.source})"
            yield LeftOut(told, _everybody_if(plan, vpa.target))
        if vpa.mode not in (OFF, INITIAL):
            who = f"VerticalPodAutoscaler {vpa.namespace}/{vpa.name}"
            yield LeftOut(f"containers that run out of memory: {who} never evicts a pod for that here ({vpa.source})")


def _of_descheduler(plan: Plan) -> Iterator[LeftOut]:
    policy = plan.setup.descheduler
    if policy is None:
        return
    from kubeproof.controllers.descheduler import not_modelled

    for what in not_modelled(policy, frozenset(class_values(plan.setup))):
        yield LeftOut(f"descheduler {what}: not modelled ({policy.source})", (EVERYBODY,))


# -- verdicts that rest on it -----------------------------------------------------------------------


def with_caveats(
    loaded: Loaded,
    plan: Plan,
    results: Sequence[IntentResult],
    rest_on: Container[str] | None = None,
    any_size: Container[str] = (),
) -> list[IntentResult]:
    """The results; what holds only if something that is not modelled plays no part is not decided.

    Results that `rest_on` some workloads are proved for any number of pods of the others, up to what these declare, and
    of those with `any_size` for any between the bounds of their autoscalers. They do not depend on who goes first.
    """
    doubts = tuple(_doubts(loaded, plan))
    if rest_on is not None:
        doubts = tuple(one for one in doubts if not one.within or one.within in rest_on)
        doubts = tuple(one for one in doubts if not (one.is_metric and one.within in any_size))
        doubts = tuple(one for one in doubts if not (one.late in rest_on and only_delays(loaded, one.late)))
    if rest_on is not None and any(one.is_priority for one in doubts) and decide_nothing(loaded):
        doubts = tuple(one for one in doubts if not one.is_priority)
    if not doubts:
        return list(results)
    intents = {intent.name: intent for intent in loaded.scenario.intents}
    return [_doubted(plan, intents[one.intent], one, doubts) if one.intent in intents else one for one in results]


def _doubts(loaded: Loaded, plan: Plan) -> Iterator[LeftOut]:
    """What may decide about some workload of the input."""
    targets = {f"HorizontalPodAutoscaler/{one.namespace}/{one.name}": one.target for one in plan.setup.autoscalers}
    found = [
        LeftOut(
            f"{one.what} ({one.source})",
            one.touches,
            within=targets.get(one.owner, one.owner) if one.is_bounded else "",
            is_priority=one.is_priority,
        )
        for one in loaded.omissions
    ]
    refs = {workload.ref for workload in plan.setup.workloads}
    together = tuple(_counted_together(plan.setup))
    for one in (*found, *_by_loops(plan)):
        own = {ref for ref in refs if any(fnmatchcase(ref, pattern) for pattern in one.touches)}
        if own:
            others = {ref for group in together if own & group for ref in group}
            yield one._replace(touches=(*one.touches, *sorted(others - own)))


def own_doubts(loaded: Loaded, ref: str) -> list[str]:
    """What is not modelled of a workload itself and may change what becomes of its pods."""
    own = [one for one in loaded.omissions if one.touches and one.owner == ref]
    if any(one.is_priority for one in own) and decide_nothing(loaded):
        own = [one for one in own if not one.is_priority]
    found = [f"{one.what} ({one.source})" for one in own]
    return found[:MOST_TOLD]


def _counted_together(setup: Setup) -> Iterator[frozenset[str]]:
    """Workloads of which one budget or autoscaler counts the ready pods."""
    for budget in setup.budgets:
        if budget.selector is not None:
            near = [one for one in setup.workloads if one.namespace == budget.namespace]
            yield frozenset(one.ref for one in near if budget.selector.matches(dict(one.template.labels)))
    for one in setup.autoscalers:
        if any(workload.ref == one.target for workload in setup.workloads):
            yield frozenset(setup.workloads[number].ref for number in counted_by(setup, one))


def _doubted(plan: Plan, intent: Intent, result: IntentResult, doubts: Sequence[LeftOut]) -> IntentResult:
    if result.verdict not in (Verdict.HOLDS, Verdict.HOLDS_BOUNDED):
        return result
    refs = _spoken_of(plan, intent)
    told = [one.told for one in doubts if any(fnmatchcase(ref, pattern) for ref in refs for pattern in one.touches)]
    if not told:
        return result
    more = f" and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    detail = f"not decided, it holds if what is not modelled plays no part: {'; '.join(told[:MOST_TOLD])}{more}"
    return replace(result, verdict=Verdict.UNKNOWN, detail=f"{detail}: {claim(intent)}")


def _spoken_of(plan: Plan, intent: Intent) -> set[str]:
    """The workloads that an intent is about; all if it, or a predicate of it, names none."""
    workloads = plan.setup.workloads
    named = {intent.target} if intent.target else set()
    named |= {workloads[number].ref for target in targets_of(intent) for number in targeted(workloads, target)}
    if any(call.text("target") is None for call in calls_of(intent)):
        named = set()
    return {ref for ref in named if ref} or {workload.ref for workload in workloads}
