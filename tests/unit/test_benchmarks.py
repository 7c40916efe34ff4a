"""Benchmarks ask what their pages say: their inputs load, and rows have names and bars."""

from __future__ import annotations

import json

import pytest

from benchmarks import ordinary, what_if
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.scenarios.matrix_columns import concerning

SMALL = [row for row in ordinary.ROWS.values() if row.nodes <= 30 and row.family != "pairs"]


@pytest.mark.parametrize("row", SMALL, ids=lambda row: row.name)
def test_inputs_of_ordinary_clusters_load_with_all_their_nodes(row: ordinary.Row) -> None:
    loaded = load_texts([("in.yaml", row.text())])

    assert len(loaded.setup.nodes) == row.nodes
    assert not loaded.omissions
    assert loaded.scenario.is_default == (row.faults is not None)


def test_pairs_are_those_of_all_faults_that_concern_the_workload_once_it_is_deployed() -> None:
    setup = load_texts([("in.yaml", ordinary.guarded())]).setup
    (web,) = setup.workloads

    assert tuple(fault.key for fault in concerning(setup, web) if fault.begins == "deployed") == ordinary.FAULTS


def test_a_bar_is_missed_by_time_and_by_what_is_left_open() -> None:
    row = ordinary.ROWS["spread-1000"]
    in_time, late = (ordinary.Figures(row.name, "3 HOLDS", cpu_s=seconds) for seconds in (1.0, 11.0))

    assert row.bar_s == 10.0
    assert not ordinary._misses(row, in_time)
    assert ordinary._misses(row, late)
    assert ordinary._misses(row, ordinary.Figures(row.name, "2 HOLDS, 1 UNKNOWN", cpu_s=1.0))
    assert ordinary._misses(row, ordinary.Figures(row.name, cpu_s=1.0))


def test_the_large_cluster_of_questions_loads_with_all_its_pods() -> None:
    items = list(what_if.snapshot(nodes=6, pods=40))
    loaded = load_texts([("snap.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))])

    assert len(loaded.setup.nodes) == 6
    assert sum(one.number for one in loaded.scenario.start.pods) == 40
    assert {one.replicas for one in loaded.setup.workloads} == {10, 3, 1, 6}
