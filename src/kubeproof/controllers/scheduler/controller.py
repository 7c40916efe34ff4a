"""The scheduler as a control loop: binds one pod of one workload per step.

Any pending pod may be tried next: queue order among equal priorities depends on creation order and back-off, which
the model leaves open. An attempt that finds no node changes nothing, so a pod that fits nowhere has no step until
something changes. Assuming and binding are one step, and so is giving volumes to claims that wait for their pod.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import ClassVar

from kubeproof.cluster.loops.actions import Action, Bind, NodeRef, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import EVERYBODY, QUIET, Among, Footprint, Writes
from kubeproof.cluster.nodes.places import CORDONED, Layout, condition, taints_of, unwelcome
from kubeproof.cluster.objects import Node, Setup, short_name
from kubeproof.cluster.state import Health, NodeCell, Phase, WorkloadCell
from kubeproof.cluster.volumes import open_claims, ways_to_bind, with_bindings
from kubeproof.controllers.scheduler.framework import NodeInfo, PodCount, Scheduler
from kubeproof.controllers.scheduler.mentions import mention_scheduling
from kubeproof.controllers.scheduler.plugins.volumes import waiting_claims
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass, replace


class Facts(NamedTuple):
    """What the scheduler sees of a node."""

    unwelcome: int  # bits of `places.unwelcome`
    unreachable: int
    no_execute: int  # tainted
    pods: tuple[PodCount, ...]
    images: int  # brought


Sight = Seen[bool, Groups[Facts]]


def node_facts(cell: NodeCell) -> Facts:
    """What the scheduler sees of a node: cordon, what its taints depend on, pods by workload."""
    amounts: dict[int, list[int]] = {}
    for kind, count in cell.pods:
        both = amounts.setdefault(kind.workload, [0, 0])
        both[kind.phase == Phase.TERMINATING] += count
    pods = tuple(PodCount(workload, *both) for workload, both in sorted(amounts.items()))
    return Facts(unwelcome(cell), int(cell.health >= Health.UNKNOWN), cell.no_execute, pods, cell.images)


MOST_KNOWN = 100_000  # answers that a controller remembers, also beyond one search, before it starts afresh


class Answer(NamedTuple):
    """What a scheduler makes of what it sees: a function of that alone."""

    decisions: tuple[Decision, ...]
    refusing: frozenset[str]  # filters that refuse a node


NO_ATTEMPT = Answer((), frozenset())


def remember(memory: dict[object, Answer], key: object, answer: Answer) -> Answer:
    """The answer, found at once when it is asked for again."""
    if len(memory) >= MOST_KNOWN:
        memory.clear()
    memory[key] = answer
    return answer


@dataclass(frozen=True, slots=True)
class SchedulerController:
    """The scheduler's work for one workload's pods."""

    layout: Layout
    workload: int
    claims: tuple[int, ...] = ()  # memories of the claims whose volume is decided during the run
    stage: int = Stage.ALWAYS
    _kernels: dict[tuple[int, ...], tuple[Setup, Scheduler]] = field(default_factory=dict, compare=False, repr=False)
    _known: dict[object, Answer] = field(default_factory=dict, compare=False, repr=False)

    reads_nodes = mention_scheduling
    _said: ClassVar[Footprint] = replace(QUIET, writes=Writes.BINDINGS, chooses_by_end=EVERYBODY, among=Among.CHOOSING)

    @property
    def footprint(self) -> Footprint:
        return self._said

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.SCHEDULER, short_name(self.layout.setup, self.workload))

    @property
    def kernel(self) -> Scheduler:
        """The decision kernel; made when it is asked first, as it reads all workloads."""
        return self._bind_claims(())[1]

    @property
    def reads(self) -> Reads:
        own = self.layout.setup.workloads[self.workload].template
        return Reads((self.workload,), self.layout.every_place, self.claims if own.claims else ())

    def show_workload(self, workload: int, cell: WorkloadCell) -> bool:
        """Whether a pod waits for a node."""
        return cell.unbound > 0

    def show_node(self, place: int, cell: NodeCell) -> Facts:
        """Condition and pods, phases and clocks left out."""
        return node_facts(cell)

    def is_idle(self, workloads: tuple[bool, ...]) -> bool:
        """True if no pod waits for a node."""
        return not workloads[0]

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """A binding to each node among the best."""
        return self.answer(seen).decisions

    def answer(self, seen: Sight) -> Answer:
        """The decisions, and the filters that refused nodes on the way to them."""
        if not seen.workloads[0] or not self.kernel.has_profile:
            return NO_ATTEMPT
        key = (seen.places, seen.memories)
        return self._known.get(key) or remember(self._known, key, self._bindings(seen))

    def _bindings(self, seen: Sight) -> Answer:
        refs, infos = self.candidates(seen)
        setup, kernel = self._bind_claims(seen.memories)
        refusing: set[str] = set()
        chosen = dict.fromkeys(refs[index] for index in kernel.choose(infos, refusing))
        plain = (Decision((Bind(ref, self.workload),)) for ref in chosen)
        decisions = tuple(decision for one in plain for decision in self.with_volumes(setup, one))
        return Answer(decisions, frozenset(refusing))

    def bindings_to_all(self, seen: Sight) -> tuple[Decision, ...]:
        """A binding to every node that no filter refuses, whatever its score."""
        refs, infos = self.candidates(seen)
        setup, kernel = self._bind_claims(seen.memories)
        chosen = dict.fromkeys(refs[index] for index in kernel.feasible(infos))
        plain = (Decision((Bind(ref, self.workload),)) for ref in chosen)
        return tuple(decision for one in plain for decision in self.with_volumes(setup, one))

    def with_volumes(self, setup: Setup, decision: Decision) -> Iterator[Decision]:
        """The decision with every way in which claims that wait for the pod it binds get their volumes."""
        place = next((a.node.place for a in decision.actions if isinstance(a, Bind)), None)
        if place is None:
            yield decision
            return
        for volumes in self._volumes(setup, self.layout.places[place].sample):
            yield decision._replace(actions=(*decision.actions, *volumes))

    def _bind_claims(self, memories: tuple[tuple[int, ...], ...]) -> tuple[Setup, Scheduler]:
        """The setup with claims bound as they are now, and the kernel for it."""
        bound = tuple(memory[0] for memory in memories)
        bound = bound if any(bound) else ()
        if bound not in self._kernels:
            setup = with_bindings(self.layout.setup, bound) if bound else self.layout.setup
            self._kernels[bound] = setup, Scheduler(setup, self.workload, self.layout.unique_keys)
        return self._kernels[bound]

    def kernel_of(self, memories: tuple[tuple[int, ...], ...]) -> Scheduler:
        """The decision kernel for claims bound as they are now."""
        return self._bind_claims(memories)[1]

    def _volumes(self, setup: Setup, node: Node) -> Iterator[tuple[Remember, ...]]:
        """Every way in which claims that wait for this pod get a volume on the node."""
        waiting = waiting_claims(setup, self.workload)
        if not waiting:
            yield ()
            return
        from kubeproof.controllers.volume_controller import volume_numbers

        numbers = volume_numbers(self.layout)
        order = [setup.claims.index(claim) for claim in waiting]
        memories = dict(zip(open_claims(self.layout.setup), self.claims, strict=True))
        for volumes in ways_to_bind(setup, waiting, node.label_map):
            first = dict(reversed(tuple(zip(order, volumes, strict=True))))  # of a claim that is mounted twice
            yield tuple(Remember(memories[claim], (numbers[first[claim].name],)) for claim in sorted(first))

    def adds(self, actions: tuple[Action, ...]) -> str:
        """What a binding says besides: the volumes that claims get."""
        if not self.claims:
            return ""
        from kubeproof.controllers.volume_controller import bindings_in_words

        return "; ".join(bindings_in_words(self.layout, self.claims, actions))

    def candidates(self, seen: Sight) -> tuple[list[NodeRef], list[NodeInfo]]:
        """The nodes as the plugins take them, with the reference of each."""
        refs: list[NodeRef] = []
        infos: list[NodeInfo] = []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for view, count in groups:
                refs.append(NodeRef(place, view))
                infos.append(self.node_info(place, view, count))
        return refs, infos

    def info_of(self, place: int, cell: NodeCell) -> NodeInfo:
        """One node as the filters see it, for explanations."""
        return self.node_info(place, node_facts(cell), 1)

    def node_info(self, place: int, view: Facts, count: int) -> NodeInfo:
        """One group of nodes as the plugins take it."""
        return node_info(self.layout, place, view, count)


def node_info(layout: Layout, place: int, view: Facts, count: int) -> NodeInfo:
    """A group of nodes of one place as the plugins take it."""
    sample = layout.places[place].sample
    taints = taints_of(sample, condition(view.unwelcome, is_out=view.unreachable, no_execute=view.no_execute))
    return NodeInfo(sample, count, bool(view.unwelcome & CORDONED), taints, view.pods, view.images)
