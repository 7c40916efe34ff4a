"""Upgrades decided by one turn against searches of all turns, on random clusters of two and three nodes."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.matrix.questions import CellQuestion
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.matrix.solve import Solver
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.what_if.questions import UPGRADE, ask_upgrade
from kubeproof.verify.what_if.upgrades import UpgradeSolver
from tests.unit.verify.what_if.clusters import budget, deployment, load, node

OPTIONS = VerifyOptions()


def random_cluster(rng: random.Random) -> Loaded:
    """A few nodes, a workload with or without a budget, and perhaps another one."""
    names = "abc"[: rng.choice((2, 3, 3))]
    parts = [node(name, cpu=rng.choice(("1", "2", "2"))) for name in names]
    pods = {name: rng.randint(0, 1) for name in names}
    pods[names[0]] = 1
    parts += deployment("web", pods, cpu=rng.choice(("500m", "1")))
    if rng.random() < 0.6:
        parts.append(budget("web", **{rng.choice(("maxUnavailable", "minAvailable")): rng.choice((0, 1))}))
    if rng.random() < 0.4:
        parts += deployment("db", {rng.choice(names): 1}, cpu=rng.choice(("250m", "1")))
    return load(*parts)


def compare(loaded: Loaded) -> str:
    """Asserts that the workload is graded in one way; the grade if both decide it."""
    asked = ask_upgrade(loaded)
    question = CellQuestion("Deployment/shop/web", (UPGRADE,), 6_000, 10.0)
    one = UpgradeSolver(asked.loaded, OPTIONS, asked.columns)(question)
    every = Solver(asked.loaded, OPTIONS, asked.columns)(question)
    if every.cell.grade == Grade.UNKNOWN:
        return "open"
    if one.cell.grade == Grade.UNKNOWN:
        assert one.result.verdict != "HOLDS" or every.cell.grade != Grade.STUCK, (one.cell, every.cell, loaded)
        return "not decided"
    assert one.cell.grade == every.cell.grade, (one.cell, every.cell, loaded)
    return str(one.cell.grade)


@pytest.mark.parametrize("chunk", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 6))])
def test_what_one_turn_decides_all_turns_do(chunk):
    rng = random.Random(30_000 + chunk)
    found = Counter(compare(random_cluster(rng)) for _ in range(8))

    assert found.total() - found["open"] - found["not decided"] >= 1
