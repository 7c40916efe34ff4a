"""The home network's four sequences and fat trees of known size, with and without faults."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from kubeproof.network.check import check
from kubeproof.network.files.generate import DEDICATED, fat_tree, home, with_fault
from kubeproof.network.model import Match, Network, Node, Rule, Snapshot, Traffic
from kubeproof.network.properties.library import waypoint
from kubeproof.network.properties.machine import prepare
from kubeproof.network.result import Counterexample, Liveness, PropertyResult

FIXTURES = Path(__file__).parent / "fixtures"
HOMES = {entry["name"]: entry for entry in json.loads((FIXTURES / "home.json").read_text())}
SIZES = json.loads((FIXTURES / "fattree_sizes.json").read_text())
THROUGH_AP = prepare(waypoint(["ap"], "gateway"))
THROUGH_CORES = prepare(waypoint([DEDICATED]))
WORDS = {
    "verified": Liveness.VERIFIED,
    "not verified": Liveness.NOT_VERIFIED,
    "undetermined (trap only)": Liveness.UNDETERMINED,
}


def network_of(entry: dict[str, Any]) -> Network:
    return Network(
        nodes=tuple(Node(name) for name in entry["nodes"]),
        links=frozenset(frozenset(link) for link in entry["links"]),
        traffic=(Traffic(tuple(entry["sources"]), ("internet",)),),
        snapshots=tuple(
            Snapshot(str(one["time"]), {node: tuple(map(rule_of, rules)) for node, rules in one["rules"].items()})
            for one in entry["snapshots"]
        ),
        name=entry["name"],
    )


def rule_of(rule: dict[str, Any]) -> Rule:
    match = Match(destination=rule["match"]["dst"], in_port=rule["match"].get("in_port", "*"))
    return Rule(match, (rule["next"],) if rule["action"] == "forward" else (), metric=rule.get("metric", 1))


@pytest.mark.parametrize("name", sorted(HOMES))
def test_the_home_sequences_are_answered_as_computed_by_hand(name: str) -> None:
    result = check(network_of(HOMES[name]), THROUGH_AP)

    assert result.is_safe is HOMES[name]["expected"]["safety"]
    assert result.liveness is WORDS[HOMES[name]["expected"]["liveness"]]


@pytest.mark.parametrize(
    ("name", "verdict", "final"),
    [
        ("home_ok", "HOLDS-BOUNDED", "HOLDS"),
        ("home_converging", "HOLDS-BOUNDED", "HOLDS"),
        ("home_bypass", "VIOLATED", "VIOLATED"),
        ("home_never", "UNKNOWN", "VIOLATED"),
    ],
)
def test_lost_packets_leave_the_answer_open_unless_the_last_snapshot_is_final(
    name: str, verdict: str, final: str
) -> None:
    network = network_of(HOMES[name])

    assert check(network, THROUGH_AP).verdict == verdict
    assert check(network, THROUGH_AP, final=True).verdict == final


def test_a_network_that_converges_says_since_when() -> None:
    result = check(network_of(HOMES["home_converging"]), THROUGH_AP)

    assert result.since == 2
    assert [one.unmet for one in result.snapshots] == [3, 3, 0, 0]


def test_the_generated_home_network_is_the_one_of_the_data() -> None:
    given = network_of(HOMES["home_ok"])
    made = home()

    assert {node.name for node in made.nodes} == {node.name for node in given.nodes}
    assert made.links == given.links
    assert [{n: t for n, t in one.tables.items() if t} for one in given.snapshots] == [
        one.tables for one in made.snapshots
    ]


def only(result: PropertyResult) -> Counterexample:
    (example,) = result.counterexamples
    return example


def test_a_bypass_is_shown_with_pair_path_and_snapshot() -> None:
    result = check(with_fault(home(), "bypass", "router", first=1, last=2, to="gateway"), THROUGH_AP)

    assert (result.verdict, result.liveness, result.since) == ("VIOLATED", Liveness.VERIFIED, 3)
    assert (only(result).source, only(result).destination, only(result).snapshot) == ("dev1", "internet", 1)
    assert only(result).nodes == ("dev1", "router", "gateway")
    assert only(result).others == (("dev2", "internet"), ("dev3", "internet"))


def test_a_loop_in_the_last_snapshot_violates_the_liveness_part() -> None:
    result = check(with_fault(home(), "loop", "router", first=3, last=3, to="ap"), THROUGH_AP)

    assert (result.verdict, result.is_safe, result.liveness) == ("VIOLATED", True, Liveness.VIOLATED)
    assert only(result).nodes == ("dev1", "router", "ap", "router", "ap")
    assert only(result).loop_start == 3


def test_a_loop_that_is_repaired_is_no_violation() -> None:
    result = check(with_fault(home(), "loop", "router", first=0, last=2, to="ap"), THROUGH_AP)

    assert (result.verdict, result.since) == ("HOLDS-BOUNDED", 3)


def test_a_link_that_is_down_loses_packets_where_they_would_take_it() -> None:
    result = check(with_fault(home(), "link-down", "router", first=0, last=3, to="gateway"), THROUGH_AP)

    assert (result.verdict, result.liveness) == ("UNKNOWN", Liveness.NOT_VERIFIED)
    assert only(result).nodes == ("dev1", "router", "ap", "router")
    assert only(result).how == "dropped"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"k={size['k']}")
def test_fat_trees_have_the_known_sizes(size: dict[str, int]) -> None:
    network = fat_tree(size["k"])
    traffic = network.traffic[0]

    assert len(network.nodes) == size["nodes"]
    assert len(network.links) == size["links"]
    assert len(traffic.sources) * len(traffic.destinations) == size["pairs_half_to_half"]
    assert len(network.snapshots) == size["snapshots"]


@pytest.mark.parametrize("k", [2, 4, 6, 8, 10])
def test_every_pair_of_a_fat_tree_passes_a_dedicated_core(k: int) -> None:
    result = check(fat_tree(k), THROUGH_CORES)

    assert (result.verdict, result.pairs, result.since) == ("HOLDS-BOUNDED", (k**3 // 8) ** 2, 0)


def test_snapshots_of_a_fat_tree_differ() -> None:
    tables = [one.tables for one in fat_tree(8).snapshots]

    assert all(one != other for one, other in itertools.pairwise(tables))


def test_one_wrong_core_rule_is_found_with_its_exact_pairs_and_path() -> None:
    network = with_fault(fat_tree(4), "bypass", "agg-0-0", first=2, last=2, to="core-0-1")

    result = check(network, THROUGH_CORES)

    assert (result.verdict, result.liveness, result.since) == ("VIOLATED", Liveness.VERIFIED, 3)
    assert [one.unsafe for one in result.snapshots] == [0, 0, 16, 0, 0, 0]
    assert only(result).nodes == (
        "host-0-0-0", "edge-0-0", "agg-0-0", "core-0-1", "agg-2-0", "edge-2-0", "host-2-0-0",
    )  # fmt: skip
    assert {source for source, _ in only(result).others} == {"host-0-0-0", "host-0-0-1"}


def test_one_wrong_rule_for_one_destination_concerns_that_destination_only() -> None:
    network = fat_tree(8)
    wrong = Rule(Match(destination="10.5.1.3/32", group="background"), ("core-2-3",), priority=20)
    broken = with_rule(network, 4, "agg-1-2", wrong)

    result = check(broken, THROUGH_CORES)

    assert [one.unsafe for one in result.snapshots] == [0, 0, 0, 0, 4, 0]
    assert (only(result).source, only(result).destination) == ("host-1-2-0", "host-5-1-1")
    assert only(result).nodes == (
        "host-1-2-0", "edge-1-2", "agg-1-2", "core-2-3", "agg-5-2", "edge-5-1", "host-5-1-1",
    )  # fmt: skip
    assert only(result).others == tuple((f"host-1-2-{n}", "host-5-1-1") for n in (1, 2, 3))


def with_rule(network: Network, number: int, node: str, rule: Rule) -> Network:
    snapshots = list(network.snapshots)
    tables = snapshots[number].tables
    snapshots[number] = Snapshot(snapshots[number].name, {**tables, node: (rule, *tables[node])})
    return Network(network.nodes, network.links, network.traffic, tuple(snapshots), network.name)


@pytest.mark.parametrize(("last", "liveness", "since"), [(3, Liveness.VERIFIED, 4), (5, Liveness.NOT_VERIFIED, None)])
def test_dropping_is_forgiven_only_if_it_ends(last: int, liveness: Liveness, since: int | None) -> None:
    network = with_fault(fat_tree(4), "blackhole", "edge-1-1", first=0, last=last)

    result = check(network, THROUGH_CORES)

    assert (result.is_safe, result.liveness, result.since) == (True, liveness, since)
    assert [one.unmet for one in result.snapshots] == [16 if number <= last else 0 for number in range(6)]
