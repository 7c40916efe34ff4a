"""Automata in the Hanoi Omega-Automata format, version 1: writing."""

from __future__ import annotations

from kubeproof.logic.alphabet import Alphabet, members
from kubeproof.logic.automata.automaton import Buchi
from kubeproof.logic.formats.guards import expression


def to_hoa(automaton: Buchi, *, name: str = "", tool: str = "kubeproof") -> str:
    """The automaton as text.

    The format knows propositions only. Named letters become propositions of which exactly one is true at a time.
    """
    propositions = automaton.alphabet.propositions or automaton.alphabet.letters
    quoted = " ".join(_quote(proposition) for proposition in propositions)
    lines = ["HOA: v1", f"tool: {_quote(tool)}"]
    lines += [f"name: {_quote(name)}"] if name else []
    lines += [f"States: {automaton.size}", *(f"Start: {state}" for state in automaton.initial)]
    lines += [f"AP: {len(propositions)} {quoted}".rstrip(), "acc-name: Buchi", "Acceptance: 1 Inf(0)"]
    lines += [f"properties: {' '.join(_properties(automaton))}", "--BODY--"]
    for state, out in enumerate(automaton.edges):
        lines.append(_state_line(automaton, state))
        lines += [f"  [{_label(guard, automaton.alphabet)}] {target}" for guard, target in out]
    return "\n".join([*lines, "--END--", ""])


def _state_line(automaton: Buchi, state: int) -> str:
    name = f" {_quote(automaton.names[state])}" if automaton.names else ""
    return f"State: {state}{name}{' {0}' if state in automaton.accepting else ''}"


def _properties(automaton: Buchi) -> list[str]:
    names = ["trans-labels", "explicit-labels", "state-acc"]
    names += ["deterministic"] if automaton.is_deterministic else []
    return names + (["complete"] if automaton.is_complete and not automaton.alphabet.letters else [])


def _label(guard: int, alphabet: Alphabet) -> str:
    if not alphabet.letters:
        return expression(guard, [str(place) for place in range(len(alphabet.propositions))])
    places = range(len(alphabet.letters))
    cubes = ["&".join(f"{'' if here == letter else '!'}{here}" for here in places) for letter in members(guard)]
    return " | ".join(cubes)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    printable = "".join(character if character.isprintable() else " " for character in escaped)
    return f'"{printable}"'
