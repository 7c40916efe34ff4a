"""`kubeproof init`: a Scenario for the user's manifests, commented; whatever is uncommented works, too."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.cluster.objects import Source
from kubeproof.events.declarations import NodeFailure
from kubeproof.intents.declarations import Amount
from kubeproof.manifests.load import load, load_texts
from kubeproof.manifests.scenarios.commented_scenario import ACTIVE, as_yaml
from kubeproof.manifests.scenarios.matrix_columns import BACK, BY_KEY, floor_of, intents_of, rows_of

ROOT = Path(__file__).parents[3]
INPUTS = sorted(path.parent for path in (ROOT / "src" / "kubeproof" / "cases").glob("*/safe/scenario.yaml"))
ENTRY = re.compile(r"^(  )# (- .*)$", re.MULTILINE)
SCALE = re.compile(r"^(  )# ((?:scale:|  ).*)$", re.MULTILINE)


def without_scenario(directory: Path) -> list[tuple[str, str]]:
    files = sorted(path for path in directory.glob("*.yaml") if path.name != "scenario.yaml")
    return [(path.name, path.read_text(encoding="utf-8")) for path in files]


@pytest.mark.parametrize("directory", INPUTS, ids=lambda directory: directory.parent.name)
def test_the_scenario_asks_what_the_matrix_asks_under_one_fault(directory):
    texts = without_scenario(directory)
    plain = load_texts(texts)
    loaded = load_texts([*texts, ("scenario.yaml", as_yaml(plain))])

    asked = [
        (intent.key, intent.target, intent.when, intent.count)
        for workload in rows_of(plain.setup)
        for intent in intents_of(plain.setup, workload, [BY_KEY[ACTIVE]])
        if intent.name.startswith(BACK) or intent.count == Amount(floor_of(plain.setup, workload).count)
    ]
    assert [(one.key, one.target, one.when, one.count) for one in loaded.scenario.intents] == asked
    assert [replace(event, name="", source=Source()) for event in loaded.scenario.events] == [
        NodeFailure(name="", comes_back=True)
    ]


@pytest.mark.parametrize("directory", INPUTS, ids=lambda directory: directory.parent.name)
def test_every_suggestion_can_be_uncommented(directory):
    texts = without_scenario(directory)
    written = as_yaml(load_texts(texts))
    before = load_texts([*texts, ("scenario.yaml", written)]).scenario
    uncommented = SCALE.sub(r"\1\2", ENTRY.sub(r"\1\2", written))
    loaded = load_texts([*texts, ("scenario.yaml", uncommented)])

    suggested = len(ENTRY.findall(written))
    assert len(loaded.scenario.events) + len(loaded.scenario.intents) == (
        len(before.events) + len(before.intents) + suggested
    )
    assert (loaded.scenario.scale is not None) == ("# scale:" in written)


def test_assumed_nodes_are_written_out_to_be_edited():
    written = as_yaml(load([str(ROOT / "examples" / "01-conflicting-spread" / "web.yaml")]))

    assert "# Assumed, as the input has no Node objects." in written
    assert written.count("kind: Node") == 9


def test_every_line_says_something_or_is_an_entry():
    written = as_yaml(load([str(ROOT / "examples" / "09-microservices")]))

    assert max(len(line) for line in written.splitlines()) < 160
    assert written.count("# - rollout: ") == 5  # of eleven: suggestions must not hide what applies
