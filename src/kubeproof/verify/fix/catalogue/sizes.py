"""How many pods there are: replicas, and who may write them."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import drop, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import SIZED, Around, replicas_of, sum_requests
from kubeproof.verify.fix.edits import LAST, REPLICA, TUNE, Edit, edit

MORE, FEWER, OWNER = "replicas", "fewerReplicas", "replicasOwner"
MOST_MORE = 4


def propose_sizes(one: Written, around: Around) -> Iterator[Edit]:
    """More pods, and at the very end fewer; those of an autoscaler are its own business."""
    if one.kind not in SIZED:
        return
    if around.autoscalers_of(one):
        yield from _leave_to_autoscaler(one, around)
        return
    now = replicas_of(one)
    for number in (*range(now + 1, now + MOST_MORE + 1), *range(now - 1, 0, -1)):
        yield set_replicas(one, number)


def set_replicas(one: Written, number: int) -> Edit:
    """Another spec.replicas."""
    now = replicas_of(one)
    more = number - now
    cpu_m, memory = more * sum_requests(one, "cpu"), more * sum_requests(one, "memory")
    does, write = f"spec.replicas {now} -> {number}", put("spec", "replicas", value=number)
    if more < 0:
        return edit(
            FEWER, one, does, write, cost=LAST - REPLICA * more, gives_up=f"{-more} of {now} pods", pods=more,
            cpu_m=cpu_m, memory=memory,
        )  # fmt: skip
    return edit(
        MORE, one, does, write, cost=TUNE + REPLICA * more, answers=("dead node", ActorKind.DRAIN), pods=more,
        cpu_m=cpu_m, memory=memory,
    )  # fmt: skip


def _leave_to_autoscaler(one: Written, around: Around) -> Iterator[Edit]:
    """Nobody but the autoscaler says how many; who applies a manifest without a number says 1."""
    if one.applied_by and one.at("spec", "replicas") is None:
        least = max(scaler.at("spec", "minReplicas") or 1 for scaler in around.autoscalers_of(one))
        yield edit(
            OWNER, one, f"spec.replicas {least}, the autoscaler's minimum", put("spec", "replicas", value=least),
            cost=TUNE, answers=(ActorKind.GITOPS, ActorKind.HPA),
        )  # fmt: skip
    if one.at("spec", "replicas") is not None:
        yield edit(
            OWNER, one, "leave spec.replicas to the autoscaler", drop("spec", "replicas"), cost=TUNE,
            answers=(ActorKind.GITOPS, ActorKind.HPA),
        )  # fmt: skip


def propose_ignoring(one: Written, around: Around) -> Iterator[Edit]:
    """GitOps leaves alone what an autoscaler writes."""
    if one.kind != "Application":
        return
    for workload in around.of_kind(*SIZED):
        if around.autoscalers_of(workload):
            entry = {"group": "apps", "kind": workload.kind, "name": workload.name, "jsonPointers": ["/spec/replicas"]}
            ignored = one.at("spec", "ignoreDifferences") or []
            options = one.at("spec", "syncPolicy", "syncOptions") or []
            yield edit(
                OWNER, one, f"ignore spec.replicas of {workload.ref}",
                put("spec", "ignoreDifferences", len(ignored), value=entry),
                put("spec", "syncPolicy", "syncOptions", len(options), value="RespectIgnoreDifferences=true"),
                cost=TUNE, answers=(ActorKind.GITOPS,),
            )  # fmt: skip
