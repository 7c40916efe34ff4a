"""One explanation, whatever it is of."""

from __future__ import annotations

from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """An ID or word, and what a reader wants to know about it."""

    name: str  # as it is written: "S005", "drain", "E101", "VACUOUS", "ESC"
    kind: str  # "property", "check", "event", "error", "verdict", "grade", "fault", "term", "rule"
    title: str  # one line
    text: str  # what it means
    facts: tuple[tuple[str, str], ...] = ()  # printed pairs: fields, default, exit code ...
    example: str = ""  # YAML or a command
    remedy: str = ""  # what to do about it
    page: str = ""  # of the documentation
    aliases: tuple[str, ...] = ()  # other words it is found by
    brief: str = ""  # what it means, in a list; "": the title or the text, whichever tells more than the name
