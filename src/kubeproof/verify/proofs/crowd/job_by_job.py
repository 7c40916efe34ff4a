"""CronJobs of which every Job lives by itself, so that it is enough to follow one that may start at any moment.

The Jobs of a CronJob meet in three places only: the CronJob starts them, they take each other's room, and they sway the
scheduler's choice. The last two are what Jobs of others do, too. So one Job is followed, which somebody creates at any
moment or never; the others, however many there are, are as much beside it as other workloads.
`docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.jobs import label_job_pods
from kubeproof.cluster.kinds import JOB
from kubeproof.cluster.loops.footprint import ON_NODES, footprint_of
from kubeproof.cluster.objects import REPLACE, PodAffinity, Setup, Workload
from kubeproof.events.declarations import Create, Event
from kubeproof.intents.catalogue import entry
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.proofs.crowd.pod_by_pod import looks_at_pods
from kubeproof.verify.proofs.slicing import Slice

STARTED = "kubeproof-starts"  # the event that creates the Job


def follow_one_job(part: Slice) -> Slice | None:
    """The part with one Job of its CronJob, and what is asked of it; None if its Jobs do not live alone."""
    loaded = part.loaded
    if len(loaded.setup.workloads) != 1 or not _live_alone(loaded):
        return None
    (declared,) = loaded.setup.workloads
    one = _first_job(declared)
    asked = [(number, _ask_job(intent, declared, one)) for number, intent in _list_asked(part)]
    scenario = replace(
        loaded.scenario,
        events=(*loaded.scenario.events, Create(name=STARTED, target=one.ref, max=1)),
        intents=tuple(intent for _, intent in asked),
    )
    followed = replace(loaded, setup=replace(loaded.setup, workloads=(one,)), scenario=scenario)
    return Slice(followed, part.workloads, tuple(number for number, _ in asked))


def _list_asked(part: Slice) -> list[tuple[int, Intent]]:
    """The intents of the part that hold of a CronJob if they hold of each of its Jobs."""
    told = zip(part.intents, part.loaded.scenario.intents, strict=True)
    return [(number, intent) for number, intent in told if entry(intent.key).holds_job_by_job]


def _ask_job(intent: Intent, declared: Workload, one: Workload) -> Intent:
    return replace(intent, target=one.ref) if intent.target == declared.ref else intent


def _first_job(declared: Workload) -> Workload:
    """A Job of the CronJob, without what makes nodes better or worse."""
    name = f"{declared.name}-1"
    template = label_job_pods(declared.template, name)
    plain = replace(
        template, spread=(), pod_affinity=PodAffinity(), pod_anti_affinity=PodAffinity(), preferred_terms=()
    )
    return replace(declared, kind=JOB, name=name, template=plain, cron=None)


def _live_alone(loaded: Loaded) -> bool:
    """True if the Jobs of the one CronJob have nothing to do with each other but room, scores and who starts them."""
    setup, scenario = loaded.setup, loaded.scenario
    (declared,) = setup.workloads
    if declared.cron is None or not declared.rules.starts_jobs or declared.cron.policy == REPLACE:
        return False
    return (
        not looks_at_pods(setup, declared)
        and not _has_budget(setup)
        and not (scenario.start.placement or scenario.start.pods)
        and all(map(_is_about_nodes, scenario.events))
    )


def _has_budget(setup: Setup) -> bool:
    """True if a budget counts its pods: which of them it lets go depends on the other Jobs."""
    if not setup.budgets:
        return False
    from kubeproof.controllers.evictions.budgets import budgets_of  # every plain run comes by here

    return bool(budgets_of(setup, 0))


def _is_about_nodes(event: Event) -> bool:
    """True for what happens to nodes alone, and waits for nothing else that happens."""
    told = footprint_of(event)
    return told.is_moment and not told.writes & ~ON_NODES and not event.awaited
