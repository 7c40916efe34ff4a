"""Automata in the Hanoi Omega-Automata format, version 1: reading.

Read are nondeterministic automata with Büchi or generalised Büchi acceptance (also `t`, all runs), on states or on
transitions, with labels on transitions, on states or implicit, and aliases. Refused by name: alternation, and
acceptance with Fin (co-Büchi, Rabin, Streett, parity).
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import NoReturn

from kubeproof.errors import AutomatonError
from kubeproof.logic.alphabet import MOST_PROPOSITIONS, Alphabet
from kubeproof.logic.automata.automaton import Buchi, make
from kubeproof.logic.automata.degeneralise import degeneralise
from kubeproof.logic.reading import Cursor, Token, split
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

MOST_STATES = 1_000_000
MOST_DEPTH = 200

_TOKEN = re.compile(
    r"(?P<space>\s+|/\*.*?\*/)|(?P<text>\"(?:[^\"\\]|\\.)*\")|(?P<header>[A-Za-z_][A-Za-z0-9_-]*:)"
    r"|(?P<word>--[A-Z]+--|[A-Za-z_][A-Za-z0-9_-]*|@[A-Za-z0-9_-]+)|(?P<number>\d+)|(?P<mark>[][{}()!&|])|(?P<other>.)",
    re.DOTALL,
)
_INF_ONLY = re.compile(r"Inf\((\d+)\)")


class _Move(NamedTuple):
    guard: int
    target: int
    sets: frozenset[int]


@dataclass(slots=True)
class _Header:
    """What comes before the body."""

    states: int | None = None
    starts: list[int] = field(default_factory=list)
    propositions: tuple[str, ...] | None = None
    sets: int | None = None
    aliases: dict[str, int] = field(default_factory=dict)


def from_hoa(text: str, *, file: str = "<text>") -> Buchi:
    """The automaton that the text describes, as a Büchi automaton with acceptance on states."""
    return _Reader(text, file).automaton()


class _Reader(Cursor[Token]):
    """Recursive descent over the tokens."""

    def __init__(self, text: str, file: str) -> None:
        def mistake(problem: str, column: int, remedy: str) -> AutomatonError:
            line = text.count("\n", 0, column - 1) + 1
            return AutomatonError(problem, file=file, line=line, remedy=remedy)

        super().__init__(text, [token for token in split(_TOKEN, text) if token.kind != "space"], mistake, MOST_DEPTH)
        self._header = _Header()
        self._alphabet = Alphabet()
        self._names: dict[int, str] = {}

    def automaton(self) -> Buchi:
        self._read_header()
        header = self._header
        moves, on_states = self._read_body()
        size = header.states if header.states is not None else _highest(moves, header.starts)
        if header.sets == 1 and None not in on_states.values():
            return self._on_states(size, moves, on_states)
        sets = header.sets or 0

        def successors(state: int) -> list[_Move]:
            return moves.get(state, [])

        return degeneralise(self._alphabet, header.starts, successors, sets)

    def _on_states(
        self, size: int, moves: dict[int, list[_Move]], on_states: dict[int, frozenset[int] | None]
    ) -> Buchi:
        """Acceptance was on states already: states and their names stay as they are."""
        edges = [[(move.guard, move.target) for move in moves.get(state, [])] for state in range(size)]
        names = [self._names.get(state, str(state)) for state in range(size)] if self._names else ()
        return make(self._alphabet, self._header.starts, edges, (s for s, sets in on_states.items() if sets), names)

    # Header

    def _read_header(self) -> None:
        if self._take("header") != "HOA:" or self._take("word") != "v1":
            self._fail("the file does not begin with HOA: v1", "Give an automaton in HOA format, version 1")
        while (token := self._token()).text != "--BODY--":
            if token.kind != "header":
                self._fail(f"{token.text!r} stands where a header item was expected", "See the HOA format, version 1")
            self.step()
            self._item(token.text[:-1])
        self.step()
        if self._header.propositions is None:
            self._set_propositions(())
        if self._header.sets is None:
            self._fail("Acceptance: is missing", "Add Acceptance: 1 Inf(0)")

    def _item(self, name: str) -> None:
        match name:
            case "States":
                self._header.states = self._number(MOST_STATES)
            case "Start":
                self._header.starts.append(self._number(MOST_STATES))
                if self._token().text == "&":
                    self._fail("the automaton is alternating", "Only nondeterministic automata are read")
            case "AP":
                count = self._number(MOST_PROPOSITIONS)
                self._set_propositions(tuple(_unquote(self._take("text")) for _ in range(count)))
            case "Acceptance":
                self._header.sets = self._acceptance()
            case "Alias":
                self._header.aliases[self._take("word")] = self._expression(0)
            case _:
                self._skip_item(name)

    def _set_propositions(self, names: tuple[str, ...]) -> None:
        if len(set(names)) != len(names):
            self._fail("AP: names a proposition twice", "Give each proposition one name")
        self._header.propositions = names
        self._alphabet = Alphabet(propositions=names)

    def _acceptance(self) -> int:
        sets = self._number(64)
        words = []
        while self._token().kind != "header" and self._token().text != "--BODY--":
            words.append(self._token().text)
            self.step()
        condition = "".join(words).strip()
        if condition == "t" and sets == 0:
            return 0
        named = {int(found) for found in _INF_ONLY.findall(condition)}
        plain = re.sub(r"[()&]", "", _INF_ONLY.sub("", condition))
        if plain or named != set(range(sets)) or not sets:
            self._fail(f"acceptance {condition!r} is not Büchi", "Only Inf(0) and Inf(0)&Inf(1)&… are read")
        return sets

    def _skip_item(self, name: str) -> None:
        """Items of no effect here; the format says that unknown ones in capitals must not be ignored."""
        if name[0].isupper():
            self._fail(f"header item {name}: is unknown", "Remove it, or convert the automaton")
        while self._token().kind != "header" and self._token().text != "--BODY--":
            self.step()

    # Body

    def _read_body(self) -> tuple[dict[int, list[_Move]], dict[int, frozenset[int] | None]]:
        """The moves of each state; and of each state its acceptance sets, None if they stand on transitions."""
        moves: dict[int, list[_Move]] = {}
        on_states: dict[int, frozenset[int] | None] = {}
        while self._token().text != "--END--":
            if self._take("header") != "State:":
                self._fail("State: was expected", "See the HOA format, version 1")
            label = self._label()
            state = self._number(MOST_STATES)
            if state in moves:
                self._fail(f"state {state} is described twice", "Keep one of the two")
            if self._token().kind == "text":
                self._names[state] = _unquote(self._take("text"))
            sets = self._sets()
            moves[state], marked = self._moves(label, sets)
            on_states[state] = None if marked else sets
        return moves, on_states

    def _moves(self, label: int | None, sets: frozenset[int]) -> tuple[list[_Move], bool]:
        moves: list[_Move] = []
        marked = False
        while self._token().kind == "number" or self._token().text == "[":
            own = self._label()
            target = self._number(MOST_STATES)
            if self._token().text == "&":
                self._fail("the automaton is alternating", "Only nondeterministic automata are read")
            also = self._sets()
            marked = marked or bool(also)
            guard = own if own is not None else label
            if guard is None:  # implicit labels: one transition per letter, in order
                guard = 1 << len(moves)
            moves.append(_Move(guard, target, sets | also))
        self._check_moves(moves)
        return moves, marked

    def _check_moves(self, moves: list[_Move]) -> None:
        states = self._header.states
        if any(move.guard > self._alphabet.everything for move in moves):
            self._fail("a state has more unlabelled transitions than there are letters", "Label the transitions")
        if states is not None and any(move.target >= states for move in moves):
            self._fail(f"a transition leads to a state beyond the {states} declared", "Correct States: or the target")

    def _sets(self) -> frozenset[int]:
        if self._token().text != "{":
            return frozenset()
        self.step()
        found = []
        while self._token().text != "}":
            found.append(self._number(max(0, (self._header.sets or 0) - 1)))
        self.step()
        return frozenset(found)

    # Labels

    def _label(self) -> int | None:
        if self._token().text != "[":
            return None
        self.step()
        guard = self._expression(0)
        if self._token().text != "]":
            self._fail("a label lacks ]", "Close the label")
        self.step()
        return guard

    def _expression(self, depth: int) -> int:
        guard = self._conjunction(depth)
        while self._token().text == "|":
            self.step()
            guard |= self._conjunction(depth)
        return guard

    def _conjunction(self, depth: int) -> int:
        guard = self._literal(depth)
        while self._token().text == "&":
            self.step()
            guard &= self._literal(depth)
        return guard

    def _literal(self, depth: int) -> int:
        if depth > MOST_DEPTH:
            self._fail("a label is nested too deeply", f"Nest at most {MOST_DEPTH} levels")
        token = self._token()
        self.step()
        everything = self._alphabet.everything
        if token.text == "!":
            return everything & ~self._literal(depth + 1)
        if token.text == "(":
            guard = self._expression(depth + 1)
            if self._token().text != ")":
                self._fail("a label lacks )", "Close the parenthesis")
            self.step()
            return guard
        if token.text in ("t", "f"):
            return everything if token.text == "t" else 0
        return self._find_named(token)

    def _find_named(self, token: Token) -> int:
        names = self._header.propositions or ()
        if token.kind == "number" and int(token.text) < len(names):
            return self._alphabet.where(names[int(token.text)])
        if token.text in self._header.aliases:
            return self._header.aliases[token.text]
        self.step(-1)
        self._fail(f"a label has {token.text!r}", f"Propositions are 0 to {len(names) - 1}, t, f and aliases")

    # Tokens

    def _token(self) -> Token:
        token = self.peek()
        if token is None:
            self._fail("the file ends too early", "It must end with --END--")
        return token

    def _take(self, kind: str) -> str:
        token = self._token()
        if token.kind != kind:
            self._fail(f"{token.text!r} stands where a {kind} was expected", "See the HOA format, version 1")
        self.step()
        return token.text

    def _number(self, most: int) -> int:
        text = self._take("number")
        if len(text) > 9 or int(text) > most:
            self.step(-1)
            self._fail(f"{text[:20]} is too large here", f"At most {most}")
        return int(text)

    def _fail(self, problem: str, remedy: str) -> NoReturn:
        """Raises the error of a mistake at the next token, or at the last one."""
        token = self.peek() or (self._tokens[-1] if self._tokens else None)
        self.fail_at(token.column if token is not None else 1, problem, remedy)


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def _highest(moves: dict[int, list[_Move]], starts: list[int]) -> int:
    """The number of states if the header does not say."""
    named = [*moves, *starts, *(move.target for out in moves.values() for move in out)]
    return max(named, default=-1) + 1
