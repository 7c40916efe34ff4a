"""Every condition of a reduction is there for a cluster: without it, that cluster gets a wrong verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.differential.guards.functions import GUARDED
from tests.differential.guards.judging import CRASHES
from tests.differential.guards.mutants import MUTANTS
from tests.differential.guards.switching import Guard, iterate

ROOT = Path(__file__).parents[2]
LEAST = 60
NAMES = [f"{guard.module}-{guard.function}-{number}-{name}" for number, (guard, name, _) in enumerate(MUTANTS)]
Found = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def found() -> Found:
    """What all witnesses say, from one process whose package has switches."""
    command = [sys.executable, "-m", "tests.differential.guards.run"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    answers: Found = json.loads(told.stdout)
    return answers


def test_at_least_sixty_guards_are_removed_each_once() -> None:
    guards = [guard for guard, _, _ in MUTANTS]

    assert len(guards) >= LEAST
    assert len(set(guards)) == len(guards)


def test_every_guard_that_is_removed_stands_in_the_source() -> None:
    gone = sorted({str(guard) for guard, _, _ in MUTANTS} - {str(guard) for guard in iterate(GUARDED)})

    assert not gone, f"the source has no such guard any more, or it reads differently; mend the mutants: {gone}"


def test_with_all_guards_the_witnesses_get_the_verdicts_of_every_run(found: Found) -> None:
    assert {name: said for name, said in found["with all"].items() if said} == {}


@pytest.mark.parametrize("guard", [guard for guard, _, _ in MUTANTS], ids=NAMES)
def test_a_removed_guard_is_noticed(guard: Guard, found: Found) -> None:
    said = found["without"].get(str(guard), "")

    assert said, "the witness gets the right verdict without this guard, too"
    assert not said.startswith(CRASHES), said  # a wrong verdict is what the guard prevents
