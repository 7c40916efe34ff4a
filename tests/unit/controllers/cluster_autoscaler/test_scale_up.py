"""Growing groups: which pods count, how many nodes they need, and which group gets them.

Upstream: `filterOutSchedulablePodListProcessor`, `BinpackingNodeEstimator.Estimate`, `ScaleUpOrchestrator.ScaleUp`.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from kubeproof.cluster.kinds import DAEMON_SET
from kubeproof.cluster.labels import NO_SCHEDULE, Taint
from kubeproof.cluster.nodes.node_groups import NodeGroup
from kubeproof.cluster.objects import HOSTNAME, ZONE, PodAffinity, PodTerm, SpreadConstraint
from kubeproof.cluster.state import Health, NodeCell, Phase
from kubeproof.controllers.cluster_autoscaler.controller import ClusterAutoscalerController
from kubeproof.controllers.cluster_autoscaler.expanders import Option, Requests, best, waste
from kubeproof.controllers.cluster_autoscaler.round import is_similar
from kubeproof.controllers.cluster_autoscaler.scale_up import balance, by_size
from kubeproof.errors import LimitReached
from kubeproof.events.declarations import CreateNode
from kubeproof.model.plan import make_plan
from tests.property.strategies import selector_for
from tests.unit.controllers.cluster_autoscaler.scenes import GIB, Scene, cluster, machine, pods, running

N1 = machine("n1")


def test_a_pod_that_fits_nowhere_makes_its_group_grow():
    scene = Scene(cluster([N1], [pods("web")]))

    assert scene.does([running((0, 1))], [1]) == {(("provision", "web-new1"),)}


def test_a_pod_that_fits_on_a_node_is_left_to_the_scheduler():
    scene = Scene(cluster([N1], [pods("web", cpu=400)], NodeGroup("web", 1, 3, N1)))

    assert scene.does([running((0, 1))], [1]) == set()


def test_a_pod_that_fits_on_a_node_that_is_coming_asks_for_no_other():
    scene = Scene(cluster([N1], [pods("web")]))
    coming = NodeCell(health=int(Health.ABSENT), least_s=60, most_s=180)

    assert scene.does([running((0, 1)), coming], [1]) == set()
    assert scene.does([running((0, 1)), coming], [2]) == {(("provision", "web-new2"),)}


def test_as_many_nodes_are_asked_for_as_the_pods_need_up_to_the_maximum():
    scene = Scene(cluster([N1], [pods("web")], NodeGroup("web", 0, 3, N1)))

    assert scene.does([running((0, 1))], [2]) == {(("provision", "web-new1"), ("provision", "web-new2"))}
    assert scene.does([running((0, 1))], [5]) == {(("provision", "web-new1"), ("provision", "web-new2"))}


def test_two_pods_that_fit_together_need_one_node():
    scene = Scene(cluster([N1], [pods("web", cpu=500)]))

    assert scene.does([running((0, 2))], [2]) == {(("provision", "web-new1"),)}


def test_pods_that_would_not_fit_a_new_node_either_ask_for_none():
    assert _grows(cluster([N1], [pods("web", cpu=1100)], scales_down=False)) == set()
    assert _grows(cluster([N1], [pods("web", cpu=1000)], scales_down=False), running((0, 1))) != set()


def test_the_template_carries_taints_and_daemon_pods():
    tainted = machine("n1", taints=(Taint("dedicated", "", NO_SCHEDULE),))
    agent = pods("agent", cpu=500, kind=DAEMON_SET)

    assert _grows(cluster([tainted], [pods("web")], scales_down=False)) == set()
    assert _grows(cluster([N1], [pods("web"), agent], scales_down=False), running((1, 1))) == set()


def _grows(setup, first=NodeCell()):
    return Scene(setup).does([first], [1])


def test_expendable_pods_ask_for_nothing():
    assert _grows(cluster([N1], [pods("web", priority=-11)], scales_down=False), running((0, 1))) == set()
    assert _grows(cluster([N1], [pods("web", priority=-10)], scales_down=False), running((0, 1))) == {
        (("provision", "web-new1"),)
    }


def test_a_pod_that_preemption_makes_room_for_asks_for_nothing():
    scene = Scene(cluster([N1], [pods("web")], scales_down=False))
    nominated = running((0, 1), phase=Phase.TERMINATING)._replace(nominated=((0, 1),))

    assert scene.does([nominated], [1]) == set()
    assert scene.does([nominated], [2]) == {(("provision", "web-new1"),)}


def test_the_total_number_of_nodes_is_limited():
    limited = Scene(cluster([N1], [pods("web")], most_nodes=2))

    assert limited.does([running((0, 1))], [2]) == {(("provision", "web-new1"),)}
    assert limited.does([running((0, 1)), running((0, 1))], [1]) == set()


def test_nothing_is_done_while_too_many_nodes_are_not_ready():
    nodes = [machine(f"n{number}") for number in range(1, 9)]
    scene = Scene(cluster(nodes, [pods("web")], NodeGroup("web", 0, 9, N1)))
    out = running((0, 1))._replace(health=int(Health.UNKNOWN))

    assert scene.does([running((0, 1))] * 5 + [out] * 3, [1]) == {(("provision", "web-new1"),)}
    assert scene.does([running((0, 1))] * 4 + [out] * 4, [1]) == set()  # 4 of 8 are more than 45 %, and more than 3


def test_pods_that_shun_each_other_get_a_node_each():
    apart = PodAffinity((PodTerm(HOSTNAME, selector_for("web")),))
    scene = Scene(cluster([N1], [pods("web", cpu=100, pod_anti_affinity=apart)], NodeGroup("web", 0, 3, N1)))

    assert scene.does([running((0, 1))], [2]) == {(("provision", "web-new1"), ("provision", "web-new2"))}


def test_a_spread_over_zones_asks_for_a_node_where_pods_are_missing():
    spread = (SpreadConstraint(ZONE, 1, True, selector_for("web"), min_domains=2),)
    groups = (NodeGroup("a", 0, 3, N1), NodeGroup("b", 0, 3, machine("t", zone="b")))
    setup = cluster([N1], [pods("web", cpu=100, spread=spread)], *groups, expanders=("random",))

    assert Scene(setup).does([running((0, 1))], [1]) == {(("provision", "b-new1"),)}


def test_the_pods_of_a_node_that_is_being_drained_count_as_waiting():
    scene = Scene(cluster([N1, machine("n2")], [pods("web")]))
    leaving = running((0, 1))._replace(cordoned=1, work=5)

    assert scene.does([leaving, running((0, 1))]) == {(("provision", "web-new1"),)}


def test_a_slot_whose_node_is_remembered_by_its_name_is_not_filled_again():
    pinned = pods("db", node_selector=((HOSTNAME, "n1"),))
    setup = cluster([N1], [pods("web"), pinned], NodeGroup("web", 0, 1, N1))

    assert [node.name for node in setup.nodes] == ["n1", "web-new1"]
    assert Scene(setup).does([NodeCell(health=int(Health.ABSENT))], [1]) == {(("provision", "web-new1"),)}


def test_more_names_than_are_modelled_are_a_limit_and_not_a_verdict():
    setup = cluster([N1], [pods("web")], NodeGroup("web", 0, 1, N1))
    pinned = pods("db", node_selector=((HOSTNAME, "n1"),))
    scene = Scene(replace(setup, workloads=(*setup.workloads, pinned)))

    with pytest.raises(LimitReached, match="node group web would need more names than are modelled"):
        scene.does([NodeCell(health=int(Health.ABSENT))], [1])


def test_a_node_that_an_event_brings_is_no_slot_of_its_group():
    setup = cluster([N1, machine("n2")], [pods("web")], NodeGroup("web", 0, 3, N1))
    plan = make_plan(setup, (CreateNode(name="later", node="n2"),))
    (loop,) = [one for one in plan.controllers if isinstance(one, ClusterAutoscalerController)]
    absent = NodeCell(health=int(Health.ABSENT))
    shown = {
        plan.setup.nodes[place.nodes[0]].name: loop.show_node(number, absent)
        for number, place in enumerate(plan.layout.places)
    }

    assert shown == {"n1": "free", "n2": None, "web-new1": "free"}


# -- expanders ------------------------------------------------------------------------------------------

SMALL, LARGE = (
    NodeGroup("small", 0, 5, machine("s", cpu=1000, gib=4)),
    NodeGroup("large", 0, 5, machine("l", cpu=4000, gib=8)),
)
GROUPS = (SMALL, LARGE)
REQUESTS = {0: Requests(500, GIB)}


def _chosen(*chain, options, priorities=()):
    return [GROUPS[option.group].name for option in best(chain, options, GROUPS, REQUESTS, priorities)]


def test_waste_is_the_unused_part_of_cpu_plus_that_of_memory():
    assert waste(Option(0, 2, ((0, 3),)), SMALL, REQUESTS) == Fraction(500, 2000) + Fraction(5, 8)
    assert waste(Option(1, 1, ((0, 3),)), LARGE, REQUESTS) == Fraction(2500, 4000) + Fraction(5, 8)


def test_expanders_choose_as_upstream():
    options = [Option(0, 2, ((0, 3),)), Option(1, 1, ((0, 4),))]

    assert _chosen("random", options=options) == ["small", "large"]
    assert _chosen("least-waste", options=options) == ["small"]
    assert _chosen("most-pods", options=options) == ["large"]
    assert _chosen("least-nodes", options=options) == ["large"]


def test_a_chain_narrows_and_ties_stay_open():
    options = [Option(0, 1, ((0, 2),)), Option(1, 1, ((0, 2),))]

    assert _chosen("most-pods", "least-nodes", options=options) == ["small", "large"]
    assert _chosen("most-pods", "least-waste", options=options) == ["small"]


def test_the_priority_expander_takes_the_highest_match_and_leaves_out_groups_without_one():
    options = [Option(0, 1, ((0, 1),)), Option(1, 1, ((0, 1),))]

    assert _chosen("priority", options=options, priorities=((10, ("lar.*",)), (1, (".*",)))) == ["large"]
    assert _chosen("priority", options=options, priorities=((10, ("^sm",)),)) == ["small"]
    assert _chosen("priority", options=options, priorities=((10, ("none",)),)) == ["small", "large"]


@pytest.mark.parametrize(("version", "chain"), [((1, 32), ("random",)), ((1, 33), ("least-waste",))])
def test_the_default_expander_depends_on_the_version(version, chain):
    autoscaler = cluster([N1], [pods("web")]).cluster_autoscaler

    assert autoscaler.expander_chain(version) == chain


def test_pods_are_packed_by_the_part_of_a_node_that_they_take():
    requests = {0: Requests(100, GIB), 1: Requests(900, 0), 2: Requests(100, 4 * GIB)}

    assert by_size([0, 1, 2], N1, requests) == [2, 1, 0]


# -- balancing ------------------------------------------------------------------------------------------


def test_growth_is_balanced_between_similar_groups_by_always_growing_the_smallest():
    groups = tuple(NodeGroup(name, 0, most, N1) for name, most in (("a", 5), ("b", 5), ("c", 2)))

    assert balance(groups, [3, 1, 1], [0, 1, 2], 3) == {1: 2, 2: 1}
    assert balance(groups, [0, 0, 2], [0, 1, 2], 3) == {0: 2, 1: 1}
    assert balance(groups, [5, 5, 2], [0, 1, 2], 3) == {}


def test_groups_are_similar_that_differ_in_place_and_a_little_in_size():
    assert is_similar(machine("a", zone="a", cpu=1000), machine("b", zone="b", cpu=960))
    assert not is_similar(machine("a", cpu=1000), machine("b", cpu=940))


def test_balancing_shares_a_scale_up():
    groups = (NodeGroup("a", 0, 3, N1), NodeGroup("b", 0, 3, machine("t", zone="b")))
    balances = cluster([N1], [pods("web")], *groups, balances=True, expanders=("random",))
    plain = cluster([N1], [pods("web")], *groups, expanders=("random",))

    assert Scene(balances).does([running((0, 1))], [2]) == {
        (("provision", "a-new1"), ("provision", "b-new1")),
        (("provision", "b-new1"), ("provision", "b-new2")),
    }
    assert Scene(plain).does([running((0, 1))], [2]) == {
        (("provision", "a-new1"), ("provision", "a-new2")),
        (("provision", "b-new1"), ("provision", "b-new2")),
    }
