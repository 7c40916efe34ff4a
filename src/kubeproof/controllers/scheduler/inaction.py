"""Why the scheduler binds no pod: the filters that refuse each node, and preemption that finds nobody to take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kubeproof.cluster.loops.inaction import Idle, Rule, Trouble, pod_field
from kubeproof.cluster.objects import Setup, Workload
from kubeproof.cluster.steering.priorities import may_preempt, priority_of
from kubeproof.controllers.scheduler.protocol import UNDECLARED, Advice, Refused, Row
from kubeproof.controllers.scheduler.registry import list_declared

HELPS = (Trouble.PENDING,)
NO_NODE_FITS = Rule(
    "no-node-fits",
    "The scheduler binds a pod only to a node that every filter of its profile lets pass; it never moves running pods "
    "to make a place, but for preemption.",
    "pkg/scheduler/schedule_one.go",
    HELPS,
)
NO_LOWER_PRIORITY = Rule(
    "preempts-nobody",
    "Preemption takes pods of lower priority only, of nodes where their absence would help.",
    "pkg/scheduler/framework/preemption",
    HELPS,
)
NOMINATED = Rule(
    "room-is-nominated",
    "Room on a node to which a pod of at least equal priority is nominated is kept for that one.",
    "pkg/scheduler/framework/runtime/framework.go",
    HELPS,
)
QUEUE = Rule(
    "queue-higher-first",
    "The queue hands out pods of higher priority first: others wait as long as these can do something.",
    "pkg/scheduler/backend/queue",
    HELPS,
)
RUNNING_PODS_STAY = Rule(
    "running-pods-stay",
    "Spread and affinity are looked at when a pod gets its node. Afterwards nobody moves it, unless a descheduler is "
    "told to.",
    "pkg/scheduler/framework/plugins/podtopologyspread",
    (Trouble.PLACES,),
)
TAKES_LOWER = Rule(
    "preemption-takes-lower",
    "A pod that fits nowhere may take the place of pods of lower priority; budgets are kept where there is a choice.",
    "pkg/scheduler/framework/preemption",
    (Trouble.TAKEN,),
)
SCORES_DECIDE = Rule(
    "scores-decide",
    "Among the nodes that pass all filters the highest sum of weighted scores wins. Soft constraints and preferences "
    "are scores like all others, and may be outweighed.",
    "pkg/scheduler/schedule_one.go",
    (Trouble.PLACES,),
)
RULES = (NO_NODE_FITS, NO_LOWER_PRIORITY, NOMINATED, QUEUE, RUNNING_PODS_STAY, TAKES_LOWER, SCORES_DECIDE)
MOST_NODES = 4  # named one by one
MOST_DETAILS = 2  # numbers of nodes in what to change


def why_unplaced(
    declared: Workload, pods: Sequence[str], rows: Sequence[tuple[str, Row]], down: Sequence[str] = ()
) -> Idle:
    """Why pods without a node get none; the rows are the verdicts on nodes that are up, by name, `down` all others."""
    groups: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for name, row in rows:
        groups.setdefault((row.rejected_by, row.reason), []).append((name, row))
    told = "; ".join(_refusal(members) for members in groups.values()) or "no node is up"
    numbers = (("pods", len(pods)), ("nodes up", len(rows)), *((by, len(found)) for (by, _), found in groups.items()))
    change = _let_in(declared, rows, down)
    says = f"finds no node for {_list(pods)}: {told}"
    return Idle(NO_NODE_FITS, says, change.says, numbers, declared.ref, change.fields)


def _let_in(declared: Workload, rows: Sequence[tuple[str, Row]], down: Sequence[str]) -> Advice:
    """What to do about the last filter that refuses a node: such a node has passed all before it."""
    ref = declared.declared_as
    if missing := next((row for _, row in rows if row.lacks_claim), None):
        told = f"create the claim that {ref} mounts ({missing.reason}), or let it name one that exists"
        return Advice(told, (pod_field(ref, "volumes"),))
    refusing = {row.rejected_by for _, row in rows}
    if not any(refusing):
        back = f"bring {_list(down)} back, or " if down else ""
        return Advice(f"{back}add a node for {ref}")
    plugin, says = next(
        ((name, one) for name, one in reversed(list_declared().items()) if name in refusing), ("", UNDECLARED)
    )
    own = [(name, row) for name, row in rows if row.rejected_by == plugin] or rows
    details = "; ".join(list(dict.fromkeys(row.detail or row.reason for _, row in own))[:MOST_DETAILS])
    return says.change(Refused(declared, own[0][1], _list([name for name, _ in own]), details, _list(down)))


def _refusal(members: Sequence[tuple[str, Row]]) -> str:
    """Who refuses which nodes, with the numbers of the first."""
    _, row = members[0]
    detail = f" ({row.detail or row.reason})"
    return f"{row.rejected_by} refuses {_list([one for one, _ in members])}{detail}"


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NODES])
    return f"{shown} and {len(names) - MOST_NODES} more" if len(names) > MOST_NODES else shown


def why_no_preemption(setup: Setup, workload: int) -> Iterator[Idle]:
    """Why no running pod makes way; nothing where preemption may find somebody."""
    template = setup.workloads[workload].template
    own = priority_of(template)
    lower = [one.ref for one in setup.workloads if priority_of(one.template) < own]
    if not may_preempt(template):
        says = f"preempts nobody for it: its preemptionPolicy is Never (priority {own})"
        yield Idle(NO_LOWER_PRIORITY, says, "", (("priority", own),))
    elif not lower:
        says = f"preempts nobody for it: its priority is {own}, and no pod has a lower one"
        ref = setup.workloads[workload].declared_as
        change = f"let others make way for {ref}: a priorityClassName above {own}, which is the highest here"
        fields = (pod_field(ref, "priorityClassName"),)
        yield Idle(NO_LOWER_PRIORITY, says, change, (("priority", own),), fields=fields)


def why_taken(setup: Setup, victim: int, winner: int) -> Idle:
    """Why pods of one workload had to make way for those of another."""
    lost, won = (setup.workloads[number] for number in (victim, winner))
    low, high = priority_of(lost.template), priority_of(won.template)
    says = f"lets those of {lost.ref} (priority {low}) make way for {won.ref} (priority {high})"
    change = f"give {lost.declared_as} a priority of {high} or more, or {won.declared_as} preemptionPolicy: Never"
    fields = tuple(pod_field(one.declared_as, "priorityClassName") for one in (lost, won))
    return Idle(TAKES_LOWER, says, change, (("priority", low), ("of the other", high)), lost.ref, fields)


def why_queued(setup: Setup, workload: int, rival: int) -> Idle:
    """That pods of another workload are tried first."""
    own, other = (setup.workloads[number] for number in (workload, rival))
    low, high = priority_of(own.template), priority_of(other.template)
    says = f"tries pods of {other.ref} (priority {high}) before those of {own.ref} ({low})"
    return Idle(QUEUE, says, "", (("priority", low), ("of the other", high)), own.ref)


def why_kept_for_others(node: str, others: Sequence[tuple[str, int]]) -> Idle:
    """That a node is nominated to others."""
    told = ", ".join(f"{count} of {ref}" for ref, count in others)
    return Idle(NOMINATED, f"keeps room on {node} for {told}, nominated to it")


def why_chosen(
    pod: str, chosen: tuple[str, Row], other: tuple[str, Row], weights: Mapping[str, int], change: str = ""
) -> Idle:
    """Why a pod got one node and not another."""
    (node, own), (name, rival) = chosen, other
    numbers = (("chosen", own.total), ("other", rival.total))
    if rival.rejected_by:
        detail = rival.detail or rival.reason
        return Idle(SCORES_DECIDE, f"puts {pod} on {node}: {rival.rejected_by} refuses {name} ({detail})", "", numbers)
    theirs = dict(rival.scores)
    parts = [
        (weights.get(plugin, 1) * (score - theirs.get(plugin, 0)), plugin, score, theirs.get(plugin, 0))
        for plugin, score in own.scores
        if score != theirs.get(plugin, 0)
    ]
    told = ", ".join(
        f"{_weigh(plugin, weights)} {mine} against {its}" for _, plugin, mine, its in sorted(parts, reverse=True)
    )
    how = "as well as" if own.total == rival.total else "rather than"
    says = f"puts {pod} on {node} (score {own.total}) {how} on {name} ({rival.total}): {told or 'all scores are equal'}"
    return Idle(SCORES_DECIDE, says, change, numbers)


def _weigh(plugin: str, weights: Mapping[str, int]) -> str:
    weight = weights.get(plugin, 1)
    return plugin if weight == 1 else f"{weight} x {plugin}"


def why_nobody_moves(*, has_descheduler: bool) -> Idle:
    """That running pods stay where they are."""
    told = "and the descheduler finds nothing to evict" if has_descheduler else "and there is no descheduler"
    return Idle(RUNNING_PODS_STAY, f"places pods once and moves no running one, {told}")
