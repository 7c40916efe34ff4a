"""StatefulSets: order, ordinals, surplus, partitions and updates, with worked examples."""

from dataclasses import replace

import pytest

from kubeproof.cluster.kinds import STATEFUL_SET
from kubeproof.cluster.loops.actions import CreatePods, DeleteUnbound, KeepNode, NodeRef, SetCurrent
from kubeproof.cluster.loops.control import Decision, Seen
from kubeproof.cluster.objects import StatefulRules, family, revisions_of, short_name
from kubeproof.cluster.state import Phase, WorkloadCell
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.controllers.workloads.stateful_sync import PENDING, Replica, Sync, sync
from kubeproof.controllers.workloads.statefulset import Spec, StatefulSetController
from kubeproof.errors import UsageError
from kubeproof.events.declarations import Rollout, Scale
from kubeproof.model.expansion.ordinals import LABELS, revision_templates, with_ordinals
from kubeproof.model.expansion.revisions import with_revisions
from tests.unit.model.builders import cell, kind, layout, node, setup, workload

NEWEST, BEFORE = (1, 37), (1, 36)
GOOD = Replica(True, is_ready=True, is_available=True)
OLD = Replica(False, is_ready=True, is_available=True)
STARTING = Replica(True, PENDING)
ENDING = GOOD._replace(is_ending=True)
ORDERED, PARALLEL = StatefulRules(), StatefulRules(parallel=True)


@pytest.mark.parametrize(
    ("rules", "replicas", "pods", "expected"),
    [
        (ORDERED, 3, {}, Sync(((0, True),))),
        (PARALLEL, 3, {}, Sync(((0, True), (1, True), (2, True)))),
        (ORDERED, 3, {0: STARTING}, Sync()),
        (ORDERED, 3, {0: GOOD}, Sync(((1, True),))),
        (ORDERED, 3, {0: GOOD, 1: ENDING}, Sync()),
        (PARALLEL, 3, {0: GOOD, 1: ENDING}, Sync(((2, True),))),
        (replace(ORDERED, start=5), 2, {5: GOOD}, Sync(((6, True),))),
        (ORDERED, 1, {0: GOOD, 1: GOOD, 2: GOOD}, Sync((), (2,))),
        (PARALLEL, 1, {0: GOOD, 1: GOOD, 2: GOOD}, Sync((), (2, 1))),
        (ORDERED, 1, {0: GOOD, 1: GOOD, 2: ENDING}, Sync()),
        (ORDERED, 1, {0: GOOD, 1: STARTING, 2: GOOD}, Sync((), (2,))),
        (ORDERED, 1, {0: GOOD, 1: STARTING}, Sync((), (1,))),
    ],
)
def test_ordinals_come_and_go_by_the_policy(rules, replicas, pods, expected):
    assert sync(rules, replicas, pods, NEWEST) == expected


@pytest.mark.parametrize(
    ("rules", "pods", "version", "deleted"),
    [
        (ORDERED, [OLD, OLD, OLD], NEWEST, (2,)),
        (ORDERED, [OLD, OLD, GOOD], NEWEST, (1,)),
        (replace(ORDERED, partition=2), [OLD, OLD, OLD], NEWEST, (2,)),
        (replace(ORDERED, partition=2), [OLD, OLD, GOOD], NEWEST, ()),
        (replace(ORDERED, rolling=False), [OLD, OLD, OLD], NEWEST, ()),
        (replace(ORDERED, max_unavailable=(2, False)), [OLD, OLD, OLD], NEWEST, (2, 1)),
        (replace(ORDERED, max_unavailable=(2, False)), [OLD, OLD, OLD], BEFORE, (2,)),
        (replace(ORDERED, max_unavailable=(34, True)), [OLD, OLD, OLD], NEWEST, (2,)),
        (replace(PARALLEL, max_unavailable=(2, False)), [OLD, OLD, STARTING], NEWEST, (1,)),
        (PARALLEL, [OLD, Replica(False), STARTING], NEWEST, (1,)),
        (PARALLEL, [OLD, Replica(False), STARTING], BEFORE, ()),
    ],
)
def test_updates_go_from_the_top_within_their_limits(rules, pods, version, deleted):
    assert sync(rules, 3, dict(enumerate(pods)), version) == Sync((), deleted)


def test_a_broken_revision_blocks_its_own_rollback():
    broken = Replica(False)  # of the revision that is rolled back, not ready

    assert sync(ORDERED, 2, {0: GOOD, 1: broken}, NEWEST) == Sync()
    assert sync(PARALLEL, 2, {0: GOOD, 1: broken}, NEWEST) == Sync((), (1,))


def test_below_the_partition_the_revision_from_before_the_update_comes_back():
    assert sync(replace(ORDERED, partition=1), 2, {1: GOOD}, NEWEST) == Sync(((0, False),))


# -- ordinals as workloads --------------------------------------------------------------------------


def _whole(replicas=2, rules=ORDERED, events=(), nodes=2):
    main = replace(workload(replicas, kind=STATEFUL_SET), stateful=rules)
    plain = setup([node(f"n{i}") for i in range(1, nodes + 1)], main)
    return with_ordinals(with_revisions(plain, events), events)


def test_every_ordinal_of_every_revision_is_a_workload():
    whole = _whole(events=(Rollout(name="r", target="StatefulSet/shop/web"),))

    assert family(whole, 0) == (0, 1, 2, 3, 4)
    assert revisions_of(whole, 0) == 2
    assert [short_name(whole, index) for index in family(whole, 0)] == ["web", "web-0", "web-1", "web-0", "web-1"]
    assert dict(whole.workloads[2].template.labels)[LABELS[0]] == "web-1"
    assert revision_templates(whole, 0) == [whole.workloads[0].template] * 2


def test_there_are_ordinals_for_the_largest_size_that_is_asked_for():
    scale = Scale(name="s", target="StatefulSet/shop/web", replicas=(4, 1))

    assert len(_whole(events=(scale,)).workloads) == 5


def test_too_many_ordinals_are_refused():
    with pytest.raises(UsageError, match="33 ordinals in all"):
        _whole(33)


# -- the loop ---------------------------------------------------------------------------------------


def _decisions(whole, specs, *cells):
    controller = StatefulSetController(layout(whole), 0)
    workloads = tuple(controller.show_workload(w, s) for w, s in zip(controller.reads.workloads, specs, strict=True))
    views = [controller.show_node(place, one) for place, one in enumerate(cells)]
    shown = tuple(((view, 1),) if view is not None else () for view in views)
    return controller, controller.act(Seen(workloads, shown))


def test_the_first_ordinal_is_created_alone():
    none = WorkloadCell()

    _, found = _decisions(_whole(), [WorkloadCell(desired=2), none, none], cell(), cell())

    assert found == (Decision((CreatePods(1, 1),)),)


def test_two_ordinals_on_one_node_go_in_one_action():
    ready = int(Phase.READY)
    full = cell((kind(ready, of=1), 1), (kind(ready, of=2), 1))
    specs = [WorkloadCell(exists=0), WorkloadCell(), WorkloadCell()]

    controller, found = _decisions(_whole(rules=PARALLEL), specs, full, cell())

    view = controller.show_node(0, full)
    assert found == (Decision((KeepNode(NodeRef(0, view), 0, None, (), ((1, ready, 1), (2, ready, 1))),)),)


def test_an_ordinal_that_waits_is_deleted_where_it_is():
    specs = [WorkloadCell(exists=0), WorkloadCell(unbound=1), WorkloadCell()]

    assert _decisions(_whole(), specs, cell(), cell())[1] == (Decision((DeleteUnbound(1, 1),)),)


def test_a_complete_update_is_noted_where_a_partition_asks_for_it():
    events = (Rollout(name="r", target="StatefulSet/shop/web"),)
    specs = [WorkloadCell(desired=0, template=1), *[WorkloadCell()] * 4]

    found = _decisions(_whole(rules=replace(ORDERED, partition=1), events=events), specs, cell(), cell())[1]

    assert found == (Decision((SetCurrent(0, 1),)),)


def test_it_tells_the_numbers_behind_a_sync():
    controller, _ = _decisions(_whole(), [WorkloadCell(desired=2), WorkloadCell(), WorkloadCell()], cell(), cell())
    seen = Seen((Spec(1, 2, 0, 0), Spec(), Spec()), ((), ()))

    assert controller.why(seen) == ("wants 2 pod(s), 0 ready; OrderedReady",)


def _parallel_under_a_quota(pods, ordinals, version=NEWEST, **more):
    declared = replace(workload(ordinals, kind=STATEFUL_SET, name="db"), stateful=PARALLEL)
    quota = ResourceQuota(declared.namespace, "q", (("pods", pods),))
    whole = setup([node("n")], declared, kubernetes_version=version)
    return StatefulSetController(layout(with_ordinals(replace(whole, quotas=(quota,)), ())), 0, **more)


def test_a_quota_lets_in_as_many_ordinals_as_fit_and_says_so():
    loop = _parallel_under_a_quota(2, 3, at_once=True)
    empty = Seen((Spec(1, 3, 0, 0), Spec(), Spec(), Spec()), ((),))
    full = Seen((Spec(1, 3, 0, 0), Spec(unbound=1), Spec(unbound=1), Spec()), ((),))

    assert loop.act(empty) == (Decision((CreatePods(1, 1),)),)
    assert loop.act(full) == ()
    assert loop.refusal(full) == "1 pod(s) cannot be created: ResourceQuota q has 2 of 2 pods used, 1 more asked for"
    assert loop.refusal(empty) == ""


def test_of_ordinals_that_are_asked_for_together_any_may_get_in_since_1_28():
    first_is_there = Seen((Spec(1, 4, 0, 0), Spec(unbound=1), Spec(), Spec(), Spec()), ((),))
    second_or_third = (Decision((CreatePods(2, 1),)), Decision((CreatePods(3, 1),)))

    assert _parallel_under_a_quota(2, 4).act(first_is_there) == second_or_third
    assert _parallel_under_a_quota(2, 4, (1, 27)).act(first_is_there) == second_or_third[:1]


def test_ordinals_come_at_once_only_if_all_fit_and_nobody_else_takes_their_room():
    empty = Seen((Spec(1, 2, 0, 0), Spec(), Spec()), ((),))
    together = (Decision((CreatePods(1, 1), CreatePods(2, 1))),)

    assert _parallel_under_a_quota(2, 2, at_once=True).act(empty) == together
    assert _parallel_under_a_quota(2, 2).act(empty) == (Decision((CreatePods(1, 1),)),)
