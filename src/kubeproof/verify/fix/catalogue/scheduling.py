"""The scheduler's profile: what it scores nodes by."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import Plain, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import Around
from kubeproof.verify.fix.edits import CLUSTER, NEW_OBJECT, TUNE, Edit, edit

PROFILE = "schedulerProfile"
CONFIGURATION = "KubeSchedulerConfiguration"
PACKING = "HighNodeUtilization"
LOST = "pods of every workload are packed on few nodes, and lost together with them"


def propose_packing(one: Written, around: Around) -> Iterator[Edit]:
    """A scheduler that packs, as a descheduler wants it that empties nodes: otherwise the two undo each other."""
    existing = list(around.of_kind(CONFIGURATION))
    if one.kind == CONFIGURATION and len(one.at("profiles") or ()) == 1 and not one.at("profiles", 0, "pluginConfig"):
        yield edit(
            PROFILE, one, "scores by MostAllocated", put("profiles", 0, "pluginConfig", 0, value=_most_allocated()),
            cost=TUNE + CLUSTER, gives_up=LOST, answers=(ActorKind.DESCHEDULER, ActorKind.SCHEDULER),
        )  # fmt: skip
    if one.kind != "DeschedulerPolicy" or existing or PACKING not in str(one.at("profiles")):
        return
    for is_alone in (False, True):
        told = "and by nothing else" if is_alone else "beside its other scores"
        yield edit(
            PROFILE, one, f"a scheduler profile that scores by MostAllocated {told}", added=[_profile(is_alone)],
            cost=TUNE + CLUSTER + NEW_OBJECT + is_alone, gives_up=LOST, answers=(ActorKind.DESCHEDULER,),
        )  # fmt: skip


def _most_allocated() -> Plain:
    resources = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    return {
        "name": "NodeResourcesFit",
        "args": {"scoringStrategy": {"type": "MostAllocated", "resources": resources}},
    }


def _profile(is_alone: bool) -> Plain:
    alone = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit", "weight": 1}]}}
    profile: Plain = {"schedulerName": "default-scheduler", **({"plugins": alone} if is_alone else {})}
    profile["pluginConfig"] = [_most_allocated()]
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": CONFIGURATION, "profiles": [profile]}
