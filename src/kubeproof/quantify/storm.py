"""The only door to Storm: whether it is there, models in it, and what it says about them.

Storm is under the GPL and an extra. Nothing here imports it before `storm` is called.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from kubeproof.errors import EnvironmentProblem
from kubeproof.values import dataclass

INSTALL = "pip install 'kubeproof[quantify]'"
Result = TypeVar("Result")


class StormRefusal(Exception):
    """What Storm objects to, without its own names for it; never leaves this package."""


@dataclass(frozen=True, slots=True)
class Model:
    """A sparse model inside Storm.

    `choices` counts as Storm does: two commands with the same action and distribution in one state are two choices.
    `branching` is an upper bound on the successors of one choice. `unsigned` names the rewards known to be nowhere
    negative. `deadlocks` are states without a successor, to which Storm adds a loop. `is_regular`: probabilities and
    rewards are right up to a few roundings. `leaving` is the least probability of leaving a state by any choice that
    may, if that is small.
    """

    handle: Any
    kind: str
    states: int
    choices: int
    transitions: int
    deadlocks: int
    is_exact: bool
    build_s: float
    branching: int
    unsigned: frozenset[str] = frozenset()
    is_regular: bool = True
    leaving: float = 1.0


def is_available() -> bool:
    """True if Storm's Python package is installed; it is not loaded."""
    from importlib.util import find_spec

    return find_spec("stormpy") is not None


def storm() -> Any:
    """Storm's Python package; a missing or broken installation is an environment problem with the remedy."""
    try:
        import stormpy
    except ModuleNotFoundError:
        raise EnvironmentProblem(f"E401 Storm is not installed. Install it: {INSTALL}") from None
    except ImportError as problem:
        reason = " ".join(str(problem).split())
        raise EnvironmentProblem(
            f"E401 Storm cannot be loaded: {reason}. Its wheels need glibc 2.34 or newer; reinstall: {INSTALL}"
        ) from None
    if not hasattr(stormpy, "instantiate_constants"):
        raise EnvironmentProblem(
            f"E401 Storm's Python package {stormpy.__version__} is too old; 2.0 is needed. Upgrade: {INSTALL}"
        )
    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)  # what it logs, it also raises
    return stormpy


def check_installed() -> None:
    """Refuses to begin what ends with arrays handed to Storm, if Storm or NumPy is missing."""
    storm()
    check_numpy()


def check_numpy() -> None:
    """Refuses to begin what ends with arrays, if NumPy is missing."""
    try:
        import numpy  # noqa: F401  it may be missing where Storm was installed by hand
    except ImportError:
        raise EnvironmentProblem(f"E401 NumPy is not installed. Install it: {INSTALL}") from None


def ask(question: Callable[[], Result]) -> Result:
    """The answer of a call into Storm; its exceptions become refusals."""
    try:
        return question()
    except RuntimeError as problem:
        name, colon, rest = str(problem).partition(": ")
        raise StormRefusal((rest if colon and name.endswith("Exception") else str(problem)).strip()) from None
    except storm().exceptions.StormError as problem:
        raise StormRefusal(problem.message.removeprefix("Storm: ")) from None


def build_measured(build: Callable[[], Any], *, branching: int, unsigned: frozenset[str] = frozenset()) -> Model:
    """The model that is built, with its sizes and the time it took."""
    begin = time.perf_counter()
    handle = ask(build)
    return describe(handle, time.perf_counter() - begin, branching, unsigned)


def describe(handle: Any, build_s: float, branching: int, unsigned: frozenset[str] = frozenset()) -> Model:
    """A model of Storm with its sizes."""
    dead = handle.labeling.get_states("deadlock") if handle.labeling.contains_label("deadlock") else None
    return Model(
        handle, handle.model_type.name.lower(), handle.nr_states, handle.nr_choices, handle.nr_transitions,
        0 if dead is None else dead.get_number_of_set_bits(), handle.is_exact, build_s, branching, unsigned,
    )  # fmt: skip
