"""What is in the cluster at a moment: pods per workload and node, what they use, and the slots that serve requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubeproof.cluster.loops.actions import Verb
from kubeproof.cluster.loops.control import Role
from kubeproof.cluster.objects import PodTemplate, family
from kubeproof.cluster.state import ACTIVE, KUBELET_LIVES, Health, Phase, Work
from kubeproof.cluster.usage import (
    CPU,
    MEMORY,
    UsageRule,
    containers_of,
    find_shared_rule,
    level_number,
    pod_usage,
    request_milli,
    rules_about,
)
from kubeproof.cluster.usage import Pod as Running
from kubeproof.controllers.hpa.settings import AutoscalerSettings
from kubeproof.model.by_name.node import NodeState, Pod
from kubeproof.model.by_name.state import State
from kubeproof.model.plan import Plan
from kubeproof.named_tuples import NamedTuple
from kubeproof.simulate.control.walk import Taken
from kubeproof.simulate.serving.contract import Endpoints, Room, Slot

YOUNG_S = AutoscalerSettings().sample_window_s
RUNS = (Phase.RUNNING, Phase.READY, Phase.UNREADY, Phase.TERMINATING)


class Count(NamedTuple):
    """Pods of one workload."""

    pods: int = 0  # bound and not terminating
    ready: int = 0
    running: int = 0  # containers run

    def plus(self, other: Count) -> Count:
        return Count(self.pods + other.pods, self.ready + other.ready, self.running + other.running)


class _Seen(NamedTuple):
    """A node as it was when it was last looked at."""

    state: NodeState
    counts: Mapping[int, Count]
    slots: Mapping[int, tuple[Slot, ...]]


class Census:
    """Counts of the current state; nodes that have not changed are not looked at again."""

    def __init__(self, plan: Plan, services: Mapping[str, str], rules: tuple[UsageRule, ...]) -> None:
        self._plan = plan
        self._setup = plan.setup
        numbers = {workload.ref: number for number, workload in enumerate(plan.setup.workloads)}
        self.members = {name: family(plan.setup, numbers[ref]) for name, ref in services.items()}
        self._served = {member for members in self.members.values() for member in members}
        self._nodes: list[_Seen | None] = [None] * len(plan.setup.nodes)
        self._births: dict[tuple[int, str], int] = {}
        self._born = 0
        self._endpoints: Endpoints | None = None
        self.young: set[tuple[str, int]] = set()  # pods whose metrics an autoscaler does not trust yet
        every = range(len(plan.setup.workloads))
        self._rules = {workload: rules_about(rules, CPU, workload) for workload in every}

    def note(self, taken: Taken) -> None:
        """Gives the pods that a step binds a number of their own: names are used again."""
        if taken.decision.role == Role.TIME:
            return  # binds nobody; a rest is told in one word more than it has actions
        for action, concrete in zip(taken.decision.actions, taken.concrete, strict=True):
            if concrete[0] in (Verb.BIND, Verb.ARRIVE):
                names = (concrete[1],) if concrete[0] == Verb.BIND else concrete[3]
                for name in names:  # type: ignore[attr-defined]
                    self._bear((action.workload, str(name)))  # type: ignore[union-attr]

    def _bear(self, key: tuple[int, str]) -> int:
        self._born += 1
        self._births[key] = self._born
        return self._born

    # -- counts -----------------------------------------------------------------------------------

    def look(self, state: State) -> None:
        """Brings the counts up to date."""
        for at, node in enumerate(state.nodes):
            known = self._nodes[at]
            if known is None or known.state is not node:
                slots = dict(self._slots(at, node))
                if known is None or known.slots != slots or _room(known.state) != _room(node):
                    self._endpoints = None
                self._nodes[at] = _Seen(node, self._count(node), slots)

    def _count(self, node: NodeState) -> dict[int, Count]:
        counts: dict[int, Count] = {}
        if node.health == Health.ABSENT:
            return counts
        for pod in node.pods:
            one = Count(int(pod.phase in ACTIVE), int(pod.phase == Phase.READY), int(pod.phase in RUNS))
            counts[pod.workload] = counts.get(pod.workload, Count()).plus(one)
        return counts

    def of_workload(self, members: tuple[int, ...]) -> Count:
        """The pods of some workloads on all nodes."""
        found = Count()
        for seen in self._nodes:
            if seen is not None:
                for member in members:
                    if member in seen.counts:
                        found = found.plus(seen.counts[member])
        return found

    def on_node(self, node: int) -> Mapping[int, Count]:
        """The pods on a node, by workload."""
        seen = self._nodes[node]
        return {} if seen is None else seen.counts

    # -- slots ------------------------------------------------------------------------------------

    def endpoints(self) -> Endpoints:
        """Who serves what; the same object as long as nothing has changed."""
        if self._endpoints is not None:
            return self._endpoints
        up = [(at, seen) for at, seen in enumerate(self._nodes) if seen is not None and answers(seen.state)]
        services = {
            name: tuple(sorted((slot for _, seen in up for m in members for slot in seen.slots.get(m, ())), key=_birth))
            for name, members in self.members.items()
        }
        rooms = {self._setup.nodes[at].name: self._room(at, seen.state) for at, seen in up}
        self._endpoints = Endpoints(services, rooms)
        return self._endpoints

    def _room(self, node: int, state: NodeState) -> Room:
        """What a node has; one that has fallen silent, unnoticed, does nothing."""
        declared = self._setup.nodes[node]
        return Room(declared.cpu_milli if runs(state) else 0, declared.memory_bytes)

    def _slots(self, at: int, node: NodeState) -> Iterator[tuple[int, tuple[Slot, ...]]]:
        if not answers(node):
            return
        for member in self._served:
            pods = [pod for pod in node.pods if pod.workload == member and pod.phase in RUNS]
            if pods:
                yield member, tuple(self._slot(at, pod) for pod in pods)

    def _slot(self, at: int, pod: Pod) -> Slot:
        key = pod.workload, pod.name
        declared = self._setup.workloads[pod.workload]
        memory = limit_of(declared.template, MEMORY)
        birth = self._births.get(key) or self._bear(key)
        name = f"{declared.namespace}/{pod.name}"
        (self.young.add if 0 <= pod.kind.age_s < YOUNG_S else self.young.discard)((name, birth))
        return Slot(
            pod=name,
            birth=birth,
            node=self._setup.nodes[at].name,
            cpu_request_milli=request_milli(declared.template, CPU),
            cpu_limit_milli=limit_of(declared.template, CPU),
            memory_limit_bytes=memory,
            is_ready=pod.phase == Phase.READY,
        )

    # -- use as events say it ---------------------------------------------------------------------

    def sum_told_use(self, node: int, memories: tuple[tuple[int, ...], ...]) -> float:
        """Millicores of the pods on a node that get no requests."""
        seen = self._nodes[node]
        if seen is None or not runs(seen.state):
            return 0.0
        running = [pod for pod in seen.state.pods if pod.phase in RUNS and pod.workload not in self._served]
        return sum(self._use(pod, memories) for pod in running)

    def sum_told_use_of(self, members: tuple[int, ...], memories: tuple[tuple[int, ...], ...]) -> float:
        """Millicores of the pods of workloads that get no requests."""
        nodes = [
            seen for seen in self._nodes if seen is not None and runs(seen.state) and set(members) & set(seen.counts)
        ]
        pods = [pod for seen in nodes for pod in seen.state.pods if pod.phase in RUNS and pod.workload in members]
        return sum(self._use(pod, memories) for pod in pods)

    def _use(self, pod: Pod, memories: tuple[tuple[int, ...], ...]) -> float:
        rules, known = self._rules[pod.workload], dict(enumerate(memories))
        load = find_shared_rule(rules, known)
        if load is None:
            template = self._setup.workloads[pod.workload].template
            containers = containers_of(template, self._setup.settings.kubernetes_version)
            return pod_usage(rules, Running(containers, pod.kind.age_s), CPU, known)
        total = load.levels[level_number(load, pod.kind.age_s, known)].amount_milli or 0
        every = (rule for own in self._rules.values() for rule in own)
        sharers = tuple(rule.workload for rule in every if rule.is_shared and rule.memory == load.memory)
        return total / max(1, self.of_workload(sharers).running)


def runs(node: NodeState) -> bool:
    """True for a node that is there and not down."""
    return node.health in KUBELET_LIVES and node.work != Work.DOWN


def answers(node: NodeState) -> bool:
    """True if requests are sent to the node: while nobody knows that it is down they are, and nothing answers."""
    return runs(node) or node.health == Health.LOST


def _room(node: NodeState) -> int:
    return runs(node) + answers(node)


def limit_of(template: PodTemplate, resource: str) -> int | None:
    """The sum of the containers' limits; None if one has none."""
    limits = [dict(container.limits).get(resource) for container in template.containers]
    known = [limit for limit in limits if limit is not None]
    return sum(known) if len(known) == len(limits) else None


def _birth(slot: Slot) -> int:
    return slot.birth
