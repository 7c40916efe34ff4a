"""What real control planes did is what Kubeproof's counterexamples say; the figures of the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.controlplane.following import follow
from tests.conformance.controlplane.matching import Match, match
from tests.conformance.controlplane.page import page
from tests.conformance.controlplane.planning import CASES
from tests.conformance.controlplane.runs import DATA, Run, all_runs, breaking, read_run
from tests.conformance.controlplane.vocabulary import Word

RUNS = all_runs()
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "control-plane-runs.md"
KIVI_C1 = 81.6  # percent, in the paper's Table 5


MIXED = ("c7-slow-kubelets-1",)  # rejections and evictions among pods of one kind: see the page


def shown_name(run: Run) -> str:
    return run.name


def test_every_case_of_the_table_has_three_runs():
    assert [sum(run.case == case and "kubelets" not in run.name for run in RUNS) for case in CASES] == [3] * len(CASES)


@pytest.mark.parametrize("run", RUNS, ids=shown_name)
def test_the_real_cluster_breaks_the_intent(run: Run):
    assert breaking(run) is not None


@pytest.mark.parametrize("run", [run for run in RUNS if run.name not in MIXED], ids=shown_name)
def test_every_action_on_what_the_model_keeps_is_a_step_of_the_model(run: Run):
    followed = follow(run)

    assert followed.stuck_at is None
    assert followed.accepted + followed.beyond == followed.total


@pytest.mark.parametrize("name", MIXED)
def test_rejections_and_evictions_of_one_kind_of_pods_do_not_mix_in_the_model(name: str):
    followed = follow(read_run(DATA / f"{name}.jsonl"))

    assert followed.is_exhaustive
    assert followed.stuck_at is not None
    assert followed.stuck_at.word == Word("taint-eviction", "delete", "node-1")


@pytest.mark.parametrize("run", [run for run in RUNS if run.case != "c7"], ids=shown_name)
def test_only_deletions_of_failed_pods_are_beyond_the_model(run: Run):
    followed = follow(run)

    assert (followed.beyond, followed.percent) == (0, 100.0)


@pytest.mark.parametrize("run", [run for run in RUNS if run.case == "c1"], ids=shown_name)
def test_c1_matches_better_than_in_the_paper(run: Run):
    assert match(run).percent > KIVI_C1


def test_the_page_has_the_figures_of_the_committed_runs():
    assert page() in PAGE.read_text(encoding="utf-8")


def test_a_matching_rate_counts_both_sides():
    assert Match(matched=16, of_run=17, of_counterexample=18).percent == 100 * 32 / 35


def test_a_recording_names_the_versions_it_was_made_with():
    header = read_run(DATA / "c5-1.jsonl").header

    assert header["versions"] == {"descheduler": "v0.36.0", "etcd": "3.4.23", "kubernetes": "v1.37.1"}
