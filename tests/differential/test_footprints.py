"""Every line of a footprint is needed: without it, or with less of it, some input shows the difference.

A removed line makes a reduction or proof not apply any more; one that says too little is contradicted by what its loop,
event or fact does, or makes a reduction apply that did not. `python -m tests.differential.footprints.seeking` looks
for inputs for new lines.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.differential.footprints.applied import applied, contradiction
from tests.differential.footprints.catalogue import input_called
from tests.differential.footprints.caught import CAUGHT
from tests.differential.footprints.lines import Forgotten, Line, all_lines

LEAST = 100
LINES = all_lines()


@cache
def before(name: str) -> tuple[object, ...]:
    """What applies to an input as long as nothing is forgotten."""
    return applied(input_called(name))


def test_every_line_has_an_input_that_misses_it() -> None:
    assert {str(line) for line in LINES} == set(CAUGHT)
    assert len(LINES) >= LEAST


@pytest.mark.parametrize("name", sorted(set(CAUGHT.values())))
def test_nobody_contradicts_the_footprints_as_they_are(name: str) -> None:
    assert contradiction(input_called(name)) == ""


@pytest.mark.parametrize("line", LINES, ids=str)
def test_a_forgotten_line_is_noticed(line: Line) -> None:
    name = CAUGHT[str(line)]
    known = before(name)

    with Forgotten(line):
        assert applied(input_called(name)) != known or contradiction(input_called(name))
