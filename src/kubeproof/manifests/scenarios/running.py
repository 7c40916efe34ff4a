"""A run that begins with the pods of the input: whose they are, where they are, and what cannot be told of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kubeproof.cluster.kinds import DECLARED, REPLICA_SET
from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.objects import Workload
from kubeproof.cluster.running import PENDING, RunningPods, count_running
from kubeproof.cluster.state import NEVER, Phase
from kubeproof.manifests.kinds.workloads import PodStatus, ReadWorkload
from kubeproof.manifests.loaded import Omission
from kubeproof.manifests.yaml.printable import printable

HASH = "pod-template-hash"


class Owners:
    """Who stands behind a pod: the workload of the input that made what made it."""

    def __init__(self, reads: Iterable[ReadWorkload]) -> None:
        self._reads = {read.workload.ref: read for read in reads if read.pod is None}

    def root(self, read: ReadWorkload) -> str | None:
        """The first owner of all that is in the input; None if the next one is not."""
        owner = read.owner if read.owner in self._reads else self._guess(read)
        while owner is not None:
            above = self._reads[owner].owner
            if above is None or above not in self._reads:
                return owner
            owner = above
        return None

    def _guess(self, read: ReadWorkload) -> str | None:
        """The Deployment whose ReplicaSet was left out of the input, by the hash that it adds to its name."""
        kind, _, rest = (read.owner or "").partition("/")
        suffix = f"-{dict(read.workload.template.labels).get(HASH, '')}"
        if kind != REPLICA_SET or len(suffix) < 2 or not rest.endswith(suffix):
            return None
        refs = (f"{one.name}/{rest.removesuffix(suffix)}" for one in DECLARED if one.owns_replica_sets)
        return next((ref for ref in refs if ref in self._reads), None)

    def is_old(self, read: ReadWorkload, root: str) -> bool:
        """True for a pod of a ReplicaSet whose template is not the one that its Deployment asks for."""
        direct, main = self._reads.get(read.owner or ""), self._reads[root]
        if direct is None or direct is main or not main.workload.rules.owns_replica_sets:
            return False
        return _without_hash(direct.workload) != _without_hash(main.workload)

    def __getitem__(self, ref: str) -> Workload:
        return self._reads[ref].workload


def _without_hash(workload: Workload) -> object:
    labels = {key: value for key, value in workload.template.labels if key != HASH}
    return replace(workload.template, labels=as_labels(labels))


def running_pods(
    owned: Iterable[tuple[ReadWorkload, str]], owners: Owners, nodes: set[str]
) -> tuple[tuple[RunningPods, ...], list[Omission]]:
    """The pods with their workloads, and what a run cannot begin with."""
    found: list[RunningPods] = []
    omitted: list[Omission] = []
    kept: set[tuple[str, str]] = set()  # DaemonSet and node
    for read, root in owned:
        assert read.pod is not None, read
        why = _inexpressible(read.pod, owners[root], nodes, kept)
        if why:
            omitted.append(Omission(read.workload.ref, read.workload.source, why))
        else:
            found.append(_count_started(read.pod, owners[root]))
    return count_running(found), [*omitted, *_old(owned, owners)]


def _count_started(pod: PodStatus, workload: Workload) -> RunningPods:
    ordinal = pod.ordinal if workload.rules.has_ordinals else NEVER
    wanted = pod.wanted if workload.rules.runs_per_node else ""
    return RunningPods(workload.ref, pod.node or wanted, pod.phase, 1, ordinal)


def _inexpressible(pod: PodStatus, workload: Workload, nodes: set[str], kept: set[tuple[str, str]]) -> str:
    """Why a run cannot begin with the pod; "" if it can."""
    if workload.rules.starts_jobs:
        return f"{printable(workload.ref)} starts its Jobs anew"
    if pod.node and pod.node not in nodes:
        return f"it runs on {printable(pod.node)}, which is not in the input"
    if workload.rules.has_ordinals:
        first = workload.stateful.start
        if not first <= pod.ordinal < first + workload.replicas:
            return f"{printable(workload.ref)} does not want this ordinal any longer"
    if workload.rules.runs_per_node and pod.phase != Phase.TERMINATING:
        spot = (workload.ref, pod.node or pod.wanted)
        if spot[1] not in nodes or spot in kept:
            return f"one pod of {printable(workload.ref)} per node is modelled"
        kept.add(spot)
    if pod.phase == PENDING and pod.is_deleted:
        return "it is being deleted and has no node"
    return ""


def _old(owned: Iterable[tuple[ReadWorkload, str]], owners: Owners) -> Iterator[Omission]:
    told: set[str] = set()
    for read, root in owned:
        owner = read.owner or ""
        if owner not in told and owners.is_old(read, root):
            told.add(owner)
            why = f"its pods count as pods of what {printable(root)} asks for now"
            yield Omission(f"the old template of {printable(owner)}", read.workload.source, why)


def list_made_anew(owned: Iterable[tuple[ReadWorkload, str]]) -> list[Omission]:
    """What is listed where a run does not begin with these pods."""
    return [
        Omission(read.workload.ref, read.workload.source, f"{printable(read.owner or root)} creates it anew")
        for read, root in owned
    ]
