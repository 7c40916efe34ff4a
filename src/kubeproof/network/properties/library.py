"""Named path properties: the six of the published table, and a few that everybody needs.

Their automata are those of the decomposition's test set; a letter without a transition is the bad thing, an accepting
state the good one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.network.properties.automata import Letter, PathProperty, ltl_property, path_automaton
from kubeproof.network.properties.predicates import Both, OneOf, Order, Predicate, Same

ARRIVED: Predicate = Same("CURRENT_NODE", "DESTINATION")


def _at(destination: str) -> Predicate:
    return OneOf("CURRENT_NODE", (destination,)) if destination else ARRIVED


def waypoint(through: Sequence[str], destination: str = "") -> PathProperty:
    """Packets pass one of the waypoints before they get to the destination, and get there."""
    goal = destination or "their destination"
    here = OneOf("CURRENT_NODE", tuple(through))
    return path_automaton(
        name=f"waypoint through {', '.join(through)} to {goal}",
        letters=[
            Letter("drop", "DROPPED"),
            Letter("start W", Both((Order("HOP_COUNT", "==", 0), here))),
            Letter("start", "HOP_COUNT == 0"),
            Letter("W D", Both((here, _at(destination)))),
            Letter("W", here),
            Letter("D", _at(destination)),
            Letter("hop"),
        ],
        transitions=[
            ("q0", "start", "q2"),
            ("q2", "hop", "q2"),
            ("q2", "drop", "q2"),
            ("q2", "W", "q3"),
            ("q3", "hop", "q3"),
            ("q3", "W", "q3"),
            ("q3", "drop", "q3"),
            ("q3", "D", "q4"),
            ("q4", "hop", "q4"),
            ("q4", "start", "q2"),
        ],
        initial=["q0"],
        accepting=["q4"],
        stutter="hop",
    )


def resilience(destination: str = "") -> PathProperty:
    """The paths that packets of a class can take share no node in between, and all lead to the destination."""
    one = path_automaton(
        name=f"resilience to {destination or 'their destination'}",
        letters=[
            Letter("start", "HOP_COUNT == 0 and not DROPPED"),
            Letter("drop", "DROPPED"),
            Letter("D", _at(destination)),
            Letter("overlap", "OVERLAP"),
            Letter("newnode"),
        ],
        transitions=_until_there("newnode"),
        initial=["q0"],
        accepting=["q2"],
        stutter="newnode",
    )
    return one


def _until_there(usual: str) -> list[tuple[str, str, str]]:
    return [
        ("q0", "start", "q1"),
        ("q1", usual, "q1"),
        ("q1", "drop", "q1"),
        ("q1", "D", "q2"),
        ("q2", usual, "q2"),
        ("q2", "start", "q1"),
    ]


def load_balance(over: Sequence[str] = (), tolerance: float = 0.1, destination: str = "") -> PathProperty:
    """No packet passes a node whose load differs from the mean by more than the tolerance, and all get there."""
    one = path_automaton(
        name=f"load balance within {tolerance:g} over {', '.join(over) or 'all nodes in between'}",
        letters=[
            Letter("start", "HOP_COUNT == 0 and not DROPPED"),
            Letter("drop", "DROPPED"),
            Letter("D", _at(destination)),
            Letter("skewed", "SKEWED"),
            Letter("balanced"),
        ],
        transitions=_until_there("balanced"),
        initial=["q0"],
        accepting=["q2"],
        stutter="balanced",
    )
    return replace(one, over=tuple(over), tolerance=tolerance)


def traffic_isolation() -> PathProperty:
    """Packets always leave through queues that no other process uses, and are never kept back."""
    return path_automaton(
        name="traffic isolation",
        letters=[
            Letter("idle", "DELIVERED or DROPPED"),
            Letter("arrive other_queue", "SHARED_QUEUE"),
            Letter("arrive own_queue"),
        ],
        transitions=[
            ("q0", "idle", "q0"),
            ("q0", "arrive", "q1"),
            ("q1", "arrive", "q1"),
            ("q1", "idle", "q1"),
            ("q1", "own_queue", "q0"),
        ],
        initial=["q0"],
        accepting=["q0"],
    )


def reach(destination: str = "") -> PathProperty:
    """Packets get to the destination."""
    goal = _at(destination)
    one = ltl_property("F there", {"there": "true"}, name=f"reach {destination or 'their destination'}")
    return replace(one, propositions=(goal,))


def avoid(nodes: Sequence[str]) -> PathProperty:
    """Packets never pass one of the nodes."""
    one = ltl_property("G !forbidden", {"forbidden": "true"}, name=f"avoid {', '.join(nodes)}")
    return replace(one, propositions=(OneOf("CURRENT_NODE", tuple(nodes)),))


def no_drop() -> PathProperty:
    """Packets are never dropped."""
    return ltl_property("G !dropped", {"dropped": "DROPPED"}, name="no drop")


def bounded_hops(most: int) -> PathProperty:
    """Packets end after at most so many hops."""
    return ltl_property("G short", {"short": f"HOP_COUNT <= {most}"}, name=f"at most {most} hops")
