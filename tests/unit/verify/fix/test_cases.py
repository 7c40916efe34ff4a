"""The shipped cases, and the pairs of the shared folder where they are: nearly all get a repair, most a smaller one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubeproof.cases.library import list_cases, load_case
from kubeproof.manifests.editing.operations import Plain
from kubeproof.manifests.editing.splicing import read_plain
from kubeproof.manifests.load import load
from kubeproof.verify.fix.result import Proposal
from kubeproof.verify.fix.run import FixOptions, find_repairs
from tests.golden.incidents import PAIRS

SHIPPED = [case.name for case in list_cases()]
OUTSIDE = sorted(path.name for path in PAIRS.glob("*/")) if PAIRS.is_dir() else []
QUICK = ("c2", "c3", "c6", "c9", "c14")


def paths_of(name: str, variant: str) -> tuple[str, ...]:
    """The files of a variant."""
    if name in SHIPPED:
        return load_case(name, variant)
    files = sorted(str(path) for path in (PAIRS / name / variant).glob("*.yaml"))
    return (*files, str(PAIRS / name / "scenario.yaml"))


def leaves(value: Plain, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Every single value with its place."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))
    else:
        yield (*path, str(value))


def leaves_of(texts: dict[str, str]) -> set[tuple[object, ...]]:
    """Those of several files; a file is told by its name, a Scenario with them."""
    return {
        (Path(name).name, number, *leaf)
        for name, text in texts.items()
        for number, root in enumerate(read_plain(text, name))
        for leaf in leaves(root)
    }


def read(paths: tuple[str, ...]) -> dict[str, str]:
    return {path: Path(path).read_text(encoding="utf-8") for path in paths}


def size_of_shipped(name: str) -> int:
    """How many single values the safe variant adds, changes or takes away."""
    before, after = (leaves_of(read(paths_of(name, variant))) for variant in ("violating", "safe"))
    return max(len(after - before), len(before - after))


def size_of(proposal: Proposal) -> int:
    before = leaves_of({one.file: one.before for one in proposal.files})
    after = leaves_of({one.file: one.after for one in proposal.files})
    return max(len(after - before), len(before - after))


@pytest.mark.parametrize("name", QUICK)
def test_a_shipped_case_gets_a_repair_as_small_as_the_shipped_one(name):
    found = find_repairs(load(paths_of(name, "violating")), FixOptions(wanted=1))

    assert found.unrepaired == ()
    assert size_of(found.proposals[0]) <= size_of_shipped(name)


@pytest.mark.slow
def test_nearly_all_cases_get_a_repair_and_most_one_as_small_as_the_shipped_one():
    names = [*SHIPPED, *OUTSIDE]
    results = {name: find_repairs(load(paths_of(name, "violating")), clock=time.process_time) for name in names}
    repaired = {name: found.proposals for name, found in results.items() if found.proposals}
    small = [name for name, ones in repaired.items() if min(map(size_of, ones)) <= size_of_shipped(name)]

    assert set(names) == set(repaired)
    assert len(small) >= len(names) * 20 // 28, sorted(set(names) - set(small))
