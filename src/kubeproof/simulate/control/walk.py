"""One run through the model that `verify` explores, with chance in place of choice, on a clock.

At an instant the loops with urgent work act, one at a time, each equally likely to be next, until none has any. Then
time passes. It may stop at any whole second, not only when a clock of the model runs out: at the moment that was drawn
for a pod's start, at a fault of a timetable, at a reading of metrics.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from kubeproof.cluster.loops.actions import Advance, NodeAction, Remember, Tick, Unroute, Verb
from kubeproof.cluster.loops.actors import TIME, Actor
from kubeproof.cluster.loops.control import AnySeen, Decision, Loop, PeriodicLoop, Role, Stage, as_periodic
from kubeproof.cluster.loops.footprint import footprint_of
from kubeproof.cluster.loops.tagging import tags_of
from kubeproof.cluster.state import NEVER
from kubeproof.errors import LimitReached
from kubeproof.intents.monitor import Memory
from kubeproof.model.by_name.node import NodeState
from kubeproof.model.by_name.state import Concrete, State
from kubeproof.model.plan import Plan
from kubeproof.named_tuples import NamedTuple
from kubeproof.simulate.control.chance.sampled import SampledModel
from kubeproof.simulate.control.judging import Judge
from kubeproof.simulate.control.measuring.views import Onlooker, Views

MOST_AT_ONCE = 100_000  # steps without time passing
Key = tuple[object, ...]


class Taken(NamedTuple):
    """A step of the run."""

    time_s: int
    actor: Actor
    decision: Decision
    concrete: tuple[Concrete, ...]

    @property
    def tags(self) -> int:
        return tags_of(self.decision.actions)


class Option(NamedTuple):
    """Something that may happen until a deadline."""

    key: Key
    onlooker: Onlooker
    decision: Decision
    deadline_s: int


class Walk:
    """Where a run stands."""

    def __init__(self, plan: Plan, rng: Random, start: State | None = None) -> None:
        self.plan = plan
        self.now_s = 0
        self.rng = rng
        self.model = SampledModel(plan, rng)
        first = self.model.initial()[0] if start is None else start
        self.views = Views(plan, first, rng)
        self.model.views = self.views
        self.judge = Judge(plan, first)
        self.steps = 0
        self.last: Taken | None = None
        self._ages, self._spare_ages, self._lives = plan.mechanics.ages, plan.mechanics.spare_ages, plan.mechanics.lives
        self._due: dict[int, int] = {at: self._node_due(node) for at, node in enumerate(first.nodes)}
        sources = {id(source) for source in plan.events}
        self._loops = tuple(
            one
            for one in self.views.onlookers
            if one.controller.stage == Stage.ALWAYS and (id(one.controller) not in sources or _acts_unasked(one))
        )
        self.events = tuple(one for one in self.views.onlookers if id(one.controller) in sources)
        self._periodic = tuple(
            (loop, one) for one in self.views.onlookers if (loop := as_periodic(one.controller)) is not None
        )

    @property
    def state(self) -> State:
        return self.views.state

    @property
    def observed(self) -> tuple[Memory, ...]:
        """What the monitors of the intents remember."""
        return self.judge.memories

    # -- an instant -------------------------------------------------------------------------------

    def settle(self) -> Iterator[Taken]:
        """Lets loops act until none has urgent work."""
        for _ in range(MOST_AT_ONCE):
            taken = self._urgent_step()
            if taken is None:
                return
            yield taken
        raise LimitReached(f"{MOST_AT_ONCE} steps at {self.now_s} s, and there is still urgent work")

    def _urgent_step(self) -> Taken | None:
        """One step of one of the loops with urgent work; None if there is none."""
        by_name: dict[str, list[tuple[Onlooker, Decision]]] = {}
        for one in self._loops:
            for decision in one.decisions:
                if decision.role == Role.URGENT:
                    by_name.setdefault(one.controller.name, []).append((one, decision))
        names = list(by_name)
        self.rng.shuffle(names)
        for name in names:
            taken = self._one_of(by_name[name])
            if taken is not None:
                return taken
        return None

    def _one_of(self, choices: list[tuple[Onlooker, Decision]]) -> Taken | None:
        """One of the decisions, each named way to carry one out equally likely; those without effect do not count."""
        while choices:
            weights = [self._ways(one, decision) for one, decision in choices] if len(choices) > 1 else [1]
            if not any(weights):
                return None
            (at,) = self.rng.choices(range(len(choices)), weights)
            taken = self.take(*choices[at])
            if taken is not None:
                return taken
            choices = choices[:at] + choices[at + 1 :]
        return None

    def _ways(self, one: Onlooker, decision: Decision) -> int:
        return self.model.ways(one.controller, self.state, decision)

    def take(self, one: Onlooker, decision: Decision) -> Taken | None:
        """Carries a decision out; None if that changes nothing."""
        done = self.model.carry_out(one.controller, self.state, decision)
        if done is None or done[0] == self.state:
            return None
        return self._move(done[0], Taken(self.now_s, one.controller.name, decision, done[1]))

    def remember(self, source: Loop, memory: int, value: tuple[int, ...]) -> Taken | None:
        """An event writes its memory, without being asked what it may write."""
        if self.state.memories[memory] == value:
            return None
        decision = Decision((Remember(memory, value),), Role.EVENT)
        memories = (*self.state.memories[:memory], value, *self.state.memories[memory + 1 :])
        concrete: tuple[Concrete, ...] = ((Verb.REMEMBER, memory, value),)
        return self._move(self.state._replace(memories=memories), Taken(self.now_s, source.name, decision, concrete))

    def decide(self, actor: Actor, decision: Decision) -> Taken | None:
        """Somebody who is no controller of the plan writes specs."""
        state, done = self.state, []
        for action in decision.actions:
            state, concrete = self.model._on_workload(state, action)  # type: ignore[arg-type]
            done.append(concrete)
        return None if state == self.state else self._move(state, Taken(self.now_s, actor, decision, tuple(done)))

    def _move(self, state: State, taken: Taken) -> Taken:
        nodes, workloads = self.views.move(state)
        for node in nodes:
            self._due[node] = self._node_due(state.nodes[node])
        self.judge.move(state, self.views.cells, nodes, workloads)
        self.steps += 1
        self.last = taken
        return taken

    # -- what may happen ----------------------------------------------------------------------------

    def options(self) -> Iterator[Option]:
        """What may happen now and need not happen yet, each with its deadline."""
        for one in self._loops:
            for decision in one.decisions:
                if decision.role == Role.OPTIONAL:
                    yield from self._options(one, decision)

    def _options(self, one: Onlooker, decision: Decision) -> Iterator[Option]:
        periodic = as_periodic(one.controller)
        action = decision.actions[0]
        if periodic is not None or not isinstance(action, NodeAction):
            left_s = max(0, periodic.due(one.seen)) if periodic is not None else 0
            yield Option((one.controller.name,), one, decision, self.now_s + left_s)
            return
        for node in self.model._matching(one.controller, self.state, action.node):
            deadline_s = self.now_s + self._find_time_left(self.state.nodes[node], action)
            yield Option((one.controller.name, node, _what(action), deadline_s), one, decision, deadline_s)

    @staticmethod
    def _find_time_left(node: NodeState, action: NodeAction) -> int:
        if isinstance(action, Advance):
            return max(0, action.most_s)
        if isinstance(action, Unroute):
            return max(0, action.route_s)
        return max(0, node.most_s)

    def is_stable(self) -> bool:
        """True if only events can change the state: nobody has work now, or would have any later.

        In which phase of its period a loop is does not matter: a cluster at rest may stay so for any time.
        """
        waits = all(decision.role == Role.EVENT for one in self._loops for decision in one.decisions)
        return waits and self.due_s() is None and all(_would_rest(loop, one.seen) for loop, one in self._periodic)

    # -- time ---------------------------------------------------------------------------------------

    def due_s(self) -> int | None:
        """Seconds until a clock of the model runs out; None if none runs."""
        clocks = [clock for clock in self._due.values() if clock > 0]
        clocks += [due for loop, one in self._periodic if (due := loop.due(one.seen)) > 0]
        return min(clocks, default=None)

    def pass_time(self, seconds: int) -> Taken | None:
        """Lets so much time pass, at most until the next clock runs out; None if nothing in the cluster ages."""
        return self._age(seconds)

    def rest(self) -> Taken | None:
        """Periodic loops forget their phase, as they do when no clock runs and time has no end."""
        return self._age(None)

    def _age(self, seconds: int | None) -> Taken | None:
        old = self.state
        memories = list(old.memories)
        for loop, one in self._periodic:
            memories[loop.memory] = loop.later(one.seen, seconds)
        nodes = old.nodes
        if seconds is not None:
            nodes = tuple(self._older(at, node, seconds) for at, node in enumerate(old.nodes))
        kept = tuple(before if before == after else after for before, after in zip(old.memories, memories, strict=True))
        self.now_s += seconds or 0
        if all(a is b for a, b in zip(nodes, old.nodes, strict=True)) and kept == old.memories:
            return None
        ticks = () if seconds is None else (Tick(seconds),)
        remembered = tuple(Remember(loop.memory, kept[loop.memory]) for loop, _ in self._periodic)
        first: Concrete = (Verb.REST,) if seconds is None else (Verb.TICK, seconds)
        concrete = (first, *((Verb.REMEMBER, r.memory, r.value) for r in remembered))
        taken = Taken(self.now_s, TIME, Decision((*ticks, *remembered), Role.TIME), concrete)
        return self._move(old._replace(nodes=nodes, memories=kept), taken)

    def _older(self, at: int, node: NodeState, seconds: int) -> NodeState:
        """The node later; the same object if nothing on it ages."""
        if self._due[at] <= 0:
            return node
        return self.model._age(node, seconds)

    def _node_due(self, node: NodeState) -> int:
        """Seconds until the next clock of a node runs out or a pod reaches an age that matters; NEVER without."""
        clocks = [node.least_s, node.most_s]
        if node.spare_s != NEVER:
            clocks += [age - node.spare_s for age in self._spare_ages]
        for pod in node.pods:
            clocks += (pod.kind.least_s, pod.kind.most_s, pod.kind.evict_s, pod.kind.route_s)
            if pod.kind.age_s != NEVER:
                clocks += [age - pod.kind.age_s for age in self._ages[pod.workload]]
            if pod.kind.life_s != NEVER:
                clocks += [life - pod.kind.life_s for life in self._lives[pod.workload]]
        return min((clock for clock in clocks if clock > 0), default=NEVER)


def _would_rest(loop: PeriodicLoop, seen: AnySeen) -> bool:
    """True if the loop has nothing to do either when it has forgotten its phase."""
    rested = loop.later(seen, None)
    later = seen._replace(memories=(rested, *seen.memories[1:]))
    return loop.later(later, None) == rested and loop.due(later) <= 0 and not loop.act(later)


def _what(action: NodeAction) -> Key:
    """What an action on a node is about, without clocks and views."""
    phase_or_verb = getattr(action, "phase", getattr(action, "verb", None))
    return type(action).__name__, getattr(action, "workload", None), phase_or_verb


def _acts_unasked(one: Onlooker) -> bool:
    """True for an event that is a consequence of the cluster's state, not a choice of the environment."""
    event = getattr(getattr(one.controller, "source", None), "event", None)
    return event is None or footprint_of(event).is_consequence
