"""The parameters of one position of one packet, and what a predicate says of them: one packet at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubeproof.errors import KubeproofError, UsageError
from kubeproof.network.properties.patterns import matches
from kubeproof.network.properties.predicates import (
    Both,
    Constant,
    Either,
    Flag,
    Not,
    OneOf,
    Order,
    Predicate,
    Same,
    compares,
)
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is known of a packet at one position of its path."""

    current_node: str
    source: str
    destination: str
    hop_count: int = 0
    path_id: int = 0  # number, from 1, of the alternative taken at the first choice of the path; 0 before
    process_id: str = ""
    dropped: bool = False
    drop_node: str = ""
    overlap: bool = False  # another path of the same packet class passes here
    skewed: bool = False  # the load here is out of balance
    shared_queue: bool = False  # the packet leaves through a queue that another process uses

    @property
    def delivered(self) -> bool:
        """True at the destination."""
        return self.current_node == self.destination


class View:
    """Parameters of which only the declared ones can be read: what is not declared cannot influence an answer."""

    __slots__ = ("_parameters", "_reads")

    def __init__(self, parameters: Parameters, reads: frozenset[str]) -> None:
        self._parameters = parameters
        self._reads = reads

    def __getattr__(self, name: str) -> object:
        if name.upper() not in self._reads:
            raise UsageError(
                f"a condition reads {name.upper()}, which it does not declare", "Name it in reads=[...] of the letter"
            )
        value: object = getattr(self._parameters, name)
        return value


def ask(function: Callable[[Any], object], at: Parameters, reads: frozenset[str]) -> bool:
    """What a condition in Python says; whatever goes wrong inside it is the user's mistake."""
    try:
        return bool(function(View(at, reads)))
    except KubeproofError:
        raise
    except Exception as error:
        raise UsageError(
            f"a condition fails: {type(error).__name__}: {error}", "Correct the automaton's file."
        ) from error


def holds(predicate: Predicate, at: Parameters, addresses: dict[str, str]) -> bool:
    """True if the predicate is true of these parameters."""
    match predicate:
        case Constant(value):
            return value
        case Flag(name):
            return bool(getattr(at, name.lower()))
        case OneOf(name, patterns):
            value = getattr(at, name.lower())
            return any(
                matches(pattern, value, addresses.get(value, ""))
                for pattern in patterns
                if value or name == "PROCESS_ID"
            )
        case Same(left, right):
            return bool(getattr(at, left.lower()) == getattr(at, right.lower()))
        case Order(name, operator, number):
            return compares(operator, getattr(at, name.lower()), number)
        case Not(part):
            return not holds(part, at, addresses)
        case Both(parts):
            return all(holds(part, at, addresses) for part in parts)
        case Either(parts):
            return any(holds(part, at, addresses) for part in parts)
