"""Which reductions and proofs apply to an input: what a search of it looks like, without searching."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from kubeproof.cluster.loops.footprint import footprint_of
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import explore, make_kernel
from kubeproof.errors import InternalError, KubeproofError
from kubeproof.events.declarations import Event
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.loops.adjusting import may_run_unready
from kubeproof.model.loops.assembly import takes_several_down
from kubeproof.model.plan import Plan, make_plan
from kubeproof.model.planning.ground import _works_on_nodes
from kubeproof.model.reductions.bursts import _hits
from kubeproof.model.reductions.loosened import Surroundings, _loosen
from kubeproof.model.reductions.partial_order import EVERY_ORDER, Order, fewer_orders, orders_of_deploying
from kubeproof.verify.proofs.bounds import prove_by_bounds
from kubeproof.verify.proofs.crowd.freeing import free
from kubeproof.verify.proofs.crowd.healing import heals_without_end
from kubeproof.verify.proofs.crowd.resizing import find_resizing
from kubeproof.verify.proofs.crowd.room import Room, is_counted
from kubeproof.verify.proofs.crowd.swaying import find_sway
from kubeproof.verify.proofs.events_at_rest import is_calm
from kubeproof.verify.proofs.guarded import only_budgets_decide
from kubeproof.verify.proofs.sizes import only_sizes_decide
from kubeproof.verify.proofs.slicing import cut, cut_by_relations, may_be_disturbed_at_any_time, starts_simply

MOST_STATES = 400


def plan_for(loaded: Loaded, *, checked: bool = False) -> Plan:
    """The plan of an input."""
    scenario = loaded.scenario
    start = scenario.start
    return make_plan(
        loaded.setup,
        scenario.events,
        scenario.intents,
        placement=start.placement,
        running=start.pods,
        checked=checked,
    )


def applied(loaded: Loaded) -> tuple[object, ...]:
    """What applies to the input."""
    plan = plan_for(loaded)
    parts = cut(loaded)
    return (
        *_orders(plan),
        *_orders(plan.deploying()),
        only_sizes_decide(plan),
        only_budgets_decide(plan),
        tuple(sorted(prove_by_bounds(plan, ()))),
        tuple((one.workloads, starts_simply(one)) for one in parts) if isinstance(parts, tuple) else repr(parts),
        tuple(part.workloads for part in cut_by_relations(loaded)),
        tuple(_crowd(loaded)),
        may_be_disturbed_at_any_time(loaded),
        is_calm(loaded),
        (len(plan.layout.places), plan.classes, plan.domains, plan.unread),
        tuple(tuple(_hits(plan.setup, plan.declared, w.ref)) for w in plan.setup.workloads),
        _works_on_nodes(plan.setup, plan.declared),
        takes_several_down(plan.declared),
        tuple(sorted(may_run_unready(plan.setup, plan.declared))),
        _among_others(plan),
    )


def _among_others(plan: Plan) -> tuple[str, ...]:
    """What others may do to the loops, where they leave room and drained nodes, and where they do not."""
    refs = [workload.owner or workload.ref for workload in plan.setup.workloads]
    worlds = [Surroundings(dict.fromkeys(refs, short), drains_end=not short) for short in (0, 1)]
    return tuple(type(_loosen(loop, plan, around)).__name__ for around in worlds for loop in plan.controllers)


def _crowd(loaded: Loaded) -> Iterator[object]:
    """What is known of the others where workloads are proved one by one."""
    room, known = Room(loaded), tuple(map(is_counted, loaded.scenario.events))
    yield from (known, heals_without_end(loaded))
    if not all(known):
        return
    yield tuple((room.find_shortage(w), room.find_passing_shortage(w)) for w in loaded.setup.workloads)
    for part in cut_by_relations(loaded):
        yield find_resizing(loaded, part, room)
        yield find_sway(loaded, part, room)
        yield free(part)


def _orders(plan: Plan) -> Iterator[object]:
    for order in (fewer_orders(plan), fewer_orders(plan).exact(plan), orders_of_deploying(plan)):
        yield order
        yield tuple(type(actor).__name__ for actor in GroupedSystem(plan, order).actors)


def _undeclared(plan: Plan, declared: Event) -> str:
    """How an event differs from what it is declared to do; one that writes a whole object may write less of it."""
    own = [one for one in plan.events if one.source.event is declared]  # type: ignore[attr-defined]
    if not own:
        return ""
    done, said = reduce(or_, (footprint_of(one).writes for one in own)), footprint_of(declared).writes
    is_so = done in said if declared.form is not None else done == said
    return "" if is_so else f"{declared.name} does {done}, and is declared to do {said}"


def contradiction(loaded: Loaded) -> str:
    """How loops, events and facts contradict their footprints within a short search; "" if they do not."""
    plan = plan_for(loaded, checked=True)
    for declared in plan.declared:
        if problem := _undeclared(plan, declared):
            return problem
    try:
        system = GroupedSystem(plan, EVERY_ORDER)
        limits = Limits(max_states=MOST_STATES)
        explore(system, system.checks, kernel=make_kernel(system, engine="python"), limits=limits, stop_early=False)
    except InternalError as problem:
        return str(problem)
    except KubeproofError:
        return ""
    return ""


__all__ = ["Order", "applied", "contradiction", "plan_for"]
