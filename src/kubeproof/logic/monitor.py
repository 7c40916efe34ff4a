"""Three-valued monitors: what is known of a property after a finite word (Bauer, Leucker and Schallhart 2011)."""

from __future__ import annotations

from enum import Enum

from kubeproof.logic.alphabet import Alphabet, members, partition
from kubeproof.logic.automata.automaton import Buchi
from kubeproof.logic.automata.operations import determinise_closure
from kubeproof.logic.automata.translate import translate
from kubeproof.logic.formula import Formula, atoms
from kubeproof.logic.normal import negate
from kubeproof.values import dataclass


class Truth(Enum):
    """What every continuation of the word so far has in common."""

    VIOLATED = "violated"  # no continuation satisfies the property
    SATISFIED = "satisfied"  # every continuation does
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Monitor:
    """A deterministic machine: follow the letters, read the verdict of the state. Violated and satisfied are final."""

    alphabet: Alphabet
    edges: tuple[tuple[tuple[int, int], ...], ...]  # by state: (set of letters, target); complete
    verdicts: tuple[Truth, ...]
    initial: int = 0

    def step(self, state: int, letter: int) -> int:
        """The state after a letter."""
        return next(target for guard, target in self.edges[state] if guard >> letter & 1)


def monitor_of(formula: Formula, alphabet: Alphabet | None = None) -> Monitor:
    """The monitor of a formula."""
    letters = alphabet or Alphabet(propositions=atoms(formula))
    return monitor_between(translate(formula, letters), translate(negate(formula), letters))


def monitor_between(positive: Buchi, negative: Buchi) -> Monitor:
    """The monitor of a property, given an automaton of it and one of its opposite.

    Follows both closures: whoever falls out of one can no longer satisfy, or no longer violate.
    """
    ones, others = determinise_closure(positive), determinise_closure(negative)
    start = (_start(ones), _start(others))
    number = {start: 0}
    pending = [start]
    edges: list[tuple[tuple[int, int], ...]] = []
    while len(edges) < len(pending):
        one, other = pending[len(edges)]
        guards = [guard for guard, _ in (*_out(ones, one), *_out(others, other))]
        out: dict[int, int] = {}
        for piece in partition(tuple(dict.fromkeys(guards)), positive.alphabet.everything):
            letter = next(members(piece))
            target = (_after(ones, one, letter), _after(others, other, letter))
            if target not in number:
                number[target] = len(number)
                pending.append(target)
            out[number[target]] = out.get(number[target], 0) | piece
        edges.append(tuple((guard, place) for place, guard in sorted(out.items())))
    return Monitor(positive.alphabet, tuple(edges), tuple(_verdict(pair) for pair in pending))


OUT = -1  # fallen out of a closure


def _start(closed: Buchi) -> int:
    return closed.initial[0] if closed.initial else OUT


def _out(closed: Buchi, state: int) -> tuple[tuple[int, int], ...]:
    return closed.edges[state] if state != OUT else ()


def _after(closed: Buchi, state: int, letter: int) -> int:
    return next((target for guard, target in _out(closed, state) if guard >> letter & 1), OUT)


def _verdict(pair: tuple[int, int]) -> Truth:
    """Not being able to violate is being satisfied; never both, as some continuation must do either."""
    if pair[0] == OUT:
        return Truth.VIOLATED
    return Truth.SATISFIED if pair[1] == OUT else Truth.OPEN
