"""Schemas of CustomResourceDefinitions, which are most of the text of many inputs, are not read.

No loop and no check asks for them, and an operator's run to hundreds of thousands of keys. They are blanked before
the text is parsed, line for line, and only where nothing else can be meant: a document that begins with apiVersion and
kind of such a definition, each in a line of its own, and has no keys at its root but metadata before spec, and status
after it.
"""

from __future__ import annotations

import re
from itertools import pairwise

_KIND = "CustomResourceDefinition"
_PART = re.compile(r"(?m)^(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")  # where a document begins or ends, whatever is open
_HEAD = re.compile(
    r"(?:---[ \t]*\r?\n)?"
    r"(?:[ \t]*(?:#.*)?\r?\n)*"  # comments and blank lines
    r"(?:apiVersion: apiextensions\.k8s\.io/v1(?:beta1)?[ \t]*\r?\nkind: CustomResourceDefinition"
    r"|kind: CustomResourceDefinition[ \t]*\r?\napiVersion: apiextensions\.k8s\.io/v1(?:beta1)?)[ \t]*\r?\n"
    r"metadata:[ \t]*\r?\n"
)
_ROOT = re.compile(r"(?m)^[^ \t\r\n#].*")  # a line that is not indented, no comment and not empty
_SPEC, _STATUS = re.compile(r"spec:\s*"), re.compile(r"status:.*")


def without_schemas(text: str) -> str:
    """The text with an empty spec in place of every schema that is certainly one; all lines stay where they are."""
    if _KIND not in text:
        return text
    starts = sorted({0, *(found.start() for found in _PART.finditer(text)), len(text)})
    return "".join(_blank(text[begin:end]) for begin, end in pairwise(starts))


def _blank(part: str) -> str:
    """One document, without its schema if it has one."""
    head = _HEAD.match(part)
    if head is None:
        return part
    roots = [*_ROOT.finditer(part, head.end())]
    if not roots or _SPEC.fullmatch(roots[0][0]) is None or not _may_follow(roots[1:]):
        return part
    begin = roots[0].start()
    return part[:begin] + "spec: {}" + "\n" * part.count("\n", begin)


def _may_follow(roots: list[re.Match[str]]) -> bool:
    return len(roots) <= 1 and all(_STATUS.fullmatch(one[0]) for one in roots)
