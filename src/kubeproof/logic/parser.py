"""Reads LTL: `G(pending -> F running)`, `[] (p -> <> q)`, `□(p → ◇q)`.

From loosest to tightest: `<->`, `->` (to the right), `|`, `&`, then `U R W M` (to the right), then `! X F G`.
A name is letters, digits and `_`, or anything in double quotes. `true`, `false`, `1`, `0` are constants.
"""

from __future__ import annotations

import re

from kubeproof.errors import FormulaError
from kubeproof.logic.formula import FALSE, TEMPORAL_BINARY, TRUE, UNARY, Formula, Op, atom, binary, unary
from kubeproof.logic.reading import Cursor, split
from kubeproof.named_tuples import NamedTuple

MOST_DEPTH = 80  # of nesting; a hostile formula must not exhaust the stack
MOST_OPERATORS = 120  # the same: a chain of operators is as deep as it is long

_SYMBOLS = {
    "<->": Op.EQUIVALENT, "<=>": Op.EQUIVALENT, "↔": Op.EQUIVALENT, "⇔": Op.EQUIVALENT, "≡": Op.EQUIVALENT,
    "->": Op.IMPLIES, "=>": Op.IMPLIES, "→": Op.IMPLIES, "⇒": Op.IMPLIES,
    "||": Op.OR, "|": Op.OR, "\\/": Op.OR, "\u2228": Op.OR,
    "&&": Op.AND, "&": Op.AND, "/\\": Op.AND, "∧": Op.AND,
    "!": Op.NOT, "~": Op.NOT, "¬": Op.NOT,
    "[]": Op.GLOBALLY, "□": Op.GLOBALLY, "<>": Op.FINALLY, "◇": Op.FINALLY, "○": Op.NEXT,
}  # fmt: skip
_WORDS = {
    "G": Op.GLOBALLY, "F": Op.FINALLY, "X": Op.NEXT,
    "U": Op.UNTIL, "R": Op.RELEASE, "V": Op.RELEASE, "W": Op.WEAK_UNTIL, "M": Op.STRONG_RELEASE,
    "not": Op.NOT, "and": Op.AND, "or": Op.OR,
}  # fmt: skip
_CONSTANTS = {"true": TRUE, "1": TRUE, "\u22a4": TRUE, "false": FALSE, "0": FALSE, "\u22a5": FALSE}
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>\"(?:[^\"\\]|\\.)*\")|(?P<word>[A-Za-z0-9_]+|[\u22a4\u22a5])|(?P<symbol>"
    + "|".join(re.escape(symbol) for symbol in sorted(_SYMBOLS, key=len, reverse=True))
    + r")|(?P<bracket>[()])|(?P<other>\S))"
)
_BINARY_LEVELS = ((Op.EQUIVALENT,), (Op.IMPLIES,), (Op.OR,), (Op.AND,))


class Token(NamedTuple):
    """A piece of text with what it stands for."""

    text: str
    column: int  # from 1
    op: Op | None = None
    formula: Formula | None = None  # of an atom or a constant


def parse(text: str) -> Formula:
    """The formula that the text stands for; a mistake is reported with its column."""
    reader = _Reader(text)
    formula = reader.level(0, 0)
    reader.expect_end("Write an operator between two formulas")
    return formula


def names_in(text: str) -> tuple[tuple[str, int], ...]:
    """The propositions that the text of a formula names, each time with its column."""
    found = ((token.formula, token.column) for token in _tokens(text))
    return tuple((one.name, column) for one, column in found if one is not None and one.op is Op.ATOM)


class _Reader(Cursor[Token]):
    """Recursive descent over the tokens."""

    def __init__(self, text: str) -> None:
        def mistake(problem: str, column: int, remedy: str) -> FormulaError:
            return FormulaError(problem, text=text, column=column, remedy=remedy)

        super().__init__(text, _tokens(text), mistake, MOST_DEPTH)
        self._check_length()

    def _check_length(self) -> None:
        operators = [token for token in self._tokens if token.op is not None]
        if len(operators) > MOST_OPERATORS:
            column = operators[MOST_OPERATORS].column
            self.fail_at(column, "has too many operators", f"At most {MOST_OPERATORS} are read")

    def level(self, number: int, depth: int) -> Formula:
        """A formula of operators at least as tight as the level's."""
        self.check_depth(depth)
        if number == len(_BINARY_LEVELS):
            return self._temporal(depth)
        left = self.level(number + 1, depth)
        while (op := self._op()) in _BINARY_LEVELS[number] and op is not None:
            self.step()
            if op is Op.IMPLIES:
                return binary(op, left, self.level(number, depth + 1))
            left = binary(op, left, self.level(number + 1, depth + 1))
        return left

    def _temporal(self, depth: int) -> Formula:
        left = self._prefix(depth)
        op = self._op()
        if op not in TEMPORAL_BINARY or op is None:
            return left
        self.step()
        self.check_depth(depth)
        return binary(op, left, self._temporal(depth + 1))

    def _prefix(self, depth: int) -> Formula:
        ops: list[Op] = []
        while (op := self._op()) in UNARY and op is not None:
            ops.append(op)
            self.step()
        self.check_depth(depth + len(ops))
        formula = self._primary(depth + len(ops))
        for op in reversed(ops):
            formula = unary(op, formula)
        return formula

    def _primary(self, depth: int) -> Formula:
        token = self.peek()
        if token is not None and token.formula is not None:
            self.step()
            return token.formula
        if token is None or token.text != "(":
            self.fail("lacks a proposition", "Write a name, true, false or a formula in parentheses")
        self.step()
        formula = self.level(0, depth + 1)
        closing = self.peek()
        if closing is None or closing.text != ")":
            self.fail("lacks )", f"Close the parenthesis opened in column {token.column}")
        self.step()
        return formula

    def _op(self) -> Op | None:
        token = self.peek()
        return token.op if token is not None else None


def _tokens(text: str) -> list[Token]:
    return [_token(piece, kind, column, text) for kind, piece, column in split(_TOKEN, text)]


def _token(piece: str, kind: str, column: int, text: str) -> Token:
    if kind == "other":
        remedy = "Operators are ! & | -> <-> X F G U R W M; other names go in double quotes"
        raise FormulaError(f"has an unknown character {piece!r}", text=text, column=column, remedy=remedy)
    if kind == "quoted":
        return Token(piece, column, formula=atom(re.sub(r"\\(.)", r"\1", piece[1:-1])))
    if kind == "symbol":
        return Token(piece, column, op=_SYMBOLS[piece])
    if kind == "bracket":
        return Token(piece, column)
    if piece in _CONSTANTS:
        return Token(piece, column, formula=_CONSTANTS[piece])
    if piece in _WORDS:
        return Token(piece, column, op=_WORDS[piece])
    if piece[0].isdigit():
        remedy = "Names begin with a letter or _; put other names in double quotes"
        raise FormulaError(f"has a name that begins with a digit, {piece!r}", text=text, column=column, remedy=remedy)
    return Token(piece, column, formula=atom(piece))  # `Fp` is one name, not F p, as in most tools that read LTL
