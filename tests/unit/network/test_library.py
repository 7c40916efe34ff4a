"""The properties of the published table beside waypoints: resilience, balance, isolation, updates, resources."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kubeproof.errors import UsageError
from kubeproof.network.check import check
from kubeproof.network.model import Event, Match, Network, Node, Rule, Snapshot, Traffic
from kubeproof.network.properties.automata import Letter, path_automaton
from kubeproof.network.properties.library import (
    avoid,
    bounded_hops,
    load_balance,
    no_drop,
    reach,
    resilience,
    traffic_isolation,
    waypoint,
)
from kubeproof.network.properties.machine import prepare
from kubeproof.network.properties.processes import (
    ProcessProperty,
    check_processes,
    isolated_updates,
    resource_allocation,
)
from kubeproof.network.result import Liveness

PROPERTIES = {
    entry["name"]: entry
    for entry in json.loads((Path(__file__).parents[1] / "logic" / "fixtures" / "properties.json").read_text())
}


def network(tables: dict[str, tuple[Rule, ...]], *traffic: Traffic) -> Network:
    arrows = {frozenset((node, to)) for node, table in tables.items() for rule in table for to in rule.to}
    names = sorted({*tables, *(end for link in arrows for end in link)})
    return Network(
        tuple(Node(name) for name in names),
        frozenset(arrows),
        traffic or (Traffic(("s",), ("d",)),),
        (Snapshot("t0", tables),),
    )


def to(*targets: str, queue: str = "", destination: str = "*") -> Rule:
    return Rule(Match(destination=destination), targets, queue=queue)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (waypoint(["w"], "d").automaton, "waypoint"),
        (resilience().automaton, "resilience"),
        (load_balance().automaton, "load_balance"),
        (isolated_updates().automaton, "isolated_update"),
        (resource_allocation().automaton, "resource_allocation"),
        (traffic_isolation().automaton, "traffic_isolation"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_automata_are_those_of_the_test_set(made: Any, name: str) -> None:
    entry = PROPERTIES[name]
    found = {
        (made.name(state), made.alphabet.name(letter), made.name(target))
        for state, out in enumerate(made.edges)
        for guard, target in out
        for letter in range(made.alphabet.size)
        if guard >> letter & 1
    }

    assert found == {tuple(transition) for transition in entry["trans"]}
    assert {made.name(state) for state in made.accepting} == set(entry["acc"])
    assert {made.name(state) for state in made.initial} == set(entry["init"])


DIAMOND = {"s": (to("e"),), "e": (to("a", "b"),), "a": (to("f"),), "b": (to("f"),), "f": (to("d"),)}


def test_disjoint_paths_are_resilient_although_access_switches_are_shared() -> None:
    assert check(network(DIAMOND), prepare(resilience()), final=True).verdict == "HOLDS"


def test_paths_that_meet_in_between_are_not_resilient() -> None:
    meeting = {**DIAMOND, "a": (to("m"),), "b": (to("m"),), "m": (to("f"),)}

    result = check(network(meeting), prepare(resilience()), final=True)

    assert result.verdict == "VIOLATED"
    assert result.counterexamples[0].nodes == ("s", "e", "a", "m")
    assert result.counterexamples[0].hops[-1].letters == ("overlap",)


def test_equal_shares_are_balanced() -> None:
    assert check(network(DIAMOND), prepare(load_balance(["a", "b"])), final=True).verdict == "HOLDS"


def test_a_node_with_more_than_its_share_is_skewed() -> None:
    uneven = {
        **DIAMOND,
        "e": (to("a", "b", destination="d"), to("a", destination="d2")),
        "f": (to("d", destination="d"), to("d2", destination="d2")),
    }
    both = network(uneven, Traffic(("s",), ("d", "d2")))

    assert check(both, prepare(load_balance(["a", "b"], 0.4)), final=True).verdict == "VIOLATED"  # 1.5 and 0.5 around 1
    assert check(both, prepare(load_balance(["a", "b"], 0.5)), final=True).verdict == "HOLDS"


def test_processes_with_queues_of_their_own_are_isolated() -> None:
    tables = {
        "s": (Rule(Match(group="x"), ("m",), queue="qx"), Rule(Match(group="y"), ("m",), queue="qy")),
        "m": (Rule(Match(group="x"), ("d",), queue="qx"), Rule(Match(group="y"), ("d",), queue="qy")),
    }
    traffic = (Traffic(("s",), ("d",), group="x", process="px"), Traffic(("s",), ("d",), group="y", process="py"))
    shared = {**tables, "m": (to("d", queue="all"),)}

    assert check(network(tables, *traffic), prepare(traffic_isolation()), final=True).verdict == "HOLDS"
    result = check(network(shared, *traffic), prepare(traffic_isolation()), final=True)
    assert (result.verdict, result.snapshots[0].unsafe) == ("VIOLATED", 2)
    assert result.counterexamples[0].nodes == ("s", "m")


def test_processes_may_share_a_queue_with_themselves() -> None:
    traffic = (Traffic(("s",), ("d",), group="x", process="p"), Traffic(("s",), ("d",), group="y", process="p"))

    assert check(network({"s": (to("d"),)}, *traffic), prepare(traffic_isolation()), final=True).verdict == "HOLDS"


def test_small_entries_say_what_their_names_say() -> None:
    line = network({"s": (to("m"),), "m": (to("d"),)})
    lost = network({"s": (to("m"),), "m": (Rule(),)}, Traffic(("s",), ("m",)), Traffic(("s",), ("s",)))
    dropped = network({"s": (to("m"),), "m": (Rule(), to("d", destination="other"))}, Traffic(("s",), ("d",)))

    assert check(line, prepare(reach()), final=True).verdict == "HOLDS"
    assert check(line, prepare(avoid(["m"]))).verdict == "VIOLATED"
    assert check(line, prepare(bounded_hops(2))).verdict == "HOLDS"
    assert check(line, prepare(bounded_hops(1))).verdict == "VIOLATED"
    assert check(line, prepare(no_drop())).verdict == "HOLDS"
    assert check(dropped, prepare(no_drop())).verdict == "VIOLATED"
    assert check(lost, prepare(no_drop())).verdict == "HOLDS"  # arrives; and nobody sends to itself


def test_no_traffic_is_vacuous() -> None:
    nothing = replace(network({"s": (to("d"),)}), traffic=(Traffic(("s",), ("s",)),))

    assert check(nothing, prepare(reach())).verdict == "VACUOUS"


def happening(*snapshots: str) -> Network:
    """A network in which processes do things: "u1 begin, u2 request"."""
    words = [[event.split() for event in text.split(", ") if event] for text in snapshots]
    made = tuple(
        Snapshot(f"t{number}", {}, events=tuple(Event(*event) for event in events))
        for number, events in enumerate(words)
    )
    return Network((Node("a"),), frozenset(), (), made)


UPDATES, RESOURCES = isolated_updates(), resource_allocation()
BOUNDED, OPEN = ("HOLDS-BOUNDED", Liveness.VERIFIED), ("UNKNOWN", Liveness.NOT_VERIFIED)


@pytest.mark.parametrize(
    ("one", "snapshots", "answer"),
    [
        (UPDATES, ("u1 request, u2 request", "u1 begin, u1 commit", "u2 begin, u2 commit"), BOUNDED),
        (UPDATES, ("u1 request, u2 request", "u1 begin", "u2 begin"), ("VIOLATED", Liveness.NOT_VERIFIED)),
        (UPDATES, ("u1 request", "u1 begin"), OPEN),
        (UPDATES, ("",), ("VACUOUS", Liveness.VERIFIED)),
        (RESOURCES, ("p request r", "p grant r", "p release r, q request r, q grant r"), BOUNDED),
        (RESOURCES, ("p request r, q request r", "p grant r, q grant r"), ("VIOLATED", Liveness.UNDETERMINED)),
        (RESOURCES, ("p request r, q request x", "p grant r, q grant x"), BOUNDED),
        (RESOURCES, ("p request r",), OPEN),
    ],
)
def test_words_of_processes(one: ProcessProperty, snapshots: tuple[str, ...], answer: tuple[str, Liveness]) -> None:
    result = check_processes(happening(*snapshots), one)

    assert (result.verdict, result.liveness) == answer


def test_the_event_that_breaks_a_property_of_processes_is_the_last_one_shown() -> None:
    result = check_processes(happening("p request r, q request r", "p grant r", "q grant r"), resource_allocation())

    assert [(step.process, step.letter, step.snapshot_name) for step in result.steps] == [
        ("q", "req", "t0"),
        ("q", "grant_overlap", "t2"),
    ]


def test_a_condition_in_python_may_read_source_and_destination() -> None:
    def is_bad(at: Any) -> bool:
        return (at.source, at.destination) == ("s", "d2")

    own = path_automaton(
        letters=[Letter("bad", is_bad, reads=["SOURCE", "DESTINATION"]), Letter("ok")],
        transitions=[("a", "ok", "a")],
        initial=["a"],
        accepting=["a"],
    )
    both = network({"s": (to("d", destination="d"), to("d2", destination="d2"))}, Traffic(("s", "d"), ("d", "d2")))

    result = check(both, prepare(own))

    assert result.verdict == "VIOLATED"
    assert [(one.source, one.destination, one.pairs) for one in result.counterexamples] == [("s", "d2", 1)]


def test_a_failing_condition_is_a_mistake_of_its_file() -> None:
    own = path_automaton(
        letters=[Letter("bad", lambda at: 1 / 0, reads=[]), Letter("ok")],
        transitions=[],
        initial=["a"],
        accepting=["a"],
    )

    with pytest.raises(UsageError, match="ZeroDivisionError"):
        check(network({"s": (to("d"),)}), prepare(own))


def test_the_load_of_a_node_on_a_loop_has_no_bound() -> None:
    loop = network({"s": (to("a"),), "a": (to("b"),), "b": (to("a"),), "d": ()})

    result = check(loop, prepare(load_balance(["a", "b"])))

    assert (result.verdict, result.counterexamples[0].nodes) == ("VIOLATED", ("s", "a"))
