"""Operations on Büchi automata: reduce, merge, close, determinise, unite, intersect."""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.errors import LimitReached
from kubeproof.logic.alphabet import members, partition
from kubeproof.logic.automata.automaton import Buchi, Edge, make, nonempty_states
from kubeproof.logic.automata.graph import on_cycles, reachable

MOST_STATES = 100_000


def reduce(automaton: Buchi) -> Buchi:
    """The same language with only those states that are reachable and accept some word.

    States that no run visits twice are not accepting any more: it makes no difference, and more states are alike.
    """
    useful = nonempty_states(automaton)
    keep = useful & reachable((s for s in automaton.initial if s in useful), automaton.successors)
    return restrict(automaton, keep, automaton.accepting & on_cycles(automaton.successors))


def restrict(automaton: Buchi, keep: Iterable[int], accepting: Iterable[int]) -> Buchi:
    """The automaton on some of its states, in the same order, with other accepting states."""
    kept = sorted(keep)
    number = {state: place for place, state in enumerate(kept)}
    edges = [[(guard, number[t]) for guard, t in automaton.edges[state] if t in number] for state in kept]
    return make(
        automaton.alphabet,
        (number[s] for s in automaton.initial if s in number),
        edges,
        (number[s] for s in accepting if s in number),
        [automaton.names[state] for state in kept] if automaton.names else (),
    )


def merge(automaton: Buchi) -> Buchi:
    """The same language with states united that no word tells apart step by step (bisimulation)."""
    block = [int(state in automaton.accepting) for state in range(automaton.size)]
    while True:
        signatures = [(block[s], _signature(automaton, s, block)) for s in range(automaton.size)]
        numbers = {signature: place for place, signature in enumerate(dict.fromkeys(signatures))}
        finer = [numbers[signature] for signature in signatures]
        if len(numbers) == len(set(block)):
            break
        block = finer
    firsts = {number: state for state, number in reversed(list(enumerate(finer)))}
    edges = [[(guard, finer[t]) for guard, t in automaton.edges[firsts[number]]] for number in sorted(firsts)]
    names = [automaton.names[firsts[number]] for number in sorted(firsts)] if automaton.names else ()
    initial = (finer[s] for s in automaton.initial)
    return make(automaton.alphabet, initial, edges, (finer[s] for s in automaton.accepting), names)


def _signature(automaton: Buchi, state: int, block: list[int]) -> tuple[tuple[int, int], ...]:
    guards: dict[int, int] = {}
    for guard, target in automaton.edges[state]:
        guards[block[target]] = guards.get(block[target], 0) | guard
    return tuple(sorted(guards.items()))


def closure(automaton: Buchi) -> Buchi:
    """The words all of whose prefixes can be continued to a word of the language: the safety part.

    Reduced first: a state that accepts nothing would otherwise be made accepting.
    """
    useful = reduce(automaton)
    return merge(make(useful.alphabet, useful.initial, useful.edges, range(useful.size), useful.names))


def determinise_closure(automaton: Buchi) -> Buchi:
    """The closure as a deterministic automaton with all states accepting: the subset construction.

    Subsets suffice because every infinite run of the reduced automaton counts: by Kőnig's lemma a word has one
    as soon as all its prefixes have finite ones. Subsets with a state from which every word can go on for ever are
    one state: what is a liveness property from there on needs no subsets.
    """
    useful = reduce(automaton)
    free = _never_stuck(useful)
    start = _join(frozenset(useful.initial), free)
    if not start:
        return make(automaton.alphabet, (), (), ())
    number: dict[frozenset[int], int] = {start: 0}
    pending = [start]
    edges: list[list[Edge]] = []
    while pending:
        subset = pending.pop(0)
        if subset == free:
            edges.append([(useful.alphabet.everything, number[subset])])
            continue
        guards = tuple(guard for state in sorted(subset) for guard, _ in useful.edges[state])
        out: list[Edge] = []
        for piece in partition(tuple(dict.fromkeys(guards)), useful.alphabet.everything):
            target = _join(frozenset(useful.step(subset, next(members(piece)))), free)
            if not target:
                continue
            if target not in number:
                if len(number) >= MOST_STATES:
                    raise LimitReached(f"E302 the closure has more than {MOST_STATES} deterministic states")
                number[target] = len(number)
                pending.append(target)
            out.append((piece, number[target]))
        edges.append(out)
    return merge(make(automaton.alphabet, (0,), edges, range(len(number))))


def _never_stuck(automaton: Buchi) -> frozenset[int]:
    """States that can go on with every letter, and to such states: the largest set of them."""
    free, everything = frozenset(range(automaton.size)), automaton.alphabet.everything
    while True:
        kept = frozenset(state for state in free if _is_total(automaton.edges[state], free, everything))
        if kept == free:
            return free
        free = kept


def _is_total(out: Iterable[Edge], targets: frozenset[int], everything: int) -> bool:
    letters = 0
    for guard, target in out:
        letters |= guard if target in targets else 0
    return letters == everything


def _join(subset: frozenset[int], free: frozenset[int]) -> frozenset[int]:
    return free if subset & free else subset


def complete(automaton: Buchi, *, accepting: bool) -> Buchi:
    """The automaton with a trap for what it does not define; the trap accepts everything or nothing."""
    if automaton.is_complete:
        return automaton
    trap = automaton.size
    everything = automaton.alphabet.everything
    edges: list[list[Edge]] = []
    for out in automaton.edges:
        missing = everything
        for guard, _ in out:
            missing &= ~guard
        edges.append([*out, *([(missing, trap)] if missing else [])])
    edges.append([(everything, trap)])
    initial = automaton.initial or (trap,)
    goals = automaton.accepting | {trap} if accepting else automaton.accepting
    names = [*automaton.names, "trap"] if automaton.names else ()
    return make(automaton.alphabet, initial, edges, goals, names)


def complement_of_closed(closed: Buchi) -> Buchi:
    """The words outside a deterministic automaton in which every state accepts: those that fall out of it."""
    full = complete(closed, accepting=False)
    if full is closed:
        return make(closed.alphabet, (), (), ())
    return make(full.alphabet, full.initial, full.edges, (full.size - 1,), full.names)


def union(one: Buchi, other: Buchi) -> Buchi:
    """The words of either language: both automata side by side."""
    shift = one.size
    edges = [*one.edges, *([(guard, target + shift) for guard, target in out] for out in other.edges)]
    initial = (*one.initial, *(state + shift for state in other.initial))
    accepting = (*one.accepting, *(state + shift for state in other.accepting))
    names = (*one.names, *other.names) if one.names and other.names else ()
    return make(one.alphabet, initial, edges, accepting, names)


def intersection(one: Buchi, other: Buchi) -> Buchi:
    """The words of both languages; a state waits for an accepting state of one, then of the other."""
    number: dict[tuple[int, int, int], int] = {}
    pending: list[tuple[int, int, int]] = []

    def visit(state: tuple[int, int, int]) -> int:
        if state not in number:
            number[state] = len(number)
            pending.append(state)
        return number[state]

    initial = [visit((a, b, 0)) for a in one.initial for b in other.initial]
    edges: list[list[Edge]] = []
    while len(edges) < len(pending):
        a, b, turn = pending[len(edges)]
        later = _turn(one, other, a, b, turn)
        edges.append([
            (guard & also, visit((left, right, later)))
            for guard, left in one.edges[a]
            for also, right in other.edges[b]
            if guard & also
        ])  # fmt: skip
    accepting = (place for (a, _, turn), place in number.items() if turn == 0 and a in one.accepting)
    return make(one.alphabet, initial, edges, accepting)


def _turn(one: Buchi, other: Buchi, a: int, b: int, turn: int) -> int:
    """Whose accepting state is waited for after leaving (a, b)."""
    if turn == 0:
        return 1 if a in one.accepting else 0
    return 0 if b in other.accepting else 1
