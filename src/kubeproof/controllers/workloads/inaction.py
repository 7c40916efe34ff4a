"""Why loops that keep up pods leave things as they are: ordinals that wait for others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubeproof.cluster.loops.inaction import Field, Idle, Rule, Trouble
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
ONLY_POD = Rule(
    "only-pod",
    "Where one pod is all that is wanted, none is ready whenever that one is replaced, moved or started again.",
    "pkg/controller/replicaset/replica_set.go",
    (Trouble.TAKEN,),
)
NO_SPARE = Rule(
    "no-pod-to-spare",
    "Where as many pods have to be ready as there are, there are too few as soon as any of them is not.",
    "pkg/controller/replicaset/replica_set.go",
    (Trouble.TAKEN,),
)
RULES = (ORDINAL_IS_TAKEN, ORDINAL_WAITS, NO_CONTROLLER, AS_WRITTEN, BY_RANK, JOB_ENDS, ONLY_POD, NO_SPARE)
REPLICAS = "spec.replicas"


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
        fields = (Field(declared.declared_as, "spec.podManagementPolicy"),)
        yield Idle(ORDINAL_WAITS, says, change, (("ordinal", first),), fields=fields)


def _is_at_rest(pod: Replica) -> bool:
    return pod.is_running_and_ready and pod.is_available and not pod.is_ending


def why_gone(ref: str) -> Idle:
    """That nobody replaces a Pod."""
    says = f"creates no other pod for {ref}: no controller owns it"
    change = f"put {ref} under a Deployment, a StatefulSet or a Job"
    return Idle(NO_CONTROLLER, says, change, object=ref, fields=(Field(ref),))


def why_so_many(ref: str, desired: int, wanted: int) -> Idle:
    """That a number is kept because it is written."""
    says = f"keeps {desired} pod(s) of {ref}, as spec.replicas says"
    change = f"let nobody write less than spec.replicas: {wanted} into {ref}, or let an autoscaler keep that minimum"
    lowers = f"write spec.replicas: {wanted} into {ref}, or less"
    return Idle(AS_WRITTEN, says, change, (("replicas", desired),), ref, (Field(ref, REPLICAS),), lowers)


def why_none_to_spare(declared: Workload, size: int, needed: int, sized_by: Field) -> Idle:
    """That any loss of a pod is one too many; who says how many there are is named as a field."""
    ref = declared.declared_as
    written = f"{sized_by.path.rpartition('.')[2]} of {sized_by.object}" if sized_by.object != ref else sized_by.path
    if size == 1:
        says = f"keeps 1 pod of {ref}, as {written} says: while it is away none is ready"
        keeps = declared.template.claims or declared.claim_templates
        share = "if its data is replicated or can be shared" if keeps else "if they can work side by side"
        change = f"run at least 2 pods of {ref}, on different nodes, {share}"
        return Idle(ONLY_POD, says, change, (("pods", 1), ("needed", needed)), ref, (sized_by,))
    says = f"keeps {size} pods of {ref}, as {written} says, and {needed} have to be ready: there is none to spare"
    change = f"run at least {needed + 1} pods of {ref}"
    return Idle(NO_SPARE, says, change, (("pods", size), ("needed", needed)), ref, (sized_by,))


def why_those(ref: str, lost: int) -> Idle:
    """That a scale-down knows no domains."""
    says = f"deletes {lost} pod(s) of {ref} by rank, wherever they are"
    change = f"let a descheduler even out what scaling down leaves of {ref}"
    return Idle(BY_RANK, says, change, (("deleted", lost),), ref)


def why_job_ends(declared: Workload, lines: Sequence[str]) -> Idle:
    """How far a Job has come, and what it forgives."""
    ref, rules = declared.declared_as, declared.job
    change = f"let {ref} forgive more than {rules.backoff_limit} failures (backoffLimit)"
    if rules.deadline_s is not None:
        change += f", or allow it more than activeDeadlineSeconds {rules.deadline_s}"
    return Idle(JOB_ENDS, "; ".join(lines), change, fields=(Field(ref, "spec.backoffLimit"),))
