"""A verification is a function of its input: what ran before in the same process changes no report."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from tests.golden.cases import case_names, expected
from tests.unit.verify.fresh_reports import INPUTS, ROOT, report


def fresh(names: Sequence[str]) -> Any:
    """The report of each input by a process that has verified nothing else."""
    command = [sys.executable, "-m", "tests.unit.verify.fresh_reports", *names]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def test_a_report_does_not_depend_on_what_ran_before() -> None:
    wanted = fresh(INPUTS)

    for name in (*INPUTS, *reversed(INPUTS)):
        assert report(name) == wanted[name], name


@pytest.mark.slow
def test_no_report_of_a_golden_case_depends_on_what_ran_before() -> None:
    names = [name for name in case_names() if "options" not in expected(name)]
    wanted = fresh(names)
    Random(1).shuffle(names)

    for name in (*names, *sorted(names)):
        assert report(name) == wanted[name], name
