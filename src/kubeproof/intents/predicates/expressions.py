"""Reads predicates over cluster states: `ready('Deployment/shop/web') >= 2 && nodes(ready=false) == 0`.

From loosest to tightest: `||`, `&&`, `!`, one comparison, `+ -`, `*`. Numbers are whole. Text is in single or double
quotes. What the functions are and which arguments they take is in `kubeproof.intents.predicates.vocabulary`; every
expression is typed, so that a number is never taken for a truth value. Nothing is ever executed: this is a small
language of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from kubeproof.errors import PredicateError
from kubeproof.intents.predicates.vocabulary import FUNCTIONS, NUMBER, TRUTH, Function, closest
from kubeproof.logic.reading import Cursor, Token, split
from kubeproof.values import dataclass

MOST_DEPTH = 30  # of nesting; a hostile predicate must not exhaust the stack
MOST_OPERATORS = 200  # the same: a chain of operators is as deep as it is long
MOST_LENGTH = 10_000
LARGEST = 10**9

COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
_SPELLINGS = {"and": "&&", "or": "||", "not": "!"}
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^']*'|\"[^\"]*\")|(?P<number>[0-9]+)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<symbol>\|\||&&|==|!=|<=|>=|[<>!+*(),=-])|(?P<other>\S))"
)


@dataclass(frozen=True, slots=True)
class Constant:
    """A number or a truth value."""

    value: int | bool
    column: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments by name, in the order of its parameters."""

    name: str
    arguments: tuple[tuple[str, str | bool], ...]
    column: int

    def argument(self, name: str) -> str | bool | None:
        """The argument of that name, None if it was left out."""
        return dict(self.arguments).get(name)

    def text(self, name: str) -> str | None:
        """The argument of that name, which is text."""
        value = self.argument(name)
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with its operands."""

    op: str
    parts: tuple[Expression, ...]
    column: int


Expression = Constant | Call | Operation


def type_of(expression: Expression) -> str:
    """NUMBER or TRUTH."""
    if isinstance(expression, Constant):
        return TRUTH if isinstance(expression.value, bool) else NUMBER
    if isinstance(expression, Call):
        return FUNCTIONS[expression.name].gives
    return NUMBER if expression.op in ("+", "-", "*") else TRUTH


def calls(expression: Expression) -> Iterator[Call]:
    """All calls inside an expression, from left to right."""
    if isinstance(expression, Call):
        yield expression
    elif isinstance(expression, Operation):
        for part in expression.parts:
            yield from calls(part)


def constants(expression: Expression) -> Iterator[int]:
    """All numbers written in an expression."""
    if isinstance(expression, Constant):
        yield int(expression.value)
    elif isinstance(expression, Operation):
        for part in expression.parts:
            yield from constants(part)


@lru_cache(maxsize=1024)
def parse_predicate(text: str) -> Expression:
    """The predicate that the text stands for; a mistake is reported with its column."""
    if len(text) > MOST_LENGTH:
        remedy = f"At most {MOST_LENGTH} characters are read"
        raise PredicateError("is too long", text=text[:MOST_LENGTH], column=MOST_LENGTH, remedy=remedy)
    reader = _Reader(text)
    expression = reader.either(0)
    token = reader.peek()
    is_assignment = token is not None and token.text == "="
    reader.expect_end("Compare with ==" if is_assignment else "Write an operator between two values: && || == < + ...")
    if type_of(expression) != TRUTH:
        reader.fail_at(expression.column, "is a number, not true or false", "Compare it: ready(...) >= 2")
    _check_failed(reader, expression)
    return expression


class _Reader(Cursor[Token]):
    """Recursive descent over the tokens, one method per level."""

    def __init__(self, text: str) -> None:
        def mistake(problem: str, column: int, remedy: str) -> PredicateError:
            return PredicateError(problem, text=text, column=column, remedy=remedy)

        super().__init__(text, [_spell(token) for token in split(_TOKEN, text)], mistake, MOST_DEPTH)
        self._operators = 0
        for kind, piece, column in self._tokens:
            if kind == "other":
                self.fail_at(column, f"has an unknown character {piece!r}", "Text goes in quotes: 'Deployment/web'")

    def either(self, depth: int) -> Expression:
        return self._chain(("||",), self._both, TRUTH, depth)

    def _both(self, depth: int) -> Expression:
        return self._chain(("&&",), self._negation, TRUTH, depth)

    def _negation(self, depth: int) -> Expression:
        token = self.peek()
        if token is None or token.text != "!" or token.kind != "symbol":
            return self._comparison(depth)
        self.check_depth(depth)
        self.step()
        return Operation("!", (self._check_type(self._negation(depth + 1), TRUTH, "!"),), token.column)

    def _comparison(self, depth: int) -> Expression:
        left = self._sum(depth)
        token = self._symbol(COMPARISONS)
        if token is None:
            return left
        right = self._sum(depth)
        if type_of(left) != type_of(right) or (type_of(left) == TRUTH and token.text not in ("==", "!=")):
            remedy = "Compare numbers with numbers; truth values only with == and !="
            kinds = f"{type_of(left)} with {type_of(right)}"
            self.fail_at(token.column, f"compares {kinds} by {token.text}", remedy)
        if (again := self._symbol(COMPARISONS)) is not None:
            self.fail_at(again.column, "compares twice in a row", "Write a < b && b < c")
        return Operation(token.text, (left, right), token.column)

    def _sum(self, depth: int) -> Expression:
        return self._chain(("+", "-"), self._product, NUMBER, depth)

    def _product(self, depth: int) -> Expression:
        return self._chain(("*",), self._primary, NUMBER, depth)

    def _chain(self, ops: tuple[str, ...], inner: Callable[[int], Expression], kind: str, depth: int) -> Expression:
        """Operands of one type between operators of one level."""
        left = inner(depth)
        while (token := self._symbol(ops)) is not None:
            self._count(token)
            right = inner(depth)
            parts = (self._check_type(left, kind, token.text), self._check_type(right, kind, token.text))
            left = Operation(token.text, parts, token.column)
        return left

    def _primary(self, depth: int) -> Expression:
        self.check_depth(depth)
        token = self.peek()
        if token is None or (token.kind == "symbol" and token.text not in "(-") or token.kind == "text":
            self.fail("lacks a value", "Write a number, true, false or a function such as ready('Deployment/web')")
        self.step()
        if token.kind == "number":
            return self._number(token, 1)
        if token.text == "-":
            return self._number(self._expect("number", "a number after -"), -1)
        if token.text == "(":
            inner = self.either(depth + 1)
            self._close(token)
            return inner
        if token.text in ("true", "false"):
            return Constant(token.text == "true", token.column)
        return self._call(token)

    def _number(self, token: Token, sign: int) -> Constant:
        if len(token.text) > 10 or int(token.text) > LARGEST:
            self.fail_at(token.column, "has too large a number", f"At most {LARGEST} is possible")
        return Constant(sign * int(token.text), token.column)

    # -- calls ----------------------------------------------------------------------------------

    def _call(self, name: Token) -> Call:
        if name.text not in FUNCTIONS:
            remedy = closest(name.text, (*FUNCTIONS, "true", "false"))
            self.fail_at(name.column, f"has an unknown name {name.text!r}", remedy)
        function = FUNCTIONS[name.text]
        opening = self._symbol(("(",))
        given: dict[str, str | bool] = {}
        if opening is not None and self._symbol((")",)) is None:
            self._argument(function, given)
            while self._symbol((",",)) is not None:
                self._argument(function, given)
            self._close(opening)
        for needed in function.required:
            if needed not in given:
                self.fail_at(name.column, f"calls {name.text} without {needed}", f"Write {function.usage}")
        ordered = tuple((p, given[p]) for p in function.parameters if p in given)
        return Call(name.text, ordered, name.column)

    def _argument(self, function: Function, given: dict[str, str | bool]) -> None:
        token = self.peek()
        following = self.peek(1)
        if token is not None and token.kind == "word" and following is not None and following.text == "=":
            name, column = token.text, token.column
            self.step(2)
        else:
            name, column = self._position(function, given), token.column if token else len(self._text) + 1
        if name not in function.parameters:
            self.fail_at(column, f"gives {function.name} an unknown {name!r}", closest(name, function.parameters))
        if name in given:
            self.fail_at(column, f"gives {function.name} its {name} twice", "Remove one of them")
        given[name] = self._value(function, name)

    def _position(self, function: Function, given: dict[str, str | bool]) -> str:
        if len(given) >= len(function.parameters):
            self.fail(f"gives {function.name} too many arguments", f"Write {function.usage}")
        return function.parameters[len(given)]

    def _value(self, function: Function, name: str) -> str | bool:
        token = self.peek()
        if name in function.flags:
            if token is None or token.text not in ("true", "false"):
                self.fail(f"gives {function.name} a {name} that is not true or false", "Write true or false")
            self.step()
            return token.text == "true"
        if token is None or token.kind != "text":
            self.fail(f"gives {function.name} a {name} that is not text", "Put it in quotes: 'Deployment/web'")
        self.step()
        allowed = function.words_of(name)
        if allowed and token.text[1:-1] not in allowed:
            remedy = closest(token.text[1:-1], allowed)
            self.fail_at(token.column, f"gives {function.name} an unknown {name} {token.text}", remedy)
        return token.text[1:-1]

    # -- tokens and failures --------------------------------------------------------------------

    def _symbol(self, texts: tuple[str, ...]) -> Token | None:
        """The next token, if it is one of the symbols; it is then read."""
        token = self.peek()
        if token is None or token.kind != "symbol" or token.text not in texts:
            return None
        self.step()
        return token

    def _expect(self, kind: str, what: str) -> Token:
        token = self.peek()
        if token is None or token.kind != kind:
            self.fail(f"lacks {what}", f"Write {what}")
        self.step()
        return token

    def _close(self, opening: Token) -> None:
        if self._symbol((")",)) is None:
            self.fail("lacks )", f"Close the parenthesis opened in column {opening.column}")

    def _check_type(self, expression: Expression, kind: str, op: str) -> Expression:
        if type_of(expression) != kind:
            needs = "true or false" if kind == TRUTH else "a number"
            self.fail_at(expression.column, f"gives {op} a {type_of(expression)}", f"It takes {needs} on both sides")
        return expression

    def _count(self, token: Token) -> None:
        self._operators += 1
        if self._operators > MOST_OPERATORS:
            self.fail_at(token.column, "has too many operators", f"At most {MOST_OPERATORS} are read")


def _spell(token: Token) -> Token:
    if token.kind == "word" and token.text in _SPELLINGS:
        return Token("symbol", _SPELLINGS[token.text], token.column)
    return token


def _check_failed(reader: _Reader, expression: Expression) -> None:
    """Failed pods are counted only as far as a written number asks for; see `docs/reference/ltl.md`."""
    if not isinstance(expression, Operation):
        return
    if expression.op in COMPARISONS:
        left, right = expression.parts
        for side, other in ((left, right), (right, left)):
            counted = [call for call in calls(side) if call.name == "failed"]
            if counted and not (_is_sum(side) and isinstance(other, Constant)):
                remedy = "Compare it with a number, alone or added to other counts"
                reader.fail_at(counted[0].column, "uses failed in a way that needs an exact count", remedy)
        return
    for part in expression.parts:
        _check_failed(reader, part)


def _is_sum(expression: Expression) -> bool:
    if isinstance(expression, Operation):
        return expression.op == "+" and all(_is_sum(part) for part in expression.parts)
    return True
