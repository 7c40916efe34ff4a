"""From which state of a counterexample on it is lost: every run from there breaks the intent, whatever happens.

All that can be reached is looked at in every order, from the first state if that is small enough, else from a later
one. A state is not lost as long as some run from it keeps the intent; a run that a real cluster would not take, because
it starves somebody, counts as one, too, so that what is called lost is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kubeproof.engine.limits import Limits
from kubeproof.engine.search import Store, explore, make_kernel
from kubeproof.intents.monitor import CYCLE, IN_STABLE, NEVER, PERSISTENT, RECURRENT, Monitor
from kubeproof.model.by_name.abstraction import anonymous
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.reductions.partial_order import EVERY_ORDER
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.counterexamples.rerun import Rerun

MOST_STATES = 20_000
BEHIND = (0, 1, 3, 7, 15, 31, 63)  # how far before the end, where all of it is too much


class NoReturn(NamedTuple):
    """After how many steps of the run it is lost; not exact: it may have been before."""

    after: int
    is_exact: bool


def find_no_return(again: Rerun, timeout_s: float, max_states: int = MOST_STATES) -> NoReturn | None:
    """The first state of the run from which nothing helps; None if there is none, or too much to look at."""
    monitor = again.model.plan.monitors[again.monitor_number]
    if monitor.temporal is not None or monitor.kind not in ESCAPES:
        return None
    states = again.run.states
    firsts = dict.fromkeys([0, *(max(0, len(states) - 1 - back) for back in reversed(BEHIND))])
    for first in firsts:
        kept = _list_kept(again, monitor, states[first:], timeout_s / len(firsts), max_states)
        if kept is not None:
            lost = next((number for number, is_kept in enumerate(kept) if not is_kept), None)
            return None if lost is None else NoReturn(first + lost, first == 0 or lost > 0)
    return None


def _list_kept(
    again: Rerun, monitor: Monitor, states: Sequence[object], timeout_s: float, max_states: int
) -> list[bool] | None:
    """Of each state whether a run from it keeps the intent; None if not all could be looked at."""
    system = GroupedSystem(again.model.plan, EVERY_ORDER)
    forms = [anonymous(again.model, state) for state in states]  # type: ignore[arg-type]
    system.initial = tuple(system.with_nurseries(form) for form in dict.fromkeys(forms))
    search = explore(system, (), kernel=make_kernel(system), limits=Limits(max_states, timeout_s))
    if search.stopped_by:
        return None
    store = search.store
    check = system.checks[again.monitor_number]
    numbers = {form: number for number, form in enumerate(dict.fromkeys(forms))}
    bad = [bool(store.flags(state) >> check.flag & 1) for state in range(len(store))]
    escapes = ESCAPES[monitor.kind](store, bad)
    return [numbers[form] in escapes for form in forms]


# -- states from which some run keeps the intent ----------------------------------------------------


def _stay(store: Store, allowed: Iterable[int]) -> set[int]:
    """The states from which a run goes on among the allowed ones for ever, or ends there."""
    left = set(allowed)
    ahead = {state: [n for n in store.successors(state) if n in left] for state in left if not store.is_stable(state)}
    behind = _turn_round(ahead)
    open_ways = {state: len(found) for state, found in ahead.items()}
    dead = [state for state, count in open_ways.items() if count == 0]
    while dead:
        state = dead.pop()
        left.discard(state)
        for before in behind.get(state, ()):
            open_ways[before] -= 1
            if open_ways[before] == 0:
                dead.append(before)
    return left


def _turn_round(ahead: dict[int, list[int]]) -> dict[int, list[int]]:
    behind: dict[int, list[int]] = {}
    for state, found in ahead.items():
        for after in found:
            behind.setdefault(after, []).append(state)
    return behind


def _reach(store: Store, goals: Iterable[int]) -> set[int]:
    """The states from which one of the goals can be reached."""
    behind = _turn_round({state: list(store.successors(state)) for state in range(len(store))})
    found = set(goals)
    left = list(found)
    while left:
        for before in behind.get(left.pop(), ()):
            if before not in found:
                found.add(before)
                left.append(before)
    return found


def _never(store: Store, bad: Sequence[bool]) -> set[int]:
    return _stay(store, (state for state, is_bad in enumerate(bad) if not is_bad))


def _in_stable(store: Store, bad: Sequence[bool]) -> set[int]:
    return _stay(store, (state for state, is_bad in enumerate(bad) if not (is_bad and store.is_stable(state))))


def _recurrent(store: Store, bad: Sequence[bool]) -> set[int]:
    return _reach(store, _never(store, bad))


def _persistent(store: Store, bad: Sequence[bool]) -> set[int]:
    return _reach(store, (state for state, is_bad in enumerate(bad) if not is_bad))


def _cycle(store: Store, bad: Sequence[bool]) -> set[int]:
    return _reach(store, (state for state in range(len(store)) if store.is_stable(state)))


ESCAPES: dict[str, Callable[[Store, Sequence[bool]], set[int]]] = {
    NEVER: _never,
    IN_STABLE: _in_stable,
    RECURRENT: _recurrent,
    PERSISTENT: _persistent,
    CYCLE: _cycle,
}
