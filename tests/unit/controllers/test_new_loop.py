"""A new control loop is one module and one line: it is run, given its memory, told, searched in parts and replayed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kubeproof.cluster.loops.actions import Remember, SetDesired
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOTHING, QUIET, Clocks, Footprint, Sizing, Writes, footprint_of, some
from kubeproof.cluster.loops.making import LoopKind, Making
from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.state import NEVER, NodeCell, WorkloadCell
from kubeproof.controllers import loops
from kubeproof.controllers.loops import LOOPS
from kubeproof.errors import FootprintError
from kubeproof.model.planning import assembly
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.slicing import Inseparable, cut
from kubeproof.verify.run import plan_of
from tests.unit.verify.inputs import loaded, node, only, scenario, verified, web
from tests.unit.verify.test_slicing import TWO_TEAMS

REMEMBERS = MemoryKind("curfew", Holds.TIMES)
PERIOD_S = 60
NIGHT = 1  # pods of a Deployment that stay

Sight = Seen[int, Groups[None]]


@dataclass(frozen=True, slots=True)
class Curfew:
    """Scales a Deployment down, every minute. Memory is the seconds until the next round."""

    workload: int
    memory: int
    stage: int = Stage.ALWAYS

    reads_nodes = mention_nothing

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.OTHER, "curfew")

    @property
    def reads(self) -> Reads:
        return Reads((self.workload,), (), (self.memory,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> int:
        return cell.desired

    def show_node(self, place: int, cell: NodeCell) -> None:
        """Never looks at nodes."""

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        if seen.memories[0] != (0,) or seen.workloads[0] <= NIGHT:
            return ()
        return (Decision((SetDesired(self.workload, NIGHT), Remember(self.memory, (PERIOD_S,))), Role.URGENT),)

    def due(self, seen: Sight) -> int:
        return seen.memories[0][0] if seen.workloads[0] > NIGHT else NEVER

    def later(self, seen: Sight, seconds: int | None) -> tuple[int, ...]:
        return (0 if seconds is None else max(0, seen.memories[0][0] - seconds),)


class Declared(Curfew):
    """The same, which says what it reads and does."""

    @property
    def footprint(self) -> Footprint:
        return replace(
            QUIET, writes=Writes.SIZES, sizing=Sizing.ANY, clocks=Clocks.PERIOD, sees_objects=some((self.workload,))
        )


class Careless(Declared):
    """One that forgets that it writes sizes."""

    @property
    def footprint(self) -> Footprint:
        return replace(super().footprint, writes=NOTHING)


@dataclass(frozen=True, slots=True)
class Rival(Curfew):
    """Takes away the pods of one workload because there is another, which need not have to do with it."""

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        return (Decision((SetDesired(self.workload, 0),), Role.URGENT),) if seen.workloads[0] else ()

    def due(self, seen: Sight) -> int:
        return 0 if seen.workloads[0] else NEVER


def rivals(making: Making) -> Iterator[Loop]:
    """One against the last of several workloads."""
    if len(making.setup.workloads) > 1:
        number = len(making.setup.workloads) - 1
        yield Rival(number, making.remember(REMEMBERS, (PERIOD_S,), number))


def curfews(kind: type[Curfew], making: Making) -> Iterator[Loop]:
    """One for each Deployment."""
    for number, workload in enumerate(making.setup.workloads):
        if workload.rules.owns_replica_sets:
            yield kind(number, making.remember(REMEMBERS, (PERIOD_S,), number))


def ship(monkeypatch: pytest.MonkeyPatch, kind: type[Curfew]) -> None:
    """As if a line of `kubeproof.controllers.loops` had it."""
    line = LoopKind(lambda setup: True, lambda making: curfews(kind, making))
    monkeypatch.setattr(assembly, "LOOPS", (*LOOPS, line))
    monkeypatch.setattr(loops, "LOOPS", (*LOOPS, line))


def ready(name: str, count: int) -> str:
    return f"{{minReady: {{target: Deployment/shop/{name}, count: {count}, when: eventuallyAlways}}}}"


BOTH = (node("a"), web(2, cpu="100m"), web(1, name="db", cpu="100m"))


@pytest.mark.parametrize("kind", [Curfew, Declared])
def test_it_acts_when_it_is_due_and_is_told(kind: type[Curfew], monkeypatch: pytest.MonkeyPatch) -> None:
    found = verified(*BOTH, scenario(ready("web", 2)))
    ship(monkeypatch, kind)
    curbed = only(verified(*BOTH, scenario(ready("web", 2))))

    assert only(found).verdict == Verdict.HOLDS
    assert curbed.verdict == Verdict.VIOLATED
    assert curbed.trace is not None
    assert [(step.actor, step.time_s) for step in curbed.trace.steps if step.actor == "curfew"] == [("curfew", 60)]


@pytest.mark.parametrize("kind", [Curfew, Declared])
def test_verdicts_of_parts_are_those_of_the_whole(kind: type[Curfew], monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, kind)
    asked = (*BOTH, scenario(ready("web", 1), ready("db", 1), ready("web", 2)))

    expected = [Verdict.HOLDS, Verdict.HOLDS, Verdict.VIOLATED]
    assert [one.verdict for one in verified(*asked).results] == expected
    assert [one.verdict for one in verified(*asked, reductions=False).results] == expected


def test_parts_are_not_looked_at_alone_where_a_loop_may_reach_all(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = (*TWO_TEAMS, scenario(ready("one", 1), ready("two", 1)))
    line = LoopKind(lambda setup: True, rivals)
    monkeypatch.setattr(assembly, "LOOPS", (*LOOPS, line))
    alone = [one.verdict for one in verified(*asked).results]

    monkeypatch.setattr(loops, "LOOPS", (*LOOPS, line))

    assert [one.verdict for one in verified(*asked).results] == [Verdict.HOLDS, Verdict.VIOLATED]
    assert alone == [Verdict.HOLDS, Verdict.HOLDS]  # what looking at parts alone would say
    assert cut(loaded(*asked)) == Inseparable("a loop may touch the pods of all workloads")


def test_who_says_nothing_reads_and_does_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, Curfew)
    plan = plan_of(loaded(*BOTH, scenario(ready("web", 1))), VerifyOptions())

    assert {footprint_of(one) for one in plan.controllers if isinstance(one, Curfew)} == {Footprint()}


def test_what_a_loop_does_and_does_not_say_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, Careless)

    with pytest.raises(FootprintError, match=r"curfew does SetDesired, and so writes Writes.SIZES, which"):
        verified(*BOTH, scenario(ready("web", 2)))


def test_each_has_a_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, Curfew)
    plan = plan_of(loaded(*BOTH, scenario(ready("web", 1))), VerifyOptions())

    assert [(name.kind.name, name.of[0]) for name in plan.memory_names] == [
        ("curfew", "Deployment/shop/web"),
        ("curfew", "Deployment/shop/db"),
    ]


def test_a_cluster_without_it_imports_nothing_of_it() -> None:
    setup = loaded(*BOTH, scenario(ready("web", 1))).setup

    assert [line.exists_in(setup) for line in loops.LOOPS] == [False] * len(loops.LOOPS)
