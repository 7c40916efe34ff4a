"""Taints and tolerations: who may run where, and for how long on a node that is gone."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import Plain, drop, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import POD_SPECS, Around, pod_path
from kubeproof.verify.fix.edits import CLUSTER, TRADE, TUNE, Edit, edit

TOLERATION, SECONDS, TAINT = "toleration", "tolerationSeconds", "taint"
GONE = ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready")
FINITE = ("Job", "CronJob")  # who waits on a dead node for ever never gets done
AWAY = (ActorKind.TAINT_EVICTION, ActorKind.NODE_CONTROLLER, "toleration", "dead node", "VolumeBinding")


def propose_tolerations(one: Written, around: Around) -> Iterator[Edit]:
    """A toleration of what nodes have, other seconds for nodes that are gone, none of what it has."""
    if one.kind not in POD_SPECS:
        return
    path = (*pod_path(one), "tolerations")
    own = one.at(*path) or []
    for taint in _taints(around):
        if not any(_tolerates(entry, taint) for entry in own):
            entry = {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
            yield edit(
                TOLERATION, one, f"tolerates {taint['key']}", put(*path, len(own), value=entry), cost=TUNE + TRADE // 2,
                gives_up=f"its pods may run on nodes with the taint {taint['key']}",
                answers=("TaintToleration", ActorKind.TAINT_EVICTION),
            )  # fmt: skip
    for number, entry in enumerate(own):
        yield edit(
            TOLERATION, one, f"no toleration of {entry.get('key', 'everything')}", drop(*path, number),
            cost=TUNE + TRADE, gives_up="its pods may run on fewer nodes", answers=AWAY,
        )  # fmt: skip
    if one.kind != "DaemonSet":
        yield from _seconds(one, path, own)


def _seconds(one: Written, path: tuple[str | int, ...], own: Plain) -> Iterator[Edit]:
    stated = {entry.get("key"): number for number, entry in enumerate(own) if entry.get("key") in GONE}
    for seconds, lost, price in (
        (30, "short losses of a node move its pods, too", 0),
        (3600, "its pods are replaced an hour after a node is lost", 3),
        (None, "its pods are never evicted from a node that is gone", TRADE),
    ):
        if seconds is None and one.kind in FINITE:
            continue
        writes = []
        for more, key in enumerate(GONE):
            place = stated.get(key, len(own) + more - len(stated))
            entry = {"key": key, "operator": "Exists", "effect": "NoExecute"}
            value = entry if seconds is None else entry | {"tolerationSeconds": seconds}
            if key in stated and own[place] == value:
                continue
            writes.append(put(*path, place, value=value))
        if writes and (not stated or len(stated) == len(GONE)):
            told = "for ever" if seconds is None else f"for {seconds} s"
            yield edit(
                SECONDS, one, f"tolerates lost nodes {told}", *writes, cost=TUNE + TRADE + price, gives_up=lost,
                answers=AWAY,
            )  # fmt: skip


def _taints(around: Around) -> list[Plain]:
    found = [taint for node in around.of_kind("Node") for taint in node.at("spec", "taints") or []]
    return list({(taint.get("key"), taint.get("effect")): taint for taint in found if taint.get("key")}.values())


def _tolerates(entry: Plain, taint: Plain) -> bool:
    is_key = entry.get("key") in (None, "", taint.get("key"))
    is_value = entry.get("operator") == "Exists" or entry.get("value") == taint.get("value")
    return is_key and is_value and entry.get("effect") in (None, "", taint.get("effect"))


def propose_taints(one: Written, around: Around) -> Iterator[Edit]:
    """A taint less on a node; taints on the nodes that a workload chooses and whose taint it tolerates already."""
    if one.kind == "Node":
        for number, taint in enumerate(one.at("spec", "taints") or []):
            yield edit(
                TAINT, one, f"without its taint {taint.get('key')}", drop("spec", "taints", number),
                cost=TUNE + CLUSTER, gives_up="what the taint is for", answers=(ActorKind.TAINT_EVICTION,),
            )  # fmt: skip
        return
    wanted = one.at(*pod_path(one), "nodeSelector") if one.kind in POD_SPECS else None
    for entry in (one.at(*pod_path(one), "tolerations") or []) if wanted else []:
        if entry.get("key") and entry.get("effect") in ("NoSchedule", "NoExecute"):
            yield from _dedicate(around, wanted, entry)


def _dedicate(around: Around, wanted: Plain, entry: Plain) -> Iterator[Edit]:
    taint = {key: entry[key] for key in ("key", "value", "effect") if key in entry}
    chosen = [
        node
        for node in around.of_kind("Node")
        if wanted.items() <= (node.at("metadata", "labels") or {}).items()
        and not any(own.get("key") == entry["key"] for own in node.at("spec", "taints") or [])
    ]
    if chosen:
        changes = tuple(
            (node, (put("spec", "taints", len(node.at("spec", "taints") or []), value=taint),)) for node in chosen
        )
        yield Edit(
            TAINT, f"the taint {entry['key']} on {len(chosen)} nodes", changes, TUNE + CLUSTER + len(chosen),
            gives_up="other pods cannot run there", answers=frozenset({"NodeResourcesFit", ActorKind.DAEMON_SET}),
        )  # fmt: skip
