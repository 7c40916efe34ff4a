"""How pods are replaced: strategy, surge, what may be unavailable, and when a pod counts as available."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import Plain, drop, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import Around, replicas_of
from kubeproof.verify.fix.edits import TRADE, TUNE, Edit, edit

ROLLOUT, RECREATE, MIN_READY = "rollout", "recreate", "minReadySeconds"
ANSWERS = (ActorKind.DEPLOYMENT, "rolloutCompletes", "NodeResourcesFit", "InterPodAffinity", "PodTopologySpread")
PARALLEL, PAUSED = "podManagement", "paused"


def propose_rollouts(one: Written, _: Around) -> Iterator[Edit]:
    """Other numbers of a rolling update, another strategy, pods that have to prove themselves for a while."""
    if one.kind == "Deployment":
        yield from _deployment(one)
        if one.at("spec", "paused") is True:
            answers = (ActorKind.DEPLOYMENT, "minReady", "rolloutCompletes")
            yield edit(PAUSED, one, "paused false", put("spec", "paused", value=False), cost=TUNE, answers=answers)
    if one.kind == "DaemonSet":
        path = ("spec", "updateStrategy", "rollingUpdate")
        yield edit(
            ROLLOUT, one, "updateStrategy maxSurge 1, maxUnavailable 0",
            put(*path, "maxSurge", value=1), put(*path, "maxUnavailable", value=0), cost=TUNE, answers=ANSWERS,
        )  # fmt: skip
    if one.kind in ("Deployment", "DaemonSet", "StatefulSet"):
        now = one.at("spec", "minReadySeconds") or 0
        for seconds in (10, 30, 60):
            if seconds > now:
                does = f"minReadySeconds {now} -> {seconds}"
                operation = put("spec", "minReadySeconds", value=seconds)
                yield edit(MIN_READY, one, does, operation, cost=TUNE + 1, gives_up="rollouts take longer")
    if one.kind == "StatefulSet" and one.at("spec", "podManagementPolicy") != "Parallel":
        yield edit(
            PARALLEL, one, "podManagementPolicy Parallel", put("spec", "podManagementPolicy", value="Parallel"),
            cost=TUNE + TRADE, gives_up="the order of its pods; the field is immutable: delete the StatefulSet with "
            "--cascade=orphan first", answers=(ActorKind.STATEFUL_SET,),
        )  # fmt: skip


def _deployment(one: Written) -> Iterator[Edit]:
    path, pods = ("spec", "strategy"), replicas_of(one)
    kind, numbers = one.at(*path, "type") or "RollingUpdate", one.at(*path, "rollingUpdate") or {}
    now = (numbers.get("maxSurge", "25%"), numbers.get("maxUnavailable", "25%"))
    switch = () if kind == "RollingUpdate" else (put(*path, "type", value="RollingUpdate"),)
    for surge, unavailable in _pairs(now):
        if (surge, unavailable) == now and not switch:
            continue
        writes = [
            put(*path, "rollingUpdate", key, value=value)
            for key, value, before in (("maxSurge", surge, now[0]), ("maxUnavailable", unavailable, now[1]))
            if value != before or (switch and value == 0)
        ]
        missing = _round_down(unavailable, pods)
        more = missing - _round_down(now[1], pods)
        gives_up = f"in a rollout up to {missing} of {pods} pods may be missing" if more > 0 and not switch else ""
        if switch:
            gives_up = "in a rollout old pods and new ones run at once"
        does = "strategy Recreate -> RollingUpdate: " if switch else ""
        yield edit(
            ROLLOUT, one, f"{does}maxSurge {surge}, maxUnavailable {unavailable}", *switch, *writes,
            cost=TUNE + (TRADE if gives_up else 0) + 4 * max(0, more - 1) + (4 * TRADE if missing >= pods > 1 else 0),
            gives_up=gives_up, answers=ANSWERS,
        )  # fmt: skip
    if kind == "RollingUpdate":
        clear = (drop(*path, "rollingUpdate"),) if numbers else ()
        yield edit(
            RECREATE, one, "strategy Recreate", *clear, put(*path, "type", value="Recreate"),
            cost=TUNE + 4 * TRADE, gives_up="in a rollout no pod is there for a while", answers=ANSWERS,
        )  # fmt: skip


def _pairs(now: tuple[Plain, Plain]) -> Iterator[tuple[Plain, Plain]]:
    """maxSurge and maxUnavailable: one of them changed first."""
    yield from ((now[0], value) for value in (0, 1, "25%", 2) if not (value == 0 and now[0] == 0))
    yield from ((1, now[1]), (1, 0), (0, 1), (2, 0), (1, 1))


def _round_down(value: Plain, pods: int) -> int:
    """A number or percentage of pods, as a Deployment reads maxUnavailable."""
    if isinstance(value, int):
        return value
    digits = str(value).removesuffix("%")
    return int(digits) * pods // 100 if digits.isdecimal() else 0
