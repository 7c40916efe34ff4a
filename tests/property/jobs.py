"""Random small clusters with Jobs and CronJobs: pods that end, fail, are evicted, and are replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.jobs import label_job_pods
from kubeproof.cluster.kinds import CRON_JOB, JOB
from kubeproof.cluster.objects import ALLOW, FORBID, REPLACE, CronRules, JobRules, PodTemplate, Setup, Workload
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.events.declarations import Completes, Create, Delete, Drain, Event, PodCrash
from kubeproof.model.plan import Placement
from tests.property.events import MOMENTS, failures
from tests.property.intents import EVERY_KEY, intent_lists
from tests.property.strategies import (
    ANY_TAINTS,
    UNDER_OWNERS,
    Case,
    choice,
    nodes,
    selector_for,
    settings_values,
    templates,
    workload,
)

JOB_KEYS = (*EVERY_KEY, "completes", "completes", "completes", "completes")
RUNS_S = choice((10, 10), (0, 0), (0, 10), (5, 600))


@st.composite
def job_rules(draw: st.DrawFn) -> JobRules:
    """Small numbers, any rules."""
    completions = draw(choice(1, 1, 2, None, 3))
    return JobRules(
        completions=completions,
        indexed=completions is not None and draw(choice(False, False, True)),
        backoff_limit=draw(choice(1, 0, 2)),
        deadline_s=draw(choice(None, None, 30, 0)),
        ttl_s=draw(choice(None, None, 0, 60)),
        suspended=draw(choice(*[False] * 7, True)),
        only_failed=draw(choice(False, False, True)),
        restarts=draw(st.booleans()),
    )


def _job(draw: st.DrawFn, name: str, template: PodTemplate) -> Workload:
    rules, parallelism = draw(job_rules()), draw(choice(1, 1, 2, 0))
    pods = label_job_pods(template, name)
    return Workload(JOB, "shop", name, pods, parallelism, selector_for(name), job=rules, replicas_given=False)


def _runs(draw: st.DrawFn, jobs: Workload) -> Completes:
    least_s, most_s = draw(RUNS_S)
    return Completes(name="runs", target=jobs.ref, least_s=least_s, most_s=most_s)


@st.composite
def job_cases(draw: st.DrawFn) -> Case:
    """A Job, sometimes beside another workload or under a quota, and an event."""
    some = draw(nodes(most=draw(choice(1, 2, 2)), taints=ANY_TAINTS))
    pods = _job(draw, "load", draw(templates("load", affinity=draw(choice(False, False, True)), graces=(0, 0, 30))))
    workloads = [pods]
    if pods.replicas < 2 and len(some) == 1 and draw(choice(False, True)):
        workloads.append(workload(draw(UNDER_OWNERS), "db", draw(templates("db", graces=(0,))), 1))
    quota = ResourceQuota("shop", "q", draw(choice((("pods", 1),), (("count/pods", 2),), (("pods", 0),))))
    quotas = draw(choice((), (), (quota,)))
    setup = Setup(some, tuple(workloads), settings=draw(settings_values()), quotas=quotas)
    placement: Placement = ()
    if draw(choice(False, False, True)):
        placement = ((pods.ref, ((some[0].name, draw(choice(1, 2))),)),)
    events = (_runs(draw, pods), *_job_events(draw, pods))
    return Case(setup, events, draw(intent_lists(workloads, keys=JOB_KEYS)), placement)


def _job_events(draw: st.DrawFn, pods: Workload) -> tuple[Event, ...]:
    after = draw(MOMENTS)
    crashes = PodCrash(name="crash", target=pods.ref, max=draw(choice(1, 2, 3)), after=after)
    event = draw(
        st.one_of(
            st.just(crashes),
            st.just(crashes),
            failures(most=1),
            choice(
                None,
                Drain(name="drain", after=after),
                Delete(name="delete", target=pods.ref, after=after),
                Create(name="create", target=pods.ref, after=after),
            ),
        )
    )
    return () if event is None else (event,)


@st.composite
def cron_cases(draw: st.DrawFn) -> Case:
    """A CronJob of any policy on one or two nodes, with at most one further event."""
    some = draw(nodes(most=draw(choice(1, 1, 2)), plain=True))
    template = draw(templates("backup", graces=(0, 0, 30)))
    policy = draw(choice(FORBID, FORBID, REPLACE, ALLOW))
    gaps = draw(choice((300,), (60,), (300, 600)))
    cron = CronRules(gaps, policy, suspended=draw(choice(*[False] * 9, True)))
    rules = replace(draw(job_rules()), completions=1, indexed=False)
    pods = Workload(CRON_JOB, "shop", "backup", template, 1, job=rules, cron=cron, replicas_given=False)
    setup = Setup(some, (pods,), settings=draw(settings_values()))
    least_s, most_s = draw(choice((10, 10), (0, 0), (100, 100)))
    runs = Completes(name="runs", target=pods.ref, least_s=least_s, most_s=most_s)
    crash = PodCrash(name="crash", target=pods.ref, max=draw(choice(1, 2)), after=draw(MOMENTS))
    delete = Delete(name="delete", target=pods.ref)
    events = draw(choice((), (crash,), (delete,)))
    return Case(setup, (runs, *events), draw(intent_lists([pods], keys=JOB_KEYS, most=2)))


JOB_FAMILIES: dict[str, Callable[[], st.SearchStrategy[Case]]] = {"job": job_cases, "cron": cron_cases}
