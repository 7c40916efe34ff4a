"""Looks for a small cluster on which a reduction without one of its guards gives a wrong verdict.

`python -m tests.differential.guards.seeking MODULE FUNCTION [--seconds 30]` tries every guard of the function and prints the
witnesses that it finds, as code. Which random clusters are tried depends on the module.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.differential.guards.removal import Guard, guards_in, remove


class _TimeIsUp(BaseException):
    """Enough was tried."""


def _strategies(module: str) -> list[st.SearchStrategy[object]]:
    """Random inputs, those first that the module is about."""
    from kubeproof.manifests.loaded import Loaded, Scenario, Start
    from tests.differential import test_shares, test_slicing
    from tests.differential.test_reductions import FAMILIES, FURTHER, STARTUPS, with_startup
    from tests.property.strategies import Case

    def as_input(case: Case, startup_s: tuple[int, int], mode: str) -> Loaded:
        case = with_startup(case, startup_s)
        start = Start("placement", case.placement) if case.placement else Start(mode)
        return Loaded(case.setup, Scenario(start=start, events=case.events, intents=case.intents))

    modes = st.sampled_from(["empty", "empty", "deployed"])
    families = [
        st.builds(as_input, family().filter(lambda case: not case.own), STARTUPS, modes)
        for family in {**FAMILIES, **FURTHER}.values()
    ]
    sliced = [test_slicing.inputs(), test_slicing.inputs_of_any_kind()]
    shared = [test_shares.inputs()]
    if module.startswith("verify/slic"):
        return [*sliced, *sliced, *shared, st.one_of(families)]
    if module in ("verify/crowded.py", "verify/shares.py", "verify/weave.py"):
        return [*shared, *shared, *sliced]
    return [*families, *sliced[1:]]


def seek(guard: Guard, seconds: float, examples: int = 60) -> tuple[str, str]:
    """The disagreement and its cluster as code; both empty if none was found in time."""
    remove(guard)
    from kubeproof.errors import ScenarioError
    from kubeproof.manifests.loaded import Loaded
    from tests.differential.guards.judging import find_disagreement
    from tests.differential.guards.writing import write

    until = time.process_time() + seconds
    found: dict[str, tuple[str, str]] = {}

    def check(loaded: Loaded) -> None:
        if time.process_time() > until and not found:
            raise _TimeIsUp
        if time.process_time() > until + 20:
            return
        try:
            said = find_disagreement(loaded)
        except ScenarioError:
            return
        except Exception as problem:
            said = f"raises {type(problem).__name__}: {problem}"
        if said:
            found["last"] = (said, write(loaded))
        assert not said

    for number, strategy in _rounds(_strategies(guard.module)):
        quiet = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
            print_blob=False,
        )
        try:
            seed(number)(quiet(given(strategy)(check)))()
        except _TimeIsUp:
            return "", ""
        except BaseException:
            if found:
                return found["last"]
            raise
        if time.process_time() > until:
            return "", ""
    raise AssertionError


def _rounds(strategies: list[st.SearchStrategy[object]]) -> Iterator[tuple[int, st.SearchStrategy[object]]]:
    number = 0
    draw = random.Random(1)
    while True:
        for strategy in draw.sample(strategies, len(strategies)) if number else strategies:
            number += 1
            yield number, strategy


def _seek_apart(guard: Guard, seconds: float) -> None:
    """In a process of its own: a module is imported once."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    said, code = seek(guard, seconds)
    print(f"### {guard!r}\n# {said or 'not found'}\n{code}\n", flush=True)
    os._exit(0)


def main() -> None:
    """Looks for witnesses of all guards of a function."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("functions", nargs="+")
    parser.add_argument("--seconds", type=float, default=30)
    arguments = parser.parse_args()
    for function in arguments.functions:
        for guard in guards_in(arguments.module, function):
            _seek_apart(guard, arguments.seconds)


if __name__ == "__main__":
    main()
