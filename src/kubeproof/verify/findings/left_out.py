"""What the model leaves out of an input, and what holds only if that plays no part."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from kubeproof.cluster.loops.footprint import Writes
from kubeproof.cluster.objects import Setup, Workload, revisions_of
from kubeproof.cluster.steering.counted import find_counted
from kubeproof.cluster.steering.policies import SAMPLED_METRICS
from kubeproof.cluster.steering.priorities import class_values, has_priorities
from kubeproof.events.declarations import Apply, find_writes_of, is_drain
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates.asked import calls_of, find_targeted, targets_of
from kubeproof.manifests.loaded import Group, Loaded, Sort
from kubeproof.manifests.validation.deciding import EVERYBODY
from kubeproof.model.plan import Plan
from kubeproof.named_tuples import NamedTuple
from kubeproof.verdicts import Verdict
from kubeproof.verify.findings.adopted import adoptions
from kubeproof.verify.findings.attaching import find_attached_at_once
from kubeproof.verify.findings.unknown_priorities import are_equal, decide_nothing
from kubeproof.verify.result import IntentResult, OmittedGroup
from kubeproof.verify.words.counted import list_finished_under_selectors, list_untargeted
from kubeproof.verify.words.summary import claim

_KEPT = {  # what an apply event does not write
    "strategy": "update strategy",
    "min_ready_s": "minReadySeconds",
    "paused": "paused",
    "stateful": "updateStrategy, podManagementPolicy or ordinals",
    "job": "rules of Jobs",
}
MOST_TOLD = 2  # things that one verdict names; all of them are listed anyway


class LeftOut(NamedTuple):
    """Something that is not modelled, in words, and the workloads about which it may decide."""

    told: str
    touches: tuple[str, ...] = ()  # patterns of references
    group: Group | None = None  # what it has in common with others
    within: str = ""  # the workload of which it changes but the number of pods, never to more than is declared
    is_metric: bool = False  # that number is between the bounds of an autoscaler
    is_priority: bool = False  # it decides but who goes first, and whose pods make room for others
    late: str = ""  # the workload of which ready pods are available later


def list_omissions(loaded: Loaded) -> list[str]:
    """What reading left out, each with its place; what checks tell of is not told here."""
    return [f"{one.what}: {one.why} ({one.source})" for one in loaded.omissions if not one.is_checked]


def find_left_out(plan: Plan) -> list[str]:
    """Parts of objects that loops cannot take into account: autoscalers without a target, unknown plugins, ages."""
    return [one.told for one in _by_loops(plan)]


def group_omitted(loaded: Loaded, plan: Plan | None) -> tuple[OmittedGroup, ...]:
    """All that is not modelled, things of one kind together: what may decide first, then what is most.

    An input without any workload has no plan.
    """
    found: dict[Group, list[bool]] = {}
    for omission in loaded.omissions:
        if omission.is_checked:
            continue
        alone = Group(Sort.OTHER, f"{omission.what}: {omission.why} ({omission.source})")
        found.setdefault(omission.group or alone, []).append(bool(omission.touches))
    for one in () if plan is None else _by_loops(plan):
        found.setdefault(one.group or Group(Sort.OTHER, one.told), []).append(bool(one.touches))
    groups = [OmittedGroup(group, len(decides), any(decides)) for group, decides in found.items()]
    return tuple(sorted(groups, key=lambda group: (not group.may_decide, -group.count, str(group.group))))


def _by_loops(plan: Plan) -> Iterator[LeftOut]:
    yield from _of_autoscalers(plan)
    yield from _of_workloads(plan)
    yield from _find_attached(plan)
    yield from _of_applied(plan)
    yield from _find_adopted(plan)
    yield from _of_quotas(plan)
    yield from _idle_verticals(plan)
    yield from _of_descheduler(plan)


def _of_autoscalers(plan: Plan) -> Iterator[LeftOut]:
    """What decides how many pods there are, and so how much room is left for others."""
    yield from (LeftOut(told) for told in list_untargeted(plan.setup))
    for one in plan.setup.autoscalers:
        for metric in one.metrics:
            if metric.type not in SAMPLED_METRICS:
                name = f"HorizontalPodAutoscaler {one.namespace}/{one.name}"
                told = f"{metric.type} metric of {name}: not modelled ({one.source})"
                group = Group(Sort.OTHER, f"{metric.type} metrics of autoscalers")
                yield LeftOut(told, _everybody_if(plan, one.target), group, within=one.target, is_metric=True)
    yield from (LeftOut(told, (EVERYBODY,)) for told in list_finished_under_selectors(plan))


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
        if one.home is None and scheduler not in profiles and not _stays_empty(plan, one):
            told = f"schedulerName {scheduler} of {one.ref}: no such scheduler, its pods get no node ({place})"
            yield LeftOut(told, (EVERYBODY,), within=one.ref)
        if one.min_ready_s:
            told = f"minReadySeconds of {one.ref}: ready pods count as available at once ({place})"
            touches = (one.ref,) if revisions_of(setup, number) > 1 else ()
            yield LeftOut(told, touches, Group(Sort.FIELD, "minReadySeconds"), late=one.ref)
        if one.rules.runs_per_node and one.template.claims:
            told = f"claims of {one.ref}: daemon pods see them bound as declared, and give none a volume ({place})"
            yield LeftOut(told, (EVERYBODY,))
        if one.rules.has_ordinals and setup.descheduler is not None:
            yield LeftOut(f"descheduler: pods of {one.ref} count as pods of different owners ({place})", (EVERYBODY,))


def _stays_empty(plan: Plan, one: Workload) -> bool:
    """True if a workload has no pods, and nobody who writes sizes or objects is there for it."""
    if not one.rules.has_replicas or one.replicas or any(scaler.target == one.ref for scaler in plan.setup.autoscalers):
        return False
    near = [event for event in plan.declared if event.subject in (None, one.ref)]
    return not find_writes_of(near) & (Writes.SIZES | Writes.OBJECTS)


def _find_attached(plan: Plan) -> Iterator[LeftOut]:
    for one, name in find_attached_at_once(plan.setup, plan.declared):
        instead = "strategy {type: Recreate}" if _meets_its_surge(one) else "a claim for each pod, or ReadWriteMany,"
        told = (
            f"attaching of claim {name} of {one.ref}: taken as mounted by any number of nodes, but a pod on a second "
            f"node waits while the first keeps it; {instead} avoids that ({one.source})"
        )
        yield LeftOut(told, (one.ref,), Group(Sort.OTHER, "attaching of ReadWriteOnce volumes"))


def _meets_its_surge(one: Workload) -> bool:
    """True if the pods of a workload meet but in its rollouts."""
    return one.rules.owns_replica_sets and one.strategy.rolling and one.replicas <= 1


def _find_adopted(plan: Plan) -> Iterator[LeftOut]:
    """What a controller claims as its own: there are fewer pods then than both declare."""
    for owner, other in adoptions(plan.setup):
        told = f"{other.ref}: the selector of {owner.ref} matches it, and it is not adopted here ({other.source})"
        yield from (
            LeftOut(told, (EVERYBODY,), Group(Sort.OTHER, "adoption"), within=one.ref) for one in (owner, other)
        )


def _of_applied(plan: Plan) -> Iterator[LeftOut]:
    """Rules of a workload that an event applies otherwise than they were: it goes on by the old ones here."""
    declared = {workload.ref: workload for workload in plan.setup.workloads if workload.owner is None}
    for event in plan.declared:
        if not isinstance(event, Apply) or event.workload.ref not in declared:
            continue
        before, after = declared[event.workload.ref], event.workload
        for field, told in _KEPT.items():
            if getattr(before, field) != getattr(after, field):
                yield LeftOut(f"{told} of {after.ref} as applied: it stays as it was ({after.source})", (EVERYBODY,))


def _of_quotas(plan: Plan) -> Iterator[LeftOut]:
    """Quotas that bare Pods of the input exceed by themselves: they are let in here."""
    if not plan.setup.quotas:
        return
    from kubeproof.controllers.admission.quota import is_meant, usage

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
    from kubeproof.cluster.steering.vertical import INITIAL, OFF
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
        doubts = tuple(one for one in doubts if not (one.late in rest_on and _only_delays(loaded, one.late)))
    if any(one.is_priority for one in doubts) and _are_priorities_idle(loaded, is_proved=rest_on is not None):
        doubts = tuple(one for one in doubts if not one.is_priority)
    if not doubts:
        return list(results)
    intents = {intent.name: intent for intent in loaded.scenario.intents}
    return [_doubt(plan, intents[one.intent], one, doubts) if one.intent in intents else one for one in results]


def _are_priorities_idle(loaded: Loaded, *, is_proved: bool) -> bool:
    """True if unknown priorities play no part; what is proved does not depend on who goes first."""
    return are_equal(loaded) or (is_proved and decide_nothing(loaded))


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
        if not one.is_restart or _may_crash(loaded, one.owner)
    ]
    refs = {workload.ref for workload in plan.setup.workloads}
    together, guarding = tuple(_find_counted_together(plan.setup)), _guarding(loaded, plan.setup)
    for one in (*found, *_by_loops(plan)):
        own = {ref for ref in refs if any(fnmatchcase(ref, pattern) for pattern in one.touches)}
        if own:
            others = {ref for group in together if own & group for ref in group}
            yield one._replace(touches=(*one.touches, *sorted(others - own)))
            if not one.late and EVERYBODY not in one.touches:
                yield from (one._replace(touches=(EVERYBODY,), within=ref) for ref in sorted(own & guarding))


def _may_crash(loaded: Loaded, ref: str) -> bool:
    """True if a container of the workload's pods may exit."""
    crashes = [event for event in loaded.scenario.events if find_writes_of((event,)) & Writes.CRASHES]
    return any(event.subject in (None, ref) for event in crashes)


def _guarding(loaded: Loaded, setup: Setup) -> frozenset[str]:
    """The workloads of which the ready pods decide about others: a budget may keep them on a node that is drained.

    Nobody uncordons the node before, so that others may miss it. And pods that preempt spare what a budget guards.
    """
    if not (any(map(is_drain, loaded.scenario.events)) or has_priorities(setup)):
        return frozenset()
    from kubeproof.controllers.evictions.budgets import budgets_of

    return frozenset(one.ref for n, one in enumerate(setup.workloads) if one.owner is None and budgets_of(setup, n))


def own_doubts(loaded: Loaded, ref: str) -> list[str]:
    """What is not modelled of a workload itself and may change what becomes of its pods."""
    own = [one for one in loaded.omissions if one.touches and one.owner == ref and not one.is_restart]
    if any(one.is_priority for one in own) and _are_priorities_idle(loaded, is_proved=True):
        own = [one for one in own if not one.is_priority]
    found = [f"{one.what} ({one.source})" for one in own]
    served = {profile.name for profile in loaded.setup.profiles}
    waiting = [one for one in loaded.setup.workloads if one.ref == ref and one.template.scheduler_name not in served]
    found += [f"another scheduler may serve {one.template.scheduler_name} ({one.source})" for one in waiting]
    return found[:MOST_TOLD]


def _find_counted_together(setup: Setup) -> Iterator[frozenset[str]]:
    """Workloads of which one budget or autoscaler counts the ready pods."""
    for budget in setup.budgets:
        if budget.selector is not None:
            near = [one for one in setup.workloads if one.namespace == budget.namespace]
            yield frozenset(one.ref for one in near if budget.selector.matches(dict(one.template.labels)))
    for one in setup.autoscalers:
        if any(workload.ref == one.target for workload in setup.workloads):
            yield frozenset(setup.workloads[number].ref for number in find_counted(setup, one))


def _doubt(plan: Plan, intent: Intent, result: IntentResult, doubts: Sequence[LeftOut]) -> IntentResult:
    if result.verdict not in (Verdict.HOLDS, Verdict.HOLDS_BOUNDED):
        return result
    refs = _find_subjects(plan, intent)
    found = (one.told for one in doubts if any(fnmatchcase(ref, pattern) for ref in refs for pattern in one.touches))
    told = list(dict.fromkeys(found))
    if not told:
        return result
    more = f" and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    detail = f"not decided, it holds if what is not modelled plays no part: {'; '.join(told[:MOST_TOLD])}{more}"
    return replace(result, verdict=Verdict.UNKNOWN, detail=f"{detail}: {claim(intent)}")


def _find_subjects(plan: Plan, intent: Intent) -> set[str]:
    """The workloads that an intent is about; all if it, or a predicate of it, names none."""
    workloads = plan.setup.workloads
    named = {intent.target} if intent.target else set()
    named |= {workloads[number].ref for target in targets_of(intent) for number in find_targeted(workloads, target)}
    if any(call.text("target") is None for call in calls_of(intent)):
        named = set()
    return {ref for ref in named if ref} or {workload.ref for workload in workloads}


def _only_delays(loaded: Loaded, ref: str) -> bool:
    from kubeproof.verify.findings.late_available import only_delays

    return only_delays(loaded, ref)
