"""Models of reliability and of queues whose answers are known: repair crews, M/M/c, and what a plain draw says.

One node, k of n nodes, long-run shares, the first violation and crashes stand in `test_rates`, M/D/1 with processor
sharing in the tests of `simulate`.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from pathlib import Path

import pytest

from kubeproof.errors import ManifestError
from kubeproof.manifests.load import load
from kubeproof.quantify.clusters.options import LONG_RUN, ClusterOptions
from kubeproof.quantify.prism.programs import program, properties
from tests.oracles.failing_nodes import Nodes, draw_shortage
from tests.unit.quantify.programs import needs_storm
from tests.unit.quantify.test_rates import DAY_S, HOUR_S, ask, cluster, holds, outlives_notice

pytest.importorskip("numpy")


def expected_up(nodes: int, crews: int, up_s: float, down_s: float, horizon_s: float, steps: int = 2000) -> float:
    """Node-hours of machines with so many crews, all up at first: M/M/c//N over time, by the method of Runge and Kutta.

    The probabilities of n nodes down follow a birth and death process.
    """

    def change(shares: list[float]) -> list[float]:
        found = [0.0] * (nodes + 1)
        for down, share in enumerate(shares):
            for to, rate in ((down + 1, (nodes - down) / up_s), (down - 1, min(down, crews) / down_s)):
                if rate:
                    found[down] -= rate * share
                    found[to] += rate * share
        return found

    def move(shares: list[float], change: list[float], seconds: float) -> list[float]:
        return [share + seconds * per_s for share, per_s in zip(shares, change, strict=True)]

    shares, step, total = [1.0] + [0.0] * nodes, horizon_s / steps, 0.0
    for _ in range(steps):
        stages = [shares]
        for seconds in (step / 2, step / 2, step):
            stages.append(move(shares, change(stages[-1]), seconds))
        for stage, weight in zip(stages, (1, 2, 2, 1), strict=True):
            total += weight * step / 6 * sum((nodes - down) * share for down, share in enumerate(stage))
            shares = move(shares, change(stage), weight * step / 6)
    return total / HOUR_S


@pytest.mark.parametrize(("nodes", "crews"), [(2, 1), (3, 1), (3, 2), (4, 3)])
def test_repair_crews_are_those_of_the_machine_repair_model(tmp_path: Path, nodes: int, crews: int) -> None:
    loaded = cluster(tmp_path, nodes, 1, f"mtbf: 20h, mttr: 2h, crews: {crews}")

    found = ask(loaded, horizon_s=2 * DAY_S, questions=("amounts",))

    true = expected_up(nodes, crews, 20 * HOUR_S, 2 * HOUR_S, 2 * DAY_S)
    assert holds({a.name: a.span for a in found.amounts}["nodes"], true, 1e-5)


def test_as_many_crews_as_nodes_are_no_limit(tmp_path: Path) -> None:
    plain, crewed = (
        ask(cluster(tmp_path, 2, 2, f"mtbf: 20h, mttr: 2h{crews}"), questions=(LONG_RUN,)).shortages[0].span
        for crews in ("", ", crews: 2")
    )

    assert plain == crewed


@pytest.mark.parametrize(("nodes", "wanted", "crews"), [(2, 2, 1), (3, 2, 1), (3, 3, None)])
def test_drawing_every_moment_says_the_same(tmp_path: Path, nodes: int, wanted: int, crews: int | None) -> None:
    """A second oracle that knows no chain: 60,000 hours, drawn."""
    limit = "" if crews is None else f", crews: {crews}"
    (shortage,) = ask(cluster(tmp_path, nodes, wanted, f"mtbf: 1h, mttr: 5m{limit}"), questions=(LONG_RUN,)).shortages

    share, error = draw_shortage(Nodes(nodes, HOUR_S, 300, crews), wanted, 20_000 * HOUR_S, seed=1)

    assert shortage.span.least is not None
    assert shortage.span.least.value == pytest.approx(share, abs=4 * error)
    assert error < 0.02 * share


def test_the_draw_has_the_closed_form_where_there_is_one() -> None:
    share, error = draw_shortage(Nodes(1, HOUR_S, 300), 1, 40_000 * HOUR_S, seed=2)

    assert share == pytest.approx(outlives_notice(1 / 300) * 300 / 3900, abs=4 * error)


@needs_storm
def test_in_steps_crews_share_their_work_as_well(tmp_path: Path) -> None:
    """Two nodes that may both be down: the share of time of the machine repair model with one crew."""
    from kubeproof.quantify.clusters.run import quantify_cluster

    loaded = cluster(tmp_path, 2, 1, "mtbf: 1h, mttr: 1h, crews: 1", quantify=", tick: 1m")
    options = ClusterOptions(order="uniform", horizon_s=HOUR_S, questions=("amounts",))

    steps = {a.name: a.span for a in quantify_cluster(loaded, options).amounts}["nodes"]

    assert steps.least is not None
    one, two = (expected_up(2, crews, HOUR_S, HOUR_S, HOUR_S) for crews in (1, 2))
    assert steps.least.value == pytest.approx(one, rel=0.005)  # a tick is a sixtieth of a repair
    assert two > 1.015 * one


@needs_storm
@pytest.mark.parametrize(("tick", "most"), [("10m", 0.12), ("1m", 0.02)])
def test_a_tick_leaves_out_events_where_rates_are_exact(tmp_path: Path, tick: str, most: float) -> None:
    """At most one event comes in a tick: a tenth of a repair is missed where ticks are a fifth as long as repairs."""
    from kubeproof.quantify.clusters.run import quantify_cluster

    loaded = cluster(tmp_path, 1, 1, "mtbf: 2h, mttr: 1h", quantify=f", tick: {tick}")
    horizon_s = 4 * HOUR_S
    true = expected_up(1, 1, 2 * HOUR_S, HOUR_S, horizon_s)

    steps, rates = (
        {a.name: a.span for a in found.amounts}["nodes"]
        for found in (
            quantify_cluster(loaded, ClusterOptions(horizon_s=horizon_s, questions=("amounts",))),
            ask(loaded, horizon_s=horizon_s, questions=("amounts",)),
        )
    )

    assert steps.least is not None
    assert 0 < abs(steps.least.value / true - 1) < most
    assert holds(rates, true, 1e-6)


@pytest.mark.parametrize(
    ("rates", "problem"),
    [("mtbf: 1h, crews: 1", "how long a repair takes"), ("mtbf: 1h, mttr: 1h, crews: 0", "crews")],
)
def test_crews_without_repairs_are_refused(tmp_path: Path, rates: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        cluster(tmp_path, 1, 1, rates)


# -- queues -------------------------------------------------------------------------------------

QUEUE = """ctmc
const int c; const int K;
module queue
  n : [0..K] init 0;
  [] n<K -> 3/4 : (n'=n+1);
  [] n>0 -> min(n,c)/2 : (n'=n-1);
endmodule
rewards "waiting" n>c : n-c; endrewards
"""


def erlang(servers: int, places: int) -> list[Fraction]:
    """The shares of time with so many in M/M/c/K, arriving 3/4 and served 1/2 a second."""
    offered = Fraction(3, 2)
    weights = [
        offered**n / (factorial(n) if n <= servers else factorial(servers) * servers ** (n - servers))
        for n in range(places + 1)
    ]
    return [weight / sum(weights) for weight in weights]


def first_full(servers: int, places: int) -> Fraction:
    """The mean time until all places are taken, from empty: each step upwards includes the ways back."""
    arrives, total, step = Fraction(3, 4), Fraction(0), Fraction(0)
    for n in range(places):
        step = 1 / arrives + Fraction(min(n, servers), 2) / arrives * step
        total += step
    return total


@needs_storm
@pytest.mark.parametrize(("servers", "places"), [(1, 4), (2, 20), (3, 30)])
def test_queues_have_the_values_of_erlang(servers: int, places: int) -> None:
    from kubeproof.quantify.checking import check
    from kubeproof.quantify.prism.building import build

    queue = program(QUEUE, file="queue", constants={"c": str(servers), "K": str(places)})
    texts = (f"LRA=? [n>={servers}]", 'R{"waiting"}=? [LRA]', f"T=? [F n={places}]")
    wanted = tuple(one for text in texts for one in properties(text, queue, file="here"))
    model = build(queue, wanted, exact=True)

    found = [check(model, one.formula).value for one in wanted]

    shares = erlang(servers, places)
    waiting = sum(((n - servers) * share for n, share in enumerate(shares) if n > servers), Fraction(0))
    assert found == [sum(shares[servers:]), waiting, first_full(servers, places)]


def test_the_file_of_a_cluster_is_read_with_its_crews(tmp_path: Path) -> None:
    cluster(tmp_path, 1, 1, "mtbf: 1h, mttr: 1h, crews: 2")

    (event,) = load((str(tmp_path / "cluster.yaml"),)).scenario.events

    assert event.crews == 2
