"""Which workloads create their missing pods in one step: where nothing can be refused in between."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from kubeproof.cluster.kinds import CRON_JOB, DAEMON_SET, JOB, POD, REPLICA_SET
from kubeproof.cluster.labels import Taint, Toleration
from kubeproof.cluster.objects import SchedulerProfile, Setup
from kubeproof.cluster.steering.policies import DeschedulerPolicy, HorizontalPodAutoscaler
from kubeproof.cluster.steering.quotas import ResourceQuota, Scope
from kubeproof.engine.reference import reach
from kubeproof.events.declarations import (
    Create,
    Drain,
    Event,
    NodeFailure,
    PodCrash,
    Rollout,
    Scale,
    UsageChange,
    ZoneFailure,
)
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import make_plan
from kubeproof.model.reductions.bursts import find_created_at_once
from tests.unit.model.builders import WEB, node, setup, workload

BOTH = frozenset({0, 1})
NOBODY: frozenset[int] = frozenset()
DB = workload(2, name="db")


def shared(hard: int, *, web=None, db=DB, **more: object) -> Setup:
    """web x 2 and db x 2 on two nodes, with a quota for so many pods."""
    whole = setup([node("n1"), node("n2")], web or workload(2), db)
    return replace(whole, quotas=(ResourceQuota("shop", "q", (("pods", hard),)),), **more)


def at_once(whole: Setup, *events: Event, **present: int) -> frozenset[int]:
    return find_created_at_once(whole, events, Counter(present))


def test_pods_that_share_a_quota_are_created_one_by_one_unless_all_of_them_fit() -> None:
    assert at_once(shared(3)) == NOBODY
    assert at_once(shared(4)) == BOTH


def test_who_has_a_quota_to_itself_creates_its_pods_at_once() -> None:
    assert at_once(shared(1, db=workload(2, name="db", namespace="other"))) == BOTH
    assert at_once(shared(1, db=workload(0, kind=POD, name="db", bound_to="n1"))) == BOTH
    assert at_once(shared(1, db=workload(1, kind=CRON_JOB, name="db"))) == BOTH
    assert at_once(shared(1, db=workload(1, kind=JOB, name="db"))) == NOBODY


def test_only_workloads_that_the_tight_quota_means_are_held_up() -> None:
    whole = replace(shared(3), quotas=(ResourceQuota("shop", "q", (("pods", 1),), (Scope("BestEffort"),)),))

    assert at_once(whole) == BOTH


@pytest.mark.parametrize(
    ("room", "events"),
    [
        (4, (PodCrash(name="crash", target=WEB, max=None),)),
        (4, (UsageChange(name="use", resource="cpu", target=WEB, levels=()),)),
        (8, (Drain(name="drain"),)),  # what a drain evicts ends beside what comes instead
        (8, (NodeFailure(name="failure"),)),
        (12, (NodeFailure(name="failure"), Drain(name="drain"))),
        (12, (ZoneFailure(name="zone"),)),  # its nodes one by one
        (8, (Scale(name="scale", target=WEB, replicas=(3,)),)),
        (4, (Scale(name="scale", target="Deployment/shop/other", replicas=(9,)),)),
    ],
)
def test_room_is_counted_for_pods_that_end_as_well(room: int, events: tuple[Event, ...]) -> None:
    assert at_once(shared(room), *events) == BOTH
    assert at_once(shared(room - 1), *events) == NOBODY


@pytest.mark.parametrize(
    "whole",
    [
        shared(99, descheduler=DeschedulerPolicy(())),
        shared(99, profiles=(SchedulerProfile(disabled=frozenset({"TaintToleration"})),)),
        shared(99, web=workload(2, priority=7)),
        shared(99, web=workload(2, node_name="n1")),
        shared(99, web=workload(2, tolerations=(Toleration("", "Exists"),))),
        shared(99, nodes=(node("n1", taints=(Taint("spot", "", "NoExecute"),)), node("n2"))),
    ],
    ids=["descheduler", "plugin-off", "priorities", "named-node", "tolerates-marks", "evicting-taint"],
)
def test_where_pods_may_be_deleted_again_and_again_no_room_is_enough(whole: Setup) -> None:
    assert at_once(whole, NodeFailure(name="failure")) == NOBODY


def test_events_without_a_limit_and_new_kinds_of_events_leave_no_bound() -> None:
    assert at_once(shared(99), NodeFailure(name="failure", max=None)) == NOBODY
    assert at_once(shared(99), Event(name="something new")) == NOBODY


def test_an_autoscaler_may_let_pods_end_at_every_sync_of_a_grace_period() -> None:
    scaled = HorizontalPodAutoscaler("shop", "web", WEB, 1, 3, ())

    assert at_once(shared(14, autoscalers=(scaled,))) == BOTH  # 3 x (1 + 1 + 30 / 15) + 2
    assert at_once(shared(13, autoscalers=(scaled,))) == NOBODY


def test_pods_that_are_there_at_the_start_and_daemons_of_every_node_are_counted() -> None:
    assert find_created_at_once(shared(5), (), {WEB: 1}) == BOTH
    assert find_created_at_once(shared(4), (), {WEB: 1}) == NOBODY
    assert at_once(shared(4, db=workload(0, kind=DAEMON_SET, name="db"))) == BOTH
    assert at_once(shared(3, db=workload(0, kind=DAEMON_SET, name="db"))) == NOBODY


def test_revisions_of_one_deployment_share_its_quota() -> None:
    web = workload(2)
    later = replace(web, kind=REPLICA_SET, name="web-rev2", owner=web.ref, replicas=0)
    rollout = Rollout(name="rollout", target=WEB)

    assert at_once(shared(3, web=web, db=later), rollout) == NOBODY
    assert at_once(shared(12, web=web, db=later), rollout) == BOTH


def test_a_pod_that_an_event_brings_competes_with_the_others() -> None:
    lone = workload(1, kind=POD, name="lone")
    ref = "Pod/shop/lone"

    assert at_once(shared(1, db=lone)) == BOTH
    assert at_once(shared(1, db=lone), Create(name="create", target=ref)) == NOBODY


def test_beside_an_own_controller_pods_that_a_quota_means_are_created_one_by_one() -> None:
    from tests.property.controllers import Flapper, loop_of

    for own, expected in (((), True), ((loop_of(Flapper(WEB, 1, 2)),), False)):
        plan = make_plan(shared(99), own=own)
        assert [one.at_once for one in plan.controllers if hasattr(one, "at_once")] == [expected] * 2


def test_a_pod_that_an_event_brings_is_refused_while_its_quota_is_full() -> None:
    whole = shared(1, web=workload(1), db=workload(1, kind=POD, name="lone"))
    model = IndividualModel(make_plan(whole, (Create(name="create", target="Pod/shop/lone"),)))

    counts = {
        (len(state.unbound[0]) + on_nodes.count(0), len(state.unbound[1]) + on_nodes.count(1))
        for state in reach(model, max_states=500).steps
        for on_nodes in [[pod.workload for one in state.nodes for pod in one.pods]]
    }

    assert counts == {(0, 0), (1, 0), (0, 1)}
