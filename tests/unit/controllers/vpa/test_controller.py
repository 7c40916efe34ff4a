"""The vertical pod autoscaler as a loop: what it recommends, whom it evicts, and what a ReplicaSet then creates."""

from dataclasses import replace

import pytest

from kubeproof.cluster.kinds import DAEMON_SET
from kubeproof.cluster.loops.actions import CreatePods, DeleteUnbound, EvictPods, KeepNode, Remember
from kubeproof.cluster.loops.control import Role, Seen
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.state import NEVER, NodeCell, Phase, PodKind, WorkloadCell
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.steering.vertical import ContainerPolicy, VerticalPodAutoscaler, is_resized, sizes_of
from kubeproof.cluster.usage import CPU, Level, UsageRule
from kubeproof.controllers.vpa.controller import VpaController
from kubeproof.controllers.workloads.resized_replicaset import ResizedReplicaSet
from kubeproof.errors import UsageError
from kubeproof.events.declarations import CpuLoad, Rollout, Scale, Usage, UsageChange
from kubeproof.model.expansion.sizes import why_idle, with_sizes
from kubeproof.model.expansion.used import usage_rules
from kubeproof.model.plan import make_plan
from tests.property.strategies import selector_for
from tests.unit.model.builders import WEB, layout, node, setup, workload

ONLY_CPU = (ContainerPolicy(controlled=("cpu",)),)
LEVELS = UsageChange(
    name="cpu", resource="cpu", target=WEB, levels=(Usage(amount_milli=50), Usage(amount_milli=400)), max=None
)


def sized(replicas: int = 2, *, mode: str = "Recreate", least: int = 2, budgets=(), events=(LEVELS,)) -> Setup:
    """Pods of 100m that use 50m or 400m."""
    plain = setup([node("n1"), node("n2")], workload(replicas, cpu=100))
    vpa = VerticalPodAutoscaler("shop", "web", WEB, mode, ONLY_CPU, least)
    whole = replace(plain, verticals=(vpa,), budgets=budgets)
    return with_sizes(whole, events, usage_rules(whole, events))


def loop(whole: Setup) -> VpaController:
    rules = (UsageRule(CPU, 0, (Level(None, 50), Level(None, 400)), 0),)
    return VpaController(layout(whole), whole.verticals[0], 0, 1, rules)


def cell(*counts: tuple[int, int, int]) -> NodeCell:
    """A node with so many pods of each workload in a phase."""
    return NodeCell(pods=tuple((PodKind(number, int(phase)), pods) for number, phase, pods in counts))


def seen(controller, cells, memory, level=None, unbound=(0, 0, 0), desired=2):
    both = [*cells, NodeCell(), NodeCell()][:2]
    shown = tuple(controller.show_node(place, one) for place, one in enumerate(both))
    workloads = tuple(
        controller.show_workload(
            w, WorkloadCell(desired=desired if w == 0 else 0, replicas=desired, unbound=unbound[w])
        )
        for w in controller.reads.workloads
    )
    memories = (memory,) if level is None else (memory, (level, -1))
    return Seen(workloads, tuple(((view, 1),) if view is not None else () for view in shown), memories)


def _evicted(decisions):
    return [
        tuple(
            (a.node.place, tuple(loss[:4] for loss in a.losses)) for a in decision.actions if isinstance(a, EvictPods)
        )
        for decision in decisions
    ]


READY = (0, Phase.READY, 1)
HUNDRED = [cell(READY), cell(READY)]


def test_every_use_gives_a_size_of_the_workload_that_its_owner_counts_as_its_own():
    whole = sized()

    assert [w.template.containers[0].cpu_milli for w in whole.workloads] == [100, 57, 460]
    assert [w.name for w in whole.workloads] == ["web", "web-size1", "web-size2"]
    assert sizes_of(whole, 0) == (0, 1, 2)
    assert is_resized(whole, 0)


def test_a_shared_load_has_a_size_for_every_number_of_pods():
    whole = sized(events=(CpuLoad(name="load", target=WEB, levels=(600,)), Scale(name="s", target=WEB, replicas=(3,))))

    assert [w.template.containers[0].cpu_milli for w in whole.workloads] == [100, 690, 345, 230]


def test_too_many_sizes_are_refused():
    events = (CpuLoad(name="load", target=WEB, levels=(90_000,)), Scale(name="s", target=WEB, replicas=(40,)))

    with pytest.raises(UsageError, match="may get 41 different requests"):
        sized(events=events)


def test_pods_outside_of_the_bounds_are_evicted_one_of_two_at_a_time():
    controller = loop(sized())
    decisions = controller.act(seen(controller, HUNDRED, (0, 0, 0), 1))

    assert sorted(_evicted(decisions)) == [((0, ((0, (2,), 0, 1),)),), ((1, ((0, (2,), 0, 1),)),)]
    assert all(decision.actions[-1] == Remember(1, (60, 60, 2)) for decision in decisions)
    assert all(decision.actions[0].by == Tag.BY_VPA for decision in decisions)


def test_pods_within_the_bounds_stay_and_new_ones_get_the_target():
    controller = loop(sized())
    (decision,) = controller.act(seen(controller, HUNDRED, (0, 60, 0), 0))  # 57m, bounds 56m to 114m

    assert decision.actions == (Remember(1, (60, 60, 1)),)
    assert decision.role == Role.OPTIONAL


def test_nothing_is_evicted_in_mode_initial_or_below_the_least_number_of_replicas():
    initial, few = loop(sized(mode="Initial")), loop(sized(1))

    assert _evicted(initial.act(seen(initial, HUNDRED, (0, 0, 0), 1))) == [()]
    assert _evicted(few.act(seen(few, [cell(READY)], (0, 0, 0), 1, desired=1))) == [()]
    single = loop(sized(1, least=1))
    assert _evicted(single.act(seen(single, [cell(READY)], (0, 0, 0), 1, desired=1))) == [((0, ((0, (2,), 0, 1),)),)]


def test_budgets_are_asked():
    none = PodDisruptionBudget("shop", "web", selector_for("web"), max_unavailable=(0, False))
    controller = loop(sized(budgets=(none,)))

    assert _evicted(controller.act(seen(controller, HUNDRED, (0, 0, 0), 1))) == [()]


def test_pending_pods_are_replaced_whatever_runs():
    controller = loop(sized())
    starting = [cell((0, Phase.STARTING, 1)), cell((2, Phase.READY, 1))]
    (decision,) = controller.act(seen(controller, starting, (0, 0, 2), 1))
    (waiting,) = controller.act(seen(controller, [cell((2, Phase.READY, 1))], (0, 0, 2), 1, unbound=(1, 0, 0)))

    assert _evicted([decision]) == [((0, ((0, (0,), 0, 1),)),)]
    assert waiting.actions[0] == DeleteUnbound(0, 1)


def test_a_round_that_changes_nothing_is_not_a_step():
    controller = loop(sized())
    settled = seen(controller, [cell((2, Phase.READY, 1)), cell((2, Phase.READY, 1))], (20, 20, 2), 1)

    assert controller.due(settled) == NEVER
    assert controller.later(settled, 30) == (50, 50, 2)
    assert controller.later(settled, None) == (0, 60, 2)
    assert controller.due(seen(controller, HUNDRED, (20, 20, 0), 1)) == 20
    assert controller.why(settled) == ("main: uses 400m of cpu, target 460m, bounds 459m to 920m",)


def test_without_a_running_pod_the_recommendation_stays():
    controller = loop(sized())

    assert controller.act(seen(controller, [cell((0, Phase.STARTING, 1))], (0, 0, 0), 1)) == ()
    assert controller.why(seen(controller, [], (0, 0, 0), 1)) == ("no pod runs",)


# -- the ReplicaSet -------------------------------------------------------------------------------------


def test_new_pods_have_the_recommended_size_and_all_sizes_count():
    whole = sized()
    controller = ResizedReplicaSet(layout(whole), 0, 1)

    assert controller.act(seen(controller, [cell(READY)], (0, 60, 2)))[0].actions == (CreatePods(2, 1),)
    assert controller.act(seen(controller, [cell(READY, (2, Phase.READY, 1))], (0, 60, 2))) == ()


def test_surplus_pods_go_by_rank_whatever_their_size():
    controller = ResizedReplicaSet(layout(sized()), 0, 1)
    cells = [cell((0, Phase.READY, 1), (2, Phase.READY, 1)), cell((1, Phase.READY, 1))]
    ways = {decision.actions for decision in controller.act(seen(controller, cells, (0, 60, 2)))}
    waiting = controller.act(seen(controller, cells, (0, 60, 2), unbound=(0, 1, 1), desired=4))

    # The node with two of them loses one, of either size.
    assert {action.losses for (action,) in ways if isinstance(action, KeepNode)} == {((0, 2, 1),), ((2, 2, 1),)}
    assert {decision.actions for decision in waiting} == {(DeleteUnbound(1, 1),), (DeleteUnbound(2, 1),)}


def test_a_plan_has_one_replicaset_loop_for_all_sizes():
    plain = setup([node("n1")], workload(2, cpu=100))
    vpa = VerticalPodAutoscaler("shop", "web", WEB, policies=ONLY_CPU)
    plan = make_plan(replace(plain, verticals=(vpa,)), (LEVELS,))
    names = [loop.name for loop in plan.controllers]

    assert names.count("replicaset web") == 1
    assert [name for name in names if name.startswith(("deployment", "vpa"))] == ["deployment web", "vpa web"]
    assert [name for name in names if name.startswith("scheduler")] == [
        "scheduler web",
        "scheduler web-size1",
        "scheduler web-size2",
    ]


@pytest.mark.parametrize(
    ("changes", "events", "reason"),
    [
        ({"target": "Deployment/shop/api"}, (), "its target Deployment/shop/api is not in the input"),
        (
            {},
            (Rollout(name="r", target=WEB),),
            "rollouts and pods that name their node do not go together with it here",
        ),
        ({}, (), ""),
    ],
)
def test_what_is_not_modelled_has_a_reason(changes, events, reason):
    whole = setup([node("n1")], workload(2))
    vpa = replace(VerticalPodAutoscaler("shop", "web", WEB), **changes)

    assert why_idle(replace(whole, verticals=(vpa,)), vpa, events) == reason


def test_pods_of_daemon_sets_keep_their_requests():
    whole = setup([node("n1")], workload(1, kind=DAEMON_SET))
    vpa = VerticalPodAutoscaler("shop", "web", "DaemonSet/shop/web")

    assert (
        why_idle(whole, vpa, ()) == "only pods of Deployment, ReplicaSet, ReplicationController get new requests here"
    )
