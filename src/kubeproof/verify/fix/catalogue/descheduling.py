"""The descheduler: its plugins and their arguments."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import Operation, Path, Plain, drop, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import Around
from kubeproof.verify.fix.edits import TRADE, TUNE, Edit, edit

ARGUMENTS, PLUGIN = "deschedulerArguments", "deschedulerPlugin"
ANSWERS = (ActorKind.DESCHEDULER,)
EVICTOR = "DefaultEvictor"


def propose_descheduling(one: Written, _: Around) -> Iterator[Edit]:
    """Arguments under which it does less, and plugins that are off."""
    if one.kind != "DeschedulerPolicy":
        return
    for number, profile in enumerate(one.at("profiles") or []):
        path: Path = ("profiles", number)
        for point, lists in (profile.get("plugins") or {}).items():
            enabled = (lists or {}).get("enabled") or []
            for place, plugin in enumerate(enabled):
                yield edit(
                    PLUGIN, one, f"without {plugin}", drop(*path, "plugins", point, "enabled", place),
                    cost=TUNE + 2 * TRADE, gives_up=f"what {plugin} mends stays as it is", answers=ANSWERS,
                )  # fmt: skip
                yield from _arguments(one, path, plugin)
        yield from _evictor(one, path)


def _argument_path(one: Written, path: Path, plugin: str) -> tuple[Path, tuple[Operation, ...], Plain]:
    """Where the arguments of a plugin are, what to write first so that they are there, and what they say."""
    configs = one.at(*path, "pluginConfig") or []
    for number, config in enumerate(configs):
        if config.get("name") == plugin:
            return (*path, "pluginConfig", number, "args"), (), config.get("args") or {}
    place = (*path, "pluginConfig", len(configs))
    return (*place, "args"), (put(*place, value={"name": plugin}),), {}


def _arguments(one: Written, path: Path, plugin: str) -> Iterator[Edit]:
    place, first, now = _argument_path(one, path, plugin)

    def change(does: str, operation: Operation, gives_up: str) -> Edit:
        told = f"{plugin}: {does}"
        cost = TUNE + TRADE // 2
        return edit(ARGUMENTS, one, told, *first, operation, cost=cost, gives_up=gives_up, answers=ANSWERS)

    if plugin == "RemovePodsViolatingTopologySpreadConstraint" and "ScheduleAnyway" in (now.get("constraints") or ()):
        hard = put(*place, "constraints", value=["DoNotSchedule"])
        yield change(
            "hard constraints only", hard, "soft constraints are looked at when pods are scheduled, and then no more"
        )
    if plugin == "RemoveDuplicates" and "excludeOwnerKinds" not in now:
        spared = put(*place, "excludeOwnerKinds", value=["ReplicaSet"])
        yield change("not of ReplicaSets", spared, "pods of Deployments may share a node")
    for name in ("thresholds", "targetThresholds"):
        for resource, percent in (now.get(name) or {}).items():
            for other in _other_percents(name, percent):
                yield change(
                    f"{name} of {resource} {percent} -> {other}", put(*place, name, resource, value=other),
                    "nodes count as badly used less often",
                )  # fmt: skip


def _other_percents(name: str, percent: Plain) -> Iterator[int]:
    """Thresholds below which nodes are hardly used go down, targets above which they are hot go up."""
    if isinstance(percent, int):
        yield from (percent // 2, percent // 4) if name == "thresholds" else (min(95, percent + 20), 95)


def _evictor(one: Written, path: Path) -> Iterator[Edit]:
    place, first, now = _argument_path(one, path, EVICTOR)
    if now.get("nodeFit") is not True:
        yield edit(
            ARGUMENTS, one, "DefaultEvictor: nodeFit, evicts only what fits elsewhere", *first,
            put(*place, "nodeFit", value=True), cost=TUNE, answers=ANSWERS,
        )  # fmt: skip
    for pods in (2, 3):
        if (now.get("minReplicas") or 0) < pods:
            yield edit(
                ARGUMENTS, one, f"DefaultEvictor: minReplicas {pods}", *first, put(*place, "minReplicas", value=pods),
                cost=TUNE + TRADE, gives_up=f"workloads of fewer than {pods} pods are left alone", answers=ANSWERS,
            )  # fmt: skip
