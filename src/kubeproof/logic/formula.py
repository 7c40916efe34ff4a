"""Formulas of linear temporal logic."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from kubeproof.values import dataclass


class Op(Enum):
    """What a formula is made with; the value is how it is written."""

    TRUE = "true"
    FALSE = "false"
    ATOM = ""
    NOT = "!"
    AND = "&"
    OR = "|"
    IMPLIES = "->"
    EQUIVALENT = "<->"
    NEXT = "X"
    FINALLY = "F"
    GLOBALLY = "G"
    UNTIL = "U"
    RELEASE = "R"
    WEAK_UNTIL = "W"
    STRONG_RELEASE = "M"


UNARY = (Op.NOT, Op.NEXT, Op.FINALLY, Op.GLOBALLY)
TEMPORAL_BINARY = (Op.UNTIL, Op.RELEASE, Op.WEAK_UNTIL, Op.STRONG_RELEASE)


@dataclass(frozen=True, slots=True)
class Formula:
    """An operator with its operands; `name` is that of an atom."""

    op: Op
    parts: tuple[Formula, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        return write(self)

    def __lt__(self, other: Formula) -> bool:
        """A total order that does not depend on hashes, so that automata come out the same every time."""
        return sort_key(self) < sort_key(other)


TRUE = Formula(Op.TRUE)
FALSE = Formula(Op.FALSE)


def atom(name: str) -> Formula:
    """The proposition of that name."""
    return Formula(Op.ATOM, name=name)


def unary(op: Op, part: Formula) -> Formula:
    """An operator in front of one formula."""
    return Formula(op, (part,))


def binary(op: Op, left: Formula, right: Formula) -> Formula:
    """An operator between two formulas."""
    return Formula(op, (left, right))


@lru_cache(maxsize=100_000)
def sort_key(formula: Formula) -> tuple[int, str]:
    """Short formulas first, then by text."""
    text = write(formula)
    return len(text), text


@lru_cache(maxsize=100_000)
def write(formula: Formula) -> str:
    """The formula as text that the parser reads back as the same formula."""
    if formula.op in (Op.TRUE, Op.FALSE):
        return str(formula.op.value)
    if formula.op is Op.ATOM:
        return quote(formula.name)
    if formula.op in UNARY:
        inner = _operand(formula.parts[0])
        return f"{formula.op.value}{inner}" if formula.op is Op.NOT else f"{formula.op.value} {inner}"
    return f" {formula.op.value} ".join(map(_operand, formula.parts))


def _operand(formula: Formula) -> str:
    text = write(formula)
    return f"({text})" if len(formula.parts) > 1 else text


def is_plain_name(name: str) -> bool:
    """True if the parser takes the name for an atom without quotes."""
    return name.isidentifier() and name.isascii() and name not in _RESERVED


_RESERVED = {op.value for op in Op} | {"0", "1", "V"}


def quote(name: str) -> str:
    """The name, in double quotes where the parser needs them."""
    if is_plain_name(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def subformulas(formula: Formula) -> Iterator[Formula]:
    """The formula and everything inside it, with repetitions."""
    pending = [formula]
    while pending:
        here = pending.pop()
        yield here
        pending += here.parts


def atoms(formula: Formula) -> tuple[str, ...]:
    """The names of the propositions, sorted."""
    return tuple(sorted({part.name for part in subformulas(formula) if part.op is Op.ATOM}))
