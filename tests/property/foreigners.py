"""Random small clusters in which an autoscaler counts pods of other owners: its target's selector matches them, too."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.jobs import label_job_pods
from kubeproof.cluster.kinds import CRON_JOB, DAEMON_SET, DEPLOYMENT, JOB, POD, REPLICA_SET, STATEFUL_SET
from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import FORBID, Container, CronRules, JobRules, PodTemplate, Setup, Workload
from kubeproof.events.declarations import (
    Completes,
    Cordon,
    Delete,
    Drain,
    Event,
    NodeFailure,
    PodCrash,
    Rollout,
    UsagePattern,
)
from kubeproof.manifests.kinds.daemon_sets import daemon_tolerations
from tests.property.events import MOMENTS, scalings
from tests.property.intents import intent_lists
from tests.property.loops import HPA_KEYS, PATTERNS, autoscalers, shorten, usages
from tests.property.strategies import MIB, Case, choice, nodes, selector_for, settings_values

ROOMY = choice(1000, 1000, 400, 250)
MAIN = Container("main", 100, 64 * MIB)
CONTAINERS = choice(
    (MAIN,),
    (MAIN,),
    (Container("main", 50, 64 * MIB),),
    (Container("main", None, 64 * MIB),),
    (Container("main", 100, None),),
    (Container("other", 100, 64 * MIB),),
    (MAIN, Container("log", None, None)),
)
KINDS = choice(DEPLOYMENT, DEPLOYMENT, REPLICA_SET, POD, JOB, JOB, STATEFUL_SET, DAEMON_SET, CRON_JOB)
BATCH = LabelSelector((Requirement("role", "In", ("batch",)),))
HIDDEN = LabelSelector((Requirement("app", "In", ("web",)), Requirement("role", "DoesNotExist")))


@st.composite
def foreigners(draw: st.DrawFn, kind: str) -> Workload:
    """Pods that a selector for `app: web` matches, of an owner of their own."""
    template = PodTemplate((("app", "web"), ("role", "batch")), draw(CONTAINERS), grace_s=draw(choice(0, 0, 30)))
    size = draw(choice(1, 1, 2, 0))
    if kind in (JOB, CRON_JOB):
        rules = JobRules(
            completions=1 if kind == CRON_JOB else draw(choice(1, 1, 2, None)),
            backoff_limit=draw(choice(0, 1)),
            ttl_s=draw(choice(None, None, 0, 60)),
            restarts=draw(st.booleans()),
        )
        cron = CronRules((300,), FORBID) if kind == CRON_JOB else None
        pods = template if kind == CRON_JOB else label_job_pods(template, "batch")
        return Workload(kind, "shop", "batch", pods, 1, job=rules, cron=cron, replicas_given=False)
    if kind == DAEMON_SET:
        template = replace(template, tolerations=daemon_tolerations(()))
    return Workload(kind, "shop", "batch", template, 1 if kind in (POD, DAEMON_SET) else size, BATCH)


def _events(draw: st.DrawFn, target: Workload, foreign: Workload) -> tuple[Event, ...]:
    after = draw(MOMENTS)
    kinds: list[Event | None] = [
        None,
        None,
        Delete(name="delete", target=foreign.ref, after=after),
        PodCrash(name="crash", target=foreign.ref, after=after),
        Cordon(name="cordon", after=after),
        NodeFailure(name="failure", max=1, after=after),
        Drain(name="drain", after=after),
    ]
    if foreign.kind == DEPLOYMENT:
        kinds.append(Rollout(name="rollout", max=1, target=foreign.ref, after=after))
    event = draw(choice(*kinds))
    if foreign.kind in (DEPLOYMENT, REPLICA_SET) and draw(choice(False, False, True)):
        event = draw(scalings(foreign, most=2))
    return () if event is None else (event,)


@st.composite
def foreign_cases(draw: st.DrawFn) -> Case:
    """An autoscaler whose selector matches pods of another owner, with what these use and what happens to them."""
    some = draw(nodes(most=draw(choice(1, 1, 2)), cpu=ROOMY, plain=True))
    selector = draw(choice(*[selector_for("web")] * 5, HIDDEN))
    target = Workload(
        draw(choice(DEPLOYMENT, REPLICA_SET)),
        "shop",
        "web",
        PodTemplate((("app", "web"),), (MAIN,), grace_s=0),
        1,
        selector,
    )
    foreign = draw(foreigners(draw(KINDS)))
    scalers = [draw(autoscalers(target))]
    if foreign.kind in (DEPLOYMENT, REPLICA_SET) and draw(choice(False, False, True)):
        scalers.append(draw(autoscalers(foreign, "rival")))
    workloads = (target, foreign) if draw(st.booleans()) else (foreign, target)
    settings = shorten(draw, draw(settings_values()))
    setup = Setup(some, workloads, settings=settings, autoscalers=tuple(scalers))
    events: list[Event] = [draw(usages(target))] if draw(choice(True, True, False)) else []
    if draw(choice(True, False)):
        events.append(UsagePattern(name="told", resource="cpu", target=foreign.ref, phases=draw(PATTERNS)))
    if foreign.kind in (JOB, CRON_JOB):
        least_s, most_s = draw(choice((10, 10), (0, 0), (60, 60)))
        events.append(Completes(name="runs", target=foreign.ref, least_s=least_s, most_s=most_s))
    events += _events(draw, target, foreign)
    return Case(setup, tuple(events), draw(intent_lists([target, foreign], keys=HPA_KEYS, most=2)))
