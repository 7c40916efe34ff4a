"""DaemonSets: where they run, what they do on each node, and updates with worked numbers."""

from dataclasses import replace

import pytest

from kubeproof.cluster.kinds import DAEMON_SET
from kubeproof.cluster.labels import Taint, Toleration
from kubeproof.cluster.loops.actions import Arrive, BindPinned, KeepNode, NodeRef
from kubeproof.cluster.loops.control import Decision, Reads, Seen
from kubeproof.cluster.nodes.daemons import Eligibility, eligibility, nodes_wanted, pods_wanted
from kubeproof.cluster.objects import Strategy
from kubeproof.cluster.state import Phase, WorkloadCell
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.controllers.scheduler.pinned import PinnedScheduler
from kubeproof.controllers.workloads.daemon_nodes import DaemonPod, NodeWork, node_work
from kubeproof.controllers.workloads.daemon_update import Limits, NodePods, Update, limits_of, update
from kubeproof.controllers.workloads.daemonset import PINNED, Asked, DaemonSetController
from kubeproof.manifests.kinds.daemon_sets import daemon_tolerations
from tests.unit.model.builders import READY, TERMINATING, cell, kind, layout, node, setup, workload

ONE_AT_A_TIME = Strategy(True, 0, False, 1, False)
SURGE = Strategy(True, 1, False, 0, False)
HERE, STAYS, GONE = Eligibility(True, True), Eligibility(False, True), Eligibility(False, False)
OLD = DaemonPod("old", False, True, True)
NEW = DaemonPod("new", True, True, True)
NEWEST = (1, 37)


def _daemon(**more):
    declared = workload(0, kind=DAEMON_SET, **more)
    tolerations = daemon_tolerations(declared.template.tolerations)
    return replace(declared, template=replace(declared.template, tolerations=tolerations), strategy=ONE_AT_A_TIME)


def _with_revision(strategy=ONE_AT_A_TIME):
    first = replace(_daemon(), strategy=strategy)
    return first, replace(first, name="web-rev2", owner=first.ref)


def _controller(*nodes, workloads=None, places=()):
    whole = setup(list(nodes) or [node("n1"), node("n2")], *(workloads or (_daemon(),)))
    return DaemonSetController(layout(whole, *places), 0)


def _decisions(controller, spec, *places):
    shown = []
    for place, nodes in enumerate(places):
        views = [(controller.show_node(place, one), count) for one, count in nodes]
        shown.append(tuple((view, count) for view, count in views if view is not None))
    return controller.act(Seen((controller.show_workload(0, spec),), tuple(shown)))


def _under_a_quota(pods, nodes, **more):
    """The decisions of a DaemonSet whose pods a quota charges, with so many equal nodes that have none yet."""
    declared = _daemon()
    quota = ResourceQuota(declared.namespace, "q", (("pods", pods),))
    whole = replace(setup([node(f"n{n}") for n in range(nodes)], declared), quotas=(quota,))
    controller = DaemonSetController(layout(whole, tuple(range(nodes))), 0, **more)
    return controller, _decisions(controller, WorkloadCell(), [(cell(), nodes)])


# -- where ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taints", "expected"),
    [
        ((), HERE),
        ((Taint("a", "", "PreferNoSchedule"),), HERE),
        ((Taint("a", "", "NoSchedule"),), STAYS),
        ((Taint("a", "", "NoExecute"),), GONE),
        ((Taint("node.kubernetes.io/unschedulable", "", "NoSchedule"),), HERE),
        ((Taint("node.kubernetes.io/unreachable", "", "NoExecute"),), HERE),
        ((Taint("node.kubernetes.io/unreachable", "", "NoSchedule"),), STAYS),
    ],
)
def test_taints_decide_where_daemon_pods_run_and_stay(taints, expected):
    assert eligibility(_daemon().template, node("n1"), taints) == expected


def test_a_node_that_is_not_selected_gets_none_and_keeps_none():
    assert eligibility(_daemon(node_selector=(("pool", "a"),)).template, node("n1"), ()) == GONE
    assert eligibility(_daemon(node_name="n2").template, node("n1"), ()) == GONE


def test_the_added_tolerations_replace_those_that_end():
    given = (Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute", 300), Toleration("a", "Exists"))

    tolerations = daemon_tolerations(given, host_network=True)

    assert tolerations[0].seconds is None
    assert [t.key.removeprefix("node.kubernetes.io/") for t in tolerations] == [
        "unreachable", "a", "not-ready", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable",
        "network-unavailable",
    ]  # fmt: skip


def test_it_wants_as_many_pods_as_there_are_suitable_nodes():
    whole = setup([node("n1"), node("n2", taints=(Taint("a"),))], _daemon(), workload(3), workload(1, kind="Pod"))

    assert nodes_wanted(whole, 0) == 1
    assert [pods_wanted(whole, index) for index in range(3)] == [1, 3, 1]


# -- one node ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "pods", "surges", "expected"),
    [
        (HERE, (), False, NodeWork(creates=True)),
        (STAYS, (), False, NodeWork()),
        (HERE, (OLD._replace(is_ending=True),), False, NodeWork()),
        (HERE, (OLD._replace(is_ending=True),), True, NodeWork(creates=True)),
        (HERE, (OLD._replace(is_ending=True, phase="Failed"),), False, NodeWork(creates=True)),
        (STAYS, (OLD,), False, NodeWork()),
        (GONE, (OLD, NEW._replace(is_ending=True)), False, NodeWork(deletes=("old",))),
        (HERE, (OLD._replace(phase="Failed"),), False, NodeWork(deletes=("old",))),
        (HERE, (OLD._replace(rank=(2,)), NEW._replace(rank=(1,))), False, NodeWork(deletes=("old",))),
        (HERE, (OLD, NEW._replace(is_available=False)), True, NodeWork()),
        (HERE, (OLD, NEW), True, NodeWork(deletes=("old",))),
        (HERE, (OLD._replace(is_ready=False), NEW._replace(is_available=False)), True, NodeWork(deletes=("old",))),
    ],
)
def test_a_node_gets_or_loses_what_it_should(where, pods, surges, expected):
    assert node_work(where, pods, surges=surges) == expected


# -- updates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "desired", "expected"),
    [
        (ONE_AT_A_TIME, 5, Limits(0, 1, 5)),
        (Strategy(True, 0, False, 10, True), 5, Limits(0, 1, 5)),
        (Strategy(True, 34, True, 0, False), 3, Limits(2, 0, 3)),
        (Strategy(True, 0, False, 0, False), 3, Limits(0, 1, 3)),
        (Strategy(True, 0, False, 0, False), 0, Limits(0, 0, 0)),
    ],
)
def test_limits_round_up_and_leave_one(strategy, desired, expected):
    assert limits_of(strategy, desired) == expected


def test_one_of_five_equal_nodes_loses_its_old_pod():
    assert update([NodePods(HERE, (OLD,), 5)], ONE_AT_A_TIME, NEWEST) == Update(candidates=(0,), chosen=1)


def test_a_node_whose_pod_still_ends_uses_up_the_limit():
    ending = NodePods(HERE, (OLD._replace(is_ending=True),))

    assert update([NodePods(HERE, (OLD,), 2), ending], ONE_AT_A_TIME, NEWEST).chosen == 0


@pytest.mark.parametrize(("version", "chosen"), [((1, 37), 0), ((1, 26), 1)])
def test_old_unavailable_pods_go_at_once_and_count_since_1_27(version, chosen):
    broken = NodePods(HERE, (OLD._replace(is_available=False),))

    assert update([broken, NodePods(HERE, (OLD,), 3)], ONE_AT_A_TIME, version) == Update((0,), (), (1,), chosen)


def test_a_surge_comes_first_where_the_old_pod_is_unavailable():
    broken, fine = NodePods(HERE, (OLD._replace(is_available=False),)), NodePods(HERE, (OLD,), 3)
    surged = NodePods(HERE, (OLD, NEW._replace(is_available=False)))

    assert update([broken, fine], SURGE, NEWEST) == Update((), (0,), (1,), 1)
    assert update([surged, fine], SURGE, NEWEST).chosen == 0
    assert update([NodePods(HERE, (OLD, NEW)), fine], SURGE, NEWEST) == Update((0,), (), (1,), 1)


def test_pods_on_unsuited_nodes_go_when_enough_others_are_available():
    left, fine = NodePods(STAYS, (OLD,), 2), NodePods(HERE, (NEW,), 3)

    assert update([left, fine], SURGE, NEWEST) == Update(sunset=(0,), removed=2)
    assert update([left, NodePods(HERE, (), 3)], SURGE, NEWEST).removed == 0


def test_on_delete_updates_nothing():
    assert update([NodePods(HERE, (OLD,), 5)], replace(ONE_AT_A_TIME, rolling=False), NEWEST) == Update()


# -- the loop ---------------------------------------------------------------------------------------


def test_it_reads_its_object_and_every_place():
    assert _controller().reads == Reads((0,), (0, 1))
    assert _controller().name == "daemonset web"


def test_one_sync_serves_all_nodes():
    controller = _controller(places=((0, 1),))
    view = controller.show_node(0, cell())

    (decision,) = _decisions(controller, WorkloadCell(), [(cell(), 2)])

    assert decision == Decision((KeepNode(NodeRef(0, view), 0, 0),) * 2)


def test_every_choice_of_nodes_is_followed():
    controller = _controller(workloads=_with_revision())
    ready = cell((READY, 1))
    view = controller.show_node(0, ready)
    lost = ((0, int(Phase.READY), 1),)

    found = _decisions(controller, WorkloadCell(template=1), [(ready, 1)], [(ready, 1)])

    assert found == tuple(Decision((KeepNode(NodeRef(p, view), 0, None, (), lost),)) for p in (1, 0))


def test_an_old_pod_that_waits_is_dropped():
    controller = _controller(node("n1"), workloads=_with_revision())
    waiting = cell()._replace(pinned=((0, 1),))
    view = controller.show_node(0, waiting)

    assert view[1] == (((0, PINNED), 1),)
    assert _decisions(controller, WorkloadCell(template=1), [(waiting, 1)]) == (
        Decision((KeepNode(NodeRef(0, view), 0, None, ((0, 1),), ()),)),
    )


def test_a_deleted_daemon_set_loses_all_its_pods():
    controller = _controller(node("n1"))
    full = cell((READY, 1), (TERMINATING, 1))._replace(pinned=((0, 1),))
    view = controller.show_node(0, full)

    assert _decisions(controller, WorkloadCell(exists=0), [(full, 1)]) == (
        Decision((KeepNode(NodeRef(0, view), 0, None, ((0, 1),), ((0, int(Phase.READY), 1),)),)),
    )


def test_a_template_that_names_its_node_passes_the_scheduler():
    controller = _controller(node("n1"), workloads=(_daemon(node_name="n1"),))
    view = controller.show_node(0, cell())

    assert _decisions(controller, WorkloadCell(), [(cell(), 1)]) == (Decision((Arrive(NodeRef(0, view), 0, 1),)),)


def test_it_tells_the_numbers_behind_a_sync():
    controller = _controller(node("n1"))
    seen = Seen((controller.show_workload(0, WorkloadCell()),), (((controller.show_node(0, cell()), 1),),))

    assert controller.why(seen) == (
        "should run on 1 node(s), has an available pod of this revision on 0; maxUnavailable 1, maxSurge 0",
    )


# -- the scheduler ----------------------------------------------------------------------------------


def _bindings(whole, *cells):
    scheduler = PinnedScheduler(layout(whole), 0)
    shown = tuple(((scheduler.show_node(place, one), 1),) for place, one in enumerate(cells))
    return [
        (a.node.place, a.workload) for d in scheduler.act(Seen((), shown)) for a in d.actions if type(a) is BindPinned
    ]


def test_a_daemon_pod_is_bound_to_its_own_node_only():
    whole = setup([node("n1"), node("n2")], _daemon())

    assert _bindings(whole, cell()._replace(pinned=((0, 1),)), cell()) == [(0, 0)]


def test_a_full_node_keeps_its_daemon_pod_waiting():
    whole = setup([node("n1", cpu=250), node("n2")], _daemon(cpu=200), workload(1, name="db"))
    full = cell((kind(Phase.READY, of=1), 1))._replace(pinned=((0, 1),))

    assert _bindings(whole, full, cell()) == []


def test_a_cordon_does_not_keep_daemon_pods_off():
    whole = setup([node("n1")], _daemon())

    assert _bindings(whole, cell(cordoned=1)._replace(pinned=((0, 1),))) == [(0, 0)]


# -- quotas -----------------------------------------------------------------------------------------


def test_pods_that_all_fit_into_a_quota_of_its_own_come_in_one_step():
    _, (decision,) = _under_a_quota(3, 3, at_once=True)

    assert len(decision.actions) == 3


@pytest.mark.parametrize(("pods", "at_once"), [(2, True), (3, False), (2, False)])
def test_pods_that_may_be_refused_come_one_by_one_on_any_node(pods, at_once):
    _, (decision,) = _under_a_quota(pods, 3, at_once=at_once)

    assert decision.actions == (KeepNode(decision.actions[0].node, 0, creates=0),)


def test_a_full_quota_lets_no_pod_in_and_says_so():
    controller, decisions = _under_a_quota(0, 3)
    view = controller.show_node(0, cell())

    assert decisions == ()
    reason = controller.refusal(Seen((Asked(1, 0),), (((view, 3),),)))
    assert reason == "3 pod(s) cannot be created: ResourceQuota q has 0 of 0 pods used, 1 more asked for"


def test_pods_that_have_to_go_do_so_although_new_ones_are_refused_and_an_update_waits():
    declared = _with_revision()
    quota = ResourceQuota(declared[0].namespace, "q", (("pods", 2),))
    tainted = node("n3", taints=(Taint("a", "", "NoExecute"),))
    whole = replace(setup([node("n1"), node("n2"), tainted], *declared), quotas=(quota,))
    controller = DaemonSetController(layout(whole), 0)
    spec = WorkloadCell(template=1)  # n1 runs an old pod, n2 none, n3 one that has to go

    (decision,) = _decisions(controller, spec, [(cell((READY, 1)), 1)], [(cell(), 1)], [(cell((READY, 1)), 1)])
    waits = _decisions(controller, spec, [(cell((READY, 1)), 1)], [(cell(), 1)], [(cell((TERMINATING, 1)), 1)])

    assert [action.losses for action in decision.actions] == [((0, int(Phase.READY), 1),)]
    assert decision.actions[0].node.place == 2
    assert waits == ()
