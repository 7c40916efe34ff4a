"""Random small clusters in which an autoscaler syncs beside something that waits for hours, days or weeks.

Whatever waits is told apart from a shorter wait by nobody but its own clock; the autoscaler's idle syncs must neither
be steps nor be counted one by one.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.jobs import label_job_pods
from kubeproof.cluster.kinds import CRON_JOB, DEPLOYMENT, JOB
from kubeproof.cluster.labels import NO_EXECUTE, Toleration
from kubeproof.cluster.objects import (
    ALLOW,
    FORBID,
    REPLACE,
    Container,
    CronRules,
    JobRules,
    PodTemplate,
    Setup,
    Workload,
)
from kubeproof.events.declarations import STABLE, Completes, Event, NodeFailure, PodCrash
from tests.property.intents import intent_lists
from tests.property.loops import HPA_KEYS, autoscalers, placements, usages
from tests.property.strategies import (
    CONTROLLED,
    MIB,
    UNREACHABLE,
    Case,
    choice,
    nodes,
    selector_for,
    settings_values,
    workload,
)

HOUR_S, DAY_S = 3600, 24 * 3600
LONG_S = choice(DAY_S, 7 * DAY_S, 200_000, 15 * 10_001, 10 * HOUR_S + 7)
KEYS = ("minReady", "minReplicas", "settles", *HPA_KEYS)


@st.composite
def waiting_cases(draw: st.DrawFn) -> Case:
    """An autoscaler beside a schedule, a deadline, a time to live or a toleration of any length."""
    form = draw(choice("schedule", "schedule", "deadline", "time to live", "toleration"))
    if form == "toleration":
        return draw(tolerating_cases())
    some = draw(nodes(most=1, plain=True, cpu=choice(1000, 400)))
    pods = _scaled(draw, ())
    other, events = _waiting(draw, form)
    setup = Setup(some, (pods, other), settings=_windows(draw), autoscalers=(draw(autoscalers(pods)),))
    placement = draw(placements((pods,), some))
    return Case(setup, (*_usage(draw, pods), *events), draw(intent_lists([pods], keys=KEYS)), placement)


@st.composite
def tolerating_cases(draw: st.DrawFn) -> Case:
    """A node fails under pods that tolerate it for days: those of the autoscaler's target, or of another."""
    tolerates = (Toleration(UNREACHABLE, "Exists", "", NO_EXECUTE, draw(LONG_S)),)
    some = draw(nodes(least=2, most=2, plain=True, may_differ=False))
    is_own = draw(st.booleans())
    pods = replace(_scaled(draw, tolerates if is_own else ()), replicas=1)
    workloads = [pods]
    if not is_own:
        template = PodTemplate((("app", "db"),), (Container("main", 100, 64 * MIB),), tolerations=tolerates, grace_s=0)
        workloads.append(workload(draw(CONTROLLED), "db", template, 1))
    failure = NodeFailure(name="failure", max=1, after=STABLE, recovers=draw(choice(False, False, True)))
    setup = Setup(some, tuple(workloads), settings=_windows(draw), autoscalers=(draw(autoscalers(pods)),))
    intents = draw(intent_lists(workloads, keys=KEYS))
    return Case(setup, (*_usage(draw, pods), failure), intents, draw(placements(workloads, some)))


def _scaled(draw: st.DrawFn, tolerations: tuple[Toleration, ...]) -> Workload:
    template = PodTemplate((("app", "web"),), (Container("main", 100, 64 * MIB),), tolerations=tolerations, grace_s=0)
    return workload(DEPLOYMENT, "web", template, draw(choice(1, 2)))


def _waiting(draw: st.DrawFn, form: str) -> tuple[Workload, tuple[Event, ...]]:
    """A Job or a CronJob that has a long time before it, and what its pods do."""
    template = PodTemplate((("app", "load"),), (Container("main", 100, 64 * MIB),), grace_s=0)
    if form == "schedule":
        cron = CronRules((draw(LONG_S),), draw(choice(FORBID, ALLOW, REPLACE)))
        waiting = Workload(CRON_JOB, "shop", "load", template, 1, job=JobRules(), cron=cron, replicas_given=False)
    else:
        rules = JobRules(deadline_s=draw(LONG_S)) if form == "deadline" else JobRules(ttl_s=draw(LONG_S))
        pods, selector = label_job_pods(template, "load"), selector_for("load")
        waiting = Workload(JOB, "shop", "load", pods, 1, selector, job=rules, replicas_given=False)
    run_s = draw(LONG_S) if form == "deadline" else draw(choice(10, 0))
    runs = Completes(name="runs", target=waiting.ref, least_s=run_s, most_s=run_s)
    crash = PodCrash(name="crash", target=waiting.ref, max=1, after=STABLE)
    return waiting, (runs, crash) if draw(choice(False, False, True)) else (runs,)


def _usage(draw: st.DrawFn, pods: Workload) -> tuple[Event, ...]:
    """At most one change: of two, any number would fit into a day."""
    if not draw(choice(True, True, False)):
        return ()
    return (replace(draw(usages(pods)), max=1),)


def _windows(draw: st.DrawFn):
    """Windows and periods of any length beside the wait, also such that never meet it."""
    flags = replace(draw(settings_values()), startup_s=(1, 1))
    window_s = draw(choice(0, 30, 300, 7 * DAY_S))
    return replace(flags, hpa_period_s=draw(choice(15, 1, 40, 60)), downscale_stabilization_s=window_s)
