"""The store in the terms of one plan: the cells that facts and predicates of `verify` look at.

Pods are counted one by one as they change, so that a change costs what it changes.
"""

from __future__ import annotations

from collections import Counter

from kubeproof.cluster.jobs import COMPLETE, FAILED_FOR_GOOD, NONE, REPLACED
from kubeproof.cluster.kinds import DAEMON_SET, JOB, KINDS, POD, REPLICA_SET
from kubeproof.cluster.nodes.daemons import nodes_wanted
from kubeproof.cluster.nodes.places import UNREACHABLE
from kubeproof.cluster.objects import Workload, family, revisions_of
from kubeproof.cluster.state import NEVER, Health, NodeCell, Nodes, Phase, PodKind, Work, WorkloadCell
from kubeproof.model.plan import Plan
from kubeproof.monitor.cluster.change import Key, Object, condition, items, mapping
from kubeproof.monitor.cluster.store import Store, api_phase, is_cordoned, node_of, phase_of, size_of
from kubeproof.named_tuples import NamedTuple


class Spot(NamedTuple):
    """Where a pod counts: on a node in a phase, waiting for any node or for one, or among the failed."""

    workload: int
    node: str
    phase: int  # Phase, WAITING or FAILED
    size: int = 0  # which of the sizes seen its requests are


WAITING, FAILED = -1, -2
OWNING_SETS = tuple(kind.name for kind in KINDS.values() if kind.owns_replica_sets)


class Cells:
    """Workloads and nodes of a plan, as the store has them."""

    def __init__(self, plan: Plan, store: Store) -> None:
        self.plan, self._store = plan, store
        self._setup = plan.setup
        self._numbers = {
            w.ref: i for i, w in enumerate(self._setup.workloads) if w.owner is None or w.rules.counts_completions
        }
        self._nodes = {node.name: i for i, node in enumerate(self._setup.nodes)}
        self._families = {i: self._family(i) for i, w in enumerate(self._setup.workloads) if w.owner is None}
        self._places = {n: place for place, one in enumerate(plan.layout.places) for n in one.nodes}
        self.rebuild()

    def _family(self, number: int) -> tuple[int, ...]:
        return tuple(m for m in family(self._setup, number) if not self._setup.workloads[m].resized)

    # -- pods -----------------------------------------------------------------------------------

    def rebuild(self) -> None:
        """Counts everything anew: after owners or revisions have changed."""
        self._spots: dict[Key, Spot] = {}
        self._amounts: Counter[Spot] = Counter()
        self._on: dict[str, Counter[Spot]] = {}
        self._jobs: dict[Key, int] = {}
        self._cells: dict[str, NodeCell] = {}
        self._shown: dict[int, Nodes] = {}  # places, as long as nothing changes there
        self._sizes: dict[str, int] = {}
        self._sets: dict[tuple[Key, int], int] = {}
        for key, _ in self._store.of_kind(POD):
            self.refresh(key)

    def refresh(self, key: Key) -> None:
        """Counts one pod as it is now."""
        before, pod = self._spots.pop(key, None), self._store.objects.get(key)
        if before is not None:
            self._count(before, -1)
        spot = None if pod is None else self._spot(key, pod)
        if spot is not None:
            self._spots[key] = spot
            self._count(spot, 1)

    def _count(self, spot: Spot, by: int) -> None:
        self._amounts[spot] += by
        self.forget_node(spot.node)
        if spot.node:
            here = self._on.setdefault(spot.node, Counter())
            here[spot] += by
            if not here[spot]:
                del here[spot]

    def _spot(self, key: Key, pod: Object) -> Spot | None:
        workload = self.number_of(key)
        if workload is None:
            return None
        phase = phase_of(pod)
        if phase is None:
            return Spot(workload, "", FAILED) if api_phase(pod) == "Failed" else None
        node = node_of(pod)
        if node:
            return Spot(workload, node, phase, self._size(pod))
        if phase == Phase.TERMINATING:
            return None
        wanted = _find_wanted_node(pod) if self._setup.workloads[workload].rules.runs_per_node else ""
        return Spot(workload, wanted, WAITING)

    def _size(self, pod: Object) -> int:
        """The number of a pod's requests: a vertical autoscaler makes pods that differ in nothing else."""
        asked = [mapping(mapping(c, "resources"), "requests") for c in items(mapping(pod, "spec"), "containers")]
        return self._sizes.setdefault(repr(asked), len(self._sizes))

    def find_known(self, key: Key) -> int | None:
        """The workload that an object counted for last, or would count for."""
        spot = self._spots.get(key)
        return spot.workload if spot is not None else self.number_of(key)

    def number_of(self, key: Key) -> int | None:
        """The workload of the plan that an object of the store belongs to; None if there is none."""
        root = self._store.root(key)
        number = self._numbers.get("/".join(root))
        if number is None:
            return None
        members, kind = self._families.get(number, (number,)), root[0]
        rules = KINDS[kind]
        if rules.owns_replica_sets:
            direct = self._replica_set(key)
            revision = self._store.revision_of(direct) if direct is not None else 0
            return members[min(revision, len(members) - 1)]
        if rules.runs_per_node:
            return members[min(self._store.revision_of(key), len(members) - 1)] if key != root else number
        if rules.has_ordinals and key[0] == POD:
            return self._ordinal(number, members[1:], key)
        if rules.starts_jobs and key != root:
            return self._job(members[1:], key)
        return number

    def _replica_set(self, key: Key) -> Key | None:
        return key if key[0] == REPLICA_SET else self._store.owners.get(key) if key[0] == POD else None

    def _ordinal(self, number: int, ordinals: tuple[int, ...], key: Key) -> int | None:
        text = key[2].rpartition("-")[2]
        revisions = revisions_of(self._setup, number)
        count = len(ordinals) // revisions
        place = int(text) - self._setup.workloads[number].stateful.start if text.isdigit() and len(text) < 9 else -1
        if not 0 <= place < count:
            return None
        return ordinals[min(self._store.revision_of(key), revisions - 1) * count + place]

    def _job(self, places: tuple[int, ...], key: Key) -> int | None:
        """The place that a Job of a CronJob takes among those that may be there at once."""
        job = key if key[0] == JOB else self._store.owners.get(key)
        if job is None:
            return None
        if job not in self._jobs:
            taken = {place for one, place in self._jobs.items() if one in self._store.objects}
            free = [place for place in places if place not in taken]
            if not free:
                return None
            self._jobs = {one: place for one, place in self._jobs.items() if place != free[0]}
            self._jobs[job] = free[0]
        return self._jobs[job]

    # -- workloads ------------------------------------------------------------------------------

    def workloads(self) -> tuple[WorkloadCell, ...]:
        """Every workload of the plan."""
        self._sets = {}
        for key, value in self._store.of_kind(REPLICA_SET):
            owner = self._store.owners.get(key)
            if owner is not None and owner[0] in OWNING_SETS:
                place = (owner, self._store.revision_of(key))
                self._sets[place] = self._sets.get(place, 0) + size_of(value)
        for key, _ in self._store.of_kind(JOB):
            self.number_of(key)  # Jobs take their places before anybody asks for them
        return tuple(self._workload(i, w) for i, w in enumerate(self._setup.workloads))

    def _workload(self, number: int, declared: Workload) -> WorkloadCell:
        cell = self._make_owned(number, declared) if declared.owner is not None else self._own(number, declared)
        unbound = self._amounts[Spot(number, "", WAITING)]
        return cell._replace(unbound=unbound, failed=self._amounts[Spot(number, "", FAILED)])

    def _own(self, number: int, declared: Workload) -> WorkloadCell:
        key: Key = (declared.kind, declared.namespace, declared.name)
        value = self._store.objects.get(key)
        if declared.rules.is_pod:
            there = int(key in self._store.once or value is not None)
            return WorkloadCell(there, there, NEVER)
        if value is None:
            kept = self._sets.get((key, 0), NEVER) if declared.rules.owns_replica_sets else NEVER
            return WorkloadCell(0, 0, kept, noted=REPLACED if key in self._store.replaced else NEVER)
        if declared.rules.owns_replica_sets:
            return WorkloadCell(1, size_of(value), self._sets.get((key, 0), NEVER), template=self._template(key))
        if declared.rules.runs_per_node:
            return WorkloadCell(1, nodes_wanted(self._setup, number), NEVER, template=self._template(key))
        if declared.rules.has_ordinals:
            return WorkloadCell(1, size_of(value), NEVER, template=self._template(key))
        if declared.rules.runs_to_completion:
            return WorkloadCell(1, size_of(value), NEVER, noted=_condition(value))
        return WorkloadCell(1, size_of(value), size_of(value))

    def _template(self, key: Key) -> int:
        number = self._numbers["/".join(key)]
        return min(self._store.current_revision(key), revisions_of(self._setup, number) - 1)

    def _make_owned(self, number: int, declared: Workload) -> WorkloadCell:
        """A later revision, an ordinal, or a place for a Job."""
        if declared.rules.counts_completions:
            return self._place_job(number)
        owner = str(declared.owner)
        members = self._families.get(self._numbers.get(owner, -1), ())
        if number in members and KINDS[owner.partition("/")[0]].owns_replica_sets:
            kind, namespace, name = owner.split("/")
            return WorkloadCell(1, 0, self._sets.get(((kind, namespace, name), members.index(number)), NEVER))
        return WorkloadCell(1, 0, NEVER)

    def _place_job(self, number: int) -> WorkloadCell:
        key = next((job for job, place in self._jobs.items() if place == number), None)
        value = self._store.objects.get(key) if key is not None else None
        if value is None:
            return WorkloadCell(0, 0, NEVER, noted=REPLACED if key in self._store.replaced else NEVER)
        return WorkloadCell(1, size_of(value), NEVER, noted=_condition(value))

    # -- nodes ----------------------------------------------------------------------------------

    def forget_node(self, name: str) -> None:
        """The node has changed, or may have."""
        self._cells.pop(name, None)
        if name in self._nodes:
            self._shown.pop(self._places[self._nodes[name]], None)

    def places(self) -> tuple[Nodes, ...]:
        """The nodes that are there, place by place; the very same value as long as nothing changes in a place."""
        for number, place in enumerate(self.plan.layout.places):
            if number not in self._shown:
                names = (self._setup.nodes[i].name for i in place.nodes)
                there = Counter(self.node(name) for name in names if ("Node", "", name) in self._store.objects)
                self._shown[number] = tuple(sorted(there.items()))
        return tuple(self._shown[number] for number in range(len(self.plan.layout.places)))

    def nodes(self) -> dict[int, NodeCell]:
        """The nodes that are there, by number."""
        there = ((name, index) for name, index in self._nodes.items() if ("Node", "", name) in self._store.objects)
        return {index: self.node(name) for name, index in there}

    def node(self, name: str) -> NodeCell:
        """One node with its pods."""
        if name not in self._cells:
            self._cells[name] = self._node(name, self._store.objects[("Node", "", name)])
        return self._cells[name]

    def _node(self, name: str, value: Object) -> NodeCell:
        here = self._on.get(name, Counter())
        taints = {(str(t.get("key")), str(t.get("effect"))) for t in items(mapping(value, "spec"), "taints")}
        ready = condition(value, "Ready") in ("", "True")
        marked = (UNREACHABLE, "NoSchedule") in taints
        pods = {PodKind(s.workload, s.phase, restarts=s.size): n for s, n in here.items() if s.phase >= 0}
        pinned = {s.workload: n for s, n in here.items() if s.phase == WAITING}
        return NodeCell(
            health=int(Health.UNKNOWN if not ready else Health.BACK if marked else Health.UP),
            cordoned=int(is_cordoned(value)),
            no_execute=int((UNREACHABLE, "NoExecute") in taints),
            work=int(Work.DRAIN) if self._is_drained(name, here) else 0,
            pods=tuple(sorted(pods.items())),
            pinned=tuple(sorted(pinned.items())),
        )

    def _is_drained(self, name: str, here: Counter[Spot]) -> bool:
        """True while somebody empties the node; a drain leaves the pods of DaemonSets alone."""
        kinds = {self._setup.workloads[spot.workload].kind for spot in here if spot.phase >= 0}
        return name in self._store.drained and bool(kinds - {DAEMON_SET})


def _find_wanted_node(pod: Object) -> str:
    """The node that a DaemonSet's pod names in its affinity."""
    affinity = mapping(mapping(mapping(pod, "spec"), "affinity"), "nodeAffinity")
    for term in items(mapping(affinity, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms"):
        for one in items(term, "matchFields"):
            values = one.get("values")
            if one.get("key") == "metadata.name" and isinstance(values, list) and values:
                return str(values[0])
    return ""


def _condition(job: Object) -> int:
    if condition(job, "Complete") == "True":
        return COMPLETE
    return FAILED_FOR_GOOD if condition(job, "Failed") == "True" else NONE
