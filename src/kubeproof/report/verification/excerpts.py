"""The lines of the input that declare an object."""

from __future__ import annotations

from collections.abc import Mapping

from kubeproof.cluster.objects import Source

MOST_LINES = 60
_NEXT_DOCUMENT = "---"


def excerpt(texts: Mapping[str, str], source: Source) -> tuple[str, ...]:
    """The lines from the place on, to the end of its YAML document; none if the input does not hold the file."""
    lines = texts.get(source.file, "").splitlines()[max(0, source.line - 1) :]
    found: list[str] = []
    for line in lines[:MOST_LINES]:
        if line.startswith(_NEXT_DOCUMENT) and found:
            break
        found.append(line.expandtabs(4).rstrip())
    while found and not found[-1]:
        found.pop()
    return tuple(found) if source.line else ()
