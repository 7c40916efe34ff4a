"""Searches whose stores do not fit into memory: the same answers from a disk, and clean ends where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubeproof.engine.limits import Limits
from kubeproof.engine.search import Search, explore, find_compiled_kernel, make_kernel
from kubeproof.engine.spill import PARTS, Disk, Spill, find_disk, lies_in_memory
from kubeproof.engine.stopped import NoDisk, StopReason
from kubeproof.engine.system import Check, Kind, Progress, Role
from kubeproof.verdicts import Verdict
from tests.unit.engine.systems import Cells, Remembering, Scripted, counter, effect, explored

LIMIT = 1000
needs_extension = pytest.mark.skipif(find_compiled_kernel() is None, reason="the compiled engine is not built")
pytestmark = needs_extension


def two_counters(top: int) -> Cells:
    """Two numbers that rise, and go round for ever once both are at the top."""
    turn = Scripted("turn", (1, 2, 3), lambda a, b, c: [effect((3, ("set", 1 - c)), tags=1)] if a == b == top else [])
    flags = Remembering((1, 2), lambda _, a, b: a + b, lambda memory: int(memory == 2 * top))
    return Cells(((None, 0, 0, 0),), (counter(1, top), counter(2, top), turn), flags)


def search(top: int, **limits: Any) -> Search:
    system = two_counters(top)
    kernel = make_kernel(system, engine="compiled")
    checks = [Check(Kind.NEVER, 0), Check(Kind.CYCLE, tags=1), Check(Kind.STEP, tags=2)]
    return explore(system, checks, kernel=kernel, limits=Limits(**limits), stop_early=False)


def content(search: Search) -> tuple[object, ...]:
    store = search.store
    return (
        search.findings,
        store.rows(0, len(store)),
        store.parents(0, len(store)),
        store.edges(0, store.expanded),
        [search.path(state) for state in (0, len(store) // 2, len(store) - 1)],
    )


def test_a_search_on_disk_finds_what_it_finds_in_memory(tmp_path: Path) -> None:
    disk = Disk(str(tmp_path), free_share=10**9)
    too_much = iter([*[True] * 3, *[False] * 6, *[True] * 3, *[False] * 7, *[True] * 3])  # three times, a part each

    def resident() -> int:
        return LIMIT + next(too_much, False)

    in_memory = search(300)
    on_disk = search(300, memory_bytes=LIMIT, resident=resident, find_disk=lambda: disk)

    assert len(in_memory.store) == 301 * 301 + 1
    assert disk.bytes > 2**24  # all parts
    assert content(on_disk) == content(in_memory)
    assert [finding.verdict for finding in on_disk.findings] == [Verdict.VIOLATED, Verdict.VIOLATED, Verdict.HOLDS]
    assert on_disk.stopped_by is None


def test_nothing_is_to_be_seen_in_the_directory_whenever_the_process_ends(tmp_path: Path) -> None:
    disk = Disk(str(tmp_path), free_share=10**9)
    kernel: Any = explored(make_kernel(two_counters(20), engine="compiled"), two_counters(20))
    for part in range(PARTS):
        kernel.spill(disk, part)

    assert disk.bytes > 0
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_forgotten_begins_in_memory_again(tmp_path: Path) -> None:
    disk, system = Disk(str(tmp_path), free_share=10**9), two_counters(20)
    kernel: Any = explored(make_kernel(system, engine="compiled"), system)
    size = kernel.bytes_used()
    for part in range(PARTS):
        kernel.spill(disk, part)

    assert kernel.bytes_used() < size
    kernel.clear_states()
    assert disk.bytes == 0
    assert explored(kernel, system).bytes_used() >= size - 4096


def test_memory_that_is_short_without_a_store_ends_the_search(tmp_path: Path) -> None:
    disk = Disk(str(tmp_path), free_share=10**9)

    found = search(90, memory_bytes=LIMIT, resident=lambda: LIMIT + 1, find_disk=lambda: disk)

    assert found.stopped_by is not None
    assert found.stopped_by.reason == StopReason.MEMORY
    assert found.findings[2].verdict == Verdict.UNKNOWN


def test_a_full_disk_ends_the_search_and_says_so(tmp_path: Path) -> None:
    disk = Disk(str(tmp_path), free_share=1)  # all of it is left to others

    found = search(90, memory_bytes=LIMIT, resident=lambda: LIMIT + 1, find_disk=lambda: disk)

    assert str(found.stopped_by) == f"the disk, for what memory does not hold: {tmp_path}: No space left on device"
    assert found.findings[2].verdict == Verdict.UNKNOWN


def test_a_disk_that_becomes_full_ends_the_search_and_says_so(tmp_path: Path) -> None:
    class Filling(Disk):
        def _check_room(self, size: int) -> None:
            if self.bytes > 2**24:
                raise OSError(28, "No space left on device")

    disk = Filling(str(tmp_path))

    found = search(700, memory_bytes=LIMIT, resident=lambda: LIMIT + (disk.bytes < 2**23), find_disk=lambda: disk)

    assert found.stopped_by is not None
    assert found.stopped_by.reason == StopReason.DISK
    assert found.findings[2].verdict == Verdict.UNKNOWN


def test_progress_tells_how_much_is_on_the_disk(tmp_path: Path) -> None:
    disk, told = Disk(str(tmp_path), free_share=10**9), list[Progress]()
    system = two_counters(90)
    limits = Limits(memory_bytes=LIMIT, resident=lambda: LIMIT + (not disk.bytes), find_disk=lambda: disk)

    explore(system, (), kernel=make_kernel(system, engine="compiled"), limits=limits, progress=told.append)

    assert told[0].spilled_bytes == 0
    assert told[-1].spilled_bytes == disk.bytes > 0


def test_pages_are_dropped_before_more_is_moved(tmp_path: Path) -> None:
    kernel: Any = explored(make_kernel(two_counters(20), engine="compiled"), two_counters(20))
    held = iter([LIMIT + 1, LIMIT + 1, LIMIT, LIMIT, LIMIT + 1, LIMIT, LIMIT])
    spill = Spill(kernel, Disk(str(tmp_path), free_share=10**9), LIMIT, lambda: next(held))

    assert spill.relieve()
    after_first = spill.disk.bytes
    assert spill.relieve()
    assert spill.disk.bytes == after_first


def test_a_directory_in_memory_is_no_disk(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\ntmpfs {tmp_path} tmpfs rw 0 0\n", encoding="utf-8")

    assert lies_in_memory(str(tmp_path), mounts)
    assert not lies_in_memory("/", mounts)
    assert not lies_in_memory("/", tmp_path / "none")


def test_a_directory_that_is_not_there_is_no_disk(tmp_path: Path) -> None:
    assert find_disk(str(tmp_path / "none")) is None
    with pytest.raises(NoDisk, match="No such file"):
        Disk(str(tmp_path / "none")).claim(4096)


def test_events_alone_leave_what_is_on_the_disk_stable(tmp_path: Path) -> None:
    system = Cells(((None, 0),), (counter(1, 3, role=Role.EVENT),))
    kernel: Any = make_kernel(system, engine="compiled")
    kernel.add_initial(system.initial[0])
    for part in range(PARTS):
        kernel.spill(Disk(str(tmp_path), free_share=10**9), part)
    kernel.run(10, 100)

    assert [kernel.is_stable(state) for state in range(4)] == [True] * 4
