"""A counterexample as pictures: what of the cluster a reader sees, and what each step changes of it.

Made from a re-executed run, only when somebody wants to look at it. A film holds one whole scene and then what each
step changes, so that its size grows with what happens and not with the size of the cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import TypeVar

from kubeproof.cluster.objects import HOSTNAME, Node, PodTemplate, Setup, Source, family, short_name
from kubeproof.cluster.state import Health, JobPodEnd, Phase, Work
from kubeproof.cluster.usage import CPU, MEMORY, request_milli
from kubeproof.errors import KubeproofError
from kubeproof.model.by_name.node import NodeState
from kubeproof.model.by_name.state import State
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import complete, dataclass
from kubeproof.verify.counterexamples.rerun import Rerun, rerun
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult, VerifyResult
from kubeproof.verify.words.numbers import Numbers, numbers_at_the_end, numbers_behind

ZONE = "topology.kubernetes.io/zone"
PENDING = "Pending"
PHASES = complete(
    Phase,
    {
        Phase.STARTING: "Starting",
        Phase.RUNNING: "Running",
        Phase.READY: "Ready",
        Phase.UNREADY: "NotReady",
        Phase.TERMINATING: "Terminating",
    },
)
HEALTHS = complete(
    Health,
    {
        Health.UP: "Ready",
        Health.LOST: "Silent",
        Health.UNKNOWN: "Unknown",
        Health.BACK: "Back",
        Health.ABSENT: "Absent",
    },
)
WORKS = complete(
    Work,
    {
        Work.NONE: "",
        Work.DRAIN: "Draining",
        Work.DRAIN_UNCORDON: "Draining",
        Work.MAINTAIN: "Draining",
        Work.DOWN: "Maintenance",
        Work.LEAVE: "Leaving",
        Work.RETIRE: "Leaving",
    },
)
NOT_ASKED = "the states of this run were not asked for"
NOWHERE = -1  # instead of the number of a node
V = TypeVar("V")


class PodPicture(NamedTuple):
    """A pod; `node` is where it is, or where alone it may go while it is pending."""

    workload: int
    node: int
    phase: str
    restarts: int = 0


class NodePicture(NamedTuple):
    """The condition of a node."""

    health: str
    cordoned: bool = False
    no_execute: bool = False  # the unreachable taint that evicts
    work: str = ""
    nominated: tuple[int, ...] = ()  # workloads of the pods that wait for it
    spare: bool = False  # the cluster autoscaler finds it unneeded
    succeeded: int = 0  # pods of Jobs that have ended and are not counted yet
    failed: int = 0


class WorkloadPicture(NamedTuple):
    """A workload's object; `replicas` is that of its ReplicaSet, -1 before there is one."""

    exists: bool
    desired: int
    replicas: int
    revision: int = 0
    failed: int = 0  # failed pods whose objects are left


class Scene(NamedTuple):
    """The cluster at one moment."""

    nodes: tuple[NodePicture, ...]
    workloads: tuple[WorkloadPicture, ...]
    pods: Mapping[str, PodPicture]


class Change(NamedTuple):
    """What one step makes of a scene; a pod that is gone is None."""

    nodes: tuple[tuple[int, NodePicture], ...] = ()
    workloads: tuple[tuple[int, WorkloadPicture], ...] = ()
    pods: tuple[tuple[str, PodPicture | None], ...] = ()

    def of(self, scene: Scene) -> Scene:
        """The scene after the step."""
        pods = dict(scene.pods) | {name: pod for name, pod in self.pods if pod is not None}
        for name in (name for name, pod in self.pods if pod is None):
            del pods[name]
        return Scene(_apply_changes(scene.nodes, self.nodes), _apply_changes(scene.workloads, self.workloads), pods)


@dataclass(frozen=True, slots=True)
class NodeCard:
    """What never changes of a node; `domains` has a value for each topology key of the film."""

    name: str
    domains: tuple[str, ...]
    cpu_milli: int
    memory_bytes: int
    pods: int
    taints: tuple[str, ...] = ()
    source: Source = Source()


@dataclass(frozen=True, slots=True)
class WorkloadCard:
    """What never changes of a workload: `family` is the one whose revision, ordinal or size it is."""

    ref: str
    name: str
    family: int
    cpu_milli: int
    memory_bytes: int
    source: Source = Source()


@dataclass(frozen=True, slots=True)
class Film:
    """A whole counterexample."""

    keys: tuple[str, ...]  # topology keys by which nodes can be put together, the most telling first
    nodes: tuple[NodeCard, ...]
    workloads: tuple[WorkloadCard, ...]
    first: Scene
    changes: tuple[Change, ...]  # one per step
    numbers: tuple[Numbers | None, ...] = ()  # behind each step, where there are any
    end: tuple[Numbers, ...] = ()  # behind what is wrong in the last scene

    def scenes(self) -> Iterator[Scene]:
        """The cluster before each step, and at the end."""
        scene = self.first
        yield scene
        for change in self.changes:
            scene = change.of(scene)
            yield scene


def films_of(
    result: VerifyResult, options: VerifyOptions, only: Collection[int] | None = None
) -> tuple[Film | str, ...]:
    """For each property its counterexample by pictures, or why there is none; never fails where words do.

    With `only`, pictures are made of the results with these numbers and of no others.
    """
    return tuple(
        _film(result, one, options) if only is None or number in only else NOT_ASKED
        for number, one in enumerate(result.results)
    )


def _film(result: VerifyResult, one: IntentResult, options: VerifyOptions) -> Film | str:
    if one.trace is None:
        return "no counterexample"
    try:
        again = rerun(result.inputs, one, options)
    except KubeproofError as problem:  # a limit, or a saved run that is none of its input
        return f"This run is told but not drawn: it could not be re-executed ({problem})"
    return film_of(again)


def film_of(again: Rerun) -> Film:
    """The pictures of a re-executed counterexample."""
    model, setup = again.model, again.model.setup
    states, steps = again.states, again.steps
    keys = topology_keys(setup)
    scenes = [scene_of(state) for state in states]
    return Film(
        keys=keys,
        nodes=tuple(_node_card(node, keys) for node in setup.nodes),
        workloads=tuple(_workload_card(setup, index) for index in range(len(setup.workloads))),
        first=scenes[0],
        changes=tuple(change_between(*pair) for pair in pairwise(scenes)),
        numbers=tuple(numbers_behind(model, *pair) for pair in zip(states, steps, strict=False)),
        end=tuple(numbers_at_the_end(model, states[-1])),
    )


def scene_of(state: State) -> Scene:
    """A state as a reader sees it."""
    pods: dict[str, PodPicture] = {}
    for number, node in enumerate(state.nodes):
        for pod in node.pods:
            pods[pod.name] = PodPicture(pod.workload, number, PHASES[Phase(pod.phase)], pod.kind.restarts)
        pods.update((name, PodPicture(workload, number, PENDING)) for workload, name in node.pinned)
    for workload, names in enumerate(state.unbound):
        pods.update((name, PodPicture(workload, NOWHERE, PENDING)) for name in names)
    workloads = tuple(
        WorkloadPicture(bool(spec.exists), spec.desired, spec.replicas, spec.template, spec.failed)
        for spec in state.specs
    )
    return Scene(tuple(_node(node) for node in state.nodes), workloads, pods)


def _node(node: NodeState) -> NodePicture:
    ended = [outcome for _, outcome in node.finished]
    return NodePicture(
        health=HEALTHS[Health(node.health)],
        cordoned=bool(node.cordoned),
        no_execute=bool(node.no_execute),
        work=WORKS[Work(node.work)],
        nominated=node.nominated,
        spare=node.spare_s >= 0,
        succeeded=ended.count(JobPodEnd.SUCCEEDED),
        failed=ended.count(JobPodEnd.FAILED),
    )


def change_between(before: Scene, after: Scene) -> Change:
    """What leads from one scene to the next."""
    gone = tuple((name, None) for name in sorted(before.pods.keys() - after.pods.keys()))
    moved = tuple((name, pod) for name, pod in sorted(after.pods.items()) if before.pods.get(name) != pod)
    return Change(_differing(before.nodes, after.nodes), _differing(before.workloads, after.workloads), (*gone, *moved))


def _differing(before: tuple[V, ...], after: tuple[V, ...]) -> tuple[tuple[int, V], ...]:
    pairs = enumerate(zip(before, after, strict=True))
    return tuple((number, new) for number, (old, new) in pairs if old != new)


def _apply_changes(values: tuple[V, ...], changes: tuple[tuple[int, V], ...]) -> tuple[V, ...]:
    made = list(values)
    for number, value in changes:
        made[number] = value
    return tuple(made)


def topology_keys(setup: Setup) -> tuple[str, ...]:
    """Label keys that put nodes together: what pods are spread over or kept together by, then zones."""
    found = [key for workload in setup.workloads for key in _keys_of(workload.template)]
    labels = {key for node in setup.nodes for key, _ in node.labels}
    return tuple(key for key in dict.fromkeys((*found, ZONE)) if key in labels and key != HOSTNAME)


def _keys_of(template: PodTemplate) -> list[str]:
    affinities = template.pod_affinity.topology_keys | template.pod_anti_affinity.topology_keys
    return [*(constraint.topology_key for constraint in template.spread), *sorted(affinities)]


def _node_card(node: Node, keys: tuple[str, ...]) -> NodeCard:
    labels = dict(node.labels)
    return NodeCard(
        name=node.name,
        domains=tuple(labels.get(key, "") for key in keys),
        cpu_milli=node.cpu_milli,
        memory_bytes=node.memory_bytes,
        pods=node.pods,
        taints=tuple(f"{t.key}{'=' + t.value if t.value else ''}:{t.effect}" for t in node.taints),
        source=node.source,
    )


def _workload_card(setup: Setup, index: int) -> WorkloadCard:
    workload = setup.workloads[index]
    return WorkloadCard(
        ref=workload.ref,
        name=short_name(setup, index),
        family=family(setup, index)[0],
        cpu_milli=request_milli(workload.template, CPU),
        memory_bytes=request_milli(workload.template, MEMORY) // 1000,
        source=workload.source,
    )
