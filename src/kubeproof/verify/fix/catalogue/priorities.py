"""Priorities: who goes first, and whose pods make room."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import drop, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import POD_SPECS, Around, pod_path
from kubeproof.verify.fix.edits import CLUSTER, NEW_OBJECT, TRADE, TUNE, Edit, edit

PRIORITY, NEW_CLASS, CLASS = "priority", "newPriorityClass", "priorityClass"
ANSWERS = ("NodeResourcesFit", ActorKind.SCHEDULER, "preemption")
BUILT_IN = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
HIGHEST = 1_000_000_000
MADE_HIGH, MADE_LOW = "first-served", "last-served"


def propose_priorities(one: Written, around: Around) -> Iterator[Edit]:
    """Another class for a workload, one of its own, other values for a class."""
    if one.kind == "PriorityClass":
        yield from _revalue(one, around)
    if one.kind not in POD_SPECS:
        return
    path, now = (*pod_path(one), "priorityClassName"), one.at(*pod_path(one), "priorityClassName")
    classes = {entry.name: entry.at("value") or 0 for entry in around.of_kind("PriorityClass")}
    usual = next((c.at("value") or 0 for c in around.of_kind("PriorityClass") if c.at("globalDefault") is True), 0)
    before = (classes | BUILT_IN).get(str(now), usual) if now else usual
    for name, value in {**classes, **BUILT_IN}.items():
        if name != now and value != before:
            price = 0 if name in classes else TRADE if one.kind == "DaemonSet" else 3 * TRADE
            yield edit(
                PRIORITY, one, f"priorityClassName {name}", put(*path, value=name), cost=TUNE + TRADE // 2 + price,
                gives_up=_tell_sacrifice(value > before), answers=ANSWERS,
            )  # fmt: skip
    if now and before > usual:
        yield edit(
            PRIORITY, one, f"no priorityClassName {now}", drop(*path), cost=TUNE + TRADE // 2,
            gives_up=_tell_sacrifice(is_higher=False), answers=ANSWERS,
        )  # fmt: skip
    for name, value in (
        (MADE_HIGH, max((before, *classes.values())) + 1000),
        (MADE_LOW, min((before, *classes.values())) - 1000),
    ):
        if abs(value) <= HIGHEST and name not in classes:
            made = {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
            }
            yield edit(
                NEW_CLASS, one, f"a new PriorityClass {name} of value {value}", put(*path, value=name), added=[made],
                cost=TUNE + TRADE // 2 + NEW_OBJECT, gives_up=_tell_sacrifice(value > before), answers=ANSWERS,
            )  # fmt: skip


def _tell_sacrifice(is_higher: bool) -> str:
    return "pods of lower priority may have to go for it" if is_higher else "its pods may have to go for others"


def _revalue(one: Written, around: Around) -> Iterator[Edit]:
    """The class above all others, below all others, without preemption, or for those only that name it."""
    now = one.at("value") or 0
    others = [other.at("value") or 0 for other in around.of_kind("PriorityClass") if other.ref != one.ref] + [0]
    for value in sorted({max(others) + 500, min(others) - 500}):
        if value != now and abs(value) <= HIGHEST:
            yield edit(
                CLASS, one, f"value {now} -> {value}", put("value", value=value), cost=TUNE + 3 * TRADE // 2,
                gives_up=f"{_tell_sacrifice(value > now)} (every pod of the class)", answers=ANSWERS,
            )  # fmt: skip
    if one.at("preemptionPolicy") != "Never":
        yield edit(
            CLASS, one, "preemptionPolicy Never", put("preemptionPolicy", value="Never"), cost=TUNE + TRADE // 2,
            gives_up="pods of the class wait until there is room", answers=ANSWERS,
        )  # fmt: skip
    if one.at("globalDefault") is True:
        yield edit(
            CLASS, one, "no globalDefault", drop("globalDefault"), cost=TUNE + CLUSTER,
            gives_up="pods that name no class get priority 0", answers=ANSWERS,
        )  # fmt: skip
