"""How long a workload is below its floor at most, from the states of a finished search."""

from __future__ import annotations

from kubeproof.cluster.loops.actions import Tick
from kubeproof.engine.search import Search
from kubeproof.engine.system import Step

MAX_STATES = 20_000  # beyond, the time is not worked out: a search of that size took seconds already


def longest_below(search: Search, flag: int) -> int | None:
    """The longest time in seconds that a run spends in states with the flag without leaving them.

    None if the search is not complete or too large, or if a run may stay there for ever.
    """
    store = search.store
    if search.stopped_by or len(store) > MAX_STATES or store.expanded < len(store):
        return None
    spent: dict[int, int | None] = {}
    for state in range(len(store)):
        if store.flags(state) >> flag & 1 and state not in spent and _weigh(search, flag, state, spent) is None:
            return None
    return max((seconds for seconds in spent.values() if seconds is not None), default=0)


def _weigh(search: Search, flag: int, root: int, spent: dict[int, int | None]) -> int | None:
    """Works out the longest time from a state on, depth first; None for a cycle."""
    store, path = search.store, [root]
    spent[root] = None  # under way
    waiting = {root: _edges(search, flag, root)}
    best = {root: 0}
    while path:
        state = path[-1]
        if not waiting[state]:
            spent[state] = best.pop(state)
            path.pop()
            continue
        seconds, target = waiting[state][-1]
        is_below = bool(store.flags(target) >> flag & 1)
        if is_below and target not in spent:
            spent[target], best[target] = None, 0
            waiting[target] = _edges(search, flag, target)
            path.append(target)
            continue
        waiting[state].pop()
        further = spent[target] if is_below else 0
        if further is None:
            return None
        best[state] = max(best[state], seconds + further)
    return spent[root]


def _edges(search: Search, flag: int, state: int) -> list[tuple[int, int]]:
    """What may follow a state: the seconds that pass, and the state after them; staying where one is left out."""
    return [(_seconds(step), step.target) for step in search.store.steps(state) if step.target != state]


def _seconds(step: Step) -> int:
    actions = getattr(step.effect.label, "actions", ())
    return sum(action.seconds for action in actions if isinstance(action, Tick))
