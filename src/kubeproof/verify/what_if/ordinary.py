"""One run as it usually goes, by name: what happens when, which pods go, who is short of pods and for how long.

Whoever has something urgent does it, in turns; what is asked about happens as soon as it may; pods start as soon as
they may; then time passes. Nothing is proved by it. Like every run that is shown it is taken again, step by step, on
the model that remembers nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof.cluster.kinds import KINDS
from kubeproof.cluster.loops.actors import TIME
from kubeproof.cluster.loops.control import Role
from kubeproof.cluster.objects import Setup, family
from kubeproof.cluster.state import Phase
from kubeproof.errors import KubeproofError
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import floor_of, rows_of
from kubeproof.model.by_name.remembering import RememberingModel
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.plan import Plan
from kubeproof.verify.counterexamples.replayer import Look, look_nowhere, retrace
from kubeproof.verify.counterexamples.traces import describe_steps
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.what_if.answer import OrdinaryRun, PodMove, Spell
from kubeproof.verify.words.steps import measure_elapsed

MOST_STEPS = 1_500
LONGEST_S = 86_400  # of a run: what goes on for longer is not followed
DEPLOYING = 600  # steps until everything is deployed


def follow_ordinary(
    loaded: Loaded, options: VerifyOptions, nodes: Sequence[str], look: Look = look_nowhere
) -> OrdinaryRun | None:
    """The run, None if there is none that comes to the question: not everything can be deployed."""
    asked = replace(loaded, scenario=replace(loaded.scenario, intents=()))
    plan = plan_input(asked, options)
    model = RememberingModel(plan)
    (start,) = model.initial()
    if not loaded.scenario.start.pods:
        deployed = _Walk(RememberingModel(plan.deploying()), start, look)
        if not deployed.go_on(DEPLOYING):
            return None
        start = _settle(model, model.restart(deployed.here._replace(observed=())), look)
    walk = _Walk(model, start, look)
    is_whole = walk.go_on(MOST_STEPS)
    plain = RepresentativeModel(plan)
    retrace(plain, walk.states, walk.steps, look)
    told = describe_steps(plain, walk.states, walk.steps, 0)
    seen = _Seen(plan, walk)
    return OrdinaryRun(
        steps=tuple(step for step in told if step.actor != TIME),
        moves=tuple(seen.moves(loaded, nodes)),
        spells=tuple(seen.spells()),
        lasts_s=seen.times[-1],
        is_whole=is_whole,
    )


def _settle(model: RememberingModel, start: State, look: Look) -> State:
    """What comes of a start before anything happens: autoscalers write sizes that nobody has deployed yet.

    Where that has no end, the start as it is.
    """
    if not model.plan.setup.autoscalers:
        return start
    walk = _Walk(model, start, look, has_events=False)
    return walk.here if walk.go_on(DEPLOYING) else start


class _Walk:
    """A run by name that grows step by step; without events it ends where nothing but them is left."""

    def __init__(self, model: RememberingModel, start: State, look: Look, *, has_events: bool = True) -> None:
        self._model, self._look, self._has_events = model, look, has_events
        self.states, self.steps = [start], list[Transition]()
        self._turns = deque(model.plan.actors)  # who is asked first
        self._spent_s = 0

    @property
    def here(self) -> State:
        return self.states[-1]

    def go_on(self, most: int) -> bool:
        """Follows the run to its end; False if that is farther than so many steps."""
        for _ in range(most):
            self._look()
            step = self._choose()
            if step is None:
                return True
            self.steps.append(step)
            self.states.append(step.target)
            self._spent_s += measure_elapsed(step)
            if self._spent_s > LONGEST_S:
                return False
        return False

    def _choose(self) -> Transition | None:
        """What usually comes next; None at the end."""
        later: dict[int, Transition] = {}
        for _ in range(len(self._turns)):
            actor = self._turns[0]
            self._turns.rotate(-1)
            for step in self._model.steps_of(actor, self.here) if actor.stage == 0 else ():
                if step.role == Role.URGENT:
                    return step
                later.setdefault(step.role, step)
        for role in (Role.EVENT, Role.OPTIONAL) if self._has_events else ():
            if role in later:
                return later[role]
        passing = self._model.time_steps(self.here)
        if passing:
            return passing[0]
        return next((step for step in self._model.steps(self.here)), None) if self._has_events else None


class _Seen:
    """What is seen of a run, at which times."""

    def __init__(self, plan: Plan, walk: _Walk) -> None:
        self._setup: Setup = plan.setup
        self._states = walk.states
        self.times = [0]
        for step in walk.steps:
            self.times.append(self.times[-1] + measure_elapsed(step))

    def spells(self) -> Iterator[Spell]:
        """Who is short of pods, and for how long; workloads that never are, too."""
        for workload in rows_of(self._setup):
            if not workload.rules.runs_to_completion and not workload.rules.runs_per_node:
                yield self._spell(workload.ref)

    def _spell(self, ref: str) -> Spell:
        number = next(i for i, one in enumerate(self._setup.workloads) if one.ref == ref and one.owner is None)
        members = frozenset(family(self._setup, number))
        ready = [_count_ready(state, members) for state in self._states]
        wanted = [self._wanted(state, number) for state in self._states]
        floor = floor_of(self._setup, self._setup.workloads[number]).count
        short = [count < most for count, most in zip(ready, wanted, strict=True)]
        last = max((index for index, is_short in enumerate(short) if is_short), default=-1)
        back_s = None if last == len(short) - 1 else 0 if last < 0 else self.times[last + 1]
        below = [count < min(floor, most) for count, most in zip(ready, wanted, strict=True)]
        return Spell(ref, wanted[-1], min(ready), self._sum(short), self._sum(below), back_s)

    def _wanted(self, state: State, number: int) -> int:
        workload = self._setup.workloads[number]
        return state.specs[number].desired if workload.rules.has_replicas else workload.replicas

    def _sum(self, holds: Sequence[bool]) -> int:
        """For how long something was true."""
        return sum(
            after - before for before, after, is_so in zip(self.times, self.times[1:], holds, strict=False) if is_so
        )

    def moves(self, loaded: Loaded, nodes: Sequence[str]) -> Iterator[PodMove]:
        """What becomes of the pods on these nodes, those that go first before others."""
        named = _names_on(loaded)
        found = []
        for number, node in enumerate(self._setup.nodes):
            if node.name in nodes:
                found += self._on_node(number, node.name, named)
        late = self.times[-1] + 1
        yield from sorted(found, key=lambda one: (one.stays, late if one.leaves_s is None else one.leaves_s))

    def _on_node(self, number: int, node: str, named: dict[tuple[str, str], list[str]]) -> list[PodMove]:
        taken = {key: iter(names) for key, names in named.items()}
        found = []
        for pod in self._states[0].nodes[number].pods:
            workload = self._setup.workloads[pod.workload]
            ref = workload.owner or workload.ref
            name = next(taken.get((ref, node), iter(())), pod.name)
            leaves_s, gone_s = self._follow(number, pod.name)
            found.append(PodMove(name, ref, node, KINDS[workload.kind].runs_per_node, leaves_s, gone_s))
        return found

    def _follow(self, number: int, name: str) -> tuple[int | None, int | None]:
        """When a pod begins to end, and when it is gone."""
        leaves_s = None
        for time_s, state in zip(self.times, self._states, strict=True):
            pod = next((one for one in state.nodes[number].pods if one.name == name), None)
            if pod is None:
                return time_s if leaves_s is None else leaves_s, time_s
            if pod.phase == Phase.TERMINATING and leaves_s is None:
                leaves_s = time_s
        return leaves_s, None


def _count_ready(state: State, members: frozenset[int]) -> int:
    return sum(pod.workload in members and pod.phase == Phase.READY for node in state.nodes for pod in node.pods)


def _names_on(loaded: Loaded) -> dict[tuple[str, str], list[str]]:
    """The real names of pods, by workload and node, sorted."""
    found: dict[tuple[str, str], list[str]] = {}
    for pod in loaded.pods:
        found.setdefault((pod.ref, pod.node), []).append(pod.name)
    return {key: sorted(names) for key, names in found.items()}


def find_run(
    loaded: Loaded, options: VerifyOptions, nodes: Sequence[str], look: Look = look_nowhere
) -> tuple[OrdinaryRun | None, str]:
    """The run, or why there is none to show: it is told beside the answer, which does not rest on it."""
    try:
        return follow_ordinary(loaded, options, nodes, look), ""
    except KubeproofError as problem:
        return None, f"an ordinary run cannot be shown: {problem}"
