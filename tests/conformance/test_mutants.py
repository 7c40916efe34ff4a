"""A wrong rule is noticed: each mutant of a controller disagrees with a recorded corpus."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kubeproof
from tests.conformance.mutant import Mutant
from tests.conformance.mutants import admission, descheduler, evictions, hpa, owners, preemption, scheduler, workloads

ROOT = Path(__file__).parents[2]
PACKAGE = Path(kubeproof.__file__).parent
MUTANTS = (
    *scheduler.MUTANTS,
    *preemption.MUTANTS,
    *hpa.MUTANTS,
    *workloads.MUTANTS,
    *owners.MUTANTS,
    *evictions.MUTANTS,
    *descheduler.MUTANTS,
    *admission.MUTANTS,
)
LEAST_MUTANTS = 40


def replayed(mutant: Mutant, folder: Path) -> subprocess.CompletedProcess[str]:
    """Replays the mutant's corpus with the changed source."""
    package = folder / "kubeproof"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "cases"))
    module = package / mutant.module
    source = module.read_text(encoding="utf-8")
    assert source.count(mutant.before) == 1, f"{mutant.name}: the text must occur once"
    module.write_text(source.replace(mutant.before, mutant.after), encoding="utf-8")
    command = [sys.executable, "-m", "tests.conformance.replay", mutant.corpus, mutant.upstream, "--stop"]
    environment = {"PYTHONPATH": os.pathsep.join((str(folder), str(ROOT))), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_corpora_catch(mutant: Mutant, tmp_path: Path) -> None:
    done = replayed(mutant, tmp_path)

    # A mutant that only crashes would be caught by any test; here the decision itself must differ.
    assert done.returncode == 1, f"{mutant.name} survives or fails: {done.stdout}{done.stderr}"
    assert "unexplained: 1" in done.stdout


def test_there_are_enough_mutants_and_none_twice() -> None:
    changes = {(mutant.module, mutant.before, mutant.after) for mutant in MUTANTS}

    assert len(changes) == len(MUTANTS) >= LEAST_MUTANTS
