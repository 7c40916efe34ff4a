"""Where pods may and must not be: affinity, anti-affinity, nodes that are named."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import Operation, Path, Plain, drop, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import HOST, POD_SPECS, Around, labels_of, pod_path
from kubeproof.verify.fix.edits import TRADE, TUNE, Edit, edit

PREFERRED, APART, PINNED = "affinity", "newAntiAffinity", "nodeName"
REQUIRED_FIELD = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED_FIELD = "preferredDuringSchedulingIgnoredDuringExecution"
REVISION = "pod-template-hash"


def propose_affinities(one: Written, _: Around) -> Iterator[Edit]:
    """What is required becomes preferred, revisions stand apart, pods are kept apart."""
    if one.kind not in POD_SPECS:
        return
    path = (*pod_path(one), "affinity")
    for name, plugin in (
        ("podAntiAffinity", "InterPodAffinity"), ("podAffinity", "InterPodAffinity"), ("nodeAffinity", "NodeAffinity"),
    ):  # fmt: skip
        if terms := one.at(*path, name, REQUIRED_FIELD):
            yield edit(
                PREFERRED, one, f"{name}: required -> preferred", *_soften(one, (*path, name), terms),
                cost=TUNE + TRADE, gives_up=f"{name} becomes a wish", answers=(plugin,),
            )  # fmt: skip
    yield from _per_revision(one, (*path, "podAntiAffinity", REQUIRED_FIELD))
    if one.kind not in ("DaemonSet", "Pod") and not one.at(*path, "podAntiAffinity", REQUIRED_FIELD):
        term = {"labelSelector": {"matchLabels": labels_of(one)}, "topologyKey": HOST}
        yield edit(
            APART, one, "at most one pod on a node (podAntiAffinity)",
            put(*path, "podAntiAffinity", REQUIRED_FIELD, 0, value=term), cost=TUNE + TRADE + 4,
            gives_up="a pod waits where every node has one", answers=("spread", "maxLoadSkew"),
        )  # fmt: skip


def _soften(one: Written, path: Path, terms: Plain) -> list[Operation]:
    already = one.at(*path, PREFERRED_FIELD) or []
    if path[-1] == "nodeAffinity":
        wishes = [{"weight": 100, "preference": term} for term in terms.get("nodeSelectorTerms", [])]
    else:
        wishes = [{"weight": 100, "podAffinityTerm": term} for term in terms]
    puts = [put(*path, PREFERRED_FIELD, len(already) + number, value=wish) for number, wish in enumerate(wishes)]
    return [*puts, drop(*path, REQUIRED_FIELD)]  # the removal last: it leaves no empty mapping behind


def _per_revision(one: Written, path: Path) -> Iterator[Edit]:
    """Pods of one revision keep apart, and let those of another share their nodes."""
    if one.kind != "Deployment":
        return
    for number, term in enumerate(one.at(*path) or []):
        keys = term.get("matchLabelKeys") or []
        wanted = (term.get("labelSelector") or {}).get("matchLabels") or {}
        if REVISION not in keys and wanted and wanted.items() <= labels_of(one).items():
            yield edit(
                PREFERRED, one, "podAntiAffinity: revisions apart (matchLabelKeys)",
                put(*path, number, "matchLabelKeys", len(keys), value=REVISION), cost=TUNE + TRADE,
                gives_up="in a rollout two revisions may share a node", answers=("InterPodAffinity",),
            )  # fmt: skip


def propose_unpinning(one: Written, _: Around) -> Iterator[Edit]:
    """A node that is named without the scheduler becomes one that the scheduler has to choose."""
    name = one.at(*pod_path(one), "nodeName") if one.kind in POD_SPECS and one.kind != "Pod" else None
    if name:
        yield edit(
            PINNED, one, "nodeName -> nodeSelector: the scheduler checks room and taints",
            put(*pod_path(one), "nodeSelector", HOST, value=name), drop(*pod_path(one), "nodeName"),
            cost=TUNE, answers=("readiness", ActorKind.KUBELET, ActorKind.TAINT_EVICTION),
        )  # fmt: skip
