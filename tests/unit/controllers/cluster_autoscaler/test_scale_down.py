"""Shrinking groups: which nodes are unneeded, what blocks, and when they are deleted.

Upstream: `Checker.FilterOutUnremovable`, `utilization.Calculate`, `RemovalSimulator.SimulateNodeRemoval`,
`drainability/rules`, `Nodes.RemovableAt`, `ScaleDownBudgetProcessor.CropNodes`.
"""

from fractions import Fraction

import pytest

from kubeproof.cluster.kinds import DAEMON_SET, POD
from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler, NodeGroup
from kubeproof.cluster.objects import HOSTNAME, PodAffinity, PodTerm, Setup
from kubeproof.cluster.state import NEVER, Health, NodeCell, Phase
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.cluster_autoscaler.expanders import Requests
from kubeproof.controllers.cluster_autoscaler.scale_down import utilization
from kubeproof.controllers.scheduler.framework import PodCount
from tests.property.strategies import selector_for
from tests.unit.controllers.cluster_autoscaler.scenes import GIB, Scene, cluster, machine, pods, running

N1, N2, N3 = machine("n1"), machine("n2"), machine("n3")
LONG = 600  # seconds that a node has been unneeded
FLAGS = ClusterAutoscaler(())


def spare(cell: NodeCell, seconds: int = LONG) -> NodeCell:
    """A node that has been unneeded for so long."""
    return cell._replace(spare_s=seconds)


def two(workload=None, **more) -> Scene:
    """Two nodes of a group, with pods that take 30 %."""
    return Scene(cluster([N1, N2], [workload or pods("web", cpu=300)], NodeGroup("web", 0, 3, N1), **more))


# -- utilization ----------------------------------------------------------------------------------------


def test_utilization_is_the_larger_part_of_cpu_and_memory_that_is_requested():
    requests = {0: Requests(300, 2 * GIB), 1: Requests(100, 0)}
    setup = Setup((N1,), (pods("web"), pods("agent", kind=DAEMON_SET)))

    def used(*counts, flags=FLAGS):
        return utilization(setup, N1, tuple(PodCount(*one) for one in counts), requests, flags)

    assert used() == 0
    assert used((0, 1, 0)) == Fraction(1, 2)  # 2 of 4 GiB
    assert used((0, 1, 0), (1, 4, 0)) == Fraction(7, 10)  # 300m + 400m of 1000m
    assert used((0, 0, 1)) == Fraction(1, 2)  # a terminating pod still counts
    ignoring = ClusterAutoscaler((), ignores_daemon_sets=True)
    assert used((0, 1, 0), (1, 5, 0), flags=ignoring) == Fraction(300, 500)  # daemon pods leave both sides


def test_a_node_at_the_threshold_is_unneeded_and_one_above_is_not():
    at, above = two(pods("web", cpu=500)), two(pods("web", cpu=501))

    assert (("mark-spare", "n1"),) in at.does([running((0, 1)), running((0, 1))])
    assert above.does([running((0, 1)), running((0, 1))]) == set()


# -- where pods go --------------------------------------------------------------------------------------


def test_of_two_half_empty_nodes_one_is_unneeded_whichever_is_looked_at_first():
    scene = two(pods("web", cpu=500))

    assert scene.does([running((0, 1)), running((0, 1))]) == {(("mark-spare", "n1"),), (("mark-spare", "n2"),)}


def test_nodes_that_were_unneeded_before_are_looked_at_first():
    scene = two(pods("web", cpu=500))

    assert scene.does([spare(running((0, 1)), 30), running((0, 1))]) == set()


def test_empty_nodes_are_looked_at_before_all_others():
    assert two().does([running((0, 1)), NodeCell()]) == {(("mark-spare", "n2"),)}


def test_a_node_whose_pods_fit_nowhere_else_stays():
    apart = PodAffinity((PodTerm(HOSTNAME, selector_for("web")),))

    assert two(pods("web", cpu=300, pod_anti_affinity=apart)).does([running((0, 1)), running((0, 1))]) == set()


def test_a_node_that_is_needed_again_loses_its_time():
    scene = two(pods("web", cpu=300))
    full = running((0, 3))

    assert scene.does([spare(full), full]) == {(("mark-needed", "n1"),)}


# -- blocking rules -------------------------------------------------------------------------------------

BLOCKING = [
    ({"kind": POD}, True),
    ({"kind": POD, "safe_to_evict": True}, False),
    ({"safe_to_evict": False}, True),
    ({"has_local_storage": True}, True),
    ({"has_local_storage": True, "safe_to_evict": True}, False),
    ({"namespace": "kube-system"}, True),
    ({"namespace": "kube-system", "safe_to_evict": True}, False),
    ({}, False),
]


@pytest.mark.parametrize(("fields", "blocks"), BLOCKING)
def test_pods_block_their_node_as_upstream_says(fields, blocks):
    scene = Scene(cluster([N1, machine("n2", zone="b")], [pods("web", cpu=300, **fields)], NodeGroup("web", 0, 3, N1)))

    assert (scene.does([running((0, 1)), NodeCell()]) == set()) is blocks


def test_rules_about_local_storage_and_system_pods_can_be_switched_off():
    stored, system = pods("web", cpu=300, has_local_storage=True), pods("web", cpu=300, namespace="kube-system")
    other = machine("n2", zone="b")
    group = NodeGroup("web", 0, 3, N1)

    assert Scene(cluster([N1, other], [stored], group, skips_local_storage=False)).does([running((0, 1)), NodeCell()])
    assert Scene(cluster([N1, other], [system], group, skips_system_pods=False)).does([running((0, 1)), NodeCell()])


def test_a_system_pod_with_a_budget_does_not_block():
    budget = PodDisruptionBudget("kube-system", "dns", selector_for("web"), max_unavailable=(1, False))
    more = {"budgets": (budget,)}
    system = pods("web", cpu=300, namespace="kube-system")
    scene = Scene(cluster([N1, machine("n2", zone="b")], [system], NodeGroup("web", 0, 3, N1), more=more))

    assert scene.does([running((0, 1)), NodeCell()]) == {(("mark-spare", "n1"),)}


def test_a_used_up_budget_blocks_and_is_charged_for_every_node_of_a_round():
    apart = machine("n4", zone="b")
    nodes, group = [N1, N2, apart], NodeGroup("web", 0, 3, N1)

    def scene(allowed):
        budget = PodDisruptionBudget("shop", "web", selector_for("web"), max_unavailable=(allowed, False))
        return Scene(cluster(nodes, [pods("web", 2, cpu=300)], group, more={"budgets": (budget,)}))

    cells = [running((0, 1)), running((0, 1)), NodeCell()]
    assert scene(0).does(cells) == set()
    assert scene(1).does(cells) == {(("mark-spare", "n1"),), (("mark-spare", "n2"),)}
    assert scene(2).does(cells) == {(("mark-spare", "n1"), ("mark-spare", "n2"))}


def test_daemon_pods_neither_block_nor_move():
    agent = pods("agent", cpu=100, kind=DAEMON_SET)
    scene = Scene(cluster([N1, N2], [agent], NodeGroup("web", 0, 3, N1)))

    assert scene.does([spare(running((0, 1))), spare(running((0, 1)))]) == {(("remove", "n1"), ("remove", "n2"))}


def test_expendable_pods_do_not_keep_a_node_and_go_down_with_it():
    expendable = pods("batch", cpu=900, priority=-11, kind=POD)
    scene = Scene(cluster([N1], [expendable], NodeGroup("web", 0, 3, N1)))

    assert scene.does([spare(running((0, 1)))]) == {(("remove", "n1"),)}


def test_a_node_waits_until_jobs_have_counted_the_pods_that_finished_there():
    counted = spare(NodeCell())
    uncounted = counted._replace(finished=(((0, 1), 1),))

    assert two().does([uncounted, running((0, 3))]) == set()
    assert two().does([counted, running((0, 3))]) == {(("remove", "n1"),)}


def test_nodes_outside_of_groups_and_nodes_that_are_kept_stay():
    apart, kept = machine("n1", zone="b"), machine("n2", keeps=True)
    scene = Scene(cluster([apart, kept], [pods("web")], NodeGroup("web", 0, 3, N1)))

    assert scene.does([NodeCell(), NodeCell()]) == set()


# -- deletion -------------------------------------------------------------------------------------------


def test_an_empty_node_is_deleted_when_it_was_unneeded_for_long_enough():
    assert two().does([spare(NodeCell(), 599), spare(NodeCell(), 599)]) == set()
    assert two().does([spare(NodeCell()), running((0, 3))]) == {(("remove", "n1"),)}


def test_a_node_with_pods_is_drained_one_at_a_time():
    scene = Scene(cluster([N1, N2, machine("n4", zone="b")], [pods("web", cpu=100)], NodeGroup("web", 0, 3, N1)))
    cells = [spare(running((0, 1))), spare(running((0, 1))), NodeCell()]

    assert scene.does(cells) == {(("evacuate", "n1"),), (("evacuate", "n2"),)}
    leaving = running((0, 1))._replace(cordoned=1, work=5, least_s=50, most_s=50)
    assert scene.does([leaving, spare(running((0, 1))), NodeCell()]) == set()


def test_a_group_never_falls_below_its_minimum():
    least = Scene(cluster([N1, N2], [pods("web")], NodeGroup("web", 1, 3, N1)))
    cells = [spare(NodeCell()), spare(NodeCell())]

    assert least.does(cells) == {(("remove", "n1"),), (("remove", "n2"),)}
    assert two().does(cells) == {(("remove", "n1"), ("remove", "n2"))}


def test_nothing_is_deleted_during_a_cool_down_but_unneeded_nodes_are_found():
    cells = [spare(NodeCell()), NodeCell()]

    assert two().does(cells, memory=(0, 0, 30)) == {(("mark-spare", "n2"),)}


def test_nothing_is_deleted_in_a_round_that_asks_for_a_node():
    large = pods("db", cpu=1000)
    scene = Scene(cluster([N1, N2], [pods("web", cpu=300), large], NodeGroup("web", 0, 3, N1)))
    cells = [spare(running((0, 1))), running((0, 2))]

    assert scene.does(cells, [0, 1]) == {(("provision", "web-new1"),)}


def test_scale_down_can_be_switched_off():
    assert two(scales_down=False).does([spare(NodeCell()), NodeCell()]) == set()


def test_a_node_that_is_not_ready_is_deleted_later_and_only_if_that_is_allowed():
    stuck = running((0, 2), phase=Phase.TERMINATING)._replace(health=int(Health.UNKNOWN))
    full = running((0, 3))

    assert two().does([spare(stuck), full]) == set()
    assert two().does([spare(stuck, 1200), full]) == {(("remove", "n1"),)}
    assert two(removes_unready=False).does([spare(stuck, 1200), full]) == {(("mark-needed", "n1"),)}
    assert two(removes_unready=False).does([stuck, full]) == set()


# -- time -----------------------------------------------------------------------------------------------


def test_a_round_that_changes_nothing_is_not_a_step_and_holds_nothing_up():
    scene = two(pods("web", cpu=600))
    seen = scene.seen([running((0, 1)), running((0, 1))], memory=(3, 3, 0))

    assert scene.controller.due(seen) == NEVER
    assert scene.controller.later(seen, 5) == (8, 8, 0)
    assert scene.controller.later(seen, None) == (0, 10, 0)


def test_a_cool_down_holds_time_up_only_if_something_waits_for_its_end():
    scene = two()
    waiting = scene.seen([spare(NodeCell()), running((0, 3))], memory=(3, 3, 40))
    idle = scene.seen([running((0, 3)), running((0, 3))], memory=(3, 3, 40))

    assert scene.controller.due(waiting) == 40
    assert scene.controller.due(idle) == NEVER
    assert scene.controller.later(idle, 15) == (8, 8, 25)


def test_a_due_round_may_happen_from_its_least_and_must_at_its_most():
    scene = Scene(cluster([N1], [pods("web")]))
    roles = [
        [decision.role for decision in scene.controller.act(scene.seen([running((0, 1))], [1], memory))]
        for memory in ((0, 0, 0), (0, 10, 0), (1, 10, 0))
    ]

    assert roles == [[0], [1], []]


def test_a_scale_up_begins_the_cool_down():
    scene = Scene(cluster([N1], [pods("web")], delay_after_add_s=77))

    assert scene.memory_after([running((0, 1))], [1]) == (10, 10, 77)
