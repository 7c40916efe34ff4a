"""The cluster with every pod and node by name: no grouping, no symmetry, no memo.

It is the oracle, and what traces replay on.

It asks the same controllers as the grouped model, shows each node to them on its own, and applies what they decide
to named objects with code of its own. Slow on purpose: every choice among equals is a step of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from kubeproof.cluster.loops.actions import Remember, Tick, Verb
from kubeproof.cluster.loops.actors import TIME
from kubeproof.cluster.loops.control import (
    Controller,
    Decision,
    Groups,
    Loop,
    NodeView,
    Role,
    Seen,
    Stage,
    WorkloadView,
    has_nothing_to_do,
)
from kubeproof.cluster.state import NEVER, NodeCell, Nodes, PodKind, WorkloadCell, holds_up_zone, present
from kubeproof.intents.monitor import FRESH
from kubeproof.intents.views import Fact, PlaceView
from kubeproof.model.by_name.actions import NamedActions
from kubeproof.model.by_name.node import NodeState, Pod
from kubeproof.model.by_name.state import Concrete, State, Transition, node_cell, workload_cell
from kubeproof.model.plan import Plan

Draft = tuple[State, tuple[Concrete, ...]]  # state so far, what was done


class IndividualModel(NamedActions):
    """A plan by name. `steps` returns the same order for the same state."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._controllers = plan.actors
        self._judged_stable: tuple[State, bool] | None = None
        facts = (monitor.fact for monitor in plan.monitors if monitor.fact)
        self._watched = tuple(dict.fromkeys(place for fact in facts for place in fact.reads.places))

    def initial(self) -> tuple[State, ...]:
        """The one state a run starts from."""
        counters = [0] * len(self.setup.workloads)
        nodes = []
        for cell in self.plan.nodes:
            pods = []
            for kind, count in cell.pods:
                for _ in range(count):
                    counters[kind.workload] += 1
                    pods.append(Pod(self.pod_name(kind.workload, counters[kind.workload]), kind))
            pinned = tuple(self._waiting(cell, counters))
            nodes.append(_by_name(cell, tuple(sorted(pods)), pinned))
        specs = tuple(cell._replace(unbound=0) for cell in self.plan.workloads)
        unbound = tuple(
            tuple(self.pod_name(index, counters[index] + n + 1) for n in range(cell.unbound))
            for index, cell in enumerate(self.plan.workloads)
        )
        start = State(specs, unbound, tuple(nodes), self.plan.memories, (FRESH,) * len(self.plan.monitors))
        return (self.judge(start),)

    def _waiting(self, cell: NodeCell, counters: list[int]) -> Iterator[tuple[int, str]]:
        """The pods without a node that may only run here, each with a name of its own."""
        for workload, count in cell.pinned:
            for _ in range(count):
                counters[workload] += 1
                yield workload, self.pod_name(workload, counters[workload])

    def restart(self, state: State) -> State:
        """The same cluster at the start of a run: monitors and events as new, claims with their volumes."""
        fresh = (FRESH,) * len(self.plan.monitors)
        memories = list(self.plan.memories)
        for claim in self.plan.claims:
            memories[claim] = state.memories[claim]
        return self.judge(state._replace(memories=tuple(memories), observed=fresh))

    def steps(self, state: State) -> list[Transition]:
        """All steps out of a state."""
        first = list(self._ask(state, Stage.ALWAYS))
        if not any(step.role == Role.URGENT for step in first):
            first += self.time_steps(state)
        if self._is_stable(first):
            first += self._ask(state, Stage.CALM)
        return first

    def is_stable(self, state: State) -> bool:
        """True if only events can change this state; who asks again of the very same one gets the same answer."""
        if self._judged_stable is None or self._judged_stable[0] is not state:
            self._judged_stable = (state, self._is_stable(self.steps(state)))
        return self._judged_stable[1]

    @staticmethod
    def _is_stable(steps: Iterable[Transition]) -> bool:
        return all(step.role == Role.EVENT for step in steps)

    def _ask(self, state: State, stage: int) -> Iterator[Transition]:
        for controller in self._controllers:
            if controller.stage == stage:
                yield from self.steps_of(controller, state)

    def steps_of(self, controller: Loop, state: State) -> Iterator[Transition]:
        """The steps of one controller or event, each distinct outcome once."""
        for step in self.offers_of(controller, state):
            yield step._replace(target=self.judge(step.target))

    def offers_of(self, controller: Loop, state: State) -> Iterator[Transition]:
        """The same before monitors have seen where they lead, for who takes but one of them."""
        done: set[tuple[tuple[Concrete, ...], int]] = set()
        is_promised = bool(getattr(controller, "is_promise", False))
        for decision in self._decisions(controller, state):
            for target, concrete in self._carry_out(controller, state, decision):
                key = (concrete, int(decision.role))
                if key in done or target == state:
                    continue
                done.add(key)
                yield Transition(controller.name, decision, concrete, target, is_promised)

    def _decisions(self, controller: Loop, state: State) -> Iterable[Decision]:
        """What it would do, each thing once; nodes are shown to those alone who may have something to do."""
        if has_nothing_to_do(controller, self._show_workloads(controller, state)):
            return ()
        return dict.fromkeys(controller.act(self.show_to(controller, state)))

    def _show_workloads(self, controller: Controller[WorkloadView, NodeView], state: State) -> tuple[WorkloadView, ...]:
        return tuple(controller.show_workload(w, workload_cell(state, w)) for w in controller.reads.workloads)

    def show_to(
        self, controller: Controller[WorkloadView, NodeView], state: State
    ) -> Seen[WorkloadView, Groups[NodeView]]:
        """What the controller is shown: every node on its own."""
        reads = controller.reads
        return Seen(
            self._show_workloads(controller, state),
            tuple(tuple(self._show(controller, state, place)) for place in reads.places),
            tuple(state.memories[m] for m in reads.memories),
        )

    def _show(
        self, controller: Controller[WorkloadView, NodeView], state: State, place: int
    ) -> Iterator[tuple[NodeView, int]]:
        indexes = self.plan.layout.places[place].nodes
        views = [self._node_view(controller, place, state.nodes[index]) for index in indexes]
        for view in cast("list[NodeView | None]", views):
            if view is not None:
                yield view, 1

    def workload_cell(self, state: State, workload: int) -> WorkloadCell:
        """The workload as controllers see it."""
        return workload_cell(state, workload)

    def _carry_out(self, controller: Loop, state: State, decision: Decision) -> list[Draft]:
        drafts: list[Draft] = [(state, ())]
        for action in decision.actions:
            drafts = [
                (target, (*done, concrete))
                for current, done in drafts
                for target, concrete in self._do(controller, current, action)
            ]
        return drafts

    def time_steps(self, state: State) -> list[Transition]:
        """The step to the next due clock, or to rest, if it changes anything."""
        clocks = [clock for node in state.nodes for clock in (node.least_s, node.most_s)]
        idle = [node.spare_s for node in state.nodes if node.spare_s != NEVER]
        clocks += [age - spare_s for spare_s in idle for age in self.plan.mechanics.spare_ages]
        clocks += [clock for node in state.nodes for pod in node.pods for clock in self._pod_clocks(pod)]
        shown = [(controller, self.show_to(controller, state)) for controller in self.plan.periodic]
        clocks += [controller.due(seen) for controller, seen in shown]
        running = [clock for clock in clocks if clock > 0]
        seconds = min(running) if running else None
        memories = list(state.memories)
        for controller, seen in shown:
            memories[controller.memory] = controller.later(seen, seconds)
        nodes = state.nodes if seconds is None else tuple(self._age(node, seconds) for node in state.nodes)
        target = state._replace(nodes=nodes, memories=tuple(memories))
        if target == state:
            return []
        ticks = () if seconds is None else (Tick(seconds),)
        remembered = tuple(Remember(c.memory, memories[c.memory]) for c, _ in shown)
        first: Concrete = (Verb.REST,) if seconds is None else (Verb.TICK, seconds)
        concrete = (first, *((Verb.REMEMBER, r.memory, r.value) for r in remembered))
        return [Transition(TIME, Decision((*ticks, *remembered), Role.TIME), concrete, self.judge(target))]

    def _age(self, node: NodeState, seconds: int) -> NodeState:
        def older(clock: int) -> int:
            return clock if clock < 0 else max(clock - seconds, 0)

        def later(kind: PodKind) -> PodKind:
            age_s, life_s = kind.age_s, kind.life_s
            if age_s != NEVER:
                age_s = min(age_s + seconds, self.plan.mechanics.ages[kind.workload][-1])
            if life_s != NEVER:
                life_s = min(life_s + seconds, max(self.plan.mechanics.lives[kind.workload]))
            return PodKind(
                workload=kind.workload,
                phase=kind.phase,
                least_s=older(kind.least_s),
                most_s=older(kind.most_s),
                evict_s=older(kind.evict_s),
                age_s=age_s,
                restarts=kind.restarts,
                preempted=kind.preempted,
                route_s=older(kind.route_s),
                life_s=life_s,
            )

        pods = tuple(Pod(pod.name, later(pod.kind)) for pod in node.pods)
        if node.spare_s != NEVER:
            node = node._replace(spare_s=min(node.spare_s + seconds, self.plan.mechanics.spare_ages[-1]))
        least, most = older(node.least_s), older(node.most_s)
        if least == 0 and holds_up_zone(node_cell(node)):
            least = most = NEVER
        return node._replace(least_s=least, most_s=most, pods=pods)

    def judge(self, state: State) -> State:
        """The state with its monitors brought up to date."""
        if not self.plan.monitors:
            return state
        shown = {place: self._cells_in(state, place) for place in self._watched}
        observed = tuple(
            monitor.observe(memory, self._show_to_fact(monitor.fact, state, shown)) if monitor.fact else FRESH
            for monitor, memory in zip(self.plan.monitors, state.observed, strict=True)
        )
        return state._replace(observed=observed)

    def show_to_fact(self, fact: Fact[WorkloadView, PlaceView], state: State) -> Seen[WorkloadView, PlaceView]:
        """What a fact of an intent is shown of a state."""
        shown = {place: self._cells_in(state, place) for place in fact.reads.places}
        return self._show_to_fact(fact, state, shown)

    def _show_to_fact(
        self, fact: Fact[WorkloadView, PlaceView], state: State, shown: Mapping[int, Nodes]
    ) -> Seen[WorkloadView, PlaceView]:
        places = tuple(fact.show_nodes(place, shown[place]) for place in fact.reads.places)
        return Seen(tuple(fact.show_workload(w, workload_cell(state, w)) for w in fact.reads.workloads), places)

    def _cells_in(self, state: State, place: int) -> Nodes:
        """The nodes of a place that are there, each on its own."""
        return present(tuple((node_cell(state.nodes[i]), 1) for i in self.plan.layout.places[place].nodes))

    def flags(self, state: State) -> int:
        """Bit 2i: monitor i is bad; bit 2i+1: the state matters to it."""
        total = 0
        for index, (_, bad, matters) in enumerate(state.observed):
            total |= bad << 2 * index | matters << 2 * index + 1
        return total


def _by_name(cell: NodeCell, pods: tuple[Pod, ...], pinned: tuple[tuple[int, str], ...]) -> NodeState:
    """A node of the first state; nobody is nominated to it yet, and no event has had it."""
    return NodeState(
        health=cell.health,
        least_s=cell.least_s,
        most_s=cell.most_s,
        cordoned=cell.cordoned,
        no_execute=cell.no_execute,
        work=cell.work,
        cause=cell.cause,
        pods=pods,
        images=cell.images,
        pinned=pinned,
    )
