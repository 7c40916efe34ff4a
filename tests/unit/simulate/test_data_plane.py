"""The data plane: endpoints in, spans out; against what queueing theory says; response times in buckets."""

from __future__ import annotations

import sys
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeproof.errors import EnvironmentProblem, InternalError, ScenarioError
from kubeproof.events.workload import (
    LEAST_CONNECTIONS,
    RANDOM,
    CallStage,
    Clients,
    Constant,
    ServiceLoad,
    Stream,
    WorkloadSpec,
)
from kubeproof.simulate.serving.contract import Endpoints, Room, Served, Slot
from kubeproof.simulate.serving.numbers import numpy
from kubeproof.simulate.serving.plane import Plane, make_data_plane
from kubeproof.simulate.serving.sharing import share_by_weight
from kubeproof.simulate.serving.times import BUCKETS, Histogram, bucket_of, middle_of
from tests.oracles.histograms import histogram_of

pytest.importorskip("numpy")

ROOM = Room(4000, 2**30)


def load(name: str = "web", *streams: Stream, **fields: object) -> ServiceLoad:
    return ServiceLoad(name, f"Deployment/default/{name}", streams, **{"cpu_ms": 100.0, **fields})


def slot(name: str, birth: int = 1, **fields: object) -> Slot:
    usual = {"node": "a", "cpu_request_milli": 100, "cpu_limit_milli": 1000, "memory_limit_bytes": None}
    return Slot(name, birth, **{**usual, **fields})


def endpoints(rooms: dict[str, Room] | None = None, **services: tuple[Slot, ...]) -> Endpoints:
    return Endpoints(services, rooms or {"a": ROOM})


def plane(*loads: ServiceLoad, **options: object) -> Plane:
    return make_data_plane(WorkloadSpec(loads), **{"seed": 7, "duration_s": 1000.0, **options})


def once(count: int = 1, pause_s: float = 1.0, start_s: float = 0.0) -> Stream:
    return Stream(Clients(start_s=start_s, clients=1, requests=count, pause_s=pause_s))


def counts(served: Served, name: str = "web") -> tuple[int, int, int, int, int]:
    span = served.services[name]
    return span.arrived, span.ok, span.late, span.failed, span.waiting


def test_a_request_uses_one_core_at_most_and_the_pods_limit_at_most() -> None:
    for limit, took in ((4000, 0.1), (None, 0.1), (500, 0.2), (100, 1.0)):
        served = plane(load("web", once())).advance(5.0, endpoints(web=(slot("web-0", cpu_limit_milli=limit),)))

        assert served.services["web"].times.percentile(100) == pytest.approx(took)
        assert served.pods["web-0", 1].cpu_core_s == pytest.approx(0.1)


def test_late_answers_are_told_apart() -> None:
    one = plane(load("web", once(3, pause_s=0.0), deadline_s=0.25))

    assert counts(one.advance(5.0, endpoints(web=(slot("web-0"),)))) == (3, 0, 3, 0, 0)  # all three end after 0.3 s


def test_what_is_not_ended_goes_on_in_the_next_span() -> None:
    one, there = plane(load("web", once(), cpu_ms=3000.0)), endpoints(web=(slot("web-0"),))

    spans = [one.advance(until, there) for until in (1.0, 2.0, 4.0)]

    assert [counts(span) for span in spans] == [(1, 0, 0, 0, 1), (0, 0, 0, 0, 1), (0, 1, 0, 0, 0)]
    assert [span.pods["web-0", 1].cpu_core_s for span in spans] == pytest.approx([1.0, 1.0, 1.0])
    assert (spans[1].from_s, spans[1].until_s) == (1.0, 2.0)


@pytest.mark.parametrize(("reroutes", "outcome"), [(True, (0, 1, 0, 0, 0)), (False, (0, 0, 0, 1, 0))])
def test_requests_of_a_pod_that_is_gone_are_sent_again_or_fail(reroutes: bool, outcome: tuple[int, ...]) -> None:
    one = plane(load("web", once(), cpu_ms=1500.0), reroutes=reroutes)
    one.advance(1.0, endpoints(web=(slot("web-0", 1),)))

    served = one.advance(5.0, endpoints(web=(slot("web-0", 2),)))  # of the same name, but another one

    assert counts(served) == outcome
    if reroutes:
        assert served.services["web"].times.total_s == pytest.approx(2.5)  # it began again after a second


def test_an_unready_pod_ends_what_it_has_and_gets_no_more() -> None:
    one = plane(load("web", once(2), cpu_ms=1500.0))
    one.advance(0.5, endpoints(web=(slot("web-0"),)))

    served = one.advance(9.0, endpoints(web=(slot("web-0", is_ready=False), slot("web-1", 2))))

    assert counts(served) == (1, 2, 0, 0, 0)
    assert served.pods["web-0", 1].cpu_core_s == pytest.approx(1.0)
    assert served.pods["web-1", 2].cpu_core_s == pytest.approx(1.5)


def test_without_a_ready_pod_requests_fail_at_once() -> None:
    assert counts(plane(load("web", once(3))).advance(9.0, endpoints(web=()))) == (3, 0, 0, 3, 0)


def test_idle_pods_use_what_they_say_and_leave_less_for_requests() -> None:
    one = plane(load("web", once(), idle_cpu_milli=500))
    served = one.advance(10.0, endpoints(web=(slot("web-0"), slot("web-1", 2, cpu_limit_milli=200))))

    assert served.pods["web-0", 1].cpu_core_s == pytest.approx(5.1)
    assert served.pods["web-1", 2].cpu_core_s == pytest.approx(2.0)  # idling takes all it may use
    assert served.services["web"].times.total_s == pytest.approx(0.2)  # half a core is left


def test_pods_of_a_silent_node_use_nothing() -> None:
    one = plane(load("web", once(), idle_cpu_milli=500))
    served = one.advance(10.0, endpoints({"a": Room(0, 2**30)}, web=(slot("web-0"),)))

    assert served.pods["web-0", 1].cpu_core_s == 0
    assert counts(served) == (1, 0, 0, 0, 1)


def test_requests_wait_for_the_memory_of_pod_and_node() -> None:
    three = once(3, pause_s=0.0)
    by_pod = plane(load("web", three, memory_bytes=10)).advance(
        9.0, endpoints(web=(slot("web-0", memory_limit_bytes=15),))
    )
    by_node = plane(load("web", three, memory_bytes=10)).advance(
        9.0, endpoints({"a": Room(4000, 29)}, web=(slot("web-0"), slot("web-1", 2)))
    )
    never = plane(load("web", three, memory_bytes=10)).advance(9.0, endpoints({"a": Room(4000, 9)}, web=(slot("w"),)))

    assert by_pod.services["web"].times.total_s == pytest.approx(0.1 + 0.2 + 0.3)
    assert by_pod.pods["web-0", 1].memory_bytes == 10
    assert by_node.services["web"].times.total_s == pytest.approx(0.1 + 0.1 + 0.2)
    assert counts(never) == (3, 0, 0, 3, 0)


def test_calls_are_made_stage_by_stage_in_parallel() -> None:
    loads = (
        load("web", once(), stages=(CallStage(("a", "b")), CallStage(("a",)))),
        load("a", cpu_ms=300.0),
        load("b", cpu_ms=500.0, stages=(CallStage(("a",)),)),
    )
    there = endpoints(web=(slot("web-0"),), a=(slot("a-0", 2), slot("a-1", 3)), b=(slot("b-0", 4),))

    served = plane(*loads).advance(9.0, there)

    assert served.services["web"].times.total_s == pytest.approx(0.1 + (0.5 + 0.3) + 0.3)
    assert counts(served, "a") == (3, 3, 0, 0, 0)


def test_a_call_that_fails_fails_who_called() -> None:
    served = plane(load("web", once(), stages=(CallStage(("a",)),)), load("a")).advance(
        9.0, endpoints(web=(slot("web-0"),), a=())
    )

    assert (counts(served), counts(served, "a")) == ((1, 0, 0, 1, 0), (1, 0, 0, 1, 0))


def test_a_full_node_is_shared_by_cpu_request() -> None:
    one = plane(load("web", once(), cpu_ms=9000.0), load("big", once(), cpu_ms=9000.0))
    there = endpoints(
        {"a": Room(1000, 2**30)},
        web=(slot("web-0", cpu_request_milli=100),), big=(slot("big-0", 2, cpu_request_milli=300),),
    )  # fmt: skip

    served = one.advance(4.0, there)

    assert [span.cpu_core_s for span in served.pods.values()] == pytest.approx([1.0, 3.0])


@pytest.mark.parametrize("balancing", [RANDOM, LEAST_CONNECTIONS])
def test_balancing_other_than_in_turn_serves_all(balancing: str) -> None:
    one = plane(load("web", Stream(Constant(20.0), is_random=True), balancing=balancing))
    served = one.advance(100.0, endpoints(web=tuple(slot(f"web-{n}", n) for n in range(4))))

    used = [span.cpu_core_s for span in served.pods.values()]
    assert sum(used) == pytest.approx(served.services["web"].arrived * 0.1, abs=2.0)
    assert min(used) > 0.7 * max(used)


@pytest.mark.parametrize("use", [0.3, 0.7, 0.85])
def test_the_mean_response_time_is_that_of_processor_sharing(use: float) -> None:
    """In M/G/1 with processor sharing it is s / (1 - use), whatever the distribution of the work (Kleinrock)."""
    one = make_data_plane(
        WorkloadSpec((load("web", Stream(Constant(use * 10), is_random=True)),)), seed=3, duration_s=40_000.0
    )
    if one.kernel == "plain":
        pytest.skip("takes a minute without the compiled kernel")
    span = one.advance(40_000.0, endpoints(web=(slot("web-0"),))).services["web"]

    assert span.times.total_s / span.times.count == pytest.approx(0.1 / (1 - use), rel=0.05)


def test_a_run_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    def total(seed: int, plain: bool = False) -> float:
        busy = load("web", Stream(Constant(15.0), is_random=True), balancing=RANDOM)
        one = plane(busy, seed=seed, plain=plain)
        spans = [one.advance(until, endpoints(web=(slot("a"), slot("b", 2)))) for until in (3.0, 11.5, 60.0)]
        return sum(span.services["web"].times.total_s for span in spans)

    assert total(1) == total(1) == total(1, plain=True)
    assert total(1) != total(2)


def test_without_the_compiled_kernel_its_twin_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubeproof.simulate.serving._kernel", None)

    one = plane(load("web", once(3)))

    assert one.kernel == "plain"
    assert counts(one.advance(9.0, endpoints(web=(slot("web-0"),)))) == (3, 3, 0, 0, 0)


@pytest.mark.parametrize(
    ("loads", "problem"),
    [
        ((load("web", stages=(CallStage(("web",)),)),), "web calls itself: web calls web"),
        (
            (load("a", stages=(CallStage(("b",)),)), load("b", stages=(CallStage(("a",)),))),
            "a calls itself: a calls b calls a",
        ),
        ((load("web", stages=(CallStage(("db",)),)),), "web calls db, which is no service"),
    ],
)
def test_calls_that_cannot_be_made_are_refused(loads: tuple[ServiceLoad, ...], problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        plane(*loads)


def test_without_numpy_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    numpy.cache_clear()
    try:
        with pytest.raises(EnvironmentProblem, match=r"pip install 'kubeproof\[simulate\]'"):
            numpy()
    finally:
        numpy.cache_clear()


# -- shares and times -------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(0.01, 8), st.floats(2, 4000)), min_size=1, max_size=8), st.floats(0.1, 16))
def test_shares_by_weight_are_max_min_fair(pods: list[tuple[float, float]], total: float) -> None:
    demands, weights = [demand for demand, _ in pods], [weight for _, weight in pods]

    shares = share_by_weight(demands, weights, total)

    assert sum(shares) == pytest.approx(min(sum(demands), total))
    assert all(share <= demand * (1 + 1e-9) for share, demand in zip(shares, demands, strict=True))
    levels = [share / weight for share, weight in zip(shares, weights, strict=True)]
    unmet = [level for level, share, demand in zip(levels, shares, demands, strict=True) if share < demand * (1 - 1e-9)]
    assert not unmet or max(levels) <= min(unmet) * (1 + 1e-9)  # nobody has more, by weight, than one who lacks


@given(st.floats(1e-8, 1e8))
def test_a_time_is_within_a_percent_of_the_middle_of_its_bucket(time_s: float) -> None:
    assert middle_of(bucket_of(time_s)) == pytest.approx(time_s, rel=0.008)


def test_times_out_of_bounds_are_counted_at_the_ends() -> None:
    assert [bucket_of(time) for time in (-1.0, 0.0, 1e-30, 1e30, inf)] == [0, 0, 0, BUCKETS - 1, BUCKETS - 1]


@given(st.lists(st.floats(1e-4, 1e3), min_size=1, max_size=60), st.lists(st.floats(1e-4, 1e3), max_size=60))
def test_percentiles_of_histograms_are_close_also_when_added_up(first: list[float], second: list[float]) -> None:
    both = histogram_of(first).merge(histogram_of(second)) if second else histogram_of(first)
    times = sorted([*first, *second])

    assert (both.count, both.least_s, both.most_s) == (len(times), times[0], times[-1])
    assert both.mean_s == pytest.approx(sum(times) / len(times))
    for percent in (1, 50, 95, 99):
        exact = times[-(-len(times) * percent // 100) - 1]
        assert both.percentile(percent) == pytest.approx(exact, rel=0.016)
    assert both.percentile(100) == times[-1]


def test_without_times_there_is_no_percentile() -> None:
    assert histogram_of([]).percentile(50) is None
    with pytest.raises(InternalError):
        Histogram((), 0, 0.0, 0.0, 0.0).merge(None)
