"""What the vertical pod autoscaler recommends, and when a pod is too far off.

Upstream: `podResourceRecommender`, `GetUpdatePriority`, `singleGroupStats.isPodDisruptable`.
"""

from fractions import Fraction

import pytest

from kubeproof.cluster.objects import Container, PodTemplate
from kubeproof.cluster.steering.vertical import ContainerPolicy, VerticalPodAutoscaler
from kubeproof.controllers.vpa.recommendation import (
    Bounds,
    Rules,
    at_once,
    bounds,
    difference,
    is_outside,
    recommend,
    resize,
)

MIB = 2**20
DAY = Rules()
WEEK = Rules(history_s=7 * 86_400)


def pod(cpu: int = 1000, memory: int = 512 * MIB, **more) -> PodTemplate:
    return PodTemplate(containers=(Container("main", cpu, memory, **more),))


def vpa(*policies: ContainerPolicy) -> VerticalPodAutoscaler:
    return VerticalPodAutoscaler("shop", "web", "Deployment/shop/web", policies=policies)


def test_the_target_is_the_use_with_a_margin_and_the_bounds_narrow_with_the_history():
    assert bounds(400, 0, DAY) == Bounds(459, 460, 920)  # 460 / 1.001^2, 460 * 2
    assert bounds(400, 0, WEEK) == Bounds(459, 460, 525)  # 460 * 8 / 7
    assert bounds(400, 0, Rules(history_s=43_200)).upper == 1380  # half a day: times 3
    assert bounds(400, 0, Rules(margin_permille=1000)).target == 400


def test_a_pod_gets_at_least_25_millicores_and_250_mebibytes():
    (own,) = recommend(vpa(), pod(), {"cpu": (10,), "memory": (1 * MIB,)}, DAY)

    assert own["cpu"].target == 25
    assert own["memory"].target == 250 * MIB


def test_each_container_is_judged_by_its_own_use_and_the_minimum_is_shared():
    two = PodTemplate(containers=(Container("main", 300, MIB), Container("agent", 100, MIB)))
    main, agent = recommend(vpa(), two, {"cpu": (100, 300), "memory": (MIB, MIB)}, DAY)

    assert (main["cpu"].target, agent["cpu"].target) == (115, 345)
    assert main["memory"].target == 125 * MIB


def test_policies_clamp_targets_and_bounds_and_leave_out_resources_and_containers():
    clamp = ContainerPolicy("main", least=(("cpu", 500),), most=(("cpu", 600),), controlled=("cpu",))

    assert recommend(vpa(clamp), pod(), {"cpu": (100,), "memory": (MIB,)}, DAY) == ({"cpu": Bounds(500, 500, 500)},)
    assert recommend(vpa(clamp), pod(), {"cpu": (400,), "memory": (MIB,)}, DAY) == ({"cpu": Bounds(500, 500, 600)},)
    assert recommend(vpa(ContainerPolicy(is_off=True)), pod(), {"cpu": (1,), "memory": (1,)}, DAY) == ({},)
    only = ContainerPolicy("main", controlled=("memory",)), ContainerPolicy("*", is_off=True)
    assert [sorted(own) for own in recommend(vpa(*only), pod(), {"cpu": (1,), "memory": (1,)}, DAY)] == [["memory"]]


def test_new_pods_request_the_target_and_limits_grow_in_proportion():
    template = pod(limits=(("cpu", 2000), ("memory", 512 * MIB)))
    wanted = resize(template, ({"cpu": Bounds(0, 1500, 9000)},))

    assert wanted.containers == (Container("main", 1500, 512 * MIB, limits=(("cpu", 3000), ("memory", 512 * MIB))),)


@pytest.mark.parametrize(("cpu", "outside"), [(459, False), (458, True), (920, False), (921, True)])
def test_a_pod_is_outside_below_the_lower_and_above_the_upper_bound(cpu, outside):
    assert is_outside(pod(cpu), ({"cpu": bounds(400, 0, DAY)},)) is outside


def test_pods_that_need_more_go_first_then_those_that_differ_most():
    target = ({"cpu": Bounds(0, 500, 0)},)

    assert difference(pod(250), target) == (0, Fraction(-1))
    assert difference(pod(1000), target) == (1, Fraction(-1, 2))
    assert sorted([1000, 250, 400], key=lambda cpu: difference(pod(cpu), target)) == [250, 400, 1000]


@pytest.mark.parametrize(
    ("configured", "running", "evicted"), [(1, 1, 1), (2, 2, 1), (2, 1, 0), (3, 3, 1), (3, 2, 0), (5, 5, 2), (5, 4, 1)]
)
def test_so_many_pods_may_be_evicted_at_once(configured, running, evicted):
    assert at_once(configured, running) == evicted
