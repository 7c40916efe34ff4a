"""Proofs about one workload of a mixed cluster, whatever the others do, without a search of the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kubeproof.cluster.kinds import CRON_JOB, DAEMON_SET, JOB, STATEFUL_SET
from kubeproof.cluster.labels import NO_SCHEDULE, Taint, Toleration
from kubeproof.cluster.loops.footprint import Footprint, Scope, Sizing, Writes
from kubeproof.cluster.objects import (
    ALLOW,
    FORBID,
    REPLACE,
    ZONE,
    CronRules,
    JobRules,
    PodAffinity,
    PodTerm,
    SchedulerProfile,
    Workload,
)
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, ScalingPolicy, ScalingRules
from kubeproof.events.declarations import (
    DELETED,
    STABLE,
    BudgetChange,
    Completes,
    CpuLoad,
    CreateNode,
    Drain,
    Event,
    Maintenance,
    NodeFailure,
    PodCrash,
    Rollout,
    Scale,
    Usage,
    UsageChange,
    ZoneFailure,
    kinds,
)
from kubeproof.intents.declarations import EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import ABSTRACTION, SLICING, VerifyOptions
from kubeproof.verify.proofs.crowd.proving import Input, Memo, Proofs, prove_part
from kubeproof.verify.proofs.crowd.room import Room, _Filling, _most_full, is_counted
from kubeproof.verify.proofs.slicing import cut_by_relations
from kubeproof.verify.run import plan_of, verify
from kubeproof.verify.searching import Watch
from tests.differential.footprints.inputs import events_on
from tests.differential.guards.clusters import budget, cluster, deployment, node, nodes, of, selecting, workload

WEB = deployment("web", 2, 100)
DB = workload("db", 2, 100, kind=STATEFUL_SET)
AGENT = workload("agent", cpu=100, kind=DAEMON_SET)
BATCH = workload("batch", cpu=100, kind=JOB)
OTHERS = (workload("other", 3, 50, kind=STATEFUL_SET), workload("log", cpu=50, kind=DAEMON_SET), BATCH)
ALL = Amount(100, percent=True)
BACK = {"when": EVENTUALLY_ALWAYS, "count": ALL}
DRAIN = Drain(name="drain", after=STABLE, uncordon=True)
LOSS = NodeFailure(name="loss", after=STABLE, recovers=False)


def prove(loaded: Loaded, memo: Memo | None = None) -> list[Proofs]:
    """What is proved of each part."""
    options = VerifyOptions()
    return [
        prove_part(Input(loaded), part, lambda one: plan_of(one, options), options, Watch(), memo)
        for part in cut_by_relations(loaded)
    ]


def proved(loaded: Loaded) -> list[int]:
    """The intents that are proved by some part."""
    return sorted({number for one in prove(loaded) for number in one.unbroken})


def deployed(asked: Intent, one: Workload, *events: Event, others: tuple[Workload, ...] = OTHERS) -> Loaded:
    """A deployed cluster of four roomy nodes."""
    beside = tuple(other for other in others if other.name != one.name)
    return cluster(nodes(4, cpu=4000), (one, *beside), asked, events=events, start="deployed")


@pytest.mark.parametrize(
    ("one", "asked", "events"),
    [
        (WEB, of("minReady", WEB, **BACK), (LOSS,)),
        (WEB, of("minReady", WEB, **BACK), (NodeFailure(name="loss", after=STABLE),)),
        (WEB, of("minReady", WEB, **BACK), (ZoneFailure(name="zone", topology_key="kubernetes.io/hostname"),)),
        (WEB, of("minReady", WEB, **BACK), (DRAIN,)),
        (WEB, of("minReady", WEB, **BACK), (replace(DRAIN, max=4, each_once=True),)),
        (WEB, of("minReady", WEB, **BACK), (Maintenance(name="upgrade", after=STABLE, max=4, each_once=True),)),
        (WEB, of("minReady", WEB, **BACK), (PodCrash(name="crash", target=WEB.ref),)),
        (WEB, of("minReady", WEB, **BACK), (Scale(name="scale", target=WEB.ref, replicas=(3,)),)),
        (WEB, of("minReady", WEB, **BACK), (CreateNode(name="grow", node="n4"),)),
        (WEB, of("rolloutCompletes", WEB), (Rollout(name="rollout", target=WEB.ref),)),
        (WEB, of("drainCompletes"), (DRAIN,)),
        (DB, of("minReady", DB, **BACK), (DRAIN,)),
        (DB, of("rolloutCompletes", DB), (Rollout(name="rollout", target=DB.ref),)),
        (AGENT, of("runsOnEveryNode", AGENT, when=EVENTUALLY_ALWAYS), (LOSS,)),
        (AGENT, of("rolloutCompletes", AGENT), (Rollout(name="rollout", target=AGENT.ref),)),
        (BATCH, of("completes", BATCH), (DRAIN,)),
    ],
)
def test_every_kind_is_proved_to_come_back_after_every_fault(
    one: Workload, asked: Intent, events: tuple[Event, ...]
) -> None:
    assert proved(deployed(asked, one, *events)) == [0]


def test_a_stateful_set_does_not_come_back_from_a_node_that_is_lost_for_good() -> None:
    assert proved(deployed(of("minReady", DB, **BACK), DB, LOSS)) == []


def test_a_pod_that_ends_on_a_dead_node_keeps_others_out_of_its_zone() -> None:
    # Others may fill both nodes of the third zone; the first one has a free node, and a pod that never ends.
    labels = (("app", "web"),)
    apart = PodAffinity((PodTerm(ZONE, selecting(app="web")),))
    web = deployment("web", 2, 200, labels=labels, pod_anti_affinity=apart)
    zoned = tuple(node(f"{zone}{number}", **{ZONE: zone}) for zone in "abc" for number in (1, 2))
    others = (deployment("db", 1, 900), deployment("dc", 1, 900))

    loaded = cluster(zoned, (web, *others), of("minReady", web, **BACK), events=(LOSS,), start="deployed")

    assert proved(loaded) == []
    assert verify(loaded, VerifyOptions(without=(SLICING, ABSTRACTION))).results[0].verdict == Verdict.VIOLATED


def test_pods_that_end_under_a_budget_are_not_counted_beside_an_autoscaler_that_writes_at_any_moment() -> None:
    metric = Metric("Resource", "cpu", "Utilization", 80)
    scaler = HorizontalPodAutoscaler("shop", "web", WEB.ref, 2, 3, (metric,))
    load = CpuLoad(name="load", target=WEB.ref, levels=(40, 120), after=STABLE)
    asked = of("minReady", WEB, count=Amount(1))
    limited = {"autoscalers": (scaler,), "budgets": (budget(most=1, app="web"),)}

    (found,) = prove(cluster(nodes(3, cpu=4000), WEB, asked, events=(DRAIN, load), start="deployed", **limited))

    assert found.unbroken == {0}
    assert found.statistics is not None
    assert found.statistics.stopped_by is None


def test_a_single_pod_is_not_proved_to_be_ready_always() -> None:
    alone = deployment("web", 1, 100)

    assert proved(deployed(of("minReady", alone, count=Amount(1)), alone, DRAIN)) == []
    assert proved(deployed(of("minReady", alone, count=Amount(1)), alone)) == [0]


def test_pods_are_apart_by_the_scheduler_s_own_scores_where_others_do_not_outweigh_them() -> None:
    loaded = deployed(of("minReady", WEB, count=Amount(1)), WEB, LOSS)
    weights = (SchedulerProfile(weights=(("NodeResourcesFit", 90),)),)

    assert proved(loaded) == [0]
    assert proved(replace(loaded, setup=replace(loaded.setup, profiles=weights))) == []


def test_pods_may_share_a_node_where_all_others_may_be_full() -> None:
    # The other workload may fill one node of 1 CPU, and no more of two.
    asked = of("minReady", WEB, count=Amount(1))
    loaded = cluster(nodes(2), (WEB, workload("big", 1, 950)), asked, events=(LOSS,), start="deployed")
    more = replace(loaded, setup=replace(loaded.setup, nodes=nodes(4)))

    assert proved(loaded) == []
    assert proved(more) == [0]


def test_a_budget_of_another_workload_may_keep_a_node_cordoned_for_ever() -> None:
    pinned = deployment("web", 1, 100, node_selector=(("kubernetes.io/hostname", "n1"),))
    loaded = deployed(of("minReady", pinned, **BACK), pinned, DRAIN)
    strict = replace(loaded, setup=replace(loaded.setup, budgets=(budget(most=0, app="other"),)))
    lenient = replace(loaded, setup=replace(loaded.setup, budgets=(budget(most=1, app="other"),)))

    assert proved(loaded) == [0]
    assert proved(strict) == []
    assert proved(lenient) == [0]


def scaled(asked: Intent, *events: Event, most: int = 10, aim: int = 60) -> Loaded:
    """A Deployment of one pod whose autoscaler aims at so much of its requests."""
    one = deployment("web", 1, 100)
    scaler = HorizontalPodAutoscaler("shop", "web", one.ref, 1, most, (Metric("Resource", "cpu", "Utilization", aim),))
    loaded = deployed(asked, one, *events)
    return replace(loaded, setup=replace(loaded.setup, autoscalers=(scaler,)))


ROLLOUT = Rollout(name="rollout", target=WEB.ref)
PEAK = UsageChange(
    name="peak",
    resource="cpu",
    target=WEB.ref,
    levels=(Usage(percent=30), Usage(percent=90)),
    after=STABLE,
    max=2,
)


def test_a_workload_is_complete_after_a_load_peak_whatever_others_do() -> None:
    assert proved(scaled(of("minReady", WEB, **BACK), PEAK)) == [0]
    assert proved(scaled(of("noOscillation", WEB), PEAK)) == [0]
    assert proved(scaled(of("minReady", WEB, count=Amount(1)), PEAK)) == [0]
    assert proved(scaled(of("maxReplicas", WEB, count=Amount(9)), PEAK)) == []
    assert proved(scaled(of("maxReplicas", WEB, count=Amount(10)), PEAK)) == [0]


def test_an_autoscaler_whose_pods_share_a_load_is_not_proved_to_come_to_rest() -> None:
    load = CpuLoad(name="load", target=WEB.ref, levels=(50, 300), after=STABLE)

    assert proved(scaled(of("minReady", WEB, **BACK), load)) == []
    assert proved(scaled(of("minReady", WEB, count=Amount(1)), load)) == [0]


@pytest.mark.parametrize("aim", [50, 60, 30])
def test_a_rollout_completes_beside_an_autoscaler(aim: int) -> None:
    rollout = Rollout(name="rollout", target=WEB.ref, after=STABLE)

    assert proved(scaled(of("rolloutCompletes", WEB), rollout, most=3, aim=aim)) == [0]


def test_an_autoscaler_without_a_window_may_disturb_a_rollout_for_ever() -> None:
    loaded = scaled(of("rolloutCompletes", WEB), Rollout(name="rollout", target=WEB.ref, after=STABLE), most=3)
    hasty = ScalingRules((ScalingPolicy("Percent", 100, 15),), window_s=0)
    scaler = replace(loaded.setup.autoscalers[0], scale_down=hasty)
    slow = replace(loaded.setup.settings, startup_s=(1, 5))

    assert proved(replace(loaded, setup=replace(loaded.setup, autoscalers=(scaler,), settings=slow))) == []


def test_priorities_do_not_matter_where_room_is_never_short() -> None:
    high = replace(AGENT, template=replace(AGENT.template, priority=1000))
    loaded = deployed(of("minReady", WEB, **BACK), WEB, LOSS, others=(high, *OTHERS))
    crowded = replace(loaded, setup=replace(loaded.setup, nodes=nodes(4, cpu=500)))

    assert proved(loaded) == [0]
    assert cut_by_relations(crowded) == ()


def test_who_may_not_be_on_a_node_takes_no_room_of_it() -> None:
    kept = Taint("pool", "own", NO_SCHEDULE)
    own = node("own", 200, pool="own", taints=(kept,))
    asks = {"tolerations": (Toleration("pool", "Exists"),), "node_selector": (("pool", "own"),)}
    guest = workload("guest", cpu=100, **asks)
    named = replace(WEB, template=replace(WEB.template, node_name="own"))
    some = (*nodes(2, cpu=4000), own)

    assert Room(cluster(some, (WEB, guest))).is_never_short
    assert not Room(cluster(some, (named, guest))).is_never_short
    assert not Room(cluster(some[2:], (WEB, replace(guest, replicas=2)))).is_never_short


def test_a_rollout_of_a_daemon_set_that_runs_nowhere_is_not_proved_to_complete() -> None:
    nowhere = workload("agent", kind=DAEMON_SET, node_selector=(("pool", "none"),))
    rollout = Rollout(name="new", target=nowhere.ref)
    asked = (of("rolloutCompletes", nowhere), of("minReady", WEB, count=Amount(1)))
    loaded = cluster(nodes(2, cpu=4000), (nowhere, WEB), *asked, events=(rollout,), start="deployed")

    proofs = prove(loaded)[0]

    assert 0 in proofs.unbroken
    assert 0 not in proofs.intents
    assert verify(loaded, VerifyOptions(reductions=False)).results[0].verdict == Verdict.VACUOUS


def test_parts_that_differ_in_names_and_requests_are_searched_once() -> None:
    three = tuple(deployment(name, 2, cpu) for name, cpu in (("one", 100), ("two", 105), ("three", 110)))
    asked = tuple(of("minReady", each, **BACK) for each in three)
    memo: Memo = {}
    found = prove(cluster(nodes(3, cpu=9000), three, *asked, events=(LOSS,), start="deployed"), memo)

    assert [one.unbroken for one in found] == [{0}, {1}, {2}]
    assert [one.statistics is not None for one in found] == [True, False, False]
    assert len(memo) == 1


def test_what_stands_in_the_way_is_told() -> None:
    cron = workload("cron", cpu=1, kind=CRON_JOB, cron=CronRules((300,), policy=REPLACE))
    found = prove(cluster(nodes(2, cpu=4000), (cron, WEB), of("completes", cron), of("minReady", WEB, **BACK)))

    assert [(one.obstacle, one.unbroken) for one in found] == [
        ("a CronJob starts Jobs without end", frozenset()),
        ("", {1}),
    ]


CRON = workload("cron", cpu=100, kind=CRON_JOB, cron=CronRules((60,)))


@pytest.mark.parametrize("policy", [ALLOW, FORBID])
def test_every_job_of_a_cron_job_completes_however_many_there_are(policy: str) -> None:
    cron = replace(CRON, cron=CronRules((60,), policy=policy), job=JobRules(restarts=True))
    asked = of("completes", cron)
    for events in ((), (NodeFailure(name="fails", after=STABLE, comes_back=True),)):
        assert proved(deployed(asked, cron, *events)) == [0]


@pytest.mark.parametrize(
    ("cron", "events"),
    [
        (replace(CRON, cron=CronRules((60,), policy=REPLACE)), ()),  # a Job may have to make way for the next
        (replace(CRON, job=JobRules(backoff_limit=0)), (Drain(name="drain"),)),  # its only try ends with the node
        (replace(CRON, template=replace(CRON.template, claims=("data",))), ()),  # its Jobs want one volume
        (CRON, (PodCrash(name="crash", target=CRON.ref),)),  # not about nodes alone
        (workload("cron", cpu=5000, kind=CRON_JOB, cron=CronRules((60,))), ()),  # no node has room
    ],
)
def test_a_job_of_a_cron_job_is_not_proved_to_complete(cron: Workload, events: tuple[Event, ...]) -> None:
    assert proved(deployed(of("completes", cron), cron, *events)) == []


def test_jobs_of_a_cron_job_that_a_budget_counts_are_not_followed() -> None:
    asked = of("completes", CRON)

    for app, numbers in (("cron", []), ("web", [0])):
        budgets = (budget(1, app=app),)
        assert proved(cluster(nodes(4, cpu=4000), (CRON, WEB), asked, budgets=budgets, start="deployed")) == numbers


def test_every_event_is_counted_by_proofs_or_keeps_the_input_whole() -> None:
    declared = [*events_on(WEB).values(), Completes(name="done", target=BATCH.ref, least_s=1, most_s=2)]
    declared.append(BudgetChange(name="budget", budget="shop/guard", verb=DELETED))

    assert {type(event) for event in declared} == set(kinds())
    assert {type(event).__name__ for event in declared if not is_counted(event)} == {"BudgetChange", "KernelPanic"}


@pytest.mark.parametrize(
    ("lines", "is_known"),
    [
        ({}, False),
        ({"sizing": Sizing.TOLD}, True),
        ({"sizing": Sizing.TOLD, "concerns_all": "it may hit anybody"}, False),
        ({"sizing": Sizing.TOLD, "writes": Writes.SIZES | Writes.TEMPLATES}, False),
        ({"sizing": Sizing.TOLD, "writes": Writes.SIZES | Writes.TEMPLATES, "reshapes": False}, True),
        ({"sizing": Sizing.TOLD, "writes": Writes.SIZES | Writes.BUDGETS}, False),
    ],
)
def test_a_new_event_is_counted_as_far_as_it_says_what_it_brings(lines: dict[str, Any], is_known: bool) -> None:
    told = {"writes": Writes.SIZES, "concerns_all": "", "takes_pods_of": Scope.WORKLOAD} | lines

    class Rush(Event):
        target = WEB.ref
        footprint = Footprint(**told)

    class Heir(Rush):
        """It does not speak for itself."""

    assert is_counted(Rush(name="rush")) == is_known
    assert not is_counted(Rush(name="rush", max=None))  # type: ignore[arg-type]
    assert not is_counted(Heir(name="heir"))


def test_the_loss_of_a_large_zone_and_an_upgrade_of_all_nodes_are_proved_in_few_states() -> None:
    some = tuple(node(f"n{number}", 4000, **{ZONE: f"z{number % 3}"}) for number in range(30))
    back = of("minReady", WEB, **BACK)
    upgrade = Maintenance(name="upgrade", after=STABLE, max=30, each_once=True)
    for event in (ZoneFailure(name="zone", recovers=False), upgrade):
        (found, *_) = prove(cluster(some, (WEB, *OTHERS), back, events=(event,), start="deployed"))

        assert found.unbroken == {0}
        assert found.statistics is not None
        assert found.statistics.states < 6_000


def following(asked: Intent, *events: Event, bounds: tuple[tuple[int, int], ...] = ((1, 3),)) -> Loaded:
    """A Deployment of one pod with autoscalers that follow metrics which nobody knows."""
    loaded = deployed(asked, deployment("web", 1, 100), *events)
    elsewhere = (Metric("External", "queue", "AverageValue", 5),)
    scalers = tuple(
        HorizontalPodAutoscaler("shop", f"web{number}", WEB.ref, least, most, elsewhere)
        for number, (least, most) in enumerate(bounds)
    )
    return replace(loaded, setup=replace(loaded.setup, autoscalers=scalers))


def test_what_holds_for_every_size_between_the_bounds_is_proved_whatever_a_metric_says() -> None:
    assert proved(following(of("minReady", WEB, **BACK))) == [0]
    assert proved(following(of("minReady", WEB, **BACK), ROLLOUT)) == [0]
    assert proved(following(of("maxReplicas", WEB, count=Amount(2)))) == []


def test_several_autoscalers_that_follow_metrics_of_elsewhere_need_a_size_within_all_bounds() -> None:
    assert proved(following(of("minReady", WEB, **BACK), bounds=((1, 2), (2, 3)))) == [0]
    assert proved(following(of("minReady", WEB, **BACK), bounds=((1, 2), (3, 4)))) == []


def test_equal_pods_together_fill_as_many_nodes_as_one_by_one():
    pods = [({"cpu": 100, "pods": 1}, 3), ({"pods": 1}, 7), ({"cpu": 100, "pods": 1}, 4), ({"cpu": 250, "pods": 1}, 2)]
    filling = _Filling(pods)

    for left in ({"cpu": 149, "pods": 4}, {"cpu": 99}, {}, {"cpu": 149, "pods": 4}):
        assert filling.most_full(left) == _most_full(pods, left)
