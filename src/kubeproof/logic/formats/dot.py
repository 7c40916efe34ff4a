"""Automata as graphs in the DOT language."""

from __future__ import annotations

from kubeproof.logic.automata.automaton import Buchi
from kubeproof.logic.formats.guards import show_guard


def to_dot(automaton: Buchi, *, title: str = "property") -> str:
    """A directed graph: accepting states doubly circled, transitions labelled with their letters."""
    lines = [f"digraph {_quote(title)} {{", "  rankdir=LR;", '  node [shape=circle, fontname="sans-serif"];']
    for state in range(automaton.size):
        shape = ", shape=doublecircle" if state in automaton.accepting else ""
        lines.append(f"  {state} [label={_quote(automaton.name(state))}{shape}];")
    for place, state in enumerate(automaton.initial):
        lines += [f'  start{place} [shape=point, label=""];', f"  start{place} -> {state};"]
    for state, out in enumerate(automaton.edges):
        for guard, target in out:
            lines.append(f"  {state} -> {target} [label={_quote(show_guard(guard, automaton.alphabet))}];")
    return "\n".join([*lines, "}", ""])


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else " " for c in escaped) + '"'
