"""Looks for small clusters on which a reduction that ignores one of its guards gives a wrong verdict.

`python -m tests.differential.guards.seeking [--seconds 600] [--seed 1] [--only verify/proofs/slicing.py]` tries random
clusters, each with every guard ignored that decides something there, and prints a witness, as code, for each guard
that it catches.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

from tests.differential.guards.functions import GUARDED
from tests.differential.guards.switching import Guard, Switchboard, install

QUIET = settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate,),
    print_blob=False,
)


class _TimeIsUp(BaseException):
    """Enough was tried."""


def _strategies() -> list[st.SearchStrategy[Any]]:
    """Random inputs of every family."""
    from kubeproof.manifests.loaded import Loaded, Scenario, Start
    from tests.differential import test_shares, test_slicing
    from tests.differential.test_reductions import FAMILIES, FURTHER, STARTUPS, with_startup
    from tests.property.mixed import mixed_inputs
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
    return [*families, *sliced, *sliced, test_shares.inputs(), test_shares.inputs(), mixed_inputs(), mixed_inputs()]


class Hunt:
    """Witnesses found so far."""

    def __init__(self, board: Switchboard, guards: tuple[Guard, ...], until: float) -> None:
        self._board, self._until = board, until
        self._open = {str(guard): guard for guard in guards}
        self.tried = 0

    def try_on(self, loaded: Any) -> None:
        """Tries every guard that is still open, and decides something here."""
        from kubeproof.errors import ScenarioError
        from tests.differential.guards.judging import CRASHES, Judge

        if time.process_time() > self._until:
            raise _TimeIsUp
        self.tried += 1
        judge = Judge(loaded)
        for in_parts in (False, True):
            try:
                self._board.switch_off(None)
                if judge.reduce(in_parts=in_parts) is None:
                    continue
                for key in sorted(self._board.stopping() & self._open.keys()):
                    self._board.switch_off(self._open[key])
                    said = judge.find_disagreement(in_parts=in_parts)
                    if said and not said.startswith(CRASHES):
                        self._tell(self._open.pop(key), said, loaded, in_parts)
            except ScenarioError:
                return

    def _tell(self, guard: Guard, said: str, loaded: Any, in_parts: bool) -> None:
        from tests.differential.guards.writing import write

        print(f"### {guard!r} in_parts={in_parts}\n# {said}\n{write(loaded)}\n", flush=True)

    def tell_open(self) -> None:
        """The guards without a witness."""
        print(f"tried {self.tried}")
        for key in self._open:
            print(f"open {key}")


def _rounds(strategies: list[st.SearchStrategy[Any]], first: int) -> Iterator[tuple[int, st.SearchStrategy[Any]]]:
    while True:
        for strategy in strategies:
            first += 1
            yield first, strategy


def main() -> None:
    """Looks for witnesses until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    board, guards = install(GUARDED)
    chosen = tuple(guard for guard in guards if not arguments.only or guard.module in arguments.only)
    hunt = Hunt(board, chosen, time.process_time() + arguments.seconds)
    for number, strategy in _rounds(_strategies(), arguments.seed * 1000):
        try:
            seed(number)(QUIET(given(strategy)(hunt.try_on)))()
        except Unsatisfiable:  # a family of users' own controllers
            continue
        except _TimeIsUp:
            break
    hunt.tell_open()


if __name__ == "__main__":
    main()
