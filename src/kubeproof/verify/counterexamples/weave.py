"""From a path of one part to a run of the whole cluster, by name: the other parts run along.

The part's steps are taken in their order. Between them the other parts do what is urgent, so that time can pass, and
come to rest where the path needs a stable cluster. Of what is equal to them they take the first, or the last where
the first is in the way of the path. Each step must bring the part where its path says; the result is replayed on the
whole model like every counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kubeproof.cluster.loops.actions import Advance
from kubeproof.cluster.loops.control import Role, Stage
from kubeproof.cluster.state import moves_alike
from kubeproof.controllers.kubelet import Kubelet
from kubeproof.controllers.workloads.deployment import DeploymentController
from kubeproof.controllers.workloads.replicaset import ReplicaSetController
from kubeproof.engine.search import Finding, Search
from kubeproof.engine.system import Step
from kubeproof.errors import KubeproofError
from kubeproof.model.by_name.abstraction import Anonymous, anonymous, canonical
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.reductions.starts_in_unison import StartAll, find_started_together
from kubeproof.verify.counterexamples.lift import NamedPath
from kubeproof.verify.counterexamples.projection import Projection
from kubeproof.verify.counterexamples.replayer import Look, look_nowhere

MOST_STEPS = 5_000  # steps of other parts between two of the path
MOST_WAITS = 200  # steps of others that a step of the path waits for
MOST_ROUNDS = 50  # times that a loop is followed until the other parts rest
FIRST_STEPS = (DeploymentController, ReplicaSetController)  # whose steps may have been taken alone


class CannotWeave(KubeproofError):
    """The other parts do not come to rest on the way that was tried."""


class Weaver:
    """Follows a part's path in the whole, from a state on."""

    def __init__(
        self,
        whole: IndividualModel,
        part: IndividualModel,
        shares: Projection,
        start: State,
        look: Look = look_nowhere,
        *,
        is_last_first: bool = False,
    ) -> None:
        self._whole, self._part, self._shares, self._look = whole, part, shares, look
        self._is_last_first = is_last_first  # of equally good steps of others, such as nodes for a pod
        self.states = [start]
        self.steps: list[Transition] = []
        self._lasting = [actor for actor in whole.plan.actors if actor.stage == Stage.ALWAYS]
        self._last = 0  # number of the one that had something urgent last

    @property
    def _here(self) -> State:
        return self.states[-1]

    def _share(self, state: State) -> Anonymous:
        return anonymous(self._part, self._shares.of(state))

    def _take(self, step: Transition) -> None:
        self._look()
        self.steps.append(step)
        self.states.append(step.target)

    def follow(self, search: Search, steps: Sequence[Step]) -> None:
        """Takes steps of the part's search, and whatever of the others must come between."""
        for step in steps:
            wanted = canonical(self._part.plan, search.store.cells_of(step.target))
            start = find_started_together(step.effect)
            if start is not None:
                self._start_all(start, wanted)
            elif step.effect.role == Role.TIME:
                self._pass_time(wanted)
            else:
                self._act(step, wanted)

    def _act(self, step: Step, wanted: Anonymous) -> None:
        actors = self._part.plan.actors
        kinds = (type(actors[step.actor]),) if step.actor < len(actors) else FIRST_STEPS
        if step.actor < len(actors) and actors[step.actor].stage == Stage.CALM:
            self.rest()
        seen: set[State] = set()  # of the whole, while the others do what the step waits for, such as leave a node
        while len(seen) < MOST_WAITS and self._here not in seen:
            seen.add(self._here)
            found = self._step_to(wanted, kinds)
            if found is not None:
                self._take(found)
                return
            other = self._urgent() or self._patient(self._whole.steps(self._here))
            if other is None:
                break
            self._take(other)
        raise CannotWeave("a step that the workloads take by themselves is not one that they take beside the others")

    def _step_to(self, wanted: Anonymous, kinds: tuple[type, ...]) -> Transition | None:
        """A step after which the part is where it should be; actors of these kinds are asked first."""
        for controller in sorted(self._whole.plan.actors, key=lambda one: not isinstance(one, kinds)):
            for transition in self._whole.steps_of(controller, self._here):
                if self._share(transition.target) == wanted:
                    return transition
        return None

    def _start_all(self, start: StartAll, wanted: Anonymous) -> None:
        workload = self._shares.workloads[start.workload]
        while self._share(self._here) != wanted:
            self._take(self._first(lambda step: _starts(step, workload, start)))

    def _first(self, is_meant: Callable[[Transition], bool]) -> Transition:
        for controller in self._whole.plan.controllers:
            if isinstance(controller, Kubelet):
                for step in self._whole.steps_of(controller, self._here):
                    if is_meant(step):
                        return step
        raise CannotWeave("a pod does not start")

    def _pass_time(self, wanted: Anonymous) -> None:
        """Lets time pass until it has passed for the part; the others may stop it in between."""
        for _ in range(MOST_STEPS):
            self.catch_up()
            passing = list(self._whole.time_steps(self._here))
            if not passing:
                raise CannotWeave("time does not pass")
            self._take(passing[0])
            if self._share(self._here) == wanted:
                return
        raise CannotWeave("time stands still")

    def catch_up(self) -> None:
        """The others do what is urgent."""
        for _ in range(MOST_STEPS):
            step = self._urgent()
            if step is None:
                return
            self._take(step)
        raise CannotWeave("the others always have something urgent")

    def rest(self) -> None:
        """The others go on until the whole cluster is stable."""
        for _ in range(MOST_STEPS):
            step = self._urgent()
            if step is None:
                steps = self._whole.steps(self._here)
                if all(one.role == Role.EVENT for one in steps):
                    return
                step = self._patient(steps)
            if step is None:
                raise CannotWeave("the part itself is not at rest")
            self._take(step)
        raise CannotWeave("the others do not come to rest")

    def _urgent(self) -> Transition | None:
        """Something urgent that leaves the part as it is; whoever had something last is asked first."""
        before, actors = self._share(self._here), self._lasting
        for position in range(len(actors)):
            number = (self._last + position) % len(actors)
            offered: Iterable[Transition] = self._whole.steps_of(actors[number], self._here)
            for step in reversed(tuple(offered)) if self._is_last_first else offered:
                if step.role == Role.URGENT and self._share(step.target) == before:
                    self._last = number
                    return step
        return None

    def _patient(self, steps: Sequence[Transition]) -> Transition | None:
        """One of the steps that may come and leaves the part as it is: time passing, or what somebody may do."""
        before = self._share(self._here)
        patient = (step for step in steps if step.role in (Role.OPTIONAL, Role.TIME))
        return next((step for step in patient if self._share(step.target) == before), None)

    def go_round(self, search: Search, steps: Sequence[Step]) -> int:
        """Follows a loop until the whole cluster comes round; returns where in the steps it begins to."""
        begun: dict[Anonymous, int] = {}  # nodes that the part takes for equal may take turns
        for _ in range(MOST_ROUNDS):
            self.catch_up()
            form = anonymous(self._whole, self._here)
            if form in begun:
                return begun[form]
            begun[form] = len(self.steps)
            self.follow(search, steps)
        raise CannotWeave("the others do not come round with the loop")

    def path(self, loop_start: int | None = None, *, is_inevitable: bool = False) -> NamedPath:
        """All that was taken."""
        return NamedPath(tuple(self.states), tuple(self.steps), loop_start, is_inevitable)


def _starts(step: Transition, workload: int, start: StartAll) -> bool:
    action = step.decision.actions[0]
    return isinstance(action, Advance) and moves_alike(action, start._replace(workload=workload))


def weave(weaver: Weaver, search: Search, finding: Finding, *, ends_stable: bool) -> NamedPath:
    """The run of the whole that a part's finding stands for."""
    steps = [step for _, step in search.path(finding.state)]
    if finding.last:
        steps.append(finding.last)
    weaver.follow(search, steps)
    if finding.lasso is not None:
        first = weaver.go_round(search, finding.lasso.steps)
        return weaver.path(first, is_inevitable=finding.lasso.is_inevitable)
    if ends_stable:
        weaver.rest()
    return weaver.path()
