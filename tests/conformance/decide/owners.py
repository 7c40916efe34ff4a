"""Our decisions about the pods of DaemonSets, StatefulSets and Jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kubeproof.cluster import jobs
from kubeproof.cluster.api.versions import START_ORDINAL
from kubeproof.cluster.labels import Taint
from kubeproof.cluster.nodes.daemons import eligibility
from kubeproof.cluster.objects import Node, Workload
from kubeproof.controllers.workloads import job_sync
from kubeproof.controllers.workloads.daemon_nodes import ALIVE, DaemonPod, node_work
from kubeproof.controllers.workloads.daemon_update import NodePods, old_and_new, surges, update
from kubeproof.controllers.workloads.stateful_sync import Replica, sync
from kubeproof.manifests.kinds.jobs import read_job
from kubeproof.manifests.kinds.stateful_sets import read_stateful_set
from tests.conformance.corpus import Case, Decision, version_of
from tests.conformance.objects import fields, read

FINISHED = ("Succeeded", "Failed")


class AnyOf(dict[str, Any]):
    """Decisions of which upstream takes one: it goes through nodes in random order. Equal to each of them."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, dict):
            return NotImplemented
        creates, deletes = set(other["create"]), set(other["delete"])
        taken = (creates - set(self["create"])) | (deletes - set(self["delete"]))
        return (
            set(self["create"]) <= creates
            and set(self["delete"]) <= deletes
            and all(len(taken & set(names)) == count for names, count in self["any"])
            and taken <= {name for names, _ in self["any"] for name in names}
        )

    __hash__ = None  # type: ignore[assignment]


def daemonset(case: Case, upstream: str) -> Decision:
    """Nodes that get a pod, and pods that are deleted, in one sync."""
    declared = read(case["daemonset"]).workloads[0].workload
    pods = [{**pod, "available": is_available(pod, declared.min_ready_s, upstream)} for pod in case["pods"]]
    groups = {node["metadata"]["name"]: _on_node(declared, node, pods) for node in case["nodes"]}
    creates, deletes = [], []
    for name, group in groups.items():
        work = node_work(group.where, group.pods, surges=surges(declared.strategy))
        creates += [name] if work.creates else []
        deletes += work.deletes
    if creates or deletes:  # the update waits until these are done
        return {"create": sorted(creates), "delete": sorted(map(str, deletes))}
    return _updated(declared, groups, version_of(upstream))


def _updated(declared: Workload, groups: Mapping[str, NodePods], version: tuple[int, int]) -> AnyOf:
    """The same for the rolling update."""
    names, all_groups = list(groups), list(groups.values())
    done = update(all_groups, declared.strategy, version)
    is_surging = surges(declared.strategy)
    candidates = [names[i] if is_surging else _old(all_groups[i]) for i in done.candidates]
    return AnyOf(
        {
            "create": [names[i] for i in done.creates],
            "delete": [_old(all_groups[i]) for i in done.deletes],
            "any": [(candidates, done.chosen), ([_old(all_groups[i]) for i in done.sunset], done.removed)],
        }
    )


def _old(group: NodePods) -> str:
    return str(old_and_new(group.pods)[0][0].name)


def _on_node(declared: Workload, node: Mapping[str, Any], pods: list[Mapping[str, Any]]) -> NodePods:
    metadata, spec = node["metadata"], node["spec"]
    taints = tuple(Taint(taint["key"], "", taint["effect"]) for taint in spec.get("taints", ()))
    sample = Node(metadata["name"], tuple(sorted(metadata.get("labels", {}).items())), taints)
    own = tuple(_daemon_pod(pod) for pod in pods if pod["node"] == metadata["name"])
    return NodePods(eligibility(declared.template, sample, taints), own)


def is_available(pod: Mapping[str, Any], min_ready_s: int, upstream: str) -> bool:
    """Ready for minReadySeconds; v1.26 asks for more than that. Runs know ready pods only."""
    longer = 1 if upstream == "kubernetes-1.26" and min_ready_s else 0
    return bool(pod["ready"]) and pod["since"] >= min_ready_s + longer


def _daemon_pod(pod: Mapping[str, Any]) -> DaemonPod:
    phase = pod["phase"] if pod["phase"] in FINISHED else ALIVE
    rank = (-pod["created"],)
    return DaemonPod(pod["name"], pod["updated"], pod["ready"], pod["available"], pod.get("ending", False), phase, rank)


def statefulset(case: Case, upstream: str) -> Decision:
    """Ordinals that are created, with their revision, and that are deleted, in one sync."""
    declared = read_stateful_set(fields(case["statefulset"])).workload
    version = version_of(upstream)
    rules = declared.stateful if START_ORDINAL.holds_in(version) else replace(declared.stateful, start=0)
    is_updating = case["statefulset"]["spec"]["template"]["spec"]["containers"][0]["image"] != "v0"
    pods = {
        int(pod["name"].removeprefix("x-")): _replica(pod, declared.min_ready_s, upstream, is_updating)
        for pod in case["pods"]
    }
    done = sync(rules, declared.replicas, pods, version)
    created = [f"x-{n} updated" if is_new or not is_updating else f"x-{n}" for n, is_new in done.creates]
    return {"create": sorted(created), "delete": sorted(f"x-{ordinal}" for ordinal in done.deletes)}


def _replica(pod: Mapping[str, Any], min_ready_s: int, upstream: str, is_updating: bool) -> Replica:
    available = is_available(pod, min_ready_s, upstream)
    is_new = pod["updated"] or not is_updating
    return Replica(is_new, pod["phase"], pod["ready"], available, pod.get("ending", False))


COMPLETIONS_REACHED = "CompletionsReached"


def job(case: Case, upstream: str) -> Decision:
    """Pods that are created, by index, and deleted, and the status, after a sync of a Job an hour old."""
    declared = read_job(fields(case["job"])).workload
    version = version_of(upstream)
    pods = [_job_pod(pod) for pod in case["pods"]]
    before = _record(case["job"].get("status", {}), version)
    done = job_sync.sync(declared.job, declared.replicas, pods, before, version)
    record = done.record
    conditions = [
        f"{c['type']} {c['status']} {c['reason']}" for c in case["job"].get("status", {}).get("conditions", ())
    ]
    conditions += [told for told in _conditions(declared, record, version) if told not in conditions]
    active = done.active if record.condition == jobs.NONE else 0
    return {
        "create": sorted("" if index is None else str(index) for index in done.creates),
        "delete": sorted(done.deletes),
        "status": [active, record.succeeded, record.failed, *conditions],
    }


def _record(status: Mapping[str, Any], version: tuple[int, int]) -> job_sync.Record:
    """What earlier syncs have counted; v1.26 does not know that success may be decided before the end."""
    indexes = frozenset(int(index) for index in status.get("completedIndexes", "").split(",") if index)
    condition, reason = jobs.NONE, ""
    for one in status.get("conditions", ()):
        if one["type"] == "FailureTarget":
            condition, reason = jobs.FAILURE_TARGET, one["reason"]
        elif version >= job_sync.PATIENT_SINCE:
            condition = jobs.SUCCESS_MET
    counted = status.get("succeeded", 0), status.get("failed", 0)
    return job_sync.Record(*counted, active_s=3600, succeeded_indexes=indexes, condition=condition, reason=reason)


def _conditions(declared: Workload, record: job_sync.Record, version: tuple[int, int]) -> list[str]:
    """The conditions as the status has them; those before the final one came after v1.26."""
    is_late = version >= job_sync.PATIENT_SINCE
    met = COMPLETIONS_REACHED if is_late else ""
    names = {
        jobs.FAILURE_TARGET: [f"FailureTarget True {record.reason}"],
        jobs.FAILED_FOR_GOOD: [f"FailureTarget True {record.reason}", f"Failed True {record.reason}"],
        jobs.SUCCESS_MET: [f"SuccessCriteriaMet True {met}"],
        jobs.COMPLETE: [f"SuccessCriteriaMet True {met}", f"Complete True {met}"],
    }
    suspended = ["Suspended True JobSuspended"] if declared.job.suspended else []
    found = names.get(record.condition, suspended)
    return found if is_late else found[-1:]


def _job_pod(pod: Mapping[str, Any]) -> job_sync.JobPod:
    return job_sync.JobPod(
        pod["name"],
        pod["phase"],
        pod["ready"],
        pod.get("ending", False),
        int(pod["index"]) if "index" in pod else None,
        pod["restarts"],
        pod["since"] if pod["phase"] in FINISHED else 0,
        pod["since"],
        pod["created"],
        is_counted=pod.get("counted", False),
    )
