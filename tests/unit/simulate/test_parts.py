"""The parts of a timed run: shares, requests in turn, memory, placement, thresholds."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeproof.simulate.published.backlog import Backlog, Finished
from kubeproof.simulate.published.cluster import TimedNode, TimedPod
from kubeproof.simulate.published.declarations import NodeSpec, ServiceSpec, Thresholds
from kubeproof.simulate.published.service import TimedService
from kubeproof.simulate.published.sharing import fair_shares
from kubeproof.simulate.published.thresholds import ThresholdScaler

RULES = Thresholds(up=0.8, down=0.05, quiet_cycles=2, most=5)
WEB = ServiceSpec("web", 100, 250, RULES, memory=10)


def node(cpu: int = 1000, memory: int = 1000, name: str = "a") -> TimedNode:
    return TimedNode(NodeSpec(name, cpu, memory))


# -- shares -----------------------------------------------------------------------------------------


def test_small_demands_are_met_and_the_rest_is_shared() -> None:
    assert fair_shares([150, 80], 200) == [120, 80]
    assert fair_shares([10, 500, 500], 110) == [10, 50, 50]
    assert fair_shares([5, 5], 3) == [2, 1]
    assert fair_shares([], 3) == []


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(0, 120))
def test_shares_are_max_min_fair(demands: list[int], total: int) -> None:
    shares = fair_shares(demands, total)

    assert sum(shares) == min(sum(demands), total)
    assert all(0 <= share <= demand for share, demand in zip(shares, demands, strict=True))
    least_unmet = min((s for s, d in zip(shares, demands, strict=True) if s < d), default=None)
    assert least_unmet is None or max(shares) <= least_unmet + 1  # nobody has more while somebody lacks, a unit aside


# -- requests ---------------------------------------------------------------------------------------


def test_requests_of_a_pod_are_served_in_turns_so_that_equal_ones_end_together() -> None:
    backlog = Backlog()
    backlog.add(4, 0.0, 2)
    backlog.add(1, 0.5)

    assert backlog.serve(3) == [Finished(0.5, 1)]
    assert backlog.serve(5) == [Finished(0.0, 1)]  # four rounds for the first, of the second one unit is left
    assert (backlog.requests, backlog.units) == (1, 1)
    assert backlog.serve(1) == [Finished(0.0, 1)]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 3)), min_size=1, max_size=5), st.data())
def test_a_backlog_ends_exactly_when_all_units_are_spent(added: list[tuple[int, int]], data: st.DataObject) -> None:
    backlog = Backlog()
    for cost, count in added:
        backlog.add(cost, 0.0, count)
    wanted, ended = sum(count for _, count in added), 0

    while backlog.units:
        ended += sum(done.requests for done in backlog.serve(data.draw(st.integers(1, backlog.units))))
        assert (backlog.requests == 0) == (backlog.units == 0)

    assert ended == wanted


def serve_one_by_one(costs: list[int], quantum: int, spent: list[int]) -> list[int]:
    """After how many units in all each request ends: in turns, one unit after the other."""
    line, ends = deque(enumerate(costs)), [0] * len(costs)
    of_turn = 0
    for unit in range(1, sum(spent) + 1):
        number, left = line.popleft()
        of_turn += 1
        if left == 1:
            ends[number], of_turn = unit, 0
        elif of_turn == quantum:
            of_turn = 0
            line.append((number, left - 1))
        else:
            line.appendleft((number, left - 1))
    return ends


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.sampled_from([1, 2, 3, 17]), st.data())
def test_a_quantum_is_what_a_request_gets_in_a_turn(turns: list[int], quantum: int, data: st.DataObject) -> None:
    costs = [quantum * each for each in turns]
    backlog, spent, ended = Backlog(quantum), [], []
    for number, cost in enumerate(costs):
        backlog.add(cost, float(number))
    while backlog.units:
        spent.append(data.draw(st.integers(1, backlog.units)))
        ended += [(int(done.arrived), sum(spent)) for done in backlog.serve(spent[-1])]

    exact = serve_one_by_one(costs, quantum, spent)
    looks = [sum(spent[: at + 1]) for at in range(len(spent))]
    assert dict(ended) == {number: next(look for look in looks if look >= end) for number, end in enumerate(exact)}


# -- nodes ------------------------------------------------------------------------------------------


def test_a_pod_uses_no_more_than_its_limit_in_an_interval_and_a_node_no_more_than_it_has() -> None:
    small = node(cpu=300)
    pods = [TimedPod(WEB, small), TimedPod(WEB, small)]
    for pod in pods:
        small.add(pod)
        pod.take(400, 0.0, 1)

    small.work()

    assert [pod.used for pod in pods] == [150, 150]
    small.begin_interval()
    pods[1].backlog.serve(250)
    small.work()
    assert [pod.used for pod in pods] == [250, 0]
    assert [pod.ratio for pod in pods] == [1.5, 1.5]


def test_requests_wait_for_memory_until_others_give_it_back() -> None:
    tight = node(cpu=50, memory=20)
    pod = TimedPod(WEB, tight)
    tight.add(pod)

    pod.take(30, 0.0, 3)

    assert (pod.backlog.requests, len(pod.waiting), tight.memory) == (2, 1, 0)
    assert tight.work()[pod] == []
    tight.begin_interval()
    assert tight.work()[pod] == [Finished(0.0, 2), Finished(0.0, 1)]  # the third began when the others ended
    assert (pod.is_idle, tight.memory, tight.cpu) == (True, 20, 10)


@pytest.mark.parametrize(
    ("parcels", "is_served"),
    [
        (((0, 20, 12), (1, 20, 2)), True),
        (((0, 20, 13),), False),  # beyond the limit of the pod
        (((0, 20, 10), (0, 10, 6)), False),  # beyond it together
        (((0, 20, 8), (1, 20, 8)), False),  # beyond what the node has
        (((0, 1, 101),), False),  # not enough memory
        (((0, 0, 1),), False),  # never asks for CPU
    ],
)
def test_requests_that_can_all_end_now_are_served_at_once(
    parcels: tuple[tuple[int, int, int], ...], is_served: bool
) -> None:
    small = node(cpu=300)
    pods = [TimedPod(WEB, small), TimedPod(WEB, small)]

    assert small.serves_at_once([(pods[index], cost, count) for index, cost, count in parcels]) is is_served

    used = sum(cost * count for _, cost, count in parcels) if is_served else 0
    assert (sum(pod.used for pod in pods), small.cpu, small.memory) == (used, 300 - used, 1000)


def test_no_request_is_served_at_once_where_others_are_under_way() -> None:
    small = node(cpu=300)
    pods = [TimedPod(WEB, small), TimedPod(WEB, small)]
    pods[0].take(20, 0.0, 1)

    assert not small.serves_at_once([(pods[1], 20, 1)])


# -- services ---------------------------------------------------------------------------------------


def test_pods_go_where_most_cpu_is_unrequested_and_wait_where_there_is_none() -> None:
    first, second = node(150, name="a"), node(240, name="b")
    service = TimedService(WEB, (first, second))

    service.launch(4)

    assert [len(first.pods), len(second.pods), service.pending, service.size] == [1, 2, 2, 5]


def test_requests_go_in_turns_and_a_new_pod_is_next() -> None:
    service = TimedService(WEB, (node(),))
    service.launch(1)
    second, first = service.turns

    parcels = {service.pods[0].node: []}
    service.deal(5, 3, parcels)

    assert parcels == {first.node: [(second, 5, 2), (first, 5, 1)]}
    assert list(service.turns) == [first, second]


def test_a_retired_pod_ends_when_it_has_nothing_left_to_do() -> None:
    service = TimedService(WEB, (node(),))
    service.launch(1)
    for pod in service.pods:
        pod.take(5, 0.0, 1)

    service.retire_oldest()

    assert (len(service.pods), len(service.turns)) == (2, 1)
    service.pods[0].spend(5)
    service.remove_idle()
    assert len(service.pods) == 1


def test_the_scaler_acts_on_what_it_read_a_cycle_ago_and_may_launch_several() -> None:
    service = TimedService(WEB, (node(),))
    scaler = ThresholdScaler(service)
    service.pods[0].ratio = 2.5

    scaler.cycle()
    assert service.size == 1
    scaler.cycle()
    assert service.size == 4  # floor(2.5 / 0.8) more


def test_after_quiet_cycles_one_pod_per_cycle_goes_down_to_the_least() -> None:
    service = TimedService(WEB, (node(),))
    service.launch(2)
    scaler = ThresholdScaler(service)

    sizes = []
    for _ in range(5):
        scaler.cycle()
        sizes.append(service.size)

    assert sizes == [3, 3, 2, 1, 1]
