"""One run of everybody's deployment tells who is stuck in it, where a search would never end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, seed, settings

from kubeproof.errors import LimitReached
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import DEPLOY, rows_of, under_faults
from kubeproof.verdicts import Verdict
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.matrix import one_run
from kubeproof.verify.matrix.one_run import OneRun, deploy_once, list_crowded
from kubeproof.verify.matrix.options import MatrixEffort, MatrixOptions
from kubeproof.verify.matrix.run import run_matrix
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from tests.differential.test_slicing import PATIENT
from tests.property.mixed import mixed_inputs
from tests.unit.verify.matrix.test_matrix import NODES, workload

OPTIONS = VerifyOptions()
QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: shop}
spec: {hard: {pods: "4"}}
---"""


def shop(count: int, quota: str = QUOTA) -> Loaded:
    """So many Deployments of one pod under one quota."""
    many = "".join(workload().replace("web", f"web-{number}") for number in range(count))
    return load_texts([("shop.yaml", NODES + quota + many)])


def targets_of(loaded: Loaded) -> list[str]:
    return [one.ref for one in rows_of(loaded.setup)]


def run(loaded: Loaded) -> OneRun:
    return deploy_once(loaded, targets_of(loaded), OPTIONS, lambda: None)


def test_who_gets_nothing_of_a_quota_is_stuck_in_the_run() -> None:
    found = run(shop(9)).stuck

    assert len(found) == 5
    assert {one.verdict for one in found.values()} == {Verdict.VIOLATED}
    assert all(one.trace is not None and one.trace.steps for one in found.values())


def test_a_run_in_which_all_are_complete_tells_nothing() -> None:
    assert run(shop(3)).stuck == {}


def test_the_run_is_asked_for_where_many_hang_together() -> None:
    together, apart = shop(9), shop(9, quota="")

    assert len(list_crowded(together, targets_of(together), OPTIONS)) == 9
    assert list_crowded(apart, targets_of(apart), OPTIONS) == ()
    assert list_crowded(together, [], OPTIONS) == ()


def test_the_matrix_has_the_cells_of_the_run_and_asks_no_search_about_them() -> None:
    chosen = MatrixOptions(executor=InProcess(), pairs=False, faults=(DEPLOY,))
    result = run_matrix(shop(9), OPTIONS, chosen, effort=MatrixEffort(first_states=1, later_states=1))

    assert result.matrix is not None
    assert [str(one.grade) for one in result.matrix.cells].count("stuck") == 5


def test_a_run_that_does_not_come_to_rest_is_left_to_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_run, "MOST_STEPS", 3)

    with pytest.raises(LimitReached, match="3 steps"):
        run(shop(9))


def list_refuted(loaded: Loaded, stuck: Sequence[str]) -> list[str]:
    """Those of which a search of everybody proves that they are never stuck."""
    every = VerifyOptions(max_states=400, reductions=False)
    results = {ref: verify(under_faults(loaded, (DEPLOY,), ref), every).results[0].verdict for ref in stuck}
    return [ref for ref, verdict in results.items() if verdict == Verdict.HOLDS]


def crowd(loaded: Loaded) -> Loaded:
    """The input on its first node alone, so that not all find room."""
    start = replace(loaded.scenario.start, placement=(), pods=())
    scenario = replace(loaded.scenario, start=start)
    return replace(loaded, setup=replace(loaded.setup, nodes=loaded.setup.nodes[:1]), scenario=scenario)


def test_no_search_refutes_what_the_run_tells() -> None:
    told = 0

    @seed(21)
    @settings(PATIENT, max_examples=70)
    @given(mixed_inputs())
    def check(drawn: Loaded) -> None:
        nonlocal told
        loaded = crowd(drawn)
        stuck = run(loaded).stuck
        told += len(stuck)
        assert list_refuted(loaded, list(stuck)) == []

    check()

    assert told > 5
