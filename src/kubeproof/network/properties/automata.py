"""Path properties: an automaton, and how the letters it reads come from the parameters of a packet's positions.

    from kubeproof.network.properties.automata import Letter, path_automaton

    through_the_proxy = path_automaton(
        letters=[Letter("proxy", "CURRENT_NODE == proxy"), Letter("there", "DELIVERED"), Letter("other")],
        transitions=[("a", "other", "a"), ("a", "proxy", "b"), ("b", "other", "b"), ("b", "proxy", "b"),
                     ("b", "there", "c"), ("c", "there", "c")],
        initial=["a"], accepting=["c"],
    )

A position of a path is read as the first letter whose condition is true. A condition is a predicate, or a function of
the parameters that declares what it reads. A path that ends goes on for ever with its last letter, or after delivery
with the letter `stutter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kubeproof.errors import FormulaError, UsageError
from kubeproof.logic import parser
from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.automata.automaton import Buchi, from_letters
from kubeproof.logic.automata.translate import translate
from kubeproof.logic.formula import atoms
from kubeproof.logic.normal import negate
from kubeproof.network.properties.predicates import (
    FLAGS,
    MOST_HOPS,
    PARAMETERS,
    Constant,
    Order,
    Predicate,
    leaves,
    parameters_of,
    parse,
)
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Own:
    """A condition in Python: it is shown the parameters it declares, and nothing else."""

    function: Callable[[Any], object]
    reads: frozenset[str]
    most_hops: int = 0  # a larger hop count is shown as this one


Condition = Predicate | Own


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter, and when it is read; several words are several letters, read one after the other."""

    name: str
    condition: str | Predicate | Callable[[Any], object] = "true"
    reads: Sequence[str] = ()
    most_hops: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """The letters (by number) that a position is read as if the condition is true."""

    letters: tuple[int, ...]
    condition: Condition


@dataclass(frozen=True, slots=True)
class PathProperty:
    """A property of every path of every packet."""

    name: str
    automaton: Buchi
    opposite: Buchi | None = None  # accepts all other words, where that is known
    cases: tuple[Case, ...] = ()  # of named letters
    propositions: tuple[Predicate, ...] = ()  # of an alphabet of propositions, in its order
    stutter: int | None = None  # read for ever after delivery; None: the destination's own letter
    tolerance: float = 0.1  # of SKEWED
    over: tuple[str, ...] = ()  # nodes whose loads SKEWED compares; none: all but sources and destinations

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (*(case.condition for case in self.cases), *self.propositions)

    @property
    def reads(self) -> frozenset[str]:
        """The parameters that letters depend on."""
        return frozenset().union(*(_reads(condition) for condition in self.conditions))

    @property
    def most_hops(self) -> int:
        """From this number on hop counts make no difference."""
        return max((_find_bound(condition, "HOP_COUNT") for condition in self.conditions), default=0)

    @property
    def most_paths(self) -> int:
        """From this number on path numbers make no difference."""
        return max((_find_bound(condition, "PATH_ID") for condition in self.conditions), default=0)


def _reads(condition: Condition) -> frozenset[str]:
    return condition.reads if isinstance(condition, Own) else parameters_of(condition)


def _find_bound(condition: Condition, parameter: str) -> int:
    if isinstance(condition, Own):
        return condition.most_hops if parameter in condition.reads else 0
    numbers = (leaf.number + 1 for leaf in leaves(condition) if isinstance(leaf, Order) and leaf.parameter == parameter)
    return max(numbers, default=0)


def path_automaton(
    *,
    letters: Sequence[Letter],
    transitions: Iterable[tuple[str, str, str]],
    initial: Sequence[str],
    accepting: Sequence[str],
    stutter: str | None = None,
    name: str = "automaton",
) -> PathProperty:
    """The property of an automaton written by hand; a missing transition is a violation."""
    names = tuple(dict.fromkeys(word for letter in letters for word in letter.name.split()))
    listed = list(transitions)
    for _, letter_name, _ in listed:
        if letter_name not in names:
            raise UsageError(f"{name}: a transition reads {letter_name!r}, which no letter stands for", "Add a Letter")
    if stutter is not None and stutter not in names:
        raise UsageError(f"{name}: stutter is {stutter!r}, which no letter stands for", "Add a Letter")
    cases = tuple(
        Case(tuple(names.index(word) for word in letter.name.split()), _condition(letter)) for letter in letters
    )
    if not cases or cases[-1].condition != Constant(True):
        raise UsageError(f"{name}: some positions may match no letter", "Let the last letter have no condition")
    automaton = from_letters(names, initial, listed, accepting)
    return PathProperty(name, automaton, cases=cases, stutter=None if stutter is None else names.index(stutter))


def _condition(letter: Letter) -> Condition:
    if isinstance(letter.condition, str):
        return parse(letter.condition)
    if not callable(letter.condition):
        return letter.condition
    unknown = [name for name in letter.reads if name not in PARAMETERS or name in FLAGS[2:]]
    if unknown:
        raise UsageError(f"letter {letter.name}: {unknown[0]} cannot be read", f"Known: {', '.join(PARAMETERS[:-3])}")
    if {"HOP_COUNT", "PATH_ID"} & set(letter.reads) and not 0 < letter.most_hops <= MOST_HOPS:
        raise UsageError(
            f"letter {letter.name} counts without a bound", "Give most_hops=N; larger numbers are shown as N"
        )
    return Own(letter.condition, frozenset(letter.reads), letter.most_hops)


def ltl_property(formula: str, where: Mapping[str, str] | None = None, *, name: str = "") -> PathProperty:
    """The property of a formula; its propositions are named in `where`, or are predicates in double quotes."""
    parsed = parser.parse(formula)
    named = dict(where or {})
    propositions = []
    for atom in atoms(parsed):
        text = named.get(atom, atom)
        try:
            propositions.append(parse(text))
        except FormulaError as problem:
            if atom in named:
                raise
            raise _make_unnamed(problem, formula, atom) from None
    alphabet = Alphabet(propositions=atoms(parsed))
    whole = translate(parsed, alphabet)
    return PathProperty(name or formula, whole, translate(negate(parsed), alphabet), propositions=tuple(propositions))


def _make_unnamed(problem: FormulaError, formula: str, atom: str) -> FormulaError:
    """The error about a proposition that is neither named nor a predicate, at its column of the formula."""
    column = formula.find(atom) + 1
    if atom.isidentifier():
        remedy = f'Say what it means in where, or write a predicate in double quotes: "CURRENT_NODE == {atom}"'
        return FormulaError(f"has the unknown proposition {atom!r}", text=formula, column=column, remedy=remedy)
    return FormulaError(
        f"has a predicate that {problem.problem}",
        text=formula,
        column=column + problem.column - 1,
        remedy=problem.remedy,
    )


def rename(one: PathProperty, name: str) -> PathProperty:
    """The same property under another name."""
    return replace(one, name=name)
