"""No proposal is shown that the files, changed as it says, do not prove: random clusters, read again from the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.manifests.load import load
from kubeproof.verdicts import Verdict
from kubeproof.verify.fix.result import Proposal
from kubeproof.verify.fix.run import FixOptions, find_repairs
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from tests.property.repairs import draw_files

STATES = 3_000
GOOD = (Verdict.HOLDS, Verdict.VACUOUS)


def repair_all(seeds: range, folder: Path, most: int) -> tuple[int, int]:
    """How many of the clusters are violated, and for how many of them a repair was found, and proved again."""
    violating = found = 0
    for seed in seeds:
        room = folder / str(seed)
        room.mkdir()
        for name, text in draw_files(seed).items():
            (room / name).write_bytes(text.encode())
        before = {one.intent: one.verdict for one in verify(load(room), VerifyOptions(max_states=STATES)).results}
        if Verdict.VIOLATED in before.values():
            violating += 1
            result = find_repairs(load(room), FixOptions(wanted=1, max_candidates=most))
            found += bool(result.proposals)
            for proposal in result.proposals:
                check_files(proposal)
                after = {one.intent: one.verdict for one in verify(load(room)).results}
                held = {name: verdict for name, verdict in before.items() if verdict in GOOD}
                worse = {name for name, verdict in held.items() if after[name] not in (verdict, Verdict.HOLDS)}
                assert not worse, seed  # what had nothing to say may have something to say now, and hold
                assert all(after[name] == Verdict.HOLDS for name, v in before.items() if v == Verdict.VIOLATED), seed
    return violating, found


def check_files(proposal: Proposal) -> None:
    """Writes the files; whatever the change is not about is as it was."""
    assert proposal.files
    assert not proposal.patch_only
    for changed in proposal.files:
        old, new = changed.before.splitlines(keepends=True), changed.after.splitlines(keepends=True)
        assert [line for line in old if line.lstrip().startswith("#")] == [
            line for line in new if line.lstrip().startswith("#")
        ]
        assert {line.endswith("\r\n") for line in new} == {line.endswith("\r\n") for line in old}
        Path(changed.file).write_bytes(changed.after.encode())


@pytest.mark.parametrize("first", range(0, 105, 15))
def test_repairs_of_random_clusters_hold_when_the_files_are_read_again(first: int, tmp_path: Path) -> None:
    violating, found = repair_all(range(first, first + 15), tmp_path, most=10)

    assert violating
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1100, 100))
def test_repairs_of_many_random_clusters_hold_when_the_files_are_read_again(first: int, tmp_path: Path) -> None:
    violating, found = repair_all(range(first, first + 100), tmp_path, most=150)

    assert found >= violating // 2
