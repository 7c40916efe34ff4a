"""Bounds of numbers of pods, and room for them, at all sizes at once (`kubeproof.verify.proofs.bounds`).

What is compared there are the least and the largest size that anybody writes. As numbers that follow the size of the
input they are least and largest of linear terms, and that one of them never exceeds another is linear arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.footprint import Sizing
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.intents.facts.counts import NothingPending, ReplicasAtLeast, ReplicasAtMost
from kubeproof.intents.monitor import IN_STABLE, NEVER, Monitor
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.verify.proofs.any_size.family import Family
from kubeproof.verify.proofs.any_size.linear import Linear, Number, at_most, value_at
from kubeproof.verify.proofs.bounds import SPREAD, accepting, hard_constraints, is_even
from kubeproof.verify.proofs.sizes import is_left_alone, only_sizes_decide, pods_at_start

Ties = tuple[Linear, ...]
MOST_ON_A_NODE = 1_000  # own pods that a node is asked for


def find_ties_of_bound(family: Family, monitor: Monitor) -> Ties | None:
    """What sizes must keep to for a bound of the number of pods to hold; None: not proved."""
    fact, plan = monitor.fact, family.plan
    if monitor.kind != NEVER or not isinstance(fact, ReplicasAtLeast | ReplicasAtMost):
        return None
    count = family.count_of(monitor.intent.name)
    if count is None or not only_sizes_decide(plan) or not is_left_alone(plan, fact.workload):
        return None
    sizes = list_sizes(family, plan, fact.workload)
    if sizes is None:
        return None
    if isinstance(fact, ReplicasAtMost):
        return at_most(family.box, _join(sizes), count)
    found = [at_most(family.box, count, size) for size in sizes]
    return _all(found)


def find_ties_of_room(family: Family, monitor: Monitor) -> Ties | None:
    """What sizes must keep to for every pod to find a node in the end; None: not proved."""
    fact, plan = monitor.fact, family.plan
    if monitor.kind != IN_STABLE or not isinstance(fact, NothingPending) or not only_sizes_decide(plan):
        return None
    workloads = plan.setup.workloads
    if any(workload.bound_to for workload in workloads):
        return None  # bare pods that come with each node
    if not all(w.rules.is_pod or is_left_alone(plan, n) for n, w in enumerate(workloads)):
        return None
    schedulers = [c for c in plan.controllers if isinstance(c, SchedulerController) and c.workload == fact.workload]
    most = _most_of_others(family, plan, fact.workload)
    sizes = list_sizes(family, plan, fact.workload)
    if fact.workload != family.number or not schedulers or most is None or sizes is None:
        return None
    room = _find_room(family, plan, schedulers[0], most)
    return None if room is None else at_most(family.box, _join(sizes), ((room,),))


def list_sizes(family: Family, plan: Plan, number: int) -> list[Number] | None:
    """Every size that a workload may ask for or have, as `kubeproof.verify.proofs.sizes` collects them."""
    workload = plan.setup.workloads[number]
    found = [family.replicas_of(workload)]
    for autoscaler in family.loaded.setup.autoscalers:
        found += family.bounds_of(autoscaler) if autoscaler.target == workload.ref else ()
    for event in family.loaded.scenario.events:
        found += family.sizes_of(event) if event.subject == workload.ref else ()
    if family.starts == "empty":
        if any(pods_at_start(plan, number, (GroupedSystem(plan).first_cells,))):
            return None
        found.append(family.constant(0))
    return found if _are_all_told(family, plan, number, found) else None


def _are_all_told(family: Family, plan: Plan, number: int, sizes: list[Number]) -> bool:
    """True if whoever writes sizes in the plan of the sample writes none but these."""
    pods, nodes = family.sample
    known = {value_at(size, pods, nodes) for size in sizes}
    told = (actor for actor, footprint in plan.with_footprints if footprint.sizing is Sizing.TOLD)
    return all(size in known for actor in told for size in actor.sizes_for(number))  # type: ignore[attr-defined]


def _join(sizes: list[Number]) -> Number:
    """The largest of them."""
    return tuple(terms for size in sizes for terms in size)


def _all(found: list[Ties | None]) -> Ties | None:
    """What is asked in all of them."""
    return None if any(one is None for one in found) else tuple(tie for one in found if one is not None for tie in one)


# -- room -------------------------------------------------------------------------------------------


def _most_of_others(family: Family, plan: Plan, number: int) -> tuple[tuple[int, int], ...] | None:
    """The other workloads with their largest numbers of pods; None if these follow the size."""
    found: list[tuple[int, int]] = []
    for other, workload in enumerate(plan.setup.workloads):
        if other == number:
            continue
        sizes = [family.constant(1)] if workload.rules.is_pod else list_sizes(family, plan, other)
        if sizes is None or not all(_is_constant(size) for size in sizes):
            return None
        found.append((other, value_at(_join(sizes), *family.sample)))
    return tuple(found)


def _is_constant(number: Number) -> bool:
    return not any(term.pods or any(term.nodes) for terms in number for term in terms)


def _find_room(
    family: Family, plan: Plan, scheduler: SchedulerController, others: tuple[tuple[int, int], ...]
) -> Linear | None:
    """How many of its own pods find a node whatever happens: those of the worst node, times the nodes open to them."""
    layout = plan.layout
    if layout.setup.workloads[scheduler.workload].template.claims or scheduler.kernel.compares_nodes_by - {SPREAD}:
        return None
    open_to = accepting(layout, scheduler, others)
    hard = hard_constraints(layout, scheduler)
    everywhere = len(open_to) == len(layout.places)
    if not open_to or (hard and not (everywhere and all(is_even(layout, scheduler, one) for one in hard))):
        return None
    each = next(_count_up(plan, scheduler, others, open_to))
    names = {layout.setup.nodes[n].name for place in open_to for n in layout.places[place].nodes}
    if not family.kinds:
        return Linear(0, (), each * len(names))
    return Linear(0, tuple(each if kind in names else 0 for kind in family.kinds), 0)


def _count_up(
    plan: Plan, scheduler: SchedulerController, others: tuple[tuple[int, int], ...], open_to: list[int]
) -> Iterator[int]:
    """The number of own pods, beside all others, with which one of the nodes takes no more."""
    for own in range(1, MOST_ON_A_NODE):
        if not set(open_to) <= set(accepting(plan.layout, scheduler, (*others, (scheduler.workload, own)))):
            yield own
    yield MOST_ON_A_NODE
