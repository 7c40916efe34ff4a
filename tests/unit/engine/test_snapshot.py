"""Searches on disk: when they are saved, how they continue, and which files are refused."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubeproof.engine import snapshot
from kubeproof.engine.kernel import Lesson, Mark
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import Search, explore, find_compiled_kernel, make_kernel
from kubeproof.engine.snapshot import MAGIC, Keeper, Snapshots, load, save
from kubeproof.engine.stopped import INTERRUPTED, StoppedBy, StopReason
from kubeproof.engine.system import Check, Kind
from kubeproof.errors import CheckpointError
from tests.unit.engine.systems import Cells, Remembering, counter

CHUNK = 50  # states between two moments at which a search can be saved, few for speed
CHECKS = (Check(Kind.NEVER), Check(Kind.RECURRENT, flag=1))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubeproof.engine.search.STATES_BETWEEN_JUDGEMENTS", CHUNK)


@pytest.fixture(params=["python", "compiled"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "compiled" and find_compiled_kernel() is None:
        pytest.skip("the compiled engine is not built: pip install . with a C compiler")
    return str(request.param)


class Clock:
    """A clock that moves by itself at every look, so that nothing depends on the speed of a machine."""

    def __init__(self, step_s: float = 0.0) -> None:
        self.now_s, self.step_s = 0.0, step_s

    def __call__(self) -> float:
        self.now_s += self.step_s
        return self.now_s


def grid(width: int = 4 * CHUNK, bad_at: int = -1) -> Cells:
    """A counter of a little more than four chunks, with an optional bad state."""
    return Cells(((None, 0),), (counter(1, width + 5),), Remembering((1,), lambda _, n: n, lambda n: int(n == bad_at)))


def searched(system: Cells, keeper: Keeper | None, engine: str = "auto", **options: Any) -> Search:
    return explore(system, CHECKS, kernel=make_kernel(system, engine=engine), keeper=keeper, **options)


def told(search: Search) -> tuple[object, ...]:
    """What a search found, and every number about it."""
    return search.findings, search.stopped_by, search.store.mark()


def dying_at(moment: int) -> Callable[[object], None]:
    """A progress report that raises at its n-th call."""
    calls = []

    def report(progress: object) -> None:
        calls.append(progress)
        if len(calls) == moment:
            raise KeyboardInterrupt

    return report


def keeper_of(folder: Path, **options: Any) -> Keeper:
    return Keeper(folder / "s.snapshot", "here", **{"interval_s": 0.0, "clock": Clock(), **options})


@pytest.mark.parametrize("moment", [2, 3, 4])
def test_an_interrupted_search_is_saved_and_continues_to_the_same_findings(
    engine: str, moment: int, tmp_path: Path
) -> None:
    first = searched(grid(), keeper_of(tmp_path), engine, progress=dying_at(moment))
    assert first.stopped_by == INTERRUPTED

    keeper = keeper_of(tmp_path)
    continued = searched(grid(), keeper, engine)

    assert keeper.writes > 0
    assert told(continued) == told(searched(grid(), None, engine))


def test_an_interrupted_search_is_saved_although_its_time_had_not_come(engine: str, tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path, interval_s=1000.0)
    searched(grid(), keeper, engine, progress=dying_at(3))
    assert keeper.writes == 1

    kernel = make_kernel(grid(), engine=engine)
    load(keeper.path, kernel, binding="here")

    assert kernel.mark().expanded == 2 * CHUNK


def test_an_interrupt_before_the_first_chunk_leaves_nothing_to_save(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path)
    searched(grid(), keeper, progress=dying_at(1))

    assert list(tmp_path.iterdir()) == []


def test_a_search_that_ran_out_of_time_continues_with_more(engine: str, tmp_path: Path) -> None:
    cut = searched(grid(), keeper_of(tmp_path, interval_s=9.0), engine, limits=Limits(timeout_s=2, clock=Clock(0.5)))
    assert cut.stopped_by == StoppedBy(StopReason.TIME, 2)

    continued = searched(grid(), keeper_of(tmp_path), engine)

    assert told(continued) == told(searched(grid(), None, engine))


def test_an_interrupt_while_looking_for_cycles_saves_the_whole_exploration(engine: str, tmp_path: Path) -> None:
    def interrupt(progress: Any) -> None:
        if progress.phase == "looking for cycles":
            raise KeyboardInterrupt

    cut = searched(grid(), keeper_of(tmp_path, interval_s=1000.0), engine, progress=interrupt)
    assert cut.stopped_by == INTERRUPTED

    seen: list[str] = []
    continued = searched(grid(), keeper_of(tmp_path), engine, progress=lambda p: seen.append(p.phase))

    assert seen == ["looking for cycles"]
    assert told(continued) == told(searched(grid(), None, engine))


def test_a_violation_that_ends_the_search_early_ends_it_at_the_same_state(engine: str, tmp_path: Path) -> None:
    checks, system = (Check(Kind.NEVER),), grid(bad_at=2 * CHUNK + 9)
    runs = [
        explore(system, checks, kernel=make_kernel(system, engine=engine), keeper=keeper, progress=progress)
        for keeper, progress in (
            (keeper_of(tmp_path), dying_at(2)),
            (keeper_of(tmp_path), None),
            (keeper_of(tmp_path), None),
            (None, None),
        )
    ]

    assert runs[0].stopped_by == INTERRUPTED
    assert [told(run) for run in runs[1:]] == [told(runs[3])] * 3
    assert runs[3].store.expanded == 3 * CHUNK


def test_a_limit_of_states_stops_a_continued_search_at_the_same_state(engine: str, tmp_path: Path) -> None:
    most = 3 * CHUNK + 11
    searched(grid(), keeper_of(tmp_path), engine, limits=Limits(most), progress=dying_at(2))

    continued = searched(grid(), keeper_of(tmp_path), engine, limits=Limits(most))

    assert told(continued) == told(searched(grid(), None, engine, limits=Limits(most)))


def test_a_search_that_is_on_disk_to_its_end_is_not_done_again(engine: str, tmp_path: Path) -> None:
    whole = searched(grid(), keeper_of(tmp_path), engine)
    keeper = keeper_of(tmp_path)

    again = searched(grid(), keeper, engine)

    assert told(again) == told(whole)
    assert keeper.writes == 0


def test_the_time_of_all_runs_is_added(tmp_path: Path) -> None:
    keeper = keeper_of(tmp_path, clock=Clock(100.0))
    searched(grid(), keeper, progress=dying_at(3))

    assert searched(grid(), keeper_of(tmp_path)).elapsed_s >= 100.0


def test_a_short_search_leaves_no_file(tmp_path: Path) -> None:
    searched(grid(), keeper_of(tmp_path, interval_s=1000.0))

    assert list(tmp_path.iterdir()) == []


def test_writing_takes_a_twentieth_of_the_time_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(snapshot, "save", lambda *_, **__: setattr(clock, "now_s", clock.now_s + 10.0))
    keeper = keeper_of(tmp_path, interval_s=30.0, clock=clock)
    kernel = make_kernel(grid())
    keeper.restore(kernel)
    kernel.add_initial((None, 0))
    kernel.run(99, 1000)
    written = []
    for _ in range(1000):
        clock.now_s += 1.0
        keeper.pause(kernel)
        written.append(keeper.writes)

    assert [written.index(count) + 1 for count in range(1, 6)] == [30, 230, 430, 630, 830]


def test_a_kernel_that_learned_before_is_neither_restored_nor_saved(tmp_path: Path) -> None:
    kernel = make_kernel(grid())
    explore(grid(), CHECKS, kernel=kernel)
    kernel.clear_states()  # type: ignore[attr-defined]

    explore(grid(), CHECKS, kernel=kernel, keeper=keeper_of(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_does_not_end_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    keeper = keeper_of(tmp_path)

    assert told(searched(grid(), keeper)) == told(searched(grid(), None))
    assert keeper.problem == f"{keeper.path}: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_every_search_of_a_run_has_its_own_file_and_name(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path, "run")
    first, second = snapshots.keeper(), snapshots.keeper()
    second.problem = "why"

    assert [(k.path.name, k.binding) for k in (first, second)] == [
        ("search-0.snapshot", "run 0"),
        ("search-1.snapshot", "run 1"),
    ]
    assert snapshots.problems == ("why",)


# -- files that are refused ------------------------------------------------------------------------------


def saved(folder: Path, engine: str) -> Path:
    system = grid(20)
    kernel = make_kernel(system, engine=engine)
    kernel.add_initial(system.initial[0])
    kernel.run(9, 1000)
    path = folder / "s.snapshot"
    save(path, kernel, kernel.mark(), binding="here", elapsed_s=0.0)
    return path


def sections(content: bytes) -> list[bytes]:
    found, place = [], len(MAGIC)
    while place < len(content):
        length, _ = struct.unpack_from("<QI", content, place)
        found.append(content[place + 12 : place + 12 + length])
        place += 12 + length
    return found


def joined(parts: list[bytes]) -> bytes:
    return MAGIC + b"".join(struct.pack("<QI", len(part), zlib.crc32(part)) + part for part in parts)


def numbers(*values: int) -> bytes:
    return struct.pack(f"{len(values)}i", *values)


def refused(path: Path, engine: str) -> str:
    with pytest.raises(CheckpointError) as problem:
        keeper_of(path.parent).restore(make_kernel(grid(20), engine=engine))
    assert problem.value.exit_code == 2
    return str(problem.value)


def test_every_cut_is_refused(engine: str, tmp_path: Path) -> None:
    path = saved(tmp_path, engine)
    whole = path.read_bytes()
    for length in range(0, len(whole), 3):
        path.write_bytes(whole[:length])
        assert "cannot be continued" in refused(path, engine)


def test_every_changed_byte_is_refused(engine: str, tmp_path: Path) -> None:
    path = saved(tmp_path, engine)
    whole = path.read_bytes()
    for place in range(0, len(whole), 2):
        changed = bytearray(whole)
        changed[place] ^= 0x10
        path.write_bytes(changed)
        assert "cannot be continued" in refused(path, engine)


HEADER, LESSONS, WIDTH, ROWS, PARENTS, DEGREES, EDGES = range(7)


@pytest.mark.parametrize(
    ("section", "content"),
    [
        pytest.param(HEADER, b"{}", id="an empty header"),
        pytest.param(HEADER, b"[1]", id="a header that is a list"),
        pytest.param(HEADER, b"\xff", id="a header that is no text"),
        pytest.param(LESSONS, b"", id="no lessons"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.INITIAL), id="one initial state too many"),
        pytest.param(LESSONS, numbers(9), id="an unknown lesson"),
        pytest.param(LESSONS, numbers(-1), id="a negative lesson"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.VIEW), id="a lesson cut after its kind"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.VIEW, 0, 0), id="a lesson cut short"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.MEMORY, 0), id="a memory cut short"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.ANSWER, 0), id="an answer cut short"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.VIEW, 9, 0, 0), id="an unknown reader"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.VIEW, 0, 7, 0), id="an unknown position"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.VIEW, 0, 0, 99), id="a view of an unknown cell"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.VIEW, 0, 0, -1), id="a view of a negative cell"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.ANSWER, 4, 0), id="an unknown actor"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.ANSWER, -1, 0), id="a negative actor"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.ANSWER, 0, 5), id="an answer to an unknown view"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.EDIT, 1, 0, 0), id="an unknown operation"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.EDIT, -1, 0, 0), id="a negative slot"),
        pytest.param(LESSONS, numbers(Lesson.INITIAL, Lesson.MEMORY, 77, 0), id="an unknown memory"),
        pytest.param(WIDTH, b"\x03", id="a wrong width"),
        pytest.param(ROWS, b"", id="no rows"),
        pytest.param(ROWS, b"\xff\xff" * 20, id="unknown cells"),
        pytest.param(PARENTS, numbers(-2) * 10, id="a parent below none"),
        pytest.param(PARENTS, numbers(5) * 10, id="a parent after its child"),
        pytest.param(DEGREES, numbers(-1) * 9, id="negative degrees"),
        pytest.param(DEGREES, numbers(2) * 9, id="more steps than there are"),
        pytest.param(DEGREES, numbers(0) * 9, id="fewer steps than there are"),
        pytest.param(DEGREES, numbers(1) * 9 + numbers(0) * 9, id="more expanded states than states"),
        pytest.param(EDGES, numbers(99) * 9, id="steps to nowhere"),
        pytest.param(EDGES, numbers(-1) * 9, id="steps to less than nowhere"),
    ],
)
def test_wrong_content_under_a_right_checksum_is_refused(
    engine: str, tmp_path: Path, section: int, content: bytes
) -> None:
    path = saved(tmp_path, engine)
    parts = sections(path.read_bytes())
    parts[section] = content
    path.write_bytes(joined(parts))

    assert "cannot be continued" in refused(path, engine)


@pytest.mark.parametrize("name", ["states", "expanded", "edges", "levels", "lessons", "cells", "views", "operations"])
def test_a_mark_that_does_not_fit_is_refused(engine: str, tmp_path: Path, name: str) -> None:
    path = saved(tmp_path, engine)
    parts = sections(path.read_bytes())
    header = json.loads(parts[HEADER])
    mark = Mark(*header["mark"])
    header["mark"] = mark._replace(**{name: getattr(mark, name) + 1000})
    parts[HEADER] = json.dumps(header).encode()
    path.write_bytes(joined(parts))

    assert "cannot be continued" in refused(path, engine)


@pytest.mark.parametrize(("key", "value"), [("binding", "elsewhere"), ("byteorder", "middle")])
def test_the_snapshot_of_another_search_is_refused(tmp_path: Path, key: str, value: str) -> None:
    path = saved(tmp_path, "auto")
    parts = sections(path.read_bytes())
    parts[HEADER] = json.dumps({**json.loads(parts[HEADER]), key: value}).encode()
    path.write_bytes(joined(parts))

    assert refused(path, "auto") == (
        f"E203 {path} cannot be continued: it belongs to another search. "
        "Delete it to repeat this search from its beginning."
    )


def test_a_system_that_answers_otherwise_than_before_is_noticed(engine: str, tmp_path: Path) -> None:
    saved(tmp_path, engine)
    other = Cells(((None, 0),), (counter(1, 3),), Remembering((1,), lambda _, n: n % 2))

    with pytest.raises(CheckpointError, match="cannot be continued"):
        keeper_of(tmp_path).restore(make_kernel(other, engine=engine))
