"""Continuous time: what is printed holds what closed forms say, and what two other ways of computing say."""

from __future__ import annotations

import json
import math
from math import comb
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.cluster.state import NEVER, Health, NodeCell, Phase, PodKind
from kubeproof.errors import UsageError
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from kubeproof.quantify.clusters.options import FIRST, ClusterOptions
from kubeproof.quantify.clusters.result import ClusterResult, Span
from kubeproof.quantify.rates.limit import find_limit
from kubeproof.quantify.rates.phases import list_expiries, make_clock, read_clock, start_phases
from tests.unit.quantify.clusters import tiny
from tests.unit.quantify.programs import needs_storm

pytest.importorskip("numpy")
HOUR_S, DAY_S, YEAR_S = 3600, 86400, 365 * 86400
NOTICED_S = (50, 55)  # after the last sign of life: the grace period, and up to one look at the node later
ROOM = "allocatable: {{cpu: '4', memory: 8Gi, pods: '9'}}"
NODE = f"{{{{apiVersion: v1, kind: Node, metadata: {{{{name: n{{0}}}}}}, status: {{{{{ROOM}}}}}}}}}"
CLUSTER = """
apiVersion: v1
kind: List
items: [{nodes}]
---
apiVersion: apps/v1
kind: {kind}
metadata: {{name: web}}
spec:
  {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: web, resources: {{requests: {{cpu: 500m, memory: 64Mi}}}}}}]}}
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: rates}}
spec:
  start: deployed
  quantify: {{horizon: 24h{quantify}}}
  events: [{{nodeFailure: {{max: unlimited, {rates}}}}}]
  intents: [{{minReady: {{target: {kind}/web, count: {count}, when: always}}}}]
"""


def cluster(
    folder: Path, nodes: int, count: int, rates: str, *, replicas: int | None = None, quantify: str = ""
) -> Loaded:
    """Nodes that fail and come back, with a Deployment of so many replicas or a DaemonSet, `count` of them ready."""
    file = folder / "cluster.yaml"
    file.write_text(
        CLUSTER.format(
            nodes=", ".join(NODE.format(number) for number in range(nodes)),
            kind="DaemonSet" if replicas is None else "Deployment",
            replicas="" if replicas is None else f"replicas: {replicas}",
            rates=rates,
            count=count,
            quantify=quantify,
        )
    )
    return load((str(file),))


def ask(loaded: Loaded, **options: object) -> ClusterResult:
    from kubeproof.quantify.rates.run import quantify_rates

    return quantify_rates(loaded, ClusterOptions(**options))  # type: ignore[arg-type]


def holds(span: Span | None, true: float, width: float = 0.01) -> bool:
    """True if the printed interval has the value and is narrow."""
    assert span is not None
    assert span.least is not None
    assert span.least == span.greatest
    lower, upper = span.least.lower, span.least.upper
    assert lower is not None
    assert upper is not None
    return lower <= true <= upper and upper - lower <= width * true


def outlives_notice(repair_per_s: float) -> float:
    """How likely a failure is noticed, the moment of noticing being anywhere between the two."""
    early, late = NOTICED_S
    return (math.exp(-repair_per_s * early) - math.exp(-repair_per_s * late)) / (repair_per_s * (late - early))


RATES = (("90d", "1h", 90 * DAY_S, HOUR_S), ("1h", "5m", HOUR_S, 300), ("20h", "2m", 20 * HOUR_S, 120))


@pytest.mark.parametrize(("mtbf", "mttr", "up_s", "down_s"), RATES)
def test_one_node_has_the_values_of_renewal_theory(
    tmp_path: Path, mtbf: str, mttr: str, up_s: float, down_s: float
) -> None:
    found = ask(cluster(tmp_path, 1, 1, f"mtbf: {mtbf}, mttr: {mttr}", replicas=1))

    (intent,), (shortage,) = found.intents, found.shortages
    noticed = outlives_notice(1 / down_s)
    assert holds(intent.first_s, (up_s + (1 - noticed) * down_s) / noticed)
    assert holds(intent.ever, 1.0)
    assert holds(shortage.span, noticed * down_s / (up_s + down_s))
    assert holds({a.name: a.span for a in found.amounts}["nodes"], node_hours(1, up_s, down_s, DAY_S), 1e-8)


@pytest.mark.parametrize(("mtbf", "mttr", "up_s", "down_s"), RATES)
@pytest.mark.parametrize(("nodes", "count"), [(2, 2), (2, 1), (3, 2)])
def test_k_of_n_nodes_have_the_availability_of_the_binomial(
    tmp_path: Path, mtbf: str, mttr: str, up_s: float, down_s: float, nodes: int, count: int
) -> None:
    found = ask(cluster(tmp_path, nodes, count, f"mtbf: {mtbf}, mttr: {mttr}"), horizon_s=YEAR_S)

    out = outlives_notice(1 / down_s) * down_s / (up_s + down_s)
    most_out = range(nodes - count + 1, nodes + 1)
    assert holds(found.shortages[0].span, sum(comb(nodes, n) * out**n * (1 - out) ** (nodes - n) for n in most_out))
    assert holds({a.name: a.span for a in found.amounts}["nodes"], node_hours(nodes, up_s, down_s, YEAR_S), 1e-6)


def node_hours(nodes: int, up_s: float, down_s: float, horizon_s: float) -> float:
    """Of nodes that all live at first."""
    rate, up = 1 / up_s + 1 / down_s, up_s / (up_s + down_s)
    return nodes * (up * horizon_s - (1 - up) * math.expm1(-rate * horizon_s) / rate) / HOUR_S


@pytest.mark.parametrize(
    ("rates", "up_s", "down_s"), [("mtbf: 1h, mttr: 5m", 3600, 300), ("mtbf: 20h, mttr: 15m", 72000, 900)]
)
def test_within_a_horizon_one_node_follows_its_delay_equation(
    tmp_path: Path, rates: str, up_s: float, down_s: float
) -> None:
    loaded = cluster(tmp_path, 1, 1, rates, replicas=1)

    found = ask(loaded, horizon_s=2 * HOUR_S)

    assert holds(found.intents[0].within, missed_within(2 * HOUR_S, 1 / up_s, 1 / down_s))


def missed_within(horizon_s: int, fails: float, returns: float, step_s: float = 0.5) -> float:
    """How likely some failure is noticed: it lives (u), or is silent (l) since less than the middle of the range.

    u' = -f u + r l, l' = f u - r l - f u(t - d) exp(-r d), by the method of Heun.
    """
    wait_s = sum(NOTICED_S) / 2
    behind, kept = round(wait_s / step_s), math.exp(-returns * wait_s)
    lives, silent = [1.0], [0.0]
    for step in range(round(horizon_s / step_s)):
        u, l_ = lives[-1], silent[-1]
        left, right = step - behind, step + 1 - behind
        gone = (fails * lives[left] * kept if left >= 0 else 0.0, fails * lives[right] * kept if right > 0 else 0.0)
        du, dl = -fails * u + returns * l_, fails * u - returns * l_ - gone[0]
        u_, m = u + step_s * du, l_ + step_s * dl
        lives.append(u + step_s / 2 * (du - fails * u_ + returns * m))
        silent.append(l_ + step_s / 2 * (dl + fails * u_ - returns * m - gone[1]))
    return 1 - lives[-1] - silent[-1]


@needs_storm
def test_ticks_are_off_by_half_where_rates_hold_the_true_value(tmp_path: Path) -> None:
    """At most one event comes in a tick, and none between two: with ticks as long as failures last that is too few."""
    from kubeproof.quantify.clusters.run import quantify_cluster

    loaded = cluster(tmp_path, 1, 1, "mtbf: 10m, mttr: 10m", replicas=1, quantify=", tick: 10m")
    noticed = outlives_notice(1 / 600)
    true = (600 + (1 - noticed) * 600) / noticed

    steps = quantify_cluster(loaded, ClusterOptions(questions=(FIRST,))).intents[0].first_s
    rates = ask(loaded, questions=(FIRST,)).intents[0].first_s

    assert steps is not None
    assert steps.least is not None
    assert steps.least.value > 1.5 * true
    assert holds(rates, true)


def test_three_nodes_over_a_year_lie_where_simulated_runs_do(tmp_path: Path) -> None:
    """Of 1,500 runs of `simulate` with seeds from 0, 113 fell below two ready pods within 6 h: 0.0630 to 0.0898."""
    found = ask(
        cluster(tmp_path, 3, 2, "mtbf: 20h, mttr: 15m", replicas=3), horizon_s=6 * HOUR_S, questions=("within",)
    )

    assert holds(found.intents[0].within, 0.0663, 0.06)
    assert found.waits is not None
    assert not found.waits.is_whole


def test_what_is_looked_at_further_lies_within(tmp_path: Path) -> None:
    """Failures in rare states are counted both ways, so that looking further only narrows the interval."""
    from kubeproof.quantify.clusters.space import SpaceOptions
    from kubeproof.quantify.rates.model import RatedModel
    from kubeproof.quantify.rates.space import explore_rated

    loaded = cluster(tmp_path, 3, 2, "mtbf: 90d, mttr: 1h", replicas=3)
    found = []
    for rarest in (20, 30, 40):
        space = explore_rated(loaded, SpaceOptions(), 1, rarest)
        options = ClusterOptions(questions=("within", "amounts"))
        found.append(dict(RatedModel(space, loaded.scenario, options, YEAR_S).answers()))

    for key in found[0]:
        lower, upper = zip(*((float(f[key].lower[0]), float(f[key].upper[0])) for f in found), strict=True)
        assert list(lower) == sorted(lower)
        assert list(upper) == sorted(upper, reverse=True)


def test_what_never_happens_is_zero_without_a_doubt(tmp_path: Path) -> None:
    loaded = tiny(
        tmp_path, "[{podCrash: {target: Deployment/web, max: unlimited, ratePerYear: 12}}]",
        intents="[{maxReplicas: {target: Deployment/web, count: 1}}]",
    )  # fmt: skip

    (intent,) = ask(loaded, horizon_s=YEAR_S).intents

    assert holds(intent.within, 0.0)
    assert holds(intent.ever, 0.0)
    assert intent.first_s is not None
    assert intent.first_s.least is not None
    assert intent.first_s.least.value == math.inf


def test_crashes_take_the_share_of_their_back_off(tmp_path: Path) -> None:
    """In the long run every crash costs the longest back-off and a start-up."""
    crash = "[{podCrash: {target: Deployment/web, max: unlimited, mtbf: 1h}}]"

    (shortage,) = ask(tiny(tmp_path, crash), questions=("long-run",)).shortages

    assert holds(shortage.span, 305 / (HOUR_S + 305))


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ("[{nodeFailure: {max: unlimited, mtbf: 1h}}]", "--rates needs a rate of event nodeFailure-1"),
        ("[{podCrash: {target: Deployment/web}}]", "--rates needs a rate of event podCrash-1"),
    ],
)
def test_open_events_are_refused(tmp_path: Path, events: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        ask(tiny(tmp_path, events))


def test_fractions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--exact"):
        ask(tiny(tmp_path, "[{podCrash: {target: Deployment/web, mtbf: 1h}}]"), exact=True)


# -- parts --------------------------------------------------------------------------------------


def test_a_range_becomes_a_clock_of_its_middle() -> None:
    cell = NodeCell(health=Health.LOST, least_s=50, most_s=55)

    after = start_phases(cell, 4)

    assert read_clock(after.least_s) == (105, 4)
    assert after.least_s == after.most_s
    assert start_phases(after, 4) == after
    ((per_s, later),) = list_expiries(after, 4)
    assert per_s == pytest.approx(4 / 52.5)
    assert read_clock(later.least_s) == (105, 3)


def test_clocks_of_one_node_end_by_themselves_and_those_of_equals_together() -> None:
    pods = ((PodKind(0, Phase.READY, evict_s=300), 2), (PodKind(1, Phase.STARTING, 5, 5, evict_s=300), 1))
    cell = start_phases(NodeCell(health=Health.UNKNOWN, no_execute=1, pods=pods), 1)

    started, evicted = list_expiries(cell, 1)

    assert (started.per_s, evicted.per_s) == (1 / 5, 1 / 300)
    assert [kind.least_s for kind, _ in started.after.pods] == [NEVER, 0]
    assert [kind.evict_s for kind, _ in evicted.after.pods] == [0, 0]


def test_a_clock_that_is_due_or_never_runs_is_as_in_seconds() -> None:
    assert make_clock(80, 0) == 0
    assert start_phases(NodeCell(), 3) == NodeCell()
    due = NodeCell(health=Health.LOST, least_s=0, most_s=0)
    assert (start_phases(due, 3), list(list_expiries(due, 3))) == (due, [])


def test_the_limit_of_a_race_against_a_wait_is_that_of_a_sharp_one() -> None:
    """How likely a wait of length 0.3 is over before an event of rate 1: exp(-0.3)."""
    divided = {k: (1 + 0.3 / k) ** -k for k in (1, 2, 4)}

    found = find_limit([(k, divided[k] / divided[1]) for k in (2, 4)])

    assert found is not None
    assert divided[1] * found.ratio == pytest.approx(math.exp(-0.3), rel=3e-4)
    assert abs(divided[1] * found.ratio - math.exp(-0.3)) < divided[1] * found.error
    assert find_limit([(4, 1.0)]) is None


# -- reports ------------------------------------------------------------------------------------


def test_the_report_says_what_its_intervals_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster(tmp_path, 1, 1, "mtbf: 90d, mttr: 1h", replicas=1)

    assert main(["quantify", "cluster", str(tmp_path), "--rates", "--within", "1y", "--at-most", "0.9"]) == 1

    text = capsys.readouterr().out
    assert "waits in 1, 2, 4 and 8 phases, and what the answers tend to" in text
    (line,) = (line for line in text.splitlines() if line.startswith("expected time to the first violation"))
    assert line.split()[-6:] == ["91.3227", "d", "91.3226", "d", "91.3229", "d"]
    assert "At most 0.9 within the horizon\n  VIOLATED minReady Deployment/default/web" in text


def test_json_says_which_process_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster(tmp_path, 1, 1, "mtbf: 90d, mttr: 1h", replicas=1)

    assert main(["quantify", "cluster", str(tmp_path), "--rates", "--ask", "first", "-o", "json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert (found["time"], found["waits"]) == ("rates", {"phases": [2, 4, 8], "rarest": 0.01, "is_whole": True})
    assert found["results"][0]["first_violation_s"]["min"]["guarantee"] == "extrapolated"


def test_shares_of_time_and_cost_are_held_against_promises(tmp_path: Path) -> None:
    """A pod that crashes every hour on average is down for 305 of 3,905 s, and a node costs 2 an hour."""
    levels = [f"{{readyShare: {{atLeast: {share}%}}}}" for share in (92, 93)]
    levels += [f"{{costPerHour: {{atMost: {cost}}}}}" for cost in ("2.01", "1.99")]
    crash = "[{podCrash: {target: Deployment/web, max: unlimited, mtbf: 1h}}]"
    loaded = tiny(tmp_path, crash, quantify="{cost: {nodeHour: 2}}", intents=f"[{', '.join(levels)}]")

    found = ask(loaded, questions=("amounts", "long-run"))

    assert [level.verdict for level in found.levels] == ["HOLDS", "VIOLATED", "HOLDS", "VIOLATED"]
    assert found.levels[0].value == pytest.approx(HOUR_S / (HOUR_S + 305))
    assert found.verdict == "VIOLATED"


@needs_storm
def test_in_steps_they_are_held_against_promises_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crash = "[{podCrash: {target: Deployment/web, max: unlimited, mtbf: 1h}}]"
    tiny(tmp_path, crash, intents="[{readyShare: {atLeast: 93%}}]")

    assert main(["quantify", "cluster", str(tmp_path), "--ask", "long-run"]) == 1

    assert "VIOLATED P006 readyShare Deployment/default/web: 0.92189" in capsys.readouterr().out
