"""The sentences around verdicts: scope, what was found, what to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.footprint import Writes
from kubeproof.cluster.nodes.daemons import nodes_wanted, pods_wanted
from kubeproof.cluster.objects import Setup, Workload
from kubeproof.cluster.running import in_words
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.steering.priorities import has_priorities, priority_of
from kubeproof.engine.stopped import ALL_VIOLATED, INTERRUPTED, StoppedBy
from kubeproof.events.declarations import find_writes_of
from kubeproof.intents.catalogue import entry
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates.asked import list_followed_targets
from kubeproof.manifests.loaded import ASSUMED_NODES, Loaded, Start
from kubeproof.model.plan import Plan
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.words.counted import autoscaler_words, list_unsaid_uses
from kubeproof.verify.words.coverage import join_coverage
from kubeproof.verify.words.events import describe_event

if TYPE_CHECKING:
    from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler
    from kubeproof.verify.proofs.slicing import Slice

SAMPLED_FROM = 100  # nodes from which the real scheduler looks at a part of the cluster only


def overall(results: Sequence[IntentResult]) -> Verdict:
    """The verdict over all intents: a violation outweighs all, then errors, then what stayed open."""
    verdicts = {result.verdict for result in results}
    for verdict in (Verdict.VIOLATED, Verdict.ERROR, Verdict.UNKNOWN):
        if verdict in verdicts:
            return verdict
    return Verdict.VACUOUS if verdicts == {Verdict.VACUOUS} else Verdict.HOLDS


def combine(parts: Sequence[Statistics]) -> Statistics:
    """The statistics of several searches as one; limits that stopped any of them are told."""
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        **join_coverage(parts)._asdict(),
        states=sum(part.states for part in parts),
        start_states=sum(part.start_states for part in parts),
        transitions=sum(part.transitions for part in parts),
        depth=max(part.depth for part in parts),
        elapsed_s=sum(part.elapsed_s for part in parts),
        memo_calls=sum(part.memo_calls for part in parts),
        memo_misses=sum(part.memo_misses for part in parts),
        reductions=tuple(dict.fromkeys(word for part in parts for word in part.reductions)),
        stopped_by=_find_stop(parts),
    )


def _find_stop(parts: Sequence[Statistics]) -> StoppedBy | None:
    """What kept one of several searches from its end: an interrupt, then a limit; all violated only where all are."""
    reasons = [part.stopped_by for part in parts if part.states or part.stopped_by]
    cut = [reason for reason in reasons if reason and reason != ALL_VIOLATED]
    if cut:
        return INTERRUPTED if INTERRUPTED in cut else cut[0]
    return ALL_VIOLATED if reasons and all(reasons) else None


def scope(loaded: Loaded, plan: Plan, statistics: Statistics) -> tuple[tuple[str, str], ...]:
    """What exactly the verdicts are about."""
    setup, scenario = loaded.setup, loaded.scenario
    version = ".".join(str(part) for part in setup.settings.kubernetes_version)
    return (
        ("scenario", f"{scenario.name} (built in)" if scenario.is_default else scenario.name),
        ("kubernetes", version),
        ("nodes", f"{sum(not node.is_slot for node in setup.nodes)} in {_classes(plan)}"),
        *_list_assumed(loaded),
        ("workloads", ", ".join(_workload(setup, i) for i in range(len(setup.workloads))) or "none"),
        *_steering(setup, scenario.intents),
        ("start", _start(scenario.start, setup)),
        ("events", "; ".join(describe_event(event) for event in scenario.events) or "none"),
        ("pod start-up", _startup(setup)),
        *_levels(loaded),
        ("explored", _describe_explored(statistics)),
    )


def _levels(loaded: Loaded) -> Iterator[tuple[str, str]]:
    """The service levels, which are measured along runs."""
    count = len(loaded.scenario.levels)
    if count:
        bounds = sum(intent.of_level for intent in loaded.scenario.intents)
        judged = f"for {bounds} of their services ready pods are held against the peak of the load; " if bounds else ""
        yield "service levels", f"{count}, not judged here: {judged}kubeproof simulate measures them"


def _classes(plan: Plan) -> str:
    if plan.near is None:
        return f"{plan.classes} class(es)"
    return f"{plan.near.classes} class(es), {plan.classes} where small differences of size decide"


def _list_assumed(loaded: Loaded) -> Iterator[tuple[str, str]]:
    """The nodes that no object tells of, and who does."""
    if not (loaded.assumed or loaded.given):
        return
    from kubeproof.manifests.assumed.node_pools import describe

    if loaded.given:
        yield "given nodes", describe(loaded.given)
    else:
        yield ASSUMED_NODES, f"{describe(loaded.assumed)}, as the input has no Node objects; --nodes tells others"


def _start(start: Start, setup: Setup) -> str:
    if start.pods:
        return f"{start.mode}: {in_words(start.pods)}"
    late = [
        workload.ref for workload in setup.workloads if workload.rules.runs_to_completion and workload.owner is None
    ]
    if start.mode != "deployed" or not late:
        return start.mode
    return f"{start.mode}, but {', '.join(late)}: none of their pods was there when the others were placed"


def _startup(setup: Setup) -> str:
    least, most = setup.settings.startup_s
    drawn = ", ".join(f"{seconds} s ({share:g})" for seconds, share in setup.settings.startup_choices)
    return drawn or f"{least} to {most} s"


def describe_reduced_scope(plan: Plan, slices: Sequence[Slice]) -> Iterator[tuple[str, str]]:
    """What was left out because it cannot matter, and the parts that were verified on their own."""
    if plan.unread:
        yield "left out of nodes", f"{', '.join(plan.unread)}: nothing reads them"
    told = [", ".join(part.workloads) for part in slices if part.intents]
    if told:
        yield "slices", f"{len(told)} verified on {'its' if len(told) == 1 else 'their'} own: {'; '.join(told)}"
    if cut := [ref for part in slices if not part.intents for ref in part.workloads]:
        yield "workloads left out", f"{', '.join(cut)}: no intent reads them, and they cannot influence those it reads"


def _steering(setup: Setup, intents: Sequence[Intent]) -> Iterator[tuple[str, str]]:
    """The objects that steer others, where there are any."""
    if setup.autoscalers:
        yield "autoscalers", ", ".join(autoscaler_words(setup))
    if setup.verticals:
        told = [f"{vpa.namespace}/{vpa.name}: {vpa.target}, {vpa.mode}" for vpa in setup.verticals]
        yield "vertical autoscalers", ", ".join(told)
    if has_priorities(setup):
        yield "priorities", ", ".join(f"{w.ref} {priority_of(w.template)}" for w in setup.workloads)
    if setup.budgets:
        yield "budgets", ", ".join(f"{b.namespace}/{b.name}{_covers(setup, b)}" for b in setup.budgets)
    if any(list_followed_targets(intent) for intent in intents):
        lags = setup.settings.endpoints_lag_s, setup.settings.ingress_lag_s
        yield "traffic", f"proxies learn within {lags[0]} s that a pod terminates, an Ingress within {lags[1]} s more"
    if setup.descheduler is not None:
        yield "descheduler", f"every {setup.settings.descheduler_interval_s} s"
    if setup.cluster_autoscaler is not None:
        yield "cluster autoscaler", _groups(setup.cluster_autoscaler)
    if setup.settings.gitops_interval_s is not None:
        settings = setup.settings
        where = f" in {', '.join(settings.gitops_namespaces)}" if settings.gitops_namespaces else ""
        left = ", ".join(dict.fromkeys(ref for ref, _ in settings.gitops_ignored))
        but = f", but for replicas of {left}" if left else ""
        yield "gitops", f"undoes drift from the manifests{where} every {settings.gitops_interval_s} s{but}"


def _groups(autoscaler: ClusterAutoscaler) -> str:
    told = (f"{group.name} {group.least} to {group.most} nodes" for group in autoscaler.groups)
    return f"every {autoscaler.scan_interval_s} s, groups {', '.join(told)}"


def _covers(setup: Setup, budget: PodDisruptionBudget) -> str:
    covered = [
        w.ref
        for w in setup.workloads
        if w.namespace == budget.namespace
        and budget.selector is not None
        and budget.selector.matches(dict(w.template.labels))
    ]
    return f" for {', '.join(covered)}" if covered else " selects no workload"


def _describe_explored(statistics: Statistics) -> str:
    if statistics.stopped_by == ALL_VIOLATED:
        return "until every intent was violated"
    if statistics.stopped_by:
        return f"in part: {describe_stop(statistics)}"
    if not statistics.states:
        return "nothing: what the results were proved from is the same in every interleaving"
    return "every interleaving, exhaustively"


def _workload(setup: Setup, index: int) -> str:
    workload = setup.workloads[index]
    if workload.rules.runs_per_node:
        return f"{workload.ref} on {nodes_wanted(setup, index)} node(s)"
    if workload.rules.runs_to_completion:
        return f"{workload.ref}{_job(workload)}"
    return workload.ref if workload.rules.is_pod else f"{workload.ref} x {workload.replicas}"


def _job(workload: Workload) -> str:
    """How many pods a Job needs, and how many at once; of a CronJob each of its Jobs."""
    needed = "one success" if workload.job.completions is None else f"{workload.job.completions} completion(s)"
    times = f", {workload.cron.policy}" if workload.cron is not None else ""
    paused = ", suspended" if workload.job.suspended or (workload.cron and workload.cron.suspended) else ""
    return f" ({needed}, {workload.replicas} at once{times}{paused})"


def abstractions(loaded: Loaded, plan: Plan) -> tuple[str, ...]:
    """What the model leaves out whatever the input says, as far as it can matter here."""
    notes = []
    if len(plan.setup.nodes) >= SAMPLED_FROM:
        notes.append(
            f"scheduler node sampling: with {SAMPLED_FROM} nodes or more the real scheduler scores a part of the "
            "feasible nodes; here all are scored (percentageOfNodesToScore: 100)"
        )
    if plan.events:
        notes.append("events happen between steps and when a clock runs out, not at moments between two clocks")
    if any(event.empties_nodes for event in plan.declared):
        notes.append("evictions: pods of one workload on one node are evicted together; really request by request")
    if find_writes_of(plan.declared) & (Writes.SIZES | Writes.OBJECTS):
        notes.append("pod ages: on scale-down every order of ages is explored (rules 6 to 8 of victim ranking)")
    if any(plan.mechanics.lives):
        notes.append(
            "pod ages count from the moment a pod gets its node; pods of the start are older than any rule asks for, "
            "and among pods that are older than that any may be the oldest"
        )
    return (*notes, *list_unsaid_uses(plan))


def intent_result(loaded: Loaded, plan: Plan, number: int, verdict: Verdict, statistics: Statistics) -> IntentResult:
    """An intent's result, its trace aside."""
    intent = plan.monitors[number].intent
    pods = sum(pods_wanted(plan.setup, index) for index in range(len(plan.setup.workloads)))
    return IntentResult(
        id=entry(intent.key).id,
        intent=intent.name,
        key=intent.key,
        target=intent.target or "",
        verdict=verdict,
        detail=detail(intent, verdict, statistics),
        nodes=sum(not node.is_slot for node in plan.setup.nodes),
        pods=pods,
        states=statistics.states,
        transitions=statistics.transitions,
        location=intent.source,
        severity=intent.severity,
        stopped_by=statistics.stopped_by if verdict == Verdict.UNKNOWN else None,
    )


def detail(intent: Intent, verdict: Verdict, statistics: Statistics) -> str:
    """One sentence: what was found or proved."""
    said = claim(intent)
    if verdict == Verdict.HOLDS:
        return f"proved for every run: {said}"
    if verdict == Verdict.VIOLATED:
        return f"there is a run in which this fails: {said}"
    if verdict == Verdict.VACUOUS:
        return f"no run ever comes to a state this speaks about: {said}"
    return f"not decided, the search was {describe_stop(statistics)}{_describe_seen(statistics)}: {said}"


def _describe_seen(statistics: Statistics) -> str:
    """What is known all the same."""
    if not statistics.states or not statistics.stopped_by or statistics.is_interrupted:
        return ""
    return f", with no violation in {statistics.states:,} states up to {statistics.depth:,} steps from the start"


def describe_stop(statistics: Statistics) -> str:
    """What became of a search that did not come to its end."""
    return "interrupted" if statistics.is_interrupted else f"stopped by {statistics.stopped_by}"


def claim(intent: Intent) -> str:
    """What the intent says, as a sentence."""
    who = intent.target or "the cluster"
    kind = entry(intent.key)
    when = "at all times" if kind.bounds(intent) else WHEN_WORDS.get(intent.when, "")
    return kind.claim(intent, who, when)


WHEN_WORDS = {
    "always": "at all times once it has reached its desired state",
    "alwaysOnceTrue": "at all times once that was so",
    "stable": "in every stable state",
    "eventually": "at some time",
    "eventuallyAlways": "from some moment on, once events are over",
}
