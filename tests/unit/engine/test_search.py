from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

import pytest

from kubeproof.engine import search
from kubeproof.engine.kernel import Kernel
from kubeproof.engine.limits import STATES_BETWEEN_JUDGEMENTS, STATES_BETWEEN_LOOKS, Limits
from kubeproof.engine.search import Finding, Search, explore, find_compiled_kernel, make_kernel
from kubeproof.engine.stopped import ALL_VIOLATED, StoppedBy, StopReason
from kubeproof.engine.system import Check, Kind, Progress, Role
from kubeproof.verdicts import Verdict
from tests.unit.engine.systems import Cells, Drawing, Edge, Remembering, Scripted, counter, effect

CHUNK, SLICE = STATES_BETWEEN_JUDGEMENTS, STATES_BETWEEN_LOOKS

NEVER, STABLE, PERSISTENT = Check(Kind.NEVER), Check(Kind.STABLE), Check(Kind.PERSISTENT)
FORK = (Edge("a", "b"), Edge("a", "c"), Edge("c", "d"))
RING = (Edge("a", "b"), Edge("b", "a", tags=1))


@pytest.fixture(params=["python", "compiled"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "compiled" and find_compiled_kernel() is None:
        pytest.skip("the compiled engine is not built: pip install . with a C compiler")
    return str(request.param)


def searched(system: Any, *checks: Check, engine: str = "python", **options: Any) -> Search:
    return explore(system, checks, kernel=make_kernel(system, engine=engine), **options)


def long_system(facts: Callable[[int], int]) -> Cells:
    """A counter of three chunks of states."""
    return Cells(((None, 0),), (counter(1, 3 * CHUNK),), Remembering((1,), lambda _, n: n, facts))


def test_never_is_broken_by_the_first_bad_state(engine: str) -> None:
    found = searched(Drawing(FORK, bad={"c": 1, "d": 1}), NEVER, engine=engine)

    assert found.findings == (Finding(Verdict.VIOLATED, 2),)
    assert found.stopped_by is None


def test_stable_is_broken_by_stable_states_only(engine: str) -> None:
    assert searched(Drawing(FORK, bad={"c": 1}), STABLE, engine=engine).findings == (Finding(Verdict.HOLDS),)
    assert searched(Drawing(FORK, bad={"d": 1}), STABLE, engine=engine).findings == (Finding(Verdict.VIOLATED, 3),)


@pytest.mark.parametrize("kind", [Kind.RECURRENT, Kind.PERSISTENT])
def test_a_stable_bad_state_breaks_liveness_without_a_cycle(engine: str, kind: Kind) -> None:
    found = searched(Drawing(FORK, bad={"d": 1}), Check(kind), engine=engine)

    assert found.findings == (Finding(Verdict.VIOLATED, 3),)


def test_a_cycle_breaks_liveness(engine: str) -> None:
    checks = (Check(Kind.CYCLE, tags=1), Check(Kind.RECURRENT), PERSISTENT)

    cycle, recurrent, persistent = searched(Drawing(RING, bad={"b": 1}), *checks, engine=engine).findings

    assert (cycle.verdict, cycle.state, cycle.lasso and cycle.lasso.states) == (Verdict.VIOLATED, 0, (0, 1))
    assert (recurrent.verdict, recurrent.state) == (Verdict.VIOLATED, 0)
    assert persistent == Finding(Verdict.HOLDS)


def test_a_check_whose_premise_is_never_seen_is_vacuous(engine: str) -> None:
    checks = (Check(Kind.NEVER, relevant=1), Check(Kind.NEVER, relevant=2), Check(Kind.CYCLE, relevant=2))

    found = searched(Drawing(FORK, bad={"d": 2}), *checks, engine=engine)

    assert [finding.verdict for finding in found.findings] == [Verdict.HOLDS, Verdict.VACUOUS, Verdict.VACUOUS]


def test_the_path_to_a_state_is_a_shortest_one_from_its_root(engine: str) -> None:
    drawing = Drawing((*FORK, Edge("b", "e"), Edge("e", "d")), starts=("x", "a"))
    found = searched(drawing, NEVER, engine=engine)
    last = 4  # x, a, b, c, then d or e: e by b comes first

    assert [found.store.cells_of(state)[1] for state in range(6)] == ["x", "a", "b", "c", "e", "d"]
    assert [(source, step.effect.label) for source, step in found.path(5)] == [(1, "a -> c"), (3, "c -> d")]
    assert (found.path(0), found.root(last), found.root(0)) == ([], 1, 0)


def test_reaching_the_limit_of_states_is_unknown_not_holds(engine: str) -> None:
    system = long_system(lambda n: n == 7)
    checks = (
        NEVER,
        Check(Kind.NEVER, flag=1),
        Check(Kind.CYCLE, tags=1),
        Check(Kind.NEVER, flag=1, relevant=5),
    )

    found = searched(system, *checks, engine=engine, limits=Limits(max_states=10))

    assert [f.verdict for f in found.findings] == [Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.UNKNOWN, Verdict.UNKNOWN]
    assert (found.stopped_by, len(found.store), found.findings[0].state) == (StoppedBy(StopReason.STATES, 10), 10, 7)


def test_reaching_the_limit_of_time_is_unknown(engine: str) -> None:
    ticks = iter(range(0, 1000, 10))
    limits = Limits(timeout_s=15, clock=lambda: float(next(ticks)))

    found = searched(long_system(lambda n: 0), NEVER, engine=engine, limits=limits)

    assert (found.findings, found.stopped_by) == ((Finding(Verdict.UNKNOWN),), StoppedBy(StopReason.TIME, 15))
    assert (found.store.expanded, found.elapsed_s) == (2 * SLICE, 40.0)


def test_reaching_the_limit_of_memory_is_unknown(engine: str) -> None:
    limits = Limits(memory_bytes=2**20)  # the interpreter alone holds more

    found = searched(long_system(lambda n: 0), NEVER, engine=engine, limits=limits)

    assert (found.findings, found.stopped_by) == ((Finding(Verdict.UNKNOWN),), StoppedBy(StopReason.MEMORY, 2**20))
    assert found.store.expanded == CHUNK


def test_enough_time_and_memory_end_in_a_proof(engine: str) -> None:
    limits = Limits(max_states=10**6, timeout_s=10**6, memory_bytes=2**50)

    found = searched(long_system(lambda n: 0), NEVER, engine=engine, limits=limits)

    assert (found.findings, found.stopped_by) == ((Finding(Verdict.HOLDS),), None)
    assert len(found.store) == 3 * CHUNK + 1


@pytest.mark.parametrize(("problem", "reason"), [(KeyboardInterrupt(), "interrupt"), (MemoryError(), "memory")])
def test_an_interrupt_leaves_open_checks_unknown(engine: str, problem: BaseException, reason: str) -> None:
    def stopping(number: int) -> list[Any]:
        if number == 3:
            raise problem
        return [effect((1, ("add", 1)))]

    observer = Remembering((1,), lambda _, n: n, lambda n: n == 2)
    system = Cells(((None, 0),), (Scripted("s", (1,), stopping),), observer)

    found = searched(system, NEVER, Check(Kind.NEVER, flag=1), Check(Kind.CYCLE, tags=1), engine=engine)

    assert found.findings == (Finding(Verdict.VIOLATED, 2), Finding(Verdict.UNKNOWN), Finding(Verdict.UNKNOWN))
    assert (str(found.stopped_by), found.store.expanded, len(found.store)) == (reason, 3, 4)


def test_the_search_stops_early_when_every_check_is_violated(engine: str) -> None:
    system = long_system(lambda n: (n == 3) | (n == CHUNK + 3) << 1)

    found = searched(system, NEVER, Check(Kind.NEVER, flag=1), engine=engine)

    assert found.findings == (Finding(Verdict.VIOLATED, 3), Finding(Verdict.VIOLATED, CHUNK + 3))
    assert (found.stopped_by, found.store.expanded) == (ALL_VIOLATED, 2 * CHUNK)


def test_the_search_goes_on_while_one_check_is_open(engine: str) -> None:
    found = searched(long_system(lambda n: n == 3), NEVER, Check(Kind.CYCLE, tags=1), engine=engine)

    assert found.findings == (Finding(Verdict.VIOLATED, 3), Finding(Verdict.HOLDS))
    assert (found.stopped_by, found.store.expanded) == (None, 3 * CHUNK + 1)


def test_without_checks_everything_is_explored(engine: str) -> None:
    found = searched(long_system(lambda n: 0), engine=engine)

    assert (found.findings, found.store.expanded, found.store.is_complete) == (
        (),
        3 * CHUNK + 1,
        True,
    )


def test_progress_is_reported_between_chunks_and_before_cycles(engine: str) -> None:
    seen: list[Progress] = []
    limits = Limits(clock=lambda: 0.0)

    searched(
        long_system(lambda n: 0),
        Check(Kind.CYCLE, tags=1),
        engine=engine,
        limits=limits,
        progress=seen.append,
    )

    assert seen == [
        Progress(CHUNK + 1, CHUNK, 1, CHUNK, 0.0, "exploring"),
        Progress(
            2 * CHUNK + 1,
            2 * CHUNK,
            1,
            2 * CHUNK,
            0.0,
            "exploring",
        ),
        Progress(
            3 * CHUNK + 1,
            3 * CHUNK,
            1,
            3 * CHUNK,
            0.0,
            "exploring",
        ),
        Progress(
            3 * CHUNK + 1,
            3 * CHUNK,
            0,
            3 * CHUNK,
            0.0,
            "looking for cycles",
        ),
    ]


def test_events_do_not_make_a_cycle(engine: str) -> None:
    drawing = Drawing((Edge("a", "b", tags=1), Edge("b", "a", "user", Role.EVENT, tags=1)))

    assert searched(drawing, Check(Kind.CYCLE, tags=1), engine=engine).findings == (Finding(Verdict.HOLDS),)


def test_the_compiled_engine_is_taken_where_it_is_built(engine: str) -> None:
    assert make_kernel(Drawing(()), engine=engine).name == engine


def test_without_the_extension_the_plain_engine_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def refusing(name: str, *rest: Any, **named: Any) -> Any:
        if name.endswith("_kernel"):
            raise ImportError(name)
        return real_import(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refusing)
    monkeypatch.delitem(sys.modules, "kubeproof.engine._kernel", raising=False)

    assert isinstance(make_kernel(Drawing(())), Kernel)
    with pytest.raises(ImportError, match="not installed"):
        make_kernel(Drawing(()), engine="compiled")


def test_every_engine_is_the_plain_one_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "find_compiled_kernel", lambda: pytest.fail("not needed"))

    assert isinstance(make_kernel(Drawing(()), engine="python"), Kernel)
