"""Everything that defines one run of the model, before it is given a representation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from kubeproof.cluster.loops.control import Loop, PeriodicLoop, as_periodic
from kubeproof.cluster.loops.footprint import Footprint, awake, footprint_of
from kubeproof.cluster.loops.memories import MemoryName
from kubeproof.cluster.nodes.near_nodes import Tells
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.running import RunningPods
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.events.declarations import Event, NodeChoice
from kubeproof.intents.declarations import Intent
from kubeproof.intents.monitor import Monitor
from kubeproof.model.layout import find_left_out
from kubeproof.model.mechanics import Mechanics
from kubeproof.model.planning.assembly import assemble
from kubeproof.model.planning.counted import make_mechanics
from kubeproof.model.planning.given import Given, OwnLoop, Placement, expand
from kubeproof.model.planning.ground import lay_out
from kubeproof.model.planning.start import begin_with
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass, replace

CHECKED = False  # whether plans are held to footprints of which nobody says so; the tests set it

__all__ = ["Near", "OwnLoop", "Placement", "Plan", "make_plan"]


class Near(NamedTuple):
    """The same run with nodes of nearly the same size as one class, as far as nothing tells them apart."""

    classes: int
    plan: Callable[[tuple[Tells, ...]], Plan]  # may raise NodeSizeMatters with one more answer that tells them apart


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout with its controllers, events and monitors, and the cells a run starts from."""

    layout: Layout
    controllers: tuple[Loop, ...]
    events: tuple[Loop, ...]
    monitors: tuple[Monitor, ...]
    mechanics: Mechanics
    workloads: tuple[WorkloadCell, ...]
    memories: tuple[tuple[int, ...], ...]  # what each holds at first
    nodes: tuple[NodeCell, ...]  # one per node of the setup
    domains: tuple[tuple[tuple[int, ...], ...], ...]  # families of interchangeable blocks of places
    classes: int = 0  # kinds of nodes that something tells apart
    kin: tuple[int, ...] = ()  # per workload the one as which its pods count: another one for equal bare Pods
    unread: tuple[str, ...] = ()  # labels and resources of nodes that nothing reads
    claims: tuple[int, ...] = ()  # memories that hold the volumes of claims; a new run keeps them
    declared: tuple[Event, ...] = ()  # the events as the Scenario has them
    memory_names: tuple[MemoryName, ...] = ()  # whose each of the memories is
    is_checked: bool = False  # loops are held to their footprints
    near: Near | None = field(default=None, compare=False)  # None: no nodes nearly equal each other
    by_size: Plan | None = field(default=None, compare=False)  # of a plan that joins such nodes: the one that does not
    # Each actor with what it says of itself: asked once, as many rules need it. Then those that may ever do something.
    with_footprints: tuple[tuple[Loop, Footprint], ...] = field(init=False, compare=False, repr=False)
    awake: tuple[tuple[Loop, Footprint], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        pairs = tuple((actor, footprint_of(actor)) for actor in self.actors)
        is_at_work = any(cell.work for cell in self.nodes)  # then anybody may be awake
        object.__setattr__(self, "with_footprints", pairs)
        object.__setattr__(self, "awake", pairs if is_at_work else awake(pairs))

    @property
    def setup(self) -> Setup:
        return self.layout.setup

    def deploying(self) -> Plan:
        """The same cluster while it is being deployed: no events, no properties, no periodic loop."""
        placing = tuple(controller for controller in self.controllers if as_periodic(controller) is None)
        return replace(self, controllers=placing, events=(), monitors=())

    @property
    def periodic(self) -> tuple[PeriodicLoop, ...]:
        """The controllers with a clock."""
        return tuple(p for controller in self.controllers if (p := as_periodic(controller)) is not None)

    @property
    def footprints(self) -> tuple[Footprint, ...]:
        """What those of the actors that may ever do something say of themselves."""
        return tuple(footprint for _, footprint in self.awake)

    @property
    def actors(self) -> tuple[Loop, ...]:
        """Controllers, then events, in the order in which the search asks them."""
        return (*self.controllers, *self.events)


def make_plan(
    setup: Setup,
    events: tuple[Event, ...] = (),
    intents: tuple[Intent, ...] = (),
    *,
    placement: Placement = (),
    running: tuple[RunningPods, ...] = (),
    own: tuple[OwnLoop, ...] = (),
    merge: bool = True,
    told_apart: tuple[NodeChoice, ...] = (),
    told_by: tuple[Tells, ...] | None = None,
    checked: bool | None = None,
) -> Plan:
    """The plan for a setup; with `merge` off no two nodes are taken as equal.

    Nodes that a choice of `told_apart` admits are never taken as equal to others. With `told_by`, nodes of nearly the
    same size are, unless one of its answers tells them apart: the loops raise NodeSizeMatters where another one does.
    With `checked` loops are held to their footprints, and read no label that nobody mentions.
    """
    is_checked = CHECKED if checked is None else checked
    given = Given(setup, events, intents, placement, running, own, merge, told_apart, told_by, is_checked)
    return _make_plan(given)


def _make_plan(asked: Given) -> Plan:
    given = expand(asked)
    ground, mechanics = lay_out(given), make_mechanics(given)
    found = assemble(given, ground.layout, mechanics.routes)
    own = len(found.controllers) - len(given.own)
    if more := find_left_out(ground.mentions, given.setup, given.events, found.controllers[:own]):
        return _make_plan(replace(asked, also=(*asked.also, *more)))
    start = begin_with(given, mechanics, found.absent)
    return Plan(
        layout=ground.layout,
        controllers=found.controllers,
        events=found.events,
        monitors=found.monitors,
        mechanics=mechanics,
        workloads=start.workloads,
        memories=tuple(memory.first for memory in found.memories),
        memory_names=tuple(memory.name for memory in found.memories),
        nodes=start.nodes,
        kin=start.kin,
        domains=ground.domains,
        classes=ground.classes,
        unread=ground.unread,
        claims=found.claims,
        declared=given.events,
        is_checked=given.is_checked,
        near=Near(ground.joined, lambda told_by: _make_plan(replace(asked, told_by=told_by)))
        if ground.joined < ground.classes
        else None,
    )
