"""Searches in several processes: the same in every number as in one, whatever becomes of the helpers."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubeproof.engine.helpers import Crew, can_share
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import Search, explore, find_compiled_kernel, make_kernel
from kubeproof.engine.sharing import Sharing, count_threads
from kubeproof.engine.stopped import StopReason
from kubeproof.engine.system import Check, Effect, Kind, Progress
from kubeproof.errors import LimitReached
from tests.unit.engine.systems import Cells, Remembering, Scripted, counter, effect

pytestmark = [
    pytest.mark.skipif(find_compiled_kernel() is None, reason="the compiled engine is not built"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
TOP = 12
CHECKS = (Check(Kind.NEVER, 0), Check(Kind.CYCLE, tags=1), Check(Kind.STEP, tags=2))
Mischief = Callable[[int, int], object]


def at_once(processes: int) -> Sharing:
    """Helpers from the beginning, with little work at a time."""
    return Sharing(processes, after_s=-1.0, least=2, most=50, may_fork=lambda: True)


def system(mischief: Mischief = lambda a, b: None) -> Cells:
    """Three numbers that rise and an observer that adds them; two that are at the top jump back together."""

    def jump(a: int, b: int) -> list[Effect]:
        mischief(a, b)
        return [effect((1, ("set", 0, 3)), (2, ("set", 0, 3)), tags=1)] if a == b == TOP else []

    actors = (*(counter(slot, TOP) for slot in (1, 2, 3)), Scripted("jump", (1, 2), jump))
    flags = Remembering((1, 2, 3), lambda _, *cells: sum(cells), lambda memory: int(memory == 3 * TOP))
    return Cells(((None, 0, 0, 0),), actors, flags, symmetric=(((1,), (2,)),))


def search(processes: int, mischief: Mischief = lambda a, b: None, **limits: Any) -> Search:
    made = system(mischief)
    kernel = make_kernel(made, engine="compiled")
    sharing = at_once(processes) if processes > 1 else None
    return explore(made, CHECKS, kernel=kernel, limits=Limits(sharing=sharing, **limits), stop_early=False)


def content(search: Search) -> tuple[object, ...]:
    """All that can be seen of a search, but how often actors were asked."""
    store: Any = search.store
    counts = (len(store), store.expanded, store.transitions, store.depth, store.calls)
    rows = store.rows(0, len(store)), store.parents(0, len(store)), store.edges(0, store.expanded)
    firsts = list(store.first_any), list(store.first_stable)
    return counts, rows, firsts, search.findings, search.stopped_by, store.cells.values


def path(search: Search) -> list[tuple[int, object]]:
    return [*search.path(len(search.store) - 1)]


@pytest.mark.parametrize("processes", [2, 3])
def test_helpers_change_nothing(processes: int) -> None:
    alone = search(1)

    shared = search(processes)

    assert content(shared) == content(alone)
    assert path(shared) == path(alone)
    assert len(alone.store) > 500


@pytest.mark.parametrize("states", [60, 333])
def test_a_limit_ends_a_shared_search_where_it_ends_one_alone(states: int) -> None:
    assert content(search(2, max_states=states)) == content(search(1, max_states=states))


def test_helpers_do_a_part_of_the_work_and_progress_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Progress] = []
    asked: list[tuple[int, int]] = []
    here, made = os.getpid(), system(lambda a, b: asked.append((a, b)))
    alone = search(1).store
    monkeypatch.setattr("kubeproof.engine.search.STATES_BETWEEN_JUDGEMENTS", 64)
    kernel = make_kernel(made, engine="compiled")

    explore(made, (), kernel=kernel, limits=Limits(sharing=at_once(2)), progress=told.append)

    assert max(progress.processes for progress in told) == 2
    assert os.getpid() == here
    assert 0 < len(asked) < sum(1 for a in range(TOP + 1) for b in range(a, TOP + 1))  # the rest was asked elsewhere
    assert len(kernel) == len(alone)


def test_a_helper_that_dies_at_its_work_changes_nothing() -> None:
    here = os.getpid()

    def die(a: int, b: int) -> None:
        if os.getpid() != here and a + b > TOP:
            os.kill(os.getpid(), signal.SIGKILL)

    assert content(search(2, die)) == content(search(1))
    assert content(search(3, die)) == content(search(1))


def test_what_fails_in_a_helper_is_done_where_the_search_began() -> None:
    here = os.getpid()

    def fail(a: int, b: int) -> None:
        if os.getpid() != here and (a + b) % 3:
            raise RuntimeError("not here")

    assert content(search(2, fail)) == content(search(1))


def test_what_fails_everywhere_ends_the_search_with_its_own_words() -> None:
    def fail(a: int, b: int) -> None:
        if a + b > TOP:
            raise LimitReached("too many ways")

    shared = search(2, fail)

    assert shared.stopped_by is not None
    assert (shared.stopped_by.reason, str(shared.stopped_by)) == (StopReason.TOO_MANY_WAYS, "too many ways")
    assert content(shared) == content(search(1, fail))


def test_effects_that_cannot_be_sent_end_the_help() -> None:
    made = system()
    label: Any = lambda: None  # noqa: E731
    odd = Scripted("odd", (1,), lambda a: [Effect(0, 0, ((3, ("set", 0)),), label)] if a == TOP else [])
    alone, shared = (Cells(made.initial, (*made.actors, odd), made.observer) for _ in range(2))
    first = explore(alone, (), kernel=make_kernel(alone, engine="compiled"))

    second = explore(
        shared, (), kernel=make_kernel(shared, engine="compiled"), limits=Limits(sharing=at_once(2)), stop_early=False
    )

    assert content(second)[:3] == content(first)[:3]


def find_children() -> set[str]:
    """The processes that this one has started and not waited for, those of earlier tests among them."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list processes in /proc")
def test_no_process_is_left_behind() -> None:
    before = find_children()

    search(3)
    search(2, max_states=60)

    assert find_children() <= before


def test_helpers_end_with_the_process_that_started_them() -> None:
    reading, writing = os.pipe()
    starter = os.fork()
    if starter == 0:  # dies in the middle; its helpers hold the pipe open until they end
        here = os.getpid()

        def die(a: int, b: int) -> None:
            if os.getpid() == here and a + b > TOP:
                os.kill(here, signal.SIGKILL)

        try:
            search(3, die)
        finally:
            os._exit(1)
    os.close(writing)

    assert os.read(reading, 1) == b""
    assert os.waitstatus_to_exitcode(os.waitpid(starter, 0)[1]) == -signal.SIGKILL
    os.close(reading)


def test_helpers_go_before_memory_is_short() -> None:
    found = search(2, memory_bytes=1000, resident=lambda: 1000)

    assert content(found) == content(search(1))


def test_the_plain_engine_and_checked_controllers_stay_alone() -> None:
    assert can_share(make_kernel(system(), engine="compiled"))
    assert not can_share(make_kernel(system(), engine="python"))
    assert not can_share(make_kernel(system(), engine="compiled", check_every=1))


def test_other_threads_keep_a_search_alone() -> None:
    store: Any = make_kernel(system(), engine="compiled")
    crew = Crew(store, Sharing(2, after_s=-1.0, least=0, may_fork=lambda: False))

    crew.look()

    assert crew.processes == 1


def test_a_thread_is_counted() -> None:
    before, done = count_threads(), threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()

    during = count_threads()

    done.set()
    thread.join()
    assert during == before + 1


def test_who_takes_notes_is_asked_where_the_notes_are() -> None:
    class Noting(Scripted):
        @property
        def noted(self) -> int:
            return len(notes)

    notes: set[int] = set()
    made = system()

    def note(a: int, b: int) -> list[Effect]:
        notes.add(a * b % 7)
        return []

    noting = Noting("noting", (1, 2), note)
    shared = Cells(made.initial, (*made.actors, noting), made.observer)

    explore(shared, (), kernel=make_kernel(shared, engine="compiled"), limits=Limits(sharing=at_once(2)))

    assert notes == set(range(7))
