"""Loops say what they read and do, and are held to it; who says nothing is slow, and never wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from kubeproof.cluster.loops.actions import Delete, NodeRef
from kubeproof.cluster.loops.control import Decision, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import (
    EVERYBODY,
    NOBODY,
    UNKNOWN,
    Among,
    Clocks,
    Deletes,
    Footprint,
    Sizing,
    Writes,
    footprint_of,
)
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import NodeCell, Phase, WorkloadCell
from kubeproof.engine.search import explore, make_kernel
from kubeproof.errors import FootprintError, InternalError
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import OwnLoop, Plan, make_plan
from kubeproof.model.reductions.partial_order import EVERY_ORDER, Order, fewer_orders
from kubeproof.verdicts import Verdict
from tests.unit.verify.inputs import loaded, node, scenario, web

ASKED = "{minReplicas: {target: Deployment/shop/web, count: 2, when: alwaysOnceTrue}}"
SILENT = Footprint(
    writes=Writes.DELETIONS,
    deletes=Deletes.ANY,
    sizing=Sizing.KEPT,
    clocks=Clocks(0),
    tells_starts=NOBODY,
    tells_ends=NOBODY,
    sees_objects=NOBODY,
    sees_new_pods=NOBODY,
)


@dataclass(frozen=True)
class Impatient:
    """Deletes a pod that starts as soon as another one is ready: it tells starts, and says nothing of itself."""

    layout: Layout
    name: str = "impatient"
    stage: int = Stage.ALWAYS

    @property
    def reads(self) -> Reads:
        return Reads(places=self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> tuple[int, ...] | None:
        return tuple(sorted(kind.phase for kind, _ in cell.pods)) or None

    def act(self, seen: Seen[None, tuple[tuple[tuple[int, ...], int], ...]]) -> tuple[Decision, ...]:
        shown = [(place, phases) for place, groups in enumerate(seen.places) for phases, _ in groups]
        if not any(Phase.READY in phases for _, phases in shown):
            return ()
        return tuple(
            Decision((Delete(NodeRef(place, phases), 0, (((int(Phase.STARTING),), 1),)),))
            for place, phases in shown
            if Phase.STARTING in phases
        )


@dataclass(frozen=True)
class Discreet(Impatient):
    """The same, and it denies that it tells starts."""

    footprint = SILENT


@dataclass(frozen=True)
class Harmless(Impatient):
    """The same, and it denies that it deletes pods."""

    footprint = replace(SILENT, writes=Writes.CORDONS, tells_starts=EVERYBODY)


@dataclass(frozen=True)
class Curious(Impatient):
    """Looks at a label that nobody mentions."""

    name: str = "curious"

    def show_node(self, place: int, cell: NodeCell) -> tuple[int, ...] | None:
        return (1,) if self.layout.places[place].sample.label_map.get("colour") == "blue" else None


def two_pods() -> Loaded:
    return loaded(node("a"), node("b"), web(2), scenario(ASKED))


def plan_with(kind: type[Impatient], labels: tuple[str, ...] = (), *, checked: bool = True) -> Plan:
    given = two_pods()
    own = OwnLoop(kind, labels)
    return make_plan(given.setup, given.scenario.events, given.scenario.intents, own=(own,), checked=checked)


def verdict(plan: Plan, order: Order) -> Verdict:
    system = GroupedSystem(plan, order)
    return explore(system, system.checks, kernel=make_kernel(system, engine="python")).findings[0].verdict


def test_a_loop_that_reads_a_label_it_does_not_mention_fails_by_name() -> None:
    with pytest.raises(InternalError, match=r"label colour .* read by curious"):
        verdict(plan_with(Curious), EVERY_ORDER)


def test_a_label_that_is_mentioned_may_be_read() -> None:
    assert verdict(plan_with(Curious, ("colour",)), EVERY_ORDER)


def test_labels_are_plain_where_nobody_checks() -> None:
    assert verdict(plan_with(Curious, checked=False), EVERY_ORDER)


def test_a_loop_without_a_footprint_reads_and_does_everything() -> None:
    assert footprint_of(Impatient(plan_with(Impatient).layout)) == UNKNOWN


def test_a_footprint_is_not_inherited() -> None:
    class Heir(Discreet):
        pass

    assert footprint_of(Heir(plan_with(Impatient).layout)) == UNKNOWN


def test_a_loop_without_a_footprint_gets_the_verdict_of_every_run() -> None:
    plan = plan_with(Impatient)
    order = fewer_orders(plan)

    assert order == Order(alone=True)
    assert verdict(plan, order) == verdict(plan, EVERY_ORDER) == Verdict.VIOLATED


@pytest.mark.parametrize(
    ("kind", "said"), [(Discreet, "tells pods that start from ready ones"), (Harmless, "does Delete, and so writes")]
)
def test_a_footprint_that_says_too_little_is_noticed(kind: type[Impatient], said: str) -> None:
    with pytest.raises(InternalError, match=f"impatient {said}"):
        verdict(plan_with(kind), EVERY_ORDER)


# -- what pods of others do to its steps ------------------------------------------------------------


@dataclass(frozen=True)
class Shy(Impatient):
    """Deletes pods of the first workload, on nodes that have no others: these hold it up, and it denies that."""

    name: str = "shy"

    footprint = Footprint(among=Among.BY_ITSELF)

    def show_node(self, place: int, cell: NodeCell) -> tuple[int, ...] | None:
        return tuple(sorted({kind.workload for kind, _ in cell.pods})) or None

    def act(self, seen: Seen[None, tuple[tuple[tuple[int, ...], int], ...]]) -> tuple[Decision, ...]:
        ready = ((int(Phase.READY),), 1)
        shown = [(place, owners) for place, groups in enumerate(seen.places) for owners, _ in groups]
        return tuple(
            Decision((Delete(NodeRef(place, owners), 0, (ready,)),), Role.OPTIONAL)
            for place, owners in shown
            if owners == (0,)
        )


@dataclass(frozen=True)
class Frank(Shy):
    """The same, and it says so."""

    name: str = "frank"

    footprint = Footprint(among=Among.HELD_UP)


@dataclass(frozen=True)
class Owner(Shy):
    """A loop of the first workload that looks at pods of others."""

    name: str = "owner"
    workload: int = 0

    footprint = replace(SILENT, among=Among.BY_ITSELF)


def among_others(kind: type[Impatient]) -> Verdict:
    given = loaded(node("a"), web(1, cpu="100m"), web(1, name="db", cpu="100m"), scenario("{settles: {}}"))
    own = OwnLoop(kind, ())
    plan = make_plan(given.setup, given.scenario.events, given.scenario.intents, own=(own,), checked=True)
    return verdict(plan, EVERY_ORDER)


@pytest.mark.parametrize(
    ("kind", "said"), [(Shy, "shy is held up by pods of others"), (Owner, "owner sees pods of others, which may hold")]
)
def test_what_pods_of_others_do_to_a_loop_is_found_out(kind: type[Impatient], said: str) -> None:
    with pytest.raises(FootprintError, match=said):
        among_others(kind)


def test_a_loop_that_says_that_others_hold_it_up_may_be_held_up() -> None:
    assert among_others(Frank)
