"""`kubeproof explain`: what an ID or word means, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kubeproof.report.lexicon.entry import Explanation
from kubeproof.report.style import Style


def explanations() -> Iterator[Explanation]:
    """Everything that can be explained."""
    from kubeproof.report.lexicon.checks import explain_checks
    from kubeproof.report.lexicon.errors import errors
    from kubeproof.report.lexicon.events import events
    from kubeproof.report.lexicon.matrix import explain_matrix
    from kubeproof.report.lexicon.properties import properties
    from kubeproof.report.lexicon.rules import explain_rules
    from kubeproof.report.lexicon.terms import terms
    from kubeproof.report.lexicon.verdicts import verdicts

    yield from properties()
    yield from explain_checks()
    yield from events()
    yield from errors()
    yield from verdicts()
    yield from explain_matrix()
    yield from terms()
    yield from explain_rules()


def find(word: str) -> tuple[Explanation, ...]:
    """All that a word can mean, whatever its case: `completes` is an event and a property."""
    wanted = word.lower()
    return tuple(one for one in explanations() if wanted in (name.lower() for name in (one.name, *one.aliases)))


def as_text(entries: tuple[Explanation, ...], style: Style) -> str:
    """The explanations, wrapped to the width of the style."""
    return "\n".join("".join(f"{line}\n" for line in _lines(one, style)) for one in entries)


def _lines(one: Explanation, style: Style) -> Iterator[str]:
    yield f"{style.heading(one.name)} {one.kind}" + (f": {one.title}" if one.title != one.name else "")
    yield from style.fold("  ", one.text)
    width = max((len(key) for key, _ in one.facts), default=0)
    for key, value in one.facts:
        yield from style.fold(f"  {style.faint(f'{key:<{width}}')}  ", value)
    if one.remedy:
        yield from style.fold(f"  {style.heading('What to do')}: ", one.remedy)
    if one.example:
        yield f"  {style.heading('Example')}"
        yield from (f"    {line}" for line in one.example.split("\n"))
    if one.page:
        yield f"  {style.faint(f'More: {one.page}')}"


def as_json(entries: tuple[Explanation, ...]) -> str:
    """The explanations as one document."""
    found = [
        {
            "name": one.name,
            "kind": one.kind,
            "title": one.title,
            "text": one.text,
            "facts": dict(one.facts),
            "example": one.example,
            "remedy": one.remedy,
            "page": one.page,
            "aliases": list(one.aliases),
        }
        for one in entries
    ]
    return json.dumps({"version": 1, "explanations": found}, indent=2, ensure_ascii=True) + "\n"
