"""Removes the listed guards one by one, in a process of its own, and tells as JSON what their witnesses say."""

from __future__ import annotations

import json

from tests.differential.guards.functions import GUARDED
from tests.differential.guards.mutants import MUTANTS
from tests.differential.guards.switching import Switchboard, install


def judge_all(board: Switchboard, known: frozenset[str]) -> dict[str, dict[str, str]]:
    """What is wrong with every guard on, by witness, and without each guard, by guard."""
    from tests.differential.guards import (
        witnesses_crowd,
        witnesses_nodes,
        witnesses_parts,
        witnesses_pods,
        witnesses_sizes,
        witnesses_time,
    )
    from tests.differential.guards.judging import Judge

    catalogue = (witnesses_crowd, witnesses_nodes, witnesses_parts, witnesses_pods, witnesses_sizes, witnesses_time)
    witnesses = {name: make for part in catalogue for name, make in part.WITNESSES.items()}
    judges = {name: Judge(make()) for name, make in witnesses.items()}
    found: dict[str, dict[str, str]] = {"with all": {}, "without": {}}
    for name, judge in judges.items():  # those of no mutant as well: the next reduction may need them
        for in_parts in (False, True):
            found["with all"][f"{name}{' (in parts)' if in_parts else ''}"] = judge.find_disagreement(in_parts=in_parts)
    for guard, name, in_parts in MUTANTS:
        if str(guard) in known:
            board.switch_off(guard)
            found["without"][str(guard)] = judges[name].find_disagreement(in_parts=in_parts)
    return found


def main() -> None:
    """Prints the findings."""
    board, guards = install(GUARDED)
    print(json.dumps(judge_all(board, frozenset(map(str, guards)))))


if __name__ == "__main__":
    main()
