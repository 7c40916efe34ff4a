"""Why loops that keep up pods leave things as they are: ordinals that wait for others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
RULES = (ORDINAL_IS_TAKEN, ORDINAL_WAITS)


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
    later = [one for one in wanted if one > first and (one not in pods or not pods[one].is_new)]
    old = not pods[first].is_new
    if later or old:
        names = ", ".join(f"{declared.name}-{one}" for one in later) or f"{declared.name}-{first} of the new revision"
        says = f"waits until {declared.name}-{first} is ready before it goes on to {names} (OrderedReady)"
        change = f"make {declared.name}-{first} ready, or write podManagementPolicy: Parallel"
        yield Idle(ORDINAL_WAITS, says, change, (("ordinal", first),))


def _is_at_rest(pod: Replica) -> bool:
    return pod.is_running_and_ready and pod.is_available and not pod.is_ending
