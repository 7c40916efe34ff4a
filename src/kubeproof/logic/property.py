"""A property given as LTL text or as an automaton in HOA, with all that is known about it."""

from __future__ import annotations

from kubeproof.logic.automata.automaton import Buchi
from kubeproof.logic.automata.decompose import Decomposition, PropertyClass, classify, decompose
from kubeproof.logic.automata.translate import translate
from kubeproof.logic.formats.hoa_reader import from_hoa
from kubeproof.logic.normal import negate
from kubeproof.logic.parser import parse
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Property:
    """A property: how it was given, its automaton, and an automaton of its negation where that is known."""

    text: str  # the formula, or the file's name
    automaton: Buchi
    opposite: Buchi | None = None

    @property
    def kind(self) -> PropertyClass:
        """Safety, liveness, both or neither."""
        return classify(self.automaton, self.opposite)

    @property
    def parts(self) -> Decomposition:
        """The safety and the liveness part."""
        return decompose(self.automaton)


def from_formula(text: str) -> Property:
    """The property that a formula states."""
    formula = parse(text)
    automaton = translate(formula)
    return Property(str(formula), automaton, translate(negate(formula), automaton.alphabet))


def from_file(text: str, file: str) -> Property:
    """The property of an automaton in HOA."""
    return Property(file, from_hoa(text, file=file))
