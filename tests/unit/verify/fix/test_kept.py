"""A search for repairs that is continued asks nothing again that was decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.errors import CheckpointError
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.fix import judging
from kubeproof.verify.fix.kept import open_journal
from kubeproof.verify.fix.result import FixResult
from kubeproof.verify.fix.run import FixOptions, find_repairs
from tests.unit.verify.inputs import loaded, node, scenario, web

BUDGET = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""
DRAINED = loaded(
    node("a"),
    node("b"),
    web(2),
    BUDGET,
    scenario("{drainCompletes: {}}", events="{drain: {name: upgrade}}", start="deployed"),
)
OPTIONS = FixOptions(wanted=1, max_candidates=12)


def look(directory: Path, given: Loaded, *, resume: bool) -> FixResult:
    with open_journal(str(directory), given, OPTIONS.verify, (), resume=resume) as journal:
        return find_repairs(given, OPTIONS, clock=lambda: 0.0, record=journal)


def test_what_was_verified_is_not_verified_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = look(tmp_path, DRAINED, resume=False)
    monkeypatch.setattr(judging, "verify_intents", lambda *_, **__: pytest.fail("asked again"))
    again = look(tmp_path, DRAINED, resume=True)

    assert first.proposals
    assert [one.edits for one in again.proposals] == [one.edits for one in first.proposals]
    assert again.effort.verified == first.effort.verified > 0


def test_a_checkpoint_belongs_to_one_input(tmp_path: Path) -> None:
    look(tmp_path, DRAINED, resume=False)
    other = load_texts([(name, text.replace("minAvailable: 2", "minAvailable: 1")) for name, text in DRAINED.texts])

    with pytest.raises(CheckpointError, match="the input differs"):
        look(tmp_path, other, resume=True)
