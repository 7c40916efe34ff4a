"""The states of a cluster in continuous time: clocks in phases, every order followed, only equals counted."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from kubeproof.errors import UsageError
from kubeproof.intents.monitor import IN_STABLE
from kubeproof.quantify.clusters.space import Space, SpaceOptions, explore_system, first_placements, plan_to_quantify
from kubeproof.quantify.rates.periods import divide_periods, has_plain_clock, start_period
from kubeproof.quantify.rates.phases import divide_waits, start_phases
from kubeproof.quantify.rates.rarity import find_rarity
from kubeproof.quantify.rates.system import RatedSystem

if TYPE_CHECKING:
    from kubeproof.cluster.state import NodeCell, Nodes
    from kubeproof.engine.system import Cell
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.model.plan import Plan
    from kubeproof.quantify.clusters.space import Report

REMEDY = "Leave out --rates: in steps all of these are quantified"
REMEDY_OF_LOOPS = (
    "Leave out --rates, ask simulate --runs, or leave the autoscaler out and write the replicas it settles at"
)


def explore_rated(loaded: Loaded, options: SpaceOptions, phases: int, rarest: int, progress: Report = None) -> Space:
    """The reachable states, waits in so many phases, failures in states up to so rare."""
    begin = monotonic()
    plan = plan_to_quantify(loaded, merge=options.merge)
    refuse_unsuited(plan)
    system = RatedSystem(
        divide_periods(divide_waits(plan, phases), phases), find_rarity(plan, rarest, loaded.scenario.quantify.tick_s)
    )
    if loaded.scenario.start.mode == "deployed":
        found = first_placements(loaded, plan, options, progress)
        system.initial = tuple(_start_clocks(cells, system, phases) for cells in found)
    search = explore_system(system, options, progress)
    store = search.store
    initial = tuple(state for state in range(len(system.initial)) if store.parent(state) < 0) or (0,)
    return Space(system.plan, system, store, initial, monotonic() - begin)


def refuse_unsuited(plan: Plan) -> None:
    """Refuses what is followed by the second: it has no phases."""
    mechanics = plan.mechanics
    loops = tuple(dict.fromkeys(str(loop.name) for loop in plan.periodic if not has_plain_clock(loop)))
    if loops:
        problem = f"--rates cannot follow loops that remember more than when they act next ({', '.join(loops)})"
        raise UsageError(problem, REMEDY_OF_LOOPS)
    if any(mechanics.ages) or any(mechanics.lives) or mechanics.spare_ages:
        raise UsageError("--rates cannot follow the ages of pods, which something in the input asks for", REMEDY)
    if plan.periodic:
        _refuse_rest(plan)


def _refuse_rest(plan: Plan) -> None:
    """Refuses what asks for rest beside a clock that goes round for ever."""
    intents = [monitor.intent.name for monitor in plan.monitors if monitor.kind == IN_STABLE]
    events = [event.name for event in plan.declared if event.waits_for_rest]
    if intents or events:
        asking = ", ".join((*intents, *events))
        problem = f"--rates knows no rest beside loops with a period, and these ask for it: {asking}"
        raise UsageError(problem, "Write when: always, or events without after: stable; or leave out --rates")


def _start_clocks(cells: tuple[Cell, ...], system: RatedSystem, phases: int) -> tuple[Cell, ...]:
    """A placement with its clocks in phases."""
    first, slots = system.slots.first_place, system.slots
    periods = {slots.memory(loop.memory) for loop in system.plan.periodic}

    def restart(slot: int, cell: Any) -> Any:
        if slot in periods:
            return start_period(cell, phases)
        return _restart(cell, phases) if first <= slot < slots.size else cell

    return tuple(restart(slot, cell) for slot, cell in enumerate(cells))


def _restart(nodes: Any, phases: int) -> Nodes:
    amounts: dict[NodeCell, int] = {}
    for cell, count in nodes:
        after = start_phases(cell, phases)
        amounts[after] = amounts.get(after, 0) + count
    return tuple(sorted(amounts.items()))
