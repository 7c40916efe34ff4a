"""The kernels that serve requests: the compiled one against its twin, and both against the obvious way."""

from __future__ import annotations

from math import inf
from random import Random

import pytest

from kubeproof.errors import LimitReached
from kubeproof.simulate.serving.kernel import PlainKernel
from kubeproof.simulate.serving.shapes import (
    LEAST_CONNECTIONS,
    RANDOM,
    ROUND_ROBIN,
    NodeSetting,
    Placement,
    PodSetting,
    Shape,
)
from kubeproof.simulate.serving.times import bucket_of
from tests.differential.naive_serving import Naive

np = pytest.importorskip("numpy")


def compiled_kernel(*arguments: object, **options: object) -> object:
    """The compiled kernel; where it was not built, tests that need it are skipped."""
    module = pytest.importorskip("kubeproof.simulate.serving._kernel")
    return module.CompiledKernel(*arguments, **options)


class Case:
    """Services, pods and nodes by chance, and how they change."""

    def __init__(self, seed: int, *, chance: bool = False) -> None:
        self.random = Random(seed)
        self.services = self.random.randint(1, 4)
        self.reroutes = self.random.random() < 0.7
        self.shapes = [self._shape(number, chance) for number in range(self.services)]
        self.nodes = tuple(
            NodeSetting(self.random.choice([0.7, 1.0, 2.0, 4.0]), self.random.choice([6, 12, 100]))
            for _ in range(self.random.randint(1, 3))
        )
        self.pods: dict[int, PodSetting] = {}

    def _shape(self, number: int, chance: bool) -> Shape:
        random = self.random
        balancing = random.choice([ROUND_ROBIN, LEAST_CONNECTIONS, RANDOM] if chance else [0, LEAST_CONNECTIONS])
        later = list(range(number + 1, self.services))  # calls go to later services only
        stages = tuple(
            tuple(random.choice(later) for _ in range(random.randint(1, 3)))
            for _ in range(random.choice([0, 0, 1, 2]) if later else 0)
        )
        return Shape(random.uniform(0.05, 1.5), random.choice([0, 1, 3]), random.choice([inf, 2.0]), balancing, stages)

    def placement(self) -> Placement:
        """Some pods go, some come, some change."""
        random = self.random
        for number in sorted(self.pods):
            if random.random() < 0.25:
                del self.pods[number]
        for number in range(random.randint(1, 7)):
            if number not in self.pods and random.random() < 0.6:
                self.pods[number] = self._pod(number)
        pods = tuple(self.pods[number] for number in sorted(self.pods))
        ready = tuple(
            tuple(pod.number for pod in pods if service in pod.services and random.random() < 0.85)
            for service in range(self.services)
        )
        return Placement(self.nodes, pods, ready)

    def _pod(self, number: int) -> PodSetting:
        random = self.random
        node = random.randrange(len(self.nodes))
        limit = random.choice([0.3, 0.5, 1.0, 2.5, self.nodes[node].cores])
        served = {random.randrange(self.services), random.randrange(self.services)}
        return PodSetting(
            number, node, limit, random.choice([2.0, 100.0, 250.0]), random.choice([inf, 2, 5]), tuple(sorted(served))
        )

    def arrivals(self, begin: float, end: float) -> tuple[object, object]:
        count = self.random.randint(0, 25)
        times = sorted(self.random.uniform(begin, end) for _ in range(count))
        return np.array(times), np.array([self.random.randrange(self.services) for _ in times], np.intc)


@pytest.mark.parametrize("seed", range(150))
def test_the_plain_kernel_does_what_the_obvious_way_does(seed: int) -> None:
    case = Case(seed)
    kernel = PlainKernel(case.shapes, seed=1, reroutes=case.reroutes)
    naive = Naive(case.shapes, reroutes=case.reroutes)
    for span in range(6):
        placement, arrivals = case.placement(), case.arrivals(4.0 * span, 4.0 * span + 4)
        for one in (kernel, naive):
            one.place(placement)
            one.advance(4.0 * span + 4, *arrivals)
        _compare(kernel, naive, case, placement)


def _compare(kernel: PlainKernel, naive: Naive, case: Case, placement: Placement) -> None:
    for service, tally in enumerate(kernel.tallies()):
        times = naive.answered[service]
        deadline = case.shapes[service].deadline_s
        assert tally.arrived == naive.arrived[service]
        assert tally.failed == naive.failed[service]
        assert (tally.ok, tally.late) == (sum(t <= deadline for t in times), sum(t > deadline for t in times))
        assert tally.total_s == pytest.approx(sum(times), abs=1e-6)
        assert tally.waiting == sum(one.service == service for one in naive.requests)
        assert sum(count for _, count in tally.counts) == len(times)
        naive.answered[service], naive.arrived[service], naive.failed[service] = [], 0, 0
    numbers = [pod.number for pod in placement.pods]
    for number, use in zip(numbers, kernel.uses(numbers), strict=True):
        assert use.core_s == pytest.approx(naive.cores.get(number, 0.0), abs=1e-6)
    naive.cores = {}


@pytest.mark.parametrize("seed", range(300))
def test_the_compiled_kernel_and_its_twin_give_the_same_numbers(seed: int) -> None:
    case = Case(seed, chance=True)
    twins = [
        PlainKernel(case.shapes, seed=seed, reroutes=case.reroutes),
        compiled_kernel(case.shapes, seed=seed, reroutes=case.reroutes),
    ]
    for span in range(8):
        placement, arrivals = case.placement(), case.arrivals(4.0 * span, 4.0 * span + 4)
        for one in twins:
            one.place(placement)
            one.advance(4.0 * span + 4, *arrivals)
        plain, compiled = [one.tallies() for one in twins]
        assert plain == compiled
        numbers = [pod.number for pod in placement.pods]
        assert twins[0].uses(numbers) == twins[1].uses(numbers)


@pytest.mark.parametrize("make", [PlainKernel, compiled_kernel])
def test_a_backlog_without_bound_ends_the_run(make: object) -> None:
    kernel = make([Shape(5.0, 0, inf, ROUND_ROBIN)], seed=1, reroutes=True, most_open=10)
    pods = (PodSetting(0, 0, 1.0, 2.0, inf, (0,)),)
    kernel.place(Placement((NodeSetting(1.0, 0),), pods, ((0,),)))

    with pytest.raises(LimitReached, match="more than 10 requests wait at 2"):
        kernel.advance(10.0, np.linspace(0, 4, 21), np.zeros(21, np.intc))


def test_many_requests_go_round_a_full_line() -> None:
    shape = [Shape(0.1, 0, inf, ROUND_ROBIN)]
    times = np.sort(np.random.default_rng(5).uniform(0, 200, 3000))  # 1.5 times what one core can do
    twins = [PlainKernel(shape, seed=1, reroutes=True), compiled_kernel(shape, seed=1, reroutes=True)]
    for one in twins:
        one.place(Placement((NodeSetting(1.0, 0),), (PodSetting(0, 0, 1.0, 2.0, inf, (0,)),), ((0,),)))
        one.advance(200.0, times, np.zeros(3000, np.intc))

    (plain,), (compiled,) = twins[0].tallies(), twins[1].tallies()
    assert plain == compiled
    assert plain.ok + plain.waiting == 3000
    assert plain.counts[-1][0] == bucket_of(plain.most_s)
