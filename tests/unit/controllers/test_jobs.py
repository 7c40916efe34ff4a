"""The loops of Jobs and CronJobs on what they are shown: decisions, clocks, and words."""

from __future__ import annotations

import pytest

from kubeproof.cluster.jobs import COMPLETE, FAILED_FOR_GOOD, FAILURE_TARGET, NONE, REPLACED
from kubeproof.cluster.kinds import CRON_JOB, JOB
from kubeproof.cluster.loops.actions import (
    CreateObject,
    CreatePods,
    DeleteObject,
    DeleteUnbound,
    NodeRef,
    Remember,
    SetCondition,
    TendJob,
)
from kubeproof.cluster.loops.control import Decision, Role, Seen
from kubeproof.cluster.nodes.places import Layout, Place
from kubeproof.cluster.objects import (
    ALLOW,
    FORBID,
    REPLACE,
    Container,
    CronRules,
    JobRules,
    Node,
    PodTemplate,
    Settings,
    Setup,
    Workload,
)
from kubeproof.cluster.state import NEVER, NodeCell, Phase, PodKind
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.controllers.workloads.cronjob import CronJobController, Started
from kubeproof.controllers.workloads.job import JobController, Owned, Spec, first_memory
from kubeproof.errors import LimitReached

POD = PodTemplate(containers=(Container("c", 100),))
READY = (2, 1)  # phase rank and readiness
FRESH = (0, 0, 0, 0, NEVER)


def loop(rules: JobRules, version: tuple[int, int] = (1, 37), quota: int | None = None) -> JobController:
    node = Node("n", cpu_milli=1000, memory_bytes=2**30)
    quotas = () if quota is None else (ResourceQuota("shop", "q", (("pods", quota),)),)
    setup = Setup(
        (node,), (Workload(JOB, "shop", "load", POD, 2, job=rules),), settings=Settings(version), quotas=quotas
    )
    return JobController(Layout(setup, (Place(node, (0,)),), frozenset()), 0, 0)


def seen(
    owned: Owned | None = None,
    memory: tuple[int, ...] = FRESH,
    *,
    unbound: int = 0,
    exists: int = 1,
    parallelism: int = 2,
    condition: int = NONE,
) -> Seen:
    return Seen((Spec(unbound, exists, parallelism, condition),), (((owned, 1),) if owned else (),), (memory,))


def on_node(owned: Owned) -> NodeRef:
    return NodeRef(0, owned)


def test_a_new_job_creates_its_pods() -> None:
    assert loop(JobRules(completions=3)).act(seen()) == (Decision((CreatePods(0, 2),)),)


def test_nothing_to_do_is_no_step() -> None:
    assert loop(JobRules(completions=2)).act(seen(Owned(((READY, 2),)))) == ()


def test_finished_pods_are_counted_on_their_node_and_replaced_after_the_back_off() -> None:
    owned = Owned(((READY, 1),), failed=1)
    counted = (TendJob(on_node(owned), 0), Remember(0, (0, 1, 1, 10, NEVER)))

    assert loop(JobRules(completions=3)).act(seen(owned)) == (Decision(counted),)
    assert loop(JobRules(completions=3)).act(seen(Owned(((READY, 1),)), (0, 1, 1, 10, NEVER))) == ()
    assert loop(JobRules(completions=3)).act(seen(Owned(((READY, 1),)), (0, 1, 1, 0, NEVER))) == (
        Decision((CreatePods(0, 1),)),
    )


def test_before_1_27_the_wait_may_be_cut_short() -> None:
    waiting = seen(Owned(((READY, 1),)), (0, 2, 2, 10, NEVER))

    assert loop(JobRules(completions=3), (1, 26)).act(waiting) == (Decision((CreatePods(0, 1),), Role.OPTIONAL),)


def test_the_last_success_completes_the_job_and_forgets_its_numbers() -> None:
    owned = Owned(succeeded=1)
    done = (TendJob(on_node(owned), 0, succeeded=1), SetCondition(0, COMPLETE), Remember(0, (0, 0, 0, 60, 300)))

    assert loop(JobRules(deadline_s=300, ttl_s=60)).act(seen(owned, (0, 0, 0, 0, 300))) == (Decision(done),)


def test_a_failing_job_deletes_its_pods_and_waits_for_their_end() -> None:
    owned = Owned(((READY, 1),), failed=1)
    failing = (DeleteUnbound(0, 1), TendJob(on_node(owned), 0, (((2,), 1),)), SetCondition(0, FAILURE_TARGET))

    assert loop(JobRules(completions=3, backoff_limit=0)).act(seen(owned, unbound=1)) == (Decision(failing),)
    assert loop(JobRules(backoff_limit=0)).act(seen(Owned(ending=1), condition=FAILURE_TARGET)) == ()
    assert loop(JobRules(backoff_limit=0)).act(seen(condition=FAILURE_TARGET)) == (
        Decision((SetCondition(0, FAILED_FOR_GOOD),)),
    )


def test_a_deleted_job_loses_its_pods_and_its_memory() -> None:
    owned = Owned(((READY, 1),))
    gone = (DeleteUnbound(0, 1), TendJob(on_node(owned), 0, (((2,), 1),)), Remember(0, FRESH))

    assert loop(JobRules()).act(seen(owned, (0, 1, 1, 0, NEVER), unbound=1, exists=0)) == (Decision(gone),)
    assert loop(JobRules()).act(seen(exists=0)) == ()


def test_a_finished_job_is_deleted_after_its_time() -> None:
    ended = seen(memory=(0, 0, 0, 60, NEVER), condition=COMPLETE)
    late = seen(memory=FRESH, condition=COMPLETE)

    assert (loop(JobRules(ttl_s=60)).act(ended), loop(JobRules(ttl_s=60)).due(ended)) == ((), 60)
    assert loop(JobRules(ttl_s=60)).act(late) == (Decision((DeleteObject(0),)),)
    assert (loop(JobRules()).act(late), loop(JobRules()).due(late)) == ((), NEVER)


def test_clocks_of_a_job_that_runs() -> None:
    running = seen(memory=(0, 1, 1, 10, 25))

    assert loop(JobRules(deadline_s=30)).due(running) == 10
    assert loop(JobRules(deadline_s=30)).later(running, 10) == (0, 1, 1, 0, 15)
    assert loop(JobRules(deadline_s=30)).later(running, None) == (0, 1, 1, 10, 25)
    assert loop(JobRules(deadline_s=30)).due(seen(memory=(0, 1, 1, 10, 25), exists=0)) == NEVER
    assert first_memory(JobRules(deadline_s=30, suspended=True)) == FRESH


def test_a_quota_lets_in_what_fits_and_says_so() -> None:
    full, half = loop(JobRules(completions=3), quota=0), loop(JobRules(completions=3), quota=1)

    assert full.act(seen()) == ()
    assert full.refusal(seen()) == (
        "2 pod(s) cannot be created: ResourceQuota q has 0 of 0 pods used, 1 more asked for"
    )
    assert half.act(seen()) == (Decision((CreatePods(0, 1),)),)
    assert half.refusal(seen(exists=0)) == ""


def test_what_a_job_is_shown_of_a_node() -> None:
    pods = (
        (PodKind(0, Phase.STARTING), 1),
        (PodKind(0, Phase.READY, restarts=2), 2),
        (PodKind(0, Phase.TERMINATING), 1),
        (PodKind(1, Phase.READY), 4),
    )
    cell = NodeCell(pods=pods, finished=(((0, 0), 3), ((0, 1), 1), ((1, 1), 5)))

    assert loop(JobRules(restarts=True)).show_node(0, cell) == Owned((((0, 0), 1), (READY, 2)), 1, 4, 3, 1)
    assert loop(JobRules()).show_node(0, cell._replace(finished=())) == Owned((((0, 0), 1), (READY, 2)), 1)
    assert loop(JobRules()).show_node(0, NodeCell()) is None


def test_a_job_says_why() -> None:
    failing = loop(JobRules(backoff_limit=0)).why(seen(Owned(ending=1, failed=1)))

    assert failing[0].startswith("wants 1 completion(s), 0 reached; parallelism 2; 1 failure(s) of 0 forgiven")
    assert failing[1:] == ("it fails: BackoffLimitExceeded", "1 pod(s) still end")
    assert loop(JobRules()).why(seen(exists=0)) == ("the Job is gone",)


# -- CronJobs ---------------------------------------------------------------------------------------


def cron(policy: str, *, gaps: tuple[int, ...] = (300,), suspended: bool = False) -> CronJobController:
    rules = CronRules(gaps, policy, suspended)
    own = Workload(CRON_JOB, "shop", "backup", POD, cron=rules)
    jobs = tuple(Workload(JOB, "shop", f"backup-{n}", POD, owner=own.ref, ordinal=n, cron=rules) for n in (1, 2))
    setup = Setup((Node("n"),), (own, *jobs))
    return CronJobController(Layout(setup, (Place(Node("n"), (0,)),), frozenset()), 0, 9, (1, 2), (5, 6))


def times(until_s: int, *running: int, exists: int = 1, left: tuple[int, ...] = ()) -> Seen:
    jobs = tuple(Started(int(n in running), 0) for n in (1, 2))
    return Seen((Started(exists, 0), *jobs), (((left, 1),) if left else (),), ((until_s,),))


def started(job: int, memory: int) -> tuple[CreateObject, Remember]:
    return CreateObject(job), Remember(memory, FRESH)


def test_a_start_is_an_event_with_every_gap_that_may_follow() -> None:
    assert cron(ALLOW, gaps=(300, 600)).act(times(0)) == (
        Decision((*started(1, 5), Remember(9, (300,))), Role.EVENT),
        Decision((*started(1, 5), Remember(9, (600,))), Role.EVENT),
    )


@pytest.mark.parametrize("shown", [times(60), times(0, exists=0)])
def test_no_start_before_its_time_or_without_the_cron_job(shown: Seen) -> None:
    assert cron(ALLOW).act(shown) == ()
    assert cron(ALLOW, suspended=True).act(times(0)) == ()
    assert cron(ALLOW, gaps=()).act(times(0)) == ()  # a date that never comes


def test_allow_starts_beside_the_earlier_one_in_the_first_free_place() -> None:
    assert cron(ALLOW).act(times(0, 1))[0].actions[0] == CreateObject(2)
    assert cron(ALLOW).act(times(0, left=(1,)))[0].actions[0] == CreateObject(2)  # pods of the first still end


def test_forbid_waits_and_then_starts_late() -> None:
    assert cron(FORBID).act(times(0, 1)) == ()
    assert cron(FORBID).later(times(0, 1), 5) == (NEVER,)
    assert cron(FORBID).later(times(0), 5) == (0,)
    assert cron(FORBID).act(times(NEVER)) == (Decision((*started(1, 5), Remember(9, (0,))), Role.EVENT),)


def test_replace_deletes_the_earlier_one() -> None:
    actions = (DeleteObject(1), SetCondition(1, REPLACED), *started(2, 6), Remember(9, (300,)))

    assert cron(REPLACE).act(times(0, 1)) == (Decision(actions, Role.EVENT),)


def test_more_jobs_than_are_followed_end_the_search() -> None:
    with pytest.raises(LimitReached, match="more than 2 Jobs of CronJob/shop/backup at once"):
        cron(ALLOW).act(times(0, 1, 2))


def test_the_schedule_is_forgotten_at_rest_only() -> None:
    assert (cron(ALLOW).due(times(300)), cron(ALLOW).due(times(0))) == (300, NEVER)
    assert (cron(ALLOW).later(times(300), 100), cron(ALLOW).later(times(NEVER), None)) == ((200,), (0,))
    assert cron(ALLOW).later(times(300, exists=0), 100) == cron(ALLOW).later(times(300, exists=0), None) == (0,)
    assert cron(FORBID).why(times(NEVER, 1)) == ("concurrencyPolicy Forbid, 1 Job(s) of it run; this run was held up",)
