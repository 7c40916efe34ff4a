"""What is drawn and told of simulated clusters, in every format."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as Tree
from dataclasses import replace

import pytest

from kubeproof.report.amounts import amount
from kubeproof.report.html.panels import MOST_LINES, Mark, drawing_of
from kubeproof.report.simulate import published as experiments
from kubeproof.report.simulate.cluster import RENDERERS
from kubeproof.report.simulate.picture import (
    COLOURS,
    HEIGHT,
    WIDTH,
    _clock,
    _runs,
    legend_of,
    list_ticks,
    svg,
    write_tick,
)
from kubeproof.report.simulate.variants import align, comparison_table, requests_table
from kubeproof.simulate.outcome import (
    Comparison,
    Costs,
    IntentOutcome,
    Moment,
    ServiceTotals,
    SimulationResult,
    Variant,
)
from kubeproof.simulate.published.experiments import find_published
from kubeproof.simulate.published.run import simulate
from kubeproof.verdicts import Verdict
from tests.unit.report.simulations import HOSTILE, STEPS, comparison, simulation


def values_of(page: str) -> dict[str, object]:
    """What the scripts of a page read."""
    found = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def drawn(picture: str) -> tuple[int, int, list[Tree.Element]]:
    """Width, height, and all parts of an SVG file."""
    tree = Tree.fromstring(picture)
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"
    return int(tree.attrib["width"]), int(tree.attrib["height"]), list(tree)


def colours_of(parts: list[Tree.Element]) -> set[str | None]:
    return {part.get("fill") for part in parts} | {part.get("stroke") for part in parts}


def test_panels_are_made_of_what_there_is_to_see() -> None:
    drawing = drawing_of(simulation())

    assert [group.name for group in drawing.groups] == ["web", HOSTILE, "Nodes", "Cluster"]
    web, _, nodes, cluster = drawing.groups
    assert [panel.title for panel in web.panels] == ["Pods", "CPU", "Requests", "Response time"]
    assert [line.name for line in web.panels[0].lines] == ["pods", "ready", "desired"]  # nothing was ever pending
    assert web.panels[0].has_steps
    assert len(nodes.panels[0].lines) == MOST_LINES
    assert nodes.panels[0].lines[0].name == "node-3"  # the idlest are left out
    assert nodes.panels[0].note == "the busiest 12 of 15"
    assert [panel.title for panel in cluster.panels] == ["Nodes that are up"]
    assert len(drawing.times_s) == STEPS


def test_variants_share_panels() -> None:
    first = drawing_of(comparison()).groups[0].panels[0]

    assert [line.name for line in first.lines] == ["hpa.targetCPU=60", "hpa.targetCPU=80"]
    assert (first.lines[0].values[9], first.lines[1].values[9]) == (10.0, 5.0)


def test_experiments_have_panels_of_their_own() -> None:
    drawing = drawing_of(simulate(find_published("abs-1")))

    assert drawing.times_s[:3] == (0.0, 2.0, 4.0)
    assert [panel.title for panel in drawing.groups[0].panels] == ["Pods", "CPU", "Use by request"]
    assert max(drawing.groups[0].panels[1].lines[0].values) == 1700


# -- tables -----------------------------------------------------------------------------------------


def test_variants_are_compared_in_one_table() -> None:
    table = comparison_table(comparison())

    rows = [dict(zip(table.head, row, strict=True)) for row in table.rows]
    assert [row["hpa.targetCPU"] for row in rows] == ["60", "80"]
    assert [row["web most pods"] for row in rows] == ["10", "5"]
    wanted = {
        "verdict": "VIOLATED",
        "violated": "1 of 2",
        "kWh": "1.250",
        "cost": "4.500",
        "web % of all in time": "98.50",
    }
    assert rows[0].items() >= wanted.items()
    assert float(rows[0]["web p50 s"]) == pytest.approx(0.1, rel=0.01)


def test_only_services_with_requests_have_a_row() -> None:
    table = requests_table(simulation().services)

    assert [row[0] for row in table.rows] == ["web"]
    assert table.rows[0][1:6] == ("1,000", "985", "5", "5", "5")


def test_text_of_a_comparison_has_a_row_and_bars_for_each_variant() -> None:
    text = RENDERERS["text"](comparison())

    lines = text.splitlines()
    assert lines[0] == "shop: 2 variants, 1 run of 10m each"
    assert lines[2].startswith("hpa.targetCPU")
    assert lines[3].startswith("60")
    assert "hpa.targetCPU=80: pods of web" in lines
    assert len({len(line) for line in align(comparison_table(comparison()))}) == 1
    assert "\u202e" not in text


def test_text_tells_what_became_of_every_request() -> None:
    text = RENDERERS["text"](simulation())

    assert "requests: 1,000; 985 ok, 5 late, 5 failed, 5 open at the end; 98.50 % of all answered in time" in text
    assert "s (of the 4 answered)" in text
    assert text.endswith("VIOLATED: 2 properties sampled in 1 run\n")


def test_text_of_a_run_without_intents_claims_nothing() -> None:
    text = RENDERERS["text"](replace(simulation(), intents=(), verdict=Verdict.SAMPLED_OK))

    assert text.endswith("SAMPLED-OK: no property declared, none sampled in 1 run\n")


def test_text_of_several_runs_tells_how_far_they_lie_apart() -> None:
    assert "most 10 (8 to 12 in 90 % of the runs)" in RENDERERS["text"](simulation(runs=20))
    assert "of the runs)" not in RENDERERS["text"](simulation())


def test_csv_has_the_bands_of_several_runs() -> None:
    rows = list(csv.DictReader(RENDERERS["csv"](simulation(runs=20)).splitlines()))

    (one,) = [row for row in rows if (row["subject"], row["quantity"], row["time_s"]) == ("web", "pods", "15")]
    assert (one["value"], one["low"], one["high"]) == ("2", "1.6", "2.4")


# -- pages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", [simulation(), simulation(runs=20), comparison()], ids=["one", "runs", "variants"])
def test_pages_are_offline_and_let_nothing_in(result: SimulationResult | Comparison) -> None:
    page = RENDERERS["html"](result)

    assert "default-src 'none'" in page
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "\u202e" not in page
    assert re.search(r"(src|href)=[\"']?https?:", page) is None


def test_the_page_of_one_variant_has_everything() -> None:
    values = values_of(RENDERERS["html"](simulation(runs=20)))

    assert values["headline"] == "VIOLATED"
    assert values["how"] == "20 runs of 600 s, seed 1, autoscaler hpa"
    assert values["marks"] == [{"time": 300.0, "text": "S001 minReady is violated", "bad": True}]
    assert values["intents"][0]["when"] == "first at 300 s, in 7 of 20 runs; again with --seed 4"
    assert values["intents"][0]["place"] == "scenario.yaml:12"
    assert ["98.50 %", "of them answered in time"] in values["facts"]
    assert values["momentsLeftOut"] == 4
    assert values["notes"] == ["pods use what requests need", "not modelled: Ingress/shop"]
    assert values["band"].startswith("Lines are means")
    pods = values["groups"][0]["panels"][0]["lines"][0]
    assert (pods["values"][1], pods["low"][1], pods["high"][1]) == (2, 1.6, 2.4)


def test_the_page_of_variants_tells_what_each_violates() -> None:
    values = values_of(RENDERERS["html"](comparison()))

    assert values["headline"] == "2 variants"
    assert values["verdict"] == "VIOLATED"
    assert [one["target"] for one in values["intents"]] == [
        "Deployment/shop/web · hpa.targetCPU=60",
        "Deployment/shop/web · hpa.targetCPU=80",
    ]
    assert len(values["comparison"]["rows"]) == 2


def test_experiments_have_pages_too() -> None:
    values = values_of(experiments.RENDERERS["html"](simulate(find_published("abs-1"))))

    assert (values["scenario"], values["how"]) == ("abs-1", "350 intervals of 2 s")
    assert values["requests"]["rows"] == [
        ["service-1", "18,000", "18,000", "0", "0", "0", "100.00", "0.000", "0.000", "0.000"]
    ]


# -- pictures -------------------------------------------------------------------------------------------


def test_the_picture_has_a_place_and_a_colour_for_every_line() -> None:
    width, height, parts = drawn(svg(simulation(runs=20)))

    assert (width, height) == (2 * WIDTH, 5 * HEIGHT + 14)  # ten panels, one with a legend of two rows
    assert colours_of(parts) >= set(COLOURS)
    assert any(part.tag.endswith("polygon") for part in parts)  # a band
    assert not any(part.tag.endswith("polygon") for part in drawn(svg(simulation()))[2])


def test_names_in_a_picture_are_text() -> None:
    texts = [part.text or "" for part in drawn(svg(simulation()))[2] if part.tag.endswith("text")]

    assert any(text.startswith("cart</script><img src=x onerror=alert(1)>\\u202e - Pods") for text in texts)


def test_a_line_has_gaps_where_nothing_is_known() -> None:
    assert list(_runs((0.0, 1.0, 2.0, 3.0), (None, 1.0, None, 2.0), (1.0, 3.0, 1.0, 4.0))) == [
        [(1.0, (1.0, 3.0))],
        [(3.0, (2.0, 4.0))],
    ]


def test_a_legend_names_every_line_and_cuts_none() -> None:
    names = [f"hpa.targetCPU={target}, traffic.factor={factor}" for target in (40, 60) for factor in (1, 2)]
    long = "Deployment/shop/" + 10 * "web-" + "x.cpuRequest=250m"

    entries = legend_of((*names, "a", long, "b"))

    assert ["".join(entry.lines) for entry in entries] == [*names, "a", long, "b"]
    assert [entry.row for entry in entries] == [0, 1, 2, 3, 3, 4, 6]
    assert entries[4].x > 0
    assert len(entries[5].lines) == 2


def test_lines_of_a_panel_have_colours_of_their_own() -> None:
    assert len(set(COLOURS)) == MOST_LINES


def test_requests_that_are_never_answered_are_not_in_time() -> None:
    swamped = replace(simulation(), services=(ServiceTotals("web", 3_600_000, 32_112, 0, 0, 3_567_888),))

    assert "3,567,888 open at the end; 0.89 % of all answered in time" in RENDERERS["text"](swamped)
    assert json.loads(RENDERERS["json"](swamped))["services"][0]["success_rate"] == pytest.approx(0.00892)
    assert ["0.89 %", "of them answered in time"] in values_of(RENDERERS["html"](swamped))["facts"]


def test_costs_that_differ_look_different() -> None:
    costs = [replace(simulation(), costs=Costs(1.0, 1.0, None, cost)) for cost in (0.1644, 0.1609)]
    near = [replace(simulation(), costs=Costs(1.0, 1.0, None, cost)) for cost in (0.164412, 0.164413)]

    assert "cost 0.1644\n" in RENDERERS["text"](costs[0])
    for results, shown in ((costs, ["0.1644", "0.1609"]), (near, ["0.164412", "0.164413"])):
        table = comparison_table(Comparison(tuple(Variant((("x", "1"),), one) for one in results)))
        assert [row[table.head.index("cost")] for row in table.rows] == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0.00"), (0.00012345, "0.0001234"), (4.5, "4.500"), (1234.567, "1234.57")]
)
def test_amounts_have_four_digits_and_two_after_the_point(value: float, shown: str) -> None:
    assert amount(value) == shown


def test_named_intents_tell_what_they_are_about() -> None:
    named = replace(simulation().intents[0], intent="x", key="minReady")
    result = replace(simulation(), intents=(named,))

    assert "VIOLATED S001 minReady (x) Deployment/shop/web\n" in RENDERERS["text"](result)
    assert json.loads(RENDERERS["json"](result))["intents"][0]["key"] == "minReady"
    (shown,) = values_of(RENDERERS["html"](result))["intents"]
    assert (shown["intent"], shown["target"]) == ("minReady (x)", "Deployment/shop/web")


def test_variants_tell_which_intents_are_violated_or_vacuous_and_when() -> None:
    vacuous = replace(simulation().intents[1], verdict=Verdict.VACUOUS)
    mixed = replace(simulation(), intents=(simulation().intents[0], vacuous))
    fine = replace(simulation(), intents=(replace(vacuous, verdict=Verdict.SAMPLED_OK),), verdict=Verdict.SAMPLED_OK)
    compared = Comparison((Variant((("x", "1"),), mixed), Variant((("x", "2"),), fine)))

    lines = RENDERERS["text"](compared).splitlines()
    assert "x=1: VIOLATED S001 minReady at 5m: fewer than 2 ready" in lines
    assert "x=1: VACUOUS L002 settles" in lines
    assert not any(line.startswith("x=2: S") for line in lines)
    table = comparison_table(compared)
    assert [row[table.head.index("vacuous")] for row in table.rows] == ["1 of 2", "0 of 1"]


def test_a_picture_of_many_services_says_what_is_left_out() -> None:
    many = Comparison((Variant((), simulation()),) * 3)
    result = simulation()
    names = tuple(f"service-{number}" for number in range(10))
    copies = tuple(
        type(one)(one.scope, name, one.quantity, one.values)
        for name in names for one in result.timeline.series if one.subject == "web"
    )  # fmt: skip
    timeline = type(result.timeline)(result.timeline.times_s, copies)
    large = type(result)(**{name: getattr(result, name) for name in result.__slots__} | {"timeline": timeline})

    assert drawn(svg(large))[1] == 12 * HEIGHT + 24
    assert drawn(svg(many))[0] == 2 * WIDTH


def test_experiments_have_pictures_too() -> None:
    assert drawn(experiments.RENDERERS["svg"](simulate(find_published("abs-1"))))[:2] == (2 * WIDTH, 2 * HEIGHT)


@pytest.mark.parametrize(
    ("most", "last", "count"), [(0.0, 1.0, 6), (7.0, 8.0, 5), (10.0, 10.0, 6), (0.034, 0.04, 5), (1700, 2000, 5)]
)
def test_ticks_are_round_and_reach_the_most(most: float, last: float, count: int) -> None:
    ticks = list_ticks(most)

    assert (ticks[-1], len(ticks)) == (pytest.approx(last), count)


@pytest.mark.parametrize("most", [0.0, 0.4, 1.0, 2.0, 3.0, 7.0, 12.0])
def test_what_is_counted_has_whole_ticks(most: float) -> None:
    ticks = list_ticks(most, is_whole=True)

    assert all(tick == int(tick) for tick in ticks)
    assert len(set(ticks)) == len(ticks) >= 2
    assert ticks[-1] >= most


@pytest.mark.parametrize(
    ("value", "shown"), [(134_217_728, "134.2M"), (2.5e9, "2.5G"), (1500, "1.5k"), (0.25, "0.25"), (0, "0")]
)
def test_ticks_are_short_enough_to_be_read_whole(value: float, shown: str) -> None:
    assert write_tick(value) == shown


def test_pods_and_waiting_requests_are_counted_and_cores_are_not() -> None:
    panels = {panel.title: panel.is_whole for group in drawing_of(simulation()).groups for panel in group.panels}

    assert panels["Pods"]
    assert not panels["CPU"]


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0:00"), (75, "1:15"), (3661, "1:01:01"), (90_000, "1D 01:00")])
def test_times_are_short(seconds: float, shown: str) -> None:
    assert _clock(seconds) == shown


def test_events_of_a_single_run_and_violations_are_marked() -> None:
    moments = (
        Moment(90.0, "event nodeFailure-1", "node-b fails"),
        Moment(95.0, "scheduler", "binds web-1 to node-a"),
        Moment(120.0, "trafficShift", "web gets 2 times the requests"),
    )
    one, many = (replace(simulation(runs=runs), moments=moments) for runs in (1, 20))
    violated = Mark(300.0, "S001 minReady is violated", is_bad=True)

    assert drawing_of(one).marks == (
        violated,
        Mark(90.0, "event nodeFailure-1: node-b fails", is_bad=False),
        Mark(120.0, "trafficShift: web gets 2 times the requests", is_bad=False),
    )
    assert drawing_of(many).marks == (violated,)
    plain = replace(one, moments=(), intents=())
    assert svg(replace(plain, moments=moments)) != svg(plain)


def test_a_service_level_that_a_variant_breaks_has_no_moment() -> None:
    level = IntentOutcome(
        "P002", "answeredInTime Deployment/shop/web", "Deployment/shop/web", Verdict.VIOLATED,
        "75 % in one run, at least 99 % wanted", key="answeredInTime",
    )  # fmt: skip
    result = replace(simulation(), intents=(level,))

    text = RENDERERS["text"](Comparison((Variant((("traffic.factor", "2"),), result),)))

    told = "traffic.factor=2: VIOLATED P002 answeredInTime Deployment/shop/web: 75 % in one run, at least 99 % wanted\n"
    assert told in text
