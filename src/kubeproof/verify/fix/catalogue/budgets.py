"""PodDisruptionBudgets: what drains and deschedulers may take at once."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import Plain, drop, put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import SIZED, Around, replicas_of, selector_of
from kubeproof.verify.fix.edits import NEW_OBJECT, TRADE, TUNE, Edit, edit

BUDGET, NEW_BUDGET = "budget", "newBudget"
ANSWERS = ("budget", ActorKind.DRAIN, ActorKind.DESCHEDULER, "minReady")
FIELDS = ("minAvailable", "maxUnavailable")


def propose_budgets(one: Written, around: Around) -> Iterator[Edit]:
    """Other numbers for a budget, or one where there is none."""
    if one.kind == "PodDisruptionBudget":
        yield from _tune(one, around)
        yield from _leave_out(one, around)
    if one.kind in SIZED and not around.budgets_of(one):
        for field, number in _sensible(replicas_of(one)):
            budget = {
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": _metadata(one),
                "spec": {field: number, "selector": selector_of(one)},
            }  # fmt: skip
            yield edit(
                NEW_BUDGET, one, f"a new PodDisruptionBudget, {field} {number}", added=[budget],
                cost=TUNE + NEW_OBJECT, answers=ANSWERS,
            )  # fmt: skip


def _metadata(one: Written) -> Plain:
    return {"name": one.name, "namespace": one.namespace} if one.namespace else {"name": one.name}


def _sensible(pods: int) -> Iterator[tuple[str, int]]:
    """Numbers that let drains end and keep pods."""
    yield "maxUnavailable", 1
    yield from (("minAvailable", number) for number in range(pods - 1, 0, -1))


def _tune(one: Written, around: Around) -> Iterator[Edit]:
    pods = max((replicas_of(w) for w in around.targets_of(one) if w.kind in SIZED), default=0)
    before = _count_allowed(one, pods)
    for field, number in _numbers(one, pods):
        if one.at("spec", field) == number:
            continue
        other = next(name for name in FIELDS if name != field)
        swap = (drop("spec", other),) if one.at("spec", other) is not None else ()
        allowed = number if field == "maxUnavailable" else pods - _round_up(number, pods)
        gives_up = f"drains may take {allowed} of {pods} pods at once, {before} before" if allowed > before else ""
        does = f"{field} {number}"
        writes = (*swap, put("spec", field, value=number))
        # An eviction that is allowed now was refused for ever before where nothing was allowed: no trade to speak of.
        cost = TUNE + (TRADE if gives_up and before > 0 else 0) + max(0, allowed - 1) + (2 if swap else 0)
        yield edit(BUDGET, one, does, *writes, cost=cost, gives_up=gives_up, answers=ANSWERS)


def _numbers(one: Written, pods: int) -> list[tuple[str, Plain]]:
    """What a budget may say instead; a share stays one, because the number of pods may change under it."""
    if isinstance(one.at("spec", "minAvailable"), str):
        shares = [("minAvailable", f"{100 * (pods - 1) // pods}%")] if pods > 1 else []
        return [("maxUnavailable", 1), *shares, ("maxUnavailable", 2)]
    return list(dict.fromkeys([*_sensible(pods), ("maxUnavailable", 2)]))


def _leave_out(one: Written, around: Around) -> Iterator[Edit]:
    """The pods of a workload that another budget counts, too: with two of them no eviction is granted."""
    targets = around.targets_of(one)
    for workload in targets:
        others = [other.ref for other in around.budgets_of(workload) if other.ref != one.ref]
        own = (selector_of(workload) or {}).get("matchLabels") or {}
        if not others or not own:
            continue
        key, value = min(own.items())
        already = one.at("spec", "selector", "matchExpressions") or []
        entry = {"key": key, "operator": "NotIn", "values": [value]}
        is_empty = len(targets) == 1
        yield edit(
            BUDGET, one, f"its selector leaves out {key}={value}" + ", and so all pods" * is_empty,
            put("spec", "selector", "matchExpressions", len(already), value=entry),
            cost=TUNE + (TRADE // 2 if is_empty else 0),
            gives_up=f"only {', '.join(others)} counts the pods of {workload.ref}"
            + f"; {one.ref} counts none and may as well be deleted" * is_empty,
            answers=ANSWERS,
        )  # fmt: skip


def _count_allowed(one: Written, pods: int) -> int:
    """How many pods it lets go when all are healthy; percentages are rounded up."""
    least, most = one.at("spec", "minAvailable"), one.at("spec", "maxUnavailable")
    if most is not None:
        return _round_up(most, pods)
    return max(0, pods - _round_up(least, pods))


def _round_up(value: Plain, pods: int) -> int:
    if isinstance(value, int):
        return value
    digits = str(value).removesuffix("%")
    return -(-int(digits) * pods // 100) if digits.isdecimal() else 0
