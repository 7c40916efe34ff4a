from __future__ import annotations

from typing import Any

import pytest

from kubeproof.cluster.objects import Container, SchedulerProfile
from kubeproof.controllers.scheduler.plugins.balanced_allocation import balance
from kubeproof.controllers.scheduler.plugins.node_resources_fit import interpolate
from kubeproof.controllers.scheduler.requests import incoming_requests, pod_requests
from kubeproof.errors import InternalError
from tests.unit.controllers.scheduler.builders import (
    GIB,
    MIB,
    NEWEST,
    container,
    info,
    node,
    only,
    refusals,
    scheduler,
    scores,
    template,
    workload,
)

FIT = "NodeResourcesFit"
BALANCED = "NodeResourcesBalancedAllocation"
HALF_CORE = template(containers=(container(500, GIB),))
ONE_CORE = workload(template(containers=(container(1000, 2 * GIB),)), name="other")


def fit_profile(**fields: Any) -> SchedulerProfile:
    return SchedulerProfile(disabled_score=only(FIT).disabled_score, **fields)


def sidecar(cpu: int) -> Container:
    return Container("sidecar", cpu, restartable_init=True)


def test_requests_are_the_larger_of_running_containers_and_each_init_step_plus_overhead() -> None:
    pod = template(
        init_containers=(container(300), sidecar(50), container(900), sidecar(20)),
        containers=(container(400), container(100)),
        overhead=(("cpu", 7),),
    )

    assert pod_requests(pod, NEWEST).true["cpu"] == 957  # 900 + the sidecar before it, more than 400 + 100 + 70


def test_sidecars_run_beside_the_app_containers() -> None:
    pod = template(init_containers=(container(300), sidecar(50), sidecar(20)), containers=(container(400),))

    assert pod_requests(pod, (1, 29)).true["cpu"] == 470


def test_sidecars_are_ordinary_init_containers_before_1_29() -> None:
    pod = template(init_containers=(container(300), sidecar(50)), containers=(container(400),))

    assert pod_requests(pod, (1, 28)).true["cpu"] == 400


def test_omitted_requests_count_for_scores_only() -> None:
    pod = template(containers=(container(), container(0, 0)), init_containers=(container(),))
    requests = pod_requests(pod, NEWEST)

    assert (requests.true.get("cpu", 0), requests.true.get("memory", 0)) == (0, 0)
    assert (requests.scored["cpu"], requests.scored["memory"]) == (100, 200 * MIB)


def test_cpu_overhead_of_the_incoming_pod_is_misread_in_1_26() -> None:
    pod = template(containers=(container(100, 100),), overhead=(("cpu", 250), ("memory", 50)))

    assert incoming_requests(pod, (1, 26)).true == {"cpu": 101, "memory": 150}
    assert incoming_requests(pod, (1, 27)).true == {"cpu": 350, "memory": 150}
    assert pod_requests(pod, (1, 26)).true == {"cpu": 350, "memory": 150}


def test_equality_fits_and_one_more_does_not() -> None:
    nodes = [info(node("n1", cpu_milli=500)), info(node("n2", cpu_milli=499))]
    rows = scheduler(HALF_CORE).evaluate(nodes).rows

    assert refusals(rows) == ["", FIT]
    assert rows[1].reason == "Insufficient cpu"


def test_terminating_pods_still_hold_their_resources() -> None:
    full = info(node("n1"), (1, 2, 2))

    assert refusals(scheduler(HALF_CORE, ONE_CORE).evaluate([full]).rows) == [FIT]


def test_too_many_pods_counts_terminating_pods_and_all_reasons_are_kept() -> None:
    crowded = info(node("n1", pods=4), (1, 3, 1))
    rows = scheduler(HALF_CORE, ONE_CORE).evaluate([crowded]).rows

    assert rows[0].reason == "Too many pods, Insufficient cpu, Insufficient memory"
    assert not rows[0].unresolvable


def test_pods_without_requests_are_limited_by_the_number_of_pods_only() -> None:
    nodes = [info(node("n1", pods=5), (1, 4)), info(node("n2", pods=5), (1, 5))]

    assert refusals(scheduler(template(), ONE_CORE).evaluate(nodes).rows) == ["", FIT]


@pytest.mark.parametrize(("version", "unresolvable"), [((1, 33), False), ((1, 34), True)])
def test_request_beyond_the_whole_node_is_unresolvable_since_1_34(version: tuple[int, int], unresolvable: bool) -> None:
    rows = scheduler(HALF_CORE, version=version).evaluate([info(node("n1", cpu_milli=400))]).rows

    assert rows[0].unresolvable is unresolvable


@pytest.mark.parametrize(("version", "refused"), [((1, 27), FIT), ((1, 28), "")])
def test_zero_request_of_an_overcommitted_resource_fits_since_1_28(version: tuple[int, int], refused: str) -> None:
    pod = template(containers=(container(memory=MIB),))
    overcommitted = info(node("n1", cpu_milli=1500), (1, 2))

    assert refusals(scheduler(pod, ONE_CORE, version=version).evaluate([overcommitted]).rows) == [refused]


def test_overcommitment_never_refuses_a_pod_that_requests_nothing() -> None:
    overcommitted = info(node("n1", cpu_milli=1500), (1, 2))

    assert scheduler(template(), ONE_CORE, version=(1, 26)).choose([overcommitted]) == (0,)


def test_ephemeral_storage_and_extended_resources_are_filtered() -> None:
    pod = template(containers=(container(ephemeral_storage=10, gpu=2, fpga=0),))
    small = node("n1", others=(("ephemeral-storage", 9), ("gpu", 1)))
    enough = node("n2", others=(("ephemeral-storage", 10), ("gpu", 2)))
    rows = scheduler(pod).evaluate([info(small), info(enough), info(enough, (0, 1))]).rows

    assert refusals(rows) == [FIT, "", FIT]
    assert rows[0].reason == "Insufficient ephemeral-storage, Insufficient gpu"
    assert (rows[0].unresolvable, rows[2].unresolvable) == (True, False)


def test_example_1_least_allocated_scores_62() -> None:
    nodes = [info(node("n1"), (1, 1)), info(node("n2"))]

    assert scores(scheduler(HALF_CORE, ONE_CORE).evaluate(nodes).rows, FIT) == [62, 87]


def test_least_allocated_uses_defaults_for_omitted_requests() -> None:
    nodes = [info(node("n1", cpu_milli=1000, memory_bytes=2000 * MIB), (0, 1)), info(node("n2"))]

    assert scores(scheduler(template(containers=(container(),))).evaluate(nodes).rows, FIT)[0] == 80


def test_least_allocated_scores_0_for_a_resource_beyond_its_capacity() -> None:
    pod = template(containers=(container(memory=4 * GIB),))
    tiny = info(node("n1", cpu_milli=50))

    assert scores(scheduler(pod).evaluate([tiny, info(node("n2"))]).rows, FIT) == [
        25,
        73,
    ]  # (0 + 50), (97 + 50)


def test_most_allocated_prefers_the_fuller_node() -> None:
    profile = fit_profile(fit_strategy="MostAllocated")
    nodes = [info(node("n1"), (1, 1)), info(node("n2"))]
    evaluation = scheduler(HALF_CORE, ONE_CORE, profile=profile).evaluate(nodes)

    assert scores(evaluation.rows, FIT) == [37, 12]
    assert evaluation.chosen == (0,)


def test_most_allocated_counts_at_most_the_capacity() -> None:
    profile = fit_profile(fit_strategy="MostAllocated")
    nodes = [info(node("n1", cpu_milli=50, memory_bytes=100 * MIB)), info(node("n2"))]

    assert scores(scheduler(template(containers=(container(),)), profile=profile).evaluate(nodes).rows, FIT) == [
        100,
        2,  # cpu 10000 // 4000 = 2, memory 200 * 100 // 8192 = 2
    ]


def test_fit_score_weighs_resources_and_skips_what_the_pod_or_node_lacks() -> None:
    profile = fit_profile(fit_resources=(("cpu", 3), ("memory", 1), ("gpu", 5), ("fpga", 9)))
    pod = template(containers=(container(1000, 4 * GIB, gpu=1),))
    nodes = [info(node("n1", others=(("gpu", 4), ("fpga", 2)))), info(node("n2", others=(("gpu", 1),)))]

    assert scores(scheduler(pod, profile=profile).evaluate(nodes).rows, FIT) == [
        72,  # (75 * 3 + 50 + 75 * 5) // 9
        30,  # (75 * 3 + 50 + 0 * 5) // 9
    ]


def test_node_without_any_scored_resource_scores_0() -> None:
    empty = info(node("n1", cpu_milli=0, memory_bytes=0))
    for strategy in ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"):
        profile = fit_profile(fit_strategy=strategy, fit_shape=((0, 0), (100, 10)))
        rows = scheduler(template(), profile=profile).evaluate([empty, info(node("n2"))]).rows
        assert scores(rows, FIT)[0] == 0


def test_requested_to_capacity_ratio_rounds_half_up_and_drops_zero_scores() -> None:
    profile = fit_profile(fit_strategy="RequestedToCapacityRatio", fit_shape=((0, 0), (100, 10)))
    pod = template(containers=(container(1000, 0),))
    nodes = [
        info(node("n1")),
        info(node("n2", memory_bytes=8 * GIB), (1, 1)),
        info(node("n3", cpu_milli=3900)),
    ]
    rows = scheduler(pod, workload(template(containers=(container(0, 2 * GIB + 82 * MIB),))), profile=profile)

    assert scores(rows.evaluate(nodes).rows, FIT) == [
        25,  # memory scores 0 and does not count
        26,  # (25 + 26) / 2 = 25.5
        25,  # 100000 // 3900
    ]


def test_requested_to_capacity_ratio_scores_an_overcommitted_resource_as_full() -> None:
    profile = fit_profile(fit_strategy="RequestedToCapacityRatio", fit_shape=((0, 10), (100, 2)))
    pod = template(containers=(container(memory=8 * GIB),))
    nodes = [info(node("n1", cpu_milli=50)), info(node("n2", cpu_milli=100))]

    assert scores(scheduler(pod, profile=profile).evaluate(nodes).rows, FIT) == [20, 20]


def test_broken_line_is_flat_outside_and_truncates_toward_zero_inside() -> None:
    falling = ((20, 100), (50, 0), (80, 35))

    assert [interpolate(falling, u) for u in (0, 20, 21, 49, 50, 51, 80, 100)] == [
        100,
        100,
        97,
        4,
        0,
        1,
        35,
        35,
    ]


def test_ratio_strategy_without_a_shape_is_a_broken_promise() -> None:
    with pytest.raises(InternalError, match="shape"):
        scheduler(template(), profile=fit_profile(fit_strategy="RequestedToCapacityRatio"))


@pytest.mark.parametrize(("version", "score"), [((1, 26), 100), ((1, 35), 100), ((1, 36), 75)])
def test_example_2_balanced_allocation(version: tuple[int, int], score: int) -> None:
    nodes = [info(node("n1"), (1, 1)), info(node("n2"), (1, 1))]
    rows = scheduler(HALF_CORE, ONE_CORE, version=version).evaluate(nodes).rows

    assert scores(rows, BALANCED) == [score, score]


@pytest.mark.parametrize(("version", "expected"), [((1, 35), [75, 87]), ((1, 36), [62, 87])])
def test_balance_is_absolute_up_to_1_35_and_an_improvement_since(version: tuple[int, int], expected: list[int]) -> None:
    pod = template(containers=(container(2000, 0),))
    memory_heavy = workload(template(containers=(container(0, 6 * GIB),)))
    nodes = [info(node("n1")), info(node("n2"), (1, 1))]

    # n1: 0.5 against 0, before 0 against 0. n2: 0.5 against 0.75, before 0 against 0.75 (62.5, truncated).
    assert scores(scheduler(pod, memory_heavy, version=version).evaluate(nodes).rows, BALANCED) == expected


@pytest.mark.parametrize(("version", "expected"), [((1, 32), 100), ((1, 33), None)])
def test_pod_without_requests_skips_balance_since_1_33(version: tuple[int, int], expected: int | None) -> None:
    rows = scheduler(template(), version=version).evaluate([info(node("n1")), info(node("n2"))]).rows

    assert scores(rows, BALANCED) == [expected, expected]


def test_balance_of_three_resources_is_the_standard_deviation() -> None:
    assert balance([(0, 4), (2, 4), (4, 4)]) == 59  # deviation 0.408
    assert balance([(1, 4)]) == 100
    assert balance([]) == 100
    assert balance([(9, 4), (0, 4)]) == 50  # fractions are at most 1


def test_balance_uses_the_profile_resources() -> None:
    profile = SchedulerProfile(balanced_resources=("cpu", "memory", "gpu"))
    pod = template(containers=(container(1000, 2 * GIB, gpu=1),))
    nodes = [info(node("n1", others=(("gpu", 1),))), info(node("n2", others=(("gpu", 4),)))]
    rows = scheduler(pod, profile=profile, version=(1, 35)).evaluate(nodes).rows

    assert scores(rows, BALANCED) == [64, 100]  # deviation of 1/4, 1/4, 1 is 0.354
