"""A state by name as the objects that an API server would show of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubeproof.cluster.jobs import COMPLETE, FAILED_FOR_GOOD
from kubeproof.cluster.kinds import POD, REPLICA_SET, REPLICATION_CONTROLLER
from kubeproof.cluster.loops.tags import Tag, tag_of
from kubeproof.cluster.nodes.places import UNREACHABLE
from kubeproof.cluster.objects import Node, Setup, Workload, family, revisions_of
from kubeproof.cluster.state import NEVER, Cause, Health, JobPodEnd, Phase
from kubeproof.model.by_name.node import NodeState
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.named_tuples import NamedTuple

Object = dict[str, Any]
Key = tuple[str, str, str]  # kind, namespace, name
REVISION = "kubeproof.dev/revision"
HASH = "controller-revision-hash"


class Stand(NamedTuple):
    """A pod of a state: its workload, its node (None without one), and its phase; None for one that waits."""

    workload: int
    node: str | None
    phase: int | None
    wanted: str | None = None  # the one node that it may run on


Model = tuple[int, str]  # a pod in the model: its workload and its name, which is used again


def stands(model: IndividualModel, state: State) -> dict[Model, Stand]:
    """Every pod of a state."""
    found: dict[Model, Stand] = {}
    for workload, names in enumerate(state.unbound):
        found |= {(workload, name): Stand(workload, None, None) for name in names}
    for index, node in enumerate(state.nodes):
        where = model.names[index]
        found |= {(pod.workload, pod.name): Stand(pod.workload, where, pod.phase) for pod in node.pods}
        found |= {(workload, name): Stand(workload, None, None, where) for workload, name in node.pinned}
    return found


class Pods:
    """Names that are never used twice, except where Kubernetes does so itself, and how each pod ended."""

    def __init__(self, model: IndividualModel) -> None:
        self._model, self._setup = model, model.setup
        self._names: dict[Model, tuple[str, int]] = {}  # name and number of the pod in all
        self._used: dict[tuple[str, str], int] = {}
        self._made = 0
        self.ended: dict[Key, Object] = {}  # finished pods whose objects are left

    def objects(self, before: State | None, after: State, step: Transition | None) -> dict[Key, Object]:
        """The pods after a step, by name."""
        now = stands(self._model, after)
        was = stands(self._model, before) if before is not None else {}
        ends = self._endings(before, after, step)
        for pod, stand in was.items():
            if pod not in now or is_another(stand, now[pod]):
                self._end(pod, stand, ends)
        found = {}
        for pod, stand in now.items():
            if pod not in self._names:
                self._names[pod] = self._fresh(pod)
            key, value = self._object(pod, stand, *self._names[pod])
            found[key] = value
        self._forget(before, after)
        return {**self.ended, **found}

    def name_of(self, pod: Model) -> tuple[str, int]:
        """The name that the pod has in the log, and its number."""
        return self._names[pod]

    def _fresh(self, pod: Model) -> tuple[str, int]:
        workload = self._setup.workloads[pod[0]]
        plain = pod[1].rpartition("/")[2]
        self._made += 1
        if workload.rules.is_pod or workload.rules.has_ordinals:
            return plain, self._made
        times = self._used.get((workload.namespace, plain), 0)
        self._used[workload.namespace, plain] = times + 1
        return (plain if not times else f"{plain}-{times}x"), self._made

    def _endings(self, before: State | None, after: State, step: Transition | None) -> dict[int, list[str]]:
        """How pods of each workload ended in a step: Succeeded or Failed, as many as did."""
        found: dict[int, list[str]] = {}
        if before is None:
            return found
        for old, new in zip(before.nodes, after.nodes, strict=True):
            for one in set(new.finished):
                more = new.finished.count(one) - old.finished.count(one)
                word = "Succeeded" if one[1] == JobPodEnd.SUCCEEDED else "Failed"
                found.setdefault(one[0], []).extend([word] * more)
        for number in range(len(self._setup.workloads)):
            if step is not None and step.tags & tag_of(number, int(Tag.REJECT)):
                found.setdefault(number, []).append("Failed")
            elif after.specs[number].failed > before.specs[number].failed:
                more = after.specs[number].failed - before.specs[number].failed
                found.setdefault(number, []).extend(["Failed"] * more)
        return found

    def _end(self, pod: Model, stand: Stand, ends: dict[int, list[str]]) -> None:
        name, number = self._names.pop(pod)
        left = ends.get(stand.workload)
        if left:
            phase = left.pop()
            key, value = self._object(pod, stand, name, number)
            value["status"] = {"phase": phase, "conditions": [{"type": "Ready", "status": "False"}]}
            self.ended[key] = value

    def _forget(self, before: State | None, after: State) -> None:
        """Failed pods that are gone are gone; finished ones of Jobs stay until their Job goes."""
        for number, spec in enumerate(after.specs):
            gone = before is not None and spec.failed < before.specs[number].failed
            ref = self._setup.workloads[number]
            if gone or not (spec.exists or ref.owner):
                own = [k for k, v in self.ended.items() if v["metadata"]["labels"].get(REVISION + "-of") == str(number)]
                for key in own:
                    del self.ended[key]

    def _object(self, pod: Model, stand: Stand, name: str, number: int) -> tuple[Key, Object]:
        workload = self._setup.workloads[stand.workload]
        labels = dict(workload.template.labels) | {REVISION + "-of": str(stand.workload)}
        metadata: Object = {"name": name, "namespace": workload.namespace, "uid": f"pod-{number}", "labels": labels}
        owner = owner_of(self._setup, stand.workload)
        if owner is not None:
            metadata["ownerReferences"] = [{"kind": owner[0], "name": owner[1], "controller": True}]
        if workload.rules.has_controller_revisions:
            labels[HASH] = f"rev-{revision_of(self._setup, stand.workload)}"
        if stand.phase == Phase.TERMINATING:
            metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
        spec: Object = {"containers": _containers(workload)}
        if stand.node is not None:
            spec["nodeName"] = stand.node
        if stand.wanted is not None:
            field = {"key": "metadata.name", "operator": "In", "values": [stand.wanted]}
            required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
        value = {"apiVersion": "v1", "kind": POD, "metadata": metadata, "spec": spec, "status": _status(stand)}
        return (POD, workload.namespace, name), value


def is_another(old: Stand, new: Stand) -> bool:
    """True if a name stands for another pod than before: nobody goes back to wait, or comes back from the end."""
    if old.node is not None and old.node != new.node:
        return True
    return old.phase == Phase.TERMINATING and new.phase != Phase.TERMINATING


def _status(stand: Stand) -> Object:
    runs = stand.phase not in (None, Phase.STARTING)
    ready = stand.phase == Phase.READY
    return {"phase": "Running" if runs else "Pending", "conditions": [{"type": "Ready", "status": str(ready)}]}


def owner_of(setup: Setup, number: int) -> tuple[str, str] | None:
    """Kind and name of the object that makes a workload's pods; None for a bare pod."""
    workload = setup.workloads[number]
    if workload.rules.is_pod:
        return None
    if is_revision(setup, number):
        return REPLICA_SET, replica_set(setup, number)
    if workload.rules.has_controller_revisions:
        return workload.kind, str(workload.owner or workload.ref).rpartition("/")[2]
    return workload.kind, workload.name


def is_revision(setup: Setup, number: int) -> bool:
    """True for a Deployment, which stands for its first revision, and for its later ones."""
    return setup.workloads[family(setup, number)[0]].rules.owns_replica_sets


def _main(setup: Setup, number: int) -> tuple[int, ...]:
    return tuple(m for m in family(setup, number) if not setup.workloads[m].resized)


def replica_set(setup: Setup, number: int) -> str:
    """The name of a revision's ReplicaSet."""
    members = _main(setup, number)
    revision = members.index(number) if number in members else 0
    return f"{setup.workloads[members[0]].name}-rev{revision + 1}"


def revision_of(setup: Setup, number: int) -> int:
    """The revision that a DaemonSet's or StatefulSet's member stands for."""
    members = family(setup, number)
    if setup.workloads[number].rules.runs_per_node:
        return members.index(number)
    ordinals = (len(members) - 1) // revisions_of(setup, members[0])
    return (members.index(number) - 1) // ordinals


def owners(model: IndividualModel, state: State) -> Iterator[tuple[Key, Object]]:
    """The workloads of a state with the ReplicaSets of Deployments."""
    setup = model.setup
    for number, workload in enumerate(setup.workloads):
        spec = state.specs[number]
        if is_revision(setup, number) and spec.replicas != NEVER and number in _main(setup, number):
            yield _replica_set(setup, number, spec.replicas)
        is_own = workload.owner is None or (workload.rules.counts_completions and workload.cron is not None)
        if spec.exists and is_own and not workload.rules.is_pod:
            yield _workload(workload, spec.desired, spec.template, spec.noted)


def _replica_set(setup: Setup, number: int, replicas: int) -> tuple[Key, Object]:
    main = setup.workloads[_main(setup, number)[0]]
    name = replica_set(setup, number)
    metadata = {
        "name": name,
        "namespace": main.namespace,
        "ownerReferences": [{"kind": main.kind, "name": main.name, "controller": True}],
    }
    template = _template(setup.workloads[number], _main(setup, number).index(number))
    spec = {"replicas": replicas, "selector": _selector(main), "template": template}
    return (REPLICA_SET, main.namespace, name), _whole("apps/v1", REPLICA_SET, metadata, spec)


def _template(workload: Workload, revision: int) -> Object:
    """What of a pod template the model knows: enough to read the object again without the manifests."""
    metadata = {"labels": dict(workload.template.labels), "annotations": {REVISION: str(revision)}}
    return {"metadata": metadata, "spec": {"containers": _containers(workload)}}


def _containers(workload: Workload) -> list[Object]:
    asked = {"cpu": f"{sum(c.cpu_milli or 0 for c in workload.template.containers)}m"}
    asked["memory"] = str(sum(c.memory_bytes or 0 for c in workload.template.containers))
    return [{"name": "all", "resources": {"requests": asked}}]


def _selector(workload: Workload) -> Object:
    wanted = workload.selector.requirements
    if workload.kind == REPLICATION_CONTROLLER:
        return {requirement.key: requirement.values[0] for requirement in wanted}
    return {"matchExpressions": [{"key": r.key, "operator": r.operator, "values": list(r.values)} for r in wanted]}


def _workload(workload: Workload, desired: int, template: int, noted: int) -> tuple[Key, Object]:
    metadata: Object = {"name": workload.name, "namespace": workload.namespace}
    if workload.owner is not None:
        kind, _, name = workload.owner.split("/")
        metadata["ownerReferences"] = [{"kind": kind, "name": name, "controller": True}]
    size = "parallelism" if workload.rules.counts_completions else "replicas"
    spec = {size: desired, "template": _template(workload, template)}
    if not workload.rules.runs_to_completion:
        spec["selector"] = _selector(workload)
    value = _whole(workload.rules.version, workload.kind, metadata, spec)
    words = {COMPLETE: "Complete", FAILED_FOR_GOOD: "Failed"}
    if workload.rules.counts_completions and noted in words:
        value["status"] = {"conditions": [{"type": words[noted], "status": "True"}]}
    return (workload.kind, workload.namespace, workload.name), value


def _whole(version: str, kind: str, metadata: Object, spec: Object) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def nodes(model: IndividualModel, state: State) -> Iterator[tuple[Key, Object]]:
    """The nodes that are there."""
    for declared, node in zip(model.setup.nodes, state.nodes, strict=True):
        if node.health != Health.ABSENT:
            yield ("Node", "", declared.name), _node(declared, node)


def _node(declared: Node, node: NodeState) -> Object:
    known = node.health not in (Health.UNKNOWN,)
    panics = node.cause == Cause.PANIC and node.health in (Health.LOST, Health.UNKNOWN)
    taints = [{"key": t.key, "value": t.value, "effect": t.effect} for t in declared.taints]
    if node.health in (Health.UNKNOWN, Health.BACK):
        taints.append({"key": UNREACHABLE, "effect": "NoSchedule"})
    if node.no_execute:
        taints.append({"key": UNREACHABLE, "effect": "NoExecute"})
    conditions = [{"type": "Ready", "status": "True" if known else "Unknown"}]
    conditions += [{"type": "KernelDeadlock", "status": "True"}] if panics else []
    amounts = {"cpu": f"{declared.cpu_milli}m", "memory": str(declared.memory_bytes), "pods": str(declared.pods)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": declared.name, "labels": dict(declared.labels)},
        "spec": {"taints": taints, **({"unschedulable": True} if node.cordoned else {})},
        "status": {"conditions": conditions, "allocatable": amounts},
    }
