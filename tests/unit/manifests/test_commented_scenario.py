"""`kubeproof init`: a Scenario for the user's manifests, commented; whatever is uncommented works, too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kubeproof.manifests.commented_scenario import as_yaml
from kubeproof.manifests.default_scenario import default_scenario
from kubeproof.manifests.load import load, load_texts

ROOT = Path(__file__).parents[3]
INPUTS = sorted(path.parent for path in (ROOT / "src" / "kubeproof" / "cases").glob("*/safe/scenario.yaml"))
ENTRY = re.compile(r"^(  )# (- .*)$", re.MULTILINE)
SCALE = re.compile(r"^(  )# ((?:scale:|  ).*)$", re.MULTILINE)


def without_scenario(directory: Path) -> list[tuple[str, str]]:
    files = sorted(path for path in directory.glob("*.yaml") if path.name != "scenario.yaml")
    return [(path.name, path.read_text(encoding="utf-8")) for path in files]


@pytest.mark.parametrize("directory", INPUTS, ids=lambda directory: directory.parent.name)
def test_the_scenario_is_the_default_one(directory):
    texts = without_scenario(directory)
    written = as_yaml(load_texts(texts))
    loaded = load_texts([*texts, ("scenario.yaml", written)])

    default = default_scenario(loaded.setup)
    assert [(intent.key, intent.target, intent.count) for intent in loaded.scenario.intents] == [
        (intent.key, intent.target, intent.count) for intent in default.intents
    ]
    assert len(loaded.scenario.events) == len(default.events)


@pytest.mark.parametrize("directory", INPUTS, ids=lambda directory: directory.parent.name)
def test_every_suggestion_can_be_uncommented(directory):
    texts = without_scenario(directory)
    written = as_yaml(load_texts(texts))
    uncommented = SCALE.sub(r"\1\2", ENTRY.sub(r"\1\2", written))
    loaded = load_texts([*texts, ("scenario.yaml", uncommented)])

    suggested = len(ENTRY.findall(written))
    default = default_scenario(loaded.setup)
    assert len(loaded.scenario.events) + len(loaded.scenario.intents) == (
        len(default.events) + len(default.intents) + suggested
    )
    assert (loaded.scenario.scale is not None) == ("# scale:" in written)


def test_assumed_nodes_are_written_out_to_be_edited():
    written = as_yaml(load([str(ROOT / "examples" / "01-conflicting-spread" / "web.yaml")]))

    assert "# Assumed, as the input has no Node objects." in written
    assert written.count("kind: Node") == 3


def test_every_line_says_something_or_is_an_entry():
    written = as_yaml(load([str(ROOT / "examples" / "09-microservices")]))

    assert max(len(line) for line in written.splitlines()) < 160
    assert written.count("# - rollout: ") == 5  # of eleven: suggestions must not hide what applies
