"""Proofs without a search, where nobody but a workload's own loops decides about its pods and nothing happens to nodes.

*Bounds*: a ReplicaSet creates or deletes its whole difference in one step, so a workload that has reached its size has
afterwards as many pods as one of the sizes that somebody writes. The least and the largest of them are bounds for ever.

*Room*: in a stable state nothing terminates and no pod waits that fits somewhere. If all other pods at their largest
numbers were on every node at once, its own pods spread evenly, and it fitted still, then it fits always: some node
holds no more of its pods than the even share, and what refuses a node by its content refuses fuller ones, too.

*Budgets*: `kubeproof.verify.proofs.guarded`.

`docs/explanation/reductions.md` has the arguments; differential tests compare with the search.
"""

from __future__ import annotations

from kubeproof.cluster.nodes.near_nodes import smallest
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import NodeCell, Phase, PodKind
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.controllers.scheduler.plugins.spread_constraints import Constraint, constraints_of
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.intents.facts.counts import NothingPending, ReplicasAtLeast, ReplicasAtMost
from kubeproof.intents.monitor import IN_STABLE, NEVER, Monitor
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.verify.proofs.sizes import Starts, is_left_alone, only_sizes_decide, sizes_of

SPREAD = "PodTopologySpread"
BY_SIZES = "the sizes that are ever written"
BY_BUDGET = "the budget that every eviction asks"


def prove_by_bounds(plan: Plan, starts: Starts) -> dict[int, str]:
    """The numbers of the monitors that hold without a search, and because of what they do.

    `starts` are the first states, if they are others than the plan's own.
    """
    sized, guarded = only_sizes_decide(plan), _only_budgets_decide(plan)
    if not sized and not guarded:
        return {}
    system = GroupedSystem(plan)
    starts = starts or (system.first_cells,)
    seen = _flags_seen(system, starts)
    held: dict[int, str] = {}
    for number, (monitor, check) in enumerate(zip(plan.monitors, system.checks, strict=True)):
        if check.relevant < 0 or not seen >> check.relevant & 1:
            continue
        if sized and (_is_bounded(plan, monitor, starts) or _has_room(plan, monitor, starts)):
            held[number] = BY_SIZES
        elif guarded and _is_guarded(plan, monitor, starts):
            held[number] = BY_BUDGET
    return held


def _only_budgets_decide(plan: Plan) -> bool:
    if not plan.setup.budgets:
        return False
    from kubeproof.verify.proofs.guarded import only_budgets_decide

    return only_budgets_decide(plan)


def _is_guarded(plan: Plan, monitor: Monitor, starts: Starts) -> bool:
    from kubeproof.verify.proofs.guarded import is_guarded

    return is_guarded(plan, monitor, starts)


def _flags_seen(system: GroupedSystem, starts: Starts) -> int:
    """What the observer flags in one of the first states or another."""
    seen = 0
    for cells in starts:
        views = tuple(system.observer.view(place, cells[slot]) for place, slot in enumerate(system.observer.reads))
        seen |= system.observer.flags(system.observer.observe(None, views))
    return seen


def _is_bounded(plan: Plan, monitor: Monitor, starts: Starts) -> bool:
    fact = monitor.fact
    if monitor.kind != NEVER or not isinstance(fact, ReplicasAtLeast | ReplicasAtMost):
        return False
    if not is_left_alone(plan, fact.workload):
        return False
    least, most = sizes_of(plan, fact.workload, starts)
    if isinstance(fact, ReplicasAtLeast):
        return least >= max(fact.amount.of(least), fact.amount.of(most))
    return most <= min(fact.amount.of(least), fact.amount.of(most))


# -- room -------------------------------------------------------------------------------------------


def _has_room(plan: Plan, monitor: Monitor, starts: Starts) -> bool:
    fact = monitor.fact
    if monitor.kind != IN_STABLE or not isinstance(fact, NothingPending):
        return False
    everybody = range(len(plan.setup.workloads))
    if not all(plan.setup.workloads[w].rules.is_pod or is_left_alone(plan, w) for w in everybody):
        return False
    most = tuple(sizes_of(plan, w, starts).most for w in everybody)
    schedulers = [c for c in plan.controllers if isinstance(c, SchedulerController) and c.workload == fact.workload]
    return bool(schedulers) and _always_fits(plan.layout, schedulers[0], most)


def _always_fits(layout: Layout, scheduler: SchedulerController, most: tuple[int, ...]) -> bool:
    """True if a pod finds a node however at most so many pods of every workload are placed."""
    mounted = layout.setup.workloads[scheduler.workload].template.claims  # their volumes may tie pods to some nodes
    if mounted or scheduler.kernel.compares_nodes_by - {SPREAD}:
        return False
    others = tuple((w, count) for w, count in enumerate(most) if w != scheduler.workload and count)
    open_to = accepting(layout, scheduler, others)
    hard = hard_constraints(layout, scheduler)
    everywhere = len(open_to) == len(layout.places)
    if not open_to or (hard and not (everywhere and all(is_even(layout, scheduler, one) for one in hard))):
        return False
    share = (most[scheduler.workload] - 1) // sum(layout.places[place].size for place in open_to)
    return set(open_to) <= set(accepting(layout, scheduler, (*others, (scheduler.workload, max(share, 0)))))


def accepting(layout: Layout, scheduler: SchedulerController, pods: tuple[tuple[int, int], ...]) -> list[int]:
    """The places whose nodes take one more pod although each of them holds all these pods."""
    infos = []
    for place in layout.every_place:
        sample = layout.places[place].sample
        kinds = tuple(sorted((PodKind(w, int(Phase.READY)), count) for w, count in pods if count))
        view = scheduler.show_node(place, NodeCell(cordoned=int(sample.unschedulable), pods=kinds))
        info = scheduler.node_info(place, view, layout.places[place].size)
        infos.append(info._replace(node=smallest(info.node)))
    rows = scheduler.kernel.evaluate(infos).rows
    return [place for place, row in zip(layout.every_place, rows, strict=True) if not row.rejected_by]


def hard_constraints(layout: Layout, scheduler: SchedulerController) -> tuple[Constraint, ...]:
    """The spread constraints that refuse nodes: the pod's own, or its profile's defaults."""
    name = layout.setup.workloads[scheduler.workload].template.scheduler_name
    profiles = [profile for profile in layout.setup.profiles if profile.name == name]
    if not profiles or SPREAD not in scheduler.kernel.compares_nodes_by:
        return ()
    return constraints_of(IncomingPod(layout.setup, scheduler.workload, profiles[0], layout.unique_keys), hard=True)


def is_even(layout: Layout, scheduler: SchedulerController, constraint: Constraint) -> bool:
    """True if the node with the fewest pods of the workload always keeps to the constraint.

    That is so if every node is a domain of its own, and exactly the workload's own pods are counted.
    """
    if not constraint.one_node_each or constraint.min_domains > 1 or constraint.counted != {scheduler.workload}:
        return False
    return all(constraint.key in dict(place.sample.labels) for place in layout.places)
