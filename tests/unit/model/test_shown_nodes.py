"""Who reads nodes is shown what it mentions: anything else raises an error that names the reader."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from kubeproof.cluster.labels import Taint
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import Footprint
from kubeproof.cluster.loops.mentions import Mentions, mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Node, Setup
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.controllers.kubelet import Kubelet
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.controllers.scheduler.requests import allocatable
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import explore, make_kernel
from kubeproof.errors import InternalError
from kubeproof.events.common import Around, EventSource, NoWorkloads, Sourced
from kubeproof.events.declarations import Event, ZoneFailure
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.loops import assembly
from kubeproof.model.plan import Plan, make_plan
from kubeproof.model.reductions.partial_order import EVERY_ORDER
from tests.unit.model.builders import node, setup, workload

RACK = "rack"
OUTAGE = ZoneFailure(name="outage", topology_key=RACK)


def zoned() -> Setup:
    nodes = [replace(node(name), labels=((RACK, "z"),), others=(("gpu", 1),)) for name in "ab"]
    return setup([replace(one, taints=(Taint("dark", "", "PreferNoSchedule"),)) for one in nodes], workload(1))


def mention_zone(found: Mentions, setup: Setup) -> None:
    found.topology.add(RACK)


@dataclass(frozen=True)
class Toy:
    """Looks at something of each node, and does nothing."""

    layout: Layout
    look: Callable[[Node], object]
    name: str = "toy"
    stage: int = Stage.ALWAYS

    footprint = Footprint()
    reads_nodes = mention_nothing

    @property
    def reads(self) -> Reads:
        return Reads(places=self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> object:
        self.look(self.layout.places[place].sample)
        return None

    def act(self, seen: Seen[None, Groups[Any]]) -> tuple[Decision, ...]:
        return ()


@dataclass(frozen=True)
class Declared(Toy):
    """Says that it reads zones."""

    reads_nodes = mention_zone


@dataclass(frozen=True)
class Silent(Toy):
    """Says nothing of what it reads."""


LOOKS: dict[str, Callable[[Node], object]] = {
    "label rack": lambda one: one.label_map.get(RACK),
    "label rack of": lambda one: list(one.labels),
    "resource cpu": lambda one: one.cpu_milli,
    "resource memory": lambda one: one.memory_bytes,
    "resource pods": lambda one: one.pods,
    "resource gpu": lambda one: dict(one.others),
    "taints": lambda one: one.taints,
}


@pytest.fixture
def with_toy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Plan]:
    """Plans of a cluster of which a toy is one of the built-in loops; a zone failure mentions zones there."""

    def make(kind: type[Toy], look: Callable[[Node], object], **more: Any) -> Plan:
        known = assembly.endpoint_loops

        def endpoint_loops(layout: Layout, routes: Any) -> Iterator[Loop]:
            yield from known(layout, routes)
            yield kind(layout.to(kind), look)

        monkeypatch.setattr("kubeproof.model.planning.assembly.endpoint_loops", endpoint_loops)
        return make_plan(zoned(), (OUTAGE,), **more)

    return make


def search(plan: Plan) -> None:
    system = GroupedSystem(plan, EVERY_ORDER)
    explore(system, (), kernel=make_kernel(system, engine="python"), limits=Limits(max_states=20))


@pytest.mark.parametrize("what", LOOKS)
def test_a_loop_that_reads_what_only_others_mention_fails_by_name(what: str, with_toy: Callable[..., Plan]) -> None:
    with pytest.raises(InternalError, match=f"{what} .*Toy does not mention (it|them): read by toy"):
        search(with_toy(Toy, LOOKS[what]))


@pytest.mark.parametrize("what", LOOKS)
def test_a_loop_without_a_declaration_reads_everything(what: str, with_toy: Callable[..., Plan]) -> None:
    plan = with_toy(Silent, LOOKS[what])

    search(plan)
    assert plan.classes == 2  # all nodes are told apart


def test_a_label_that_a_loop_mentions_is_shown_to_it(with_toy: Callable[..., Plan]) -> None:
    search(with_toy(Declared, lambda one: one.label_map[RACK]))


def test_what_a_new_loop_mentions_tells_nodes_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [replace(node(f"n{number}"), labels=((RACK, rack),)) for number, rack in enumerate("aab")]
    known = make_plan(setup(nodes, workload(1)))
    monkeypatch.setattr(Kubelet, "reads_nodes", mention_zone)

    assert (known.classes, make_plan(setup(nodes, workload(1))).classes) == (1, 2)


def test_nodes_are_plain_where_nobody_checks(with_toy: Callable[..., Plan]) -> None:
    search(with_toy(Toy, lambda one: one.taints, checked=False))


def test_a_loop_that_is_handed_the_nodes_of_others_fails_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Layout, "to", lambda layout, kind: layout)
    plan = make_plan(zoned(), checked=True)

    with pytest.raises(InternalError, match="is shown nodes with all that they have"):
        search(plan)


class Burglary(Event):
    """Reads a label that it does not mention."""

    footprint = Footprint(concerns_all="", writes=Footprint().writes & ~OUTAGE.footprint.writes)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield BurglaryEvent(at)


@dataclass(frozen=True)
class BurglaryEvent(Sourced, NoWorkloads):
    source: EventSource

    @property
    def reads(self) -> Reads:
        return self.source.reads(places=self.source.layout.every_place)

    def show_node(self, place: int, cell: NodeCell) -> str:
        return self.source.layout.places[place].sample.label_map[RACK]

    def act(self, seen: Seen[None, Groups[str]]) -> tuple[Decision, ...]:
        return ()


def test_an_event_that_reads_what_only_others_mention_fails_by_name() -> None:
    plan = make_plan(zoned(), (OUTAGE, Burglary(name="burglary")))

    with pytest.raises(InternalError, match=r"label rack .* event burglary does not mention it"):
        search(plan)


def shown(look: Callable[[Mentions], None]) -> Node:
    layout = make_plan(zoned(), (OUTAGE,), checked=True).layout.show_to("reader", look)
    return layout.places[0].sample


def test_a_resource_is_shown_to_whom_it_is_mentioned_by() -> None:
    def mention(found: Mentions) -> None:
        found.resources |= {"cpu", "memory"}

    offered = allocatable(shown(mention))

    assert offered["cpu"] == zoned().nodes[0].cpu_milli
    for read in (lambda: offered["gpu"], lambda: "gpu" in offered, lambda: list(offered), lambda: offered.items()):
        with pytest.raises(InternalError, match="resource gpu of nodes is read, and reader does not mention it"):
            read()


def test_a_shown_node_equals_one_that_is_shown_alike_and_keeps_its_reader_when_it_is_sent() -> None:
    one, other = shown(lambda found: None), shown(lambda found: None)

    def mention(found: Mentions) -> None:
        found.taints = True

    assert one == other == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(other)
    assert one != shown(mention)
    assert one.rename("c").name == "c"
    with pytest.raises(InternalError, match="taints of nodes are read, and reader does not mention them"):
        _ = one.rename("c").taints


def test_the_scheduler_mentions_what_pods_request() -> None:
    plan = make_plan(zoned(), (OUTAGE,), checked=True)
    (scheduler,) = [one for one in plan.controllers if isinstance(one, SchedulerController)]
    sample = scheduler.layout.places[0].sample

    assert sample.taints
    with pytest.raises(InternalError, match="SchedulerController does not mention it"):
        _ = sample.label_map[RACK]
