"""A search cut in two and continued by a fresh kernel, of either kind, against one that ran through."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.engine.kernel import Kernel
from kubeproof.engine.search import find_compiled_kernel
from kubeproof.engine.snapshot import load, save
from kubeproof.engine.system import System
from tests.differential.test_kernels import CAP, RandomSystem, explored, picture, systems

KERNELS = [Kernel] + ([find_compiled_kernel()] if find_compiled_kernel() else [])
PAIRS = [pytest.param(a, b, id=f"{a.name} to {b.name}") for a in KERNELS for b in KERNELS]
CHUNK = 7
EXAMPLES = settings(max_examples=60, deadline=None, derandomize=True)  # each writes a file


def begun(make: Any, system: System, chunks: int, **options: Any) -> Any:
    """A kernel after so many chunks."""
    kernel = make(system, **options)
    for cells in system.initial:
        kernel.add_initial(cells)
    for _ in range(chunks):
        kernel.run(CHUNK, CAP)
    return kernel


def carried(source: Any, mark: Any, target: Any) -> None:
    """Takes a search from one kernel to another, through a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot"
        save(path, source, mark, binding="here", elapsed_s=1.5)
        assert load(path, target, binding="here") == 1.5


@pytest.mark.parametrize(("before", "after"), PAIRS)
@EXAMPLES
@given(system=systems(), chunks=st.integers(0, 6))
def test_a_continued_search_tells_what_one_that_ran_through_tells(
    before: Any, after: Any, system: RandomSystem, chunks: int
) -> None:
    source, target = begun(before, system, chunks), after(system)

    carried(source, source.mark(), target)

    assert target.mark() == source.mark()
    while not target.run(CHUNK, CAP):
        pass
    through = explored(before(system), system, CAP, CHUNK)
    assert target.mark() == through.mark()
    assert picture(target) == picture(through)


@pytest.mark.parametrize(("before", "after"), PAIRS)
@EXAMPLES
@given(system=systems(), chunks=st.integers(0, 4), more=st.integers(1, 20), check_every=st.integers(0, 3))
def test_a_mark_can_be_saved_after_the_search_went_on(
    before: Any, after: Any, system: RandomSystem, chunks: int, more: int, check_every: int
) -> None:
    source, target = begun(before, system, chunks, check_every=check_every), after(system, check_every=check_every)
    mark = source.mark()
    source.run(more, CAP)

    carried(source, mark, target)

    assert target.mark() == mark
    target.run(more, CAP)
    assert target.mark() == source.mark()
    assert picture(target) == picture(source)


@pytest.mark.skipif(len(KERNELS) < 2, reason="the compiled engine is not built: pip install . with a C compiler")
@EXAMPLES
@given(system=systems(), chunks=st.integers(0, 6))
def test_both_kernels_learn_the_same_in_the_same_order(system: RandomSystem, chunks: int) -> None:
    plain, compiled = (begun(make, system, chunks) for make in KERNELS)

    assert compiled.mark() == plain.mark()
    assert compiled.lessons(plain.mark().lessons) == plain.lessons(plain.mark().lessons)
