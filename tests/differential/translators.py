"""Other programs that translate LTL: how they are called, and their automata as ours."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator

from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.automata.automaton import Buchi, make
from kubeproof.logic.automata.degeneralise import degeneralise
from kubeproof.logic.formula import Formula, Op, subformulas
from tests.property.automata import PROPOSITIONS

ALPHABET = Alphabet(propositions=PROPOSITIONS)
_LBT = {
    Op.NOT: "!", Op.AND: "&", Op.OR: "|", Op.IMPLIES: "i", Op.EQUIVALENT: "e", Op.NEXT: "X", Op.FINALLY: "F",
    Op.GLOBALLY: "G", Op.UNTIL: "U", Op.RELEASE: "V",
}  # fmt: skip
_SPIN = {
    Op.NOT: "!", Op.AND: "&&", Op.OR: "||", Op.IMPLIES: "->", Op.EQUIVALENT: "<->", Op.FINALLY: "<>",
    Op.GLOBALLY: "[]", Op.UNTIL: "U", Op.RELEASE: "V",
}  # fmt: skip


def run(words: list[str], text: str = "") -> str:
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True, timeout=60).stdout


def plain(formula: Formula) -> Formula:
    """The same formula without W and M, which other programs do not know."""
    parts = tuple(plain(part) for part in formula.parts)
    if formula.op is Op.WEAK_UNTIL:  # p W q = q R (p | q)
        return Formula(Op.RELEASE, (parts[1], Formula(Op.OR, parts)))
    if formula.op is Op.STRONG_RELEASE:  # p M q = q U (p & q)
        return Formula(Op.UNTIL, (parts[1], Formula(Op.AND, parts)))
    return Formula(formula.op, parts, formula.name)


def is_for_spin(formula: Formula) -> bool:
    """True for formulas that spin knows (no X) and does not need minutes for (small, without equivalences)."""
    parts = list(subformulas(plain(formula)))
    return len(parts) <= 11 and not any(part.op in (Op.NEXT, Op.EQUIVALENT) for part in parts)


# lbt: prefix notation in, generalised automata with sets of states out


def lbt(formula: Formula) -> Buchi:
    return from_lbt(run(["lbt"], _prefix(plain(formula))))


def _prefix(formula: Formula) -> str:
    if formula.op in (Op.TRUE, Op.FALSE):
        return formula.op.value[0]
    if formula.op is Op.ATOM:
        return f"p{PROPOSITIONS.index(formula.name)}"
    return " ".join([_LBT[formula.op], *(_prefix(part) for part in formula.parts)])


def from_lbt(text: str) -> Buchi:
    words = iter(text.split())
    count, sets = int(next(words, "0")), int(next(words, "0"))
    initial: list[str] = []
    member: dict[str, frozenset[int]] = {}
    moves: dict[str, list[tuple[int, str]]] = {}
    for _ in range(count):
        state = next(words)
        initial += [state] if next(words) == "1" else []
        member[state] = frozenset(int(word) for word in iter(lambda: next(words), "-1"))
        moves[state] = []
        while (target := next(words)) != "-1":
            moves[state].append((_guard(words), target))

    def successors(state: str) -> Iterator[tuple[int, str, frozenset[int]]]:
        return ((guard, target, member[state]) for guard, target in moves[state])

    return degeneralise(ALPHABET, initial, successors, sets)


def _guard(words: Iterator[str]) -> int:
    word = next(words)
    if word in "tf":
        return ALPHABET.everything if word == "t" else 0
    if word == "!":
        return ALPHABET.everything & ~_guard(words)
    if word in "&|":
        left, right = _guard(words), _guard(words)
        return left & right if word == "&" else left | right
    return ALPHABET.where(PROPOSITIONS[int(word[1:])])


# spin: a never claim in Promela out


def spin(formula: Formula) -> Buchi:
    return from_never(run(["spin", "-f", _infix(plain(formula))]))


def _infix(formula: Formula) -> str:
    if formula.op in (Op.TRUE, Op.FALSE):
        return formula.op.value
    if formula.op is Op.ATOM:
        return formula.name
    parts = [f"({_infix(part)})" for part in formula.parts]
    if len(parts) == 1:
        return f"{_SPIN[formula.op]} {parts[0]}"
    return f" {_SPIN[formula.op]} ".join(parts)


_LINE = re.compile(r"::\s*(?:atomic \{\s*)?\((?P<guard>.*?)\)\s*->\s*(?:goto (?P<target>\w+)|assert\(.*\)\s*\})\s*$")
ACCEPT_ALL = "accept_all"


def from_never(text: str) -> Buchi:
    number: dict[str, int] = {}  # a state may have two labels
    edges: list[list[tuple[int, str]]] = []
    is_open = False  # only labels since the last statement
    for line in text.splitlines():
        label, move = re.match(r"(\w+):", line), _LINE.search(line)
        if label is not None:
            edges += [] if is_open else [[]]
            number[label[1]] = len(edges) - 1
        elif move is not None:
            edges[-1].append((_condition(move["guard"]), move["target"] or ACCEPT_ALL))
        elif line.strip() == "skip":
            edges[-1].append((ALPHABET.everything, ACCEPT_ALL))
        is_open = label is not None
    if ACCEPT_ALL not in number:
        number[ACCEPT_ALL] = len(edges)
        edges.append([(ALPHABET.everything, ACCEPT_ALL)])
    accepting = (place for name, place in number.items() if name.startswith("accept"))
    return make(ALPHABET, (0,), [[(guard, number[target]) for guard, target in out] for out in edges], accepting)


def _condition(text: str) -> int:
    """A condition over the propositions, evaluated letter by letter."""
    python = text.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    compiled = compile(python.strip(), "never claim", "eval")
    letters = range(ALPHABET.size)
    constants = {"true": True, "false": False}
    values = [{**constants, **{name: name in ALPHABET.true_in(n) for name in PROPOSITIONS}} for n in letters]
    return sum(1 << letter for letter in letters if eval(compiled, {"__builtins__": {}}, values[letter]))


Translator = Callable[[Formula], Buchi]
