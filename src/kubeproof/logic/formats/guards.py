"""Sets of letters as text."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.logic.alphabet import Alphabet, members

TRUE, FALSE = "t", "f"


def expression(guard: int, names: Sequence[str], size: int | None = None) -> str:
    """A boolean expression over the propositions' names, `t` for all letters and `f` for none."""
    width = 1 << len(names) if size is None else size
    if guard == 0:
        return FALSE
    if guard == (1 << width) - 1:
        return TRUE
    half = width // 2
    without, with_it = guard & ((1 << half) - 1), guard >> half
    *others, name = names
    if without == with_it:
        return expression(without, others)
    parts = [_case(f"!{name}", without, others), _case(name, with_it, others)]
    return " | ".join(part for part in parts if part)


def _case(literal: str, guard: int, names: Sequence[str]) -> str:
    """The literal and what else must hold; empty if nothing can."""
    rest = expression(guard, names)
    if rest in (TRUE, FALSE):
        return literal if rest == TRUE else ""
    return f"{literal} & ({rest})" if " | " in rest else f"{literal} & {rest}"


def show_guard(guard: int, alphabet: Alphabet) -> str:
    """A set of letters for people: names of letters, or an expression."""
    if guard == alphabet.everything:
        return "any"
    if alphabet.letters:
        return ", ".join(alphabet.letters[number] for number in members(guard))
    return expression(guard, alphabet.propositions)
