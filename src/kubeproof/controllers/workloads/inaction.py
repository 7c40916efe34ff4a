"""Why loops that keep up pods leave things as they are: ordinals that wait for others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubeproof.cluster.loops.inaction import Idle, Rule, Trouble
from kubeproof.cluster.objects import Workload
from kubeproof.controllers.workloads.stateful_sync import Replica

ORDINAL_IS_TAKEN = Rule(
    "ordinal-still-there",
    "There is at most one pod of each ordinal: a StatefulSet creates it anew only when the object of the old one is "
    "gone. On a node whose kubelet is silent nobody confirms that it has ended.",
    "pkg/controller/statefulset/stateful_set_control.go",
    (Trouble.DEAD_NODE, Trouble.NOT_READY, Trouble.ROLLOUT),
)
ORDINAL_WAITS = Rule(
    "ordinal-waits-for-lower",
    "With podManagementPolicy OrderedReady the sync stops at the first ordinal that is not ready: higher ones are "
    "neither created nor updated, and a broken revision is not even rolled back.",
    "pkg/controller/statefulset/stateful_set_control.go",
    (Trouble.NOT_READY, Trouble.ROLLOUT, Trouble.PENDING),
)
NO_CONTROLLER = Rule(
    "nobody-replaces-it",
    "A Pod that no controller owns is gone when it is deleted, or lost with its node: nobody creates another one.",
    "pkg/controller/controller_ref_manager.go",
    (Trouble.REPLICAS, Trouble.TAKEN),
)
AS_WRITTEN = Rule(
    "size-as-written",
    "The number of pods follows spec.replicas, whoever wrote it last. Only an autoscaler keeps a minimum or a maximum.",
    "pkg/controller/replicaset/replica_set.go",
    (Trouble.REPLICAS,),
)
BY_RANK = Rule(
    "victims-by-rank",
    "Scaling down takes pods without a node first, then those that are not ready, of low deletion cost, on nodes with "
    "many of them, and young ones. Zones and spread constraints have no say.",
    "pkg/controller/controller_utils.go",
    (Trouble.PLACES,),
)
JOB_ENDS = Rule(
    "job-forgives-so-many",
    "A Job fails for good once more of its pods have failed than backoffLimit forgives, or its deadline is over; pods "
    "that are lost or evicted count unless podFailurePolicy ignores them.",
    "pkg/controller/job/job_controller.go",
    (Trouble.COMPLETION,),
)
RULES = (ORDINAL_IS_TAKEN, ORDINAL_WAITS, NO_CONTROLLER, AS_WRITTEN, BY_RANK, JOB_ENDS)


def why_ordinals_wait(declared: Workload, replicas: int, pods: Mapping[int, Replica]) -> Iterator[Idle]:
    """The ordinals that end and are not replaced meanwhile, and the one at which an ordered sync stops."""
    rules = declared.stateful
    wanted = range(rules.start, rules.start + replicas)
    for ordinal in (one for one in wanted if one in pods and pods[one].is_ending):
        says = f"creates no new {declared.name}-{ordinal} while the old one is still terminating"
        yield Idle(ORDINAL_IS_TAKEN, says, numbers=(("ordinal", ordinal),))
    first = next((one for one in wanted if one not in pods or not _is_at_rest(pods[one])), None)
    if rules.parallel or first is None or first not in pods or pods[first].is_ending:
        return
    missing = [one for one in wanted if one > first and one not in pods]
    old = [one for one in wanted if one in pods and not pods[one].is_new]
    if missing or old:
        names = ", ".join(f"{declared.name}-{one}" for one in dict.fromkeys((*missing, *old)))
        says = f"waits until {declared.name}-{first} is ready before it goes on to {names} (OrderedReady)"
        change = f"make {declared.name}-{first} ready, or write podManagementPolicy: Parallel"
        yield Idle(ORDINAL_WAITS, says, change, (("ordinal", first),))


def _is_at_rest(pod: Replica) -> bool:
    return pod.is_running_and_ready and pod.is_available and not pod.is_ending


def why_gone(ref: str) -> Idle:
    """That nobody replaces a Pod."""
    says = f"creates no other pod for {ref}: no controller owns it"
    return Idle(NO_CONTROLLER, says, "put it under a Deployment, a StatefulSet or a Job", object=ref)


def why_so_many(ref: str, desired: int) -> Idle:
    """That a number is kept because it is written."""
    says = f"keeps {desired} pod(s) of {ref}, as spec.replicas says"
    change = f"write another spec.replicas into {ref}, or let an autoscaler keep bounds"
    return Idle(AS_WRITTEN, says, change, (("replicas", desired),), ref)


def why_those(ref: str, lost: int) -> Idle:
    """That a scale-down knows no domains."""
    says = f"deletes {lost} pod(s) of {ref} by rank, wherever they are"
    return Idle(BY_RANK, says, "let a descheduler even out what scaling down leaves", (("deleted", lost),), ref)


def why_job_ends(lines: Sequence[str]) -> Idle:
    """How far a Job has come, and what it forgives."""
    return Idle(JOB_ENDS, "; ".join(lines), "raise backoffLimit or activeDeadlineSeconds, or ignore disruptions")
