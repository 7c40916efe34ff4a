"""Label selectors as kubectl writes them: `app=web,tier!=db,env in (a,b),!old`."""

from __future__ import annotations

import re

from kubeproof.cluster.labels import LabelSelector, Requirement

_KEY = r"(?P<key>[A-Za-z0-9][A-Za-z0-9._/-]*)"
_VALUE = r"[A-Za-z0-9._-]*"
_FORMS = (
    (re.compile(rf"{_KEY}\s*!=\s*(?P<values>{_VALUE})"), "NotIn"),
    (re.compile(rf"{_KEY}\s*==?\s*(?P<values>{_VALUE})"), "In"),
    (re.compile(rf"{_KEY}\s+in\s*\((?P<values>[^()]*)\)"), "In"),
    (re.compile(rf"{_KEY}\s+notin\s*\((?P<values>[^()]*)\)"), "NotIn"),
    (re.compile(rf"!\s*{_KEY}"), "DoesNotExist"),
    (re.compile(_KEY), "Exists"),
)
_COMMA = re.compile(r",(?![^(]*\))")  # not inside parentheses


def selector_from(text: str) -> LabelSelector:
    """The selector; ValueError with the piece that is none. Empty text selects everything."""
    if not text.strip():
        return LabelSelector()
    return LabelSelector(tuple(_requirement(piece.strip()) for piece in _COMMA.split(text)))


def _requirement(piece: str) -> Requirement:
    for form, operator in _FORMS:
        match = form.fullmatch(piece)
        if match is None:
            continue
        if operator in ("Exists", "DoesNotExist"):
            return Requirement(match["key"], operator)
        values = tuple(value.strip() for value in match["values"].split(","))
        if all(re.fullmatch(_VALUE, value) for value in values):
            return Requirement(match["key"], operator, values)
    raise ValueError(piece)


def selector_text(selector: LabelSelector) -> str:
    """The selector as text that `selector_from` reads back."""
    return ",".join(_write_requirement(requirement) for requirement in selector.requirements)


def _write_requirement(requirement: Requirement) -> str:
    key, values = requirement.key, requirement.values
    if requirement.operator == "Exists":
        return key
    if requirement.operator == "DoesNotExist":
        return f"!{key}"
    if len(values) == 1:
        return f"{key}{'=' if requirement.operator == 'In' else '!='}{values[0]}"
    return f"{key} {'in' if requirement.operator == 'In' else 'notin'} ({','.join(values)})"
