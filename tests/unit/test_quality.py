"""Linting, formatting, types and import contracts, so that one command checks everything."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["-m", "ruff", "check", "."], id="ruff check"),
        pytest.param(["-m", "ruff", "format", "--check", "."], id="ruff format"),
        pytest.param(["-m", "mypy"], id="mypy"),
        pytest.param(
            ["-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
            id="imports",
        ),
    ],
)
def test_the_code_passes(arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    outcome = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
