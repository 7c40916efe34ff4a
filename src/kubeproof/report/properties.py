"""Properties and their parts as text, JSON, HOA and DOT."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kubeproof.logic.formats.dot import to_dot
from kubeproof.logic.formats.guards import show_guard
from kubeproof.logic.formats.hoa import to_hoa
from kubeproof.report.escape import escape

if TYPE_CHECKING:
    from kubeproof.logic.automata.automaton import Buchi
    from kubeproof.logic.property import Property

MEANINGS = {
    "safety": "a violation shows in a finite run: search for a bad state, shortest first",
    "liveness": "no finite run can violate it: search for a loop in which the good thing never comes",
    "safety and liveness": "it holds in every run, whatever happens",
    "neither": "both parts must be checked: a bad prefix, or a loop in which the good thing never comes",
}


def classify_as_text(one: Property) -> str:
    """One line for the class, one for what it means."""
    return f"{escape(one.text)}: {one.kind.value}\n  {MEANINGS[one.kind.value]}\n"


def classify_as_json(one: Property) -> str:
    """The class as a document."""
    return _document({"property": one.text, "class": one.kind.value, "automaton": _numbers(one.automaton)})


def decompose_as_text(one: Property) -> str:
    """The three automata as tables of transitions."""
    parts = one.parts
    how = "deterministic" if parts.is_deterministic else "nondeterministic"
    sections = [("property", parts.whole), ("safety part", parts.safety), ("liveness part", parts.liveness)]
    head = f"{escape(one.text)}: {one.kind.value} ({how})\n"
    return head + "".join(f"\n{title}\n{_table(automaton)}" for title, automaton in sections)


def decompose_as_json(one: Property) -> str:
    """Class, determinism and the three automata in HOA."""
    parts = one.parts
    automata = {name: to_hoa(automaton, name=name) for name, automaton in _name_parts(one)}
    content = {"property": one.text, "class": one.kind.value, "deterministic": parts.is_deterministic}
    return _document({**content, "automata": automata})


def decompose_as_hoa(one: Property) -> str:
    """The three automata in HOA, one after the other, as the format allows."""
    return "".join(to_hoa(automaton, name=f"{name} of {one.text}") for name, automaton in _name_parts(one))


def decompose_as_dot(one: Property) -> str:
    """The three automata as graphs, one after the other."""
    return "".join(to_dot(automaton, title=f"{name} of {one.text}") for name, automaton in _name_parts(one))


def _name_parts(one: Property) -> tuple[tuple[str, Buchi], ...]:
    parts = one.parts
    return ("property", parts.whole), ("safety", parts.safety), ("liveness", parts.liveness)


def _table(automaton: Buchi) -> str:
    if not automaton.size:
        return "  accepts nothing\n"
    lines = []
    for state, out in enumerate(automaton.edges):
        marks = "->" if state in automaton.initial else "  "
        name = f"({automaton.name(state)})" if state in automaton.accepting else f" {automaton.name(state)} "
        lines += [f"  {marks} {escape(name)}"]
        lines += [f"       {escape(show_guard(g, automaton.alphabet))} -> {escape(automaton.name(t))}" for g, t in out]
    return "\n".join(lines) + "\n"


def _numbers(automaton: Buchi) -> dict[str, Any]:
    return {"states": automaton.size, "deterministic": automaton.is_deterministic}


def _document(content: dict[str, Any]) -> str:
    return json.dumps({"version": 1, **content}, indent=2, ensure_ascii=False) + "\n"
