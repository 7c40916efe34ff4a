"""What is looked at to explain a counterexample: its states and steps, and the workloads that it is about."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.inaction import Idle
from kubeproof.cluster.state import ACTIVE
from kubeproof.intents.catalogue import entry
from kubeproof.intents.monitor import Monitor
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.counterexamples.replayer import Replayed
from kubeproof.verify.explained import Inaction
from kubeproof.verify.words.explain import find_concerned, is_unused


class Scene(NamedTuple):
    """A run that was executed again."""

    model: IndividualModel
    monitor: Monitor
    states: tuple[State, ...]
    steps: tuple[Transition, ...]
    concerned: tuple[int, ...]  # the workloads that the intent is about
    before: int  # steps of the trace before the run, which deployed the cluster

    @property
    def last(self) -> State:
        return self.states[-1]

    def ref(self, workload: int) -> str:
        """How reports name a workload."""
        return self.model.setup.workloads[workload].ref

    def backwards(self) -> Iterator[tuple[int, Transition]]:
        """The steps with their numbers, from the last to the first."""
        return ((number, self.steps[number]) for number in range(len(self.steps) - 1, -1, -1))

    def head_of(self, workload: int) -> int:
        """The workload itself, or the Deployment of which it is a revision."""
        owner = self.model.setup.workloads[workload].owner
        return next((i for i, one in enumerate(self.model.setup.workloads) if one.ref == owner), workload)

    def tell(self, actor: Actor, idle: Idle, about: str, step: int | None = None) -> Inaction:
        """An entry; of a step its number in the whole trace, from 1."""
        place = None if step is None else self.before + step + 1
        is_upper = entry(self.monitor.intent.key).is_upper_bound
        change = idle.lowers if is_upper and idle.lowers else idle.change
        rule = idle.rule.key
        return Inaction(actor, idle.object or about, rule, idle.says, change, idle.numbers, place, idle.fields)


def look_at(model: IndividualModel, monitor: Monitor, run: Replayed, before: int) -> Scene:
    """The scene of a run; revisions that were never asked for are left out."""
    last, workloads = run.states[-1], model.setup.workloads
    concerned = [w for w in find_concerned(model, monitor) if not (workloads[w].owner and is_unused(model, last, w))]
    return Scene(model, monitor, run.states, run.steps, tuple(concerned), before)


def count_active(state: State, workload: int) -> int:
    """Its pods that do not terminate, with and without a node."""
    on_nodes = sum(pod.workload == workload and pod.phase in ACTIVE for node in state.nodes for pod in node.pods)
    return on_nodes + len(state.unbound[workload])
