"""How a text report looks: colour, drawing characters, how much is said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

_COLOURS: Mapping[str, str] = {
    Verdict.HOLDS: "32",
    Verdict.HOLDS_BOUNDED: "32",
    Verdict.SAMPLED_OK: "32",
    Verdict.VIOLATED: "31",
    Verdict.ERROR: "31",
}
_OTHERS = "33"  # UNKNOWN, VACUOUS, SUPPRESSED: neither good nor bad


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What the reader asked for and what the terminal can show."""

    colour: bool = False
    unicode: bool = True
    verbose: bool = False
    quiet: bool = False
    map: bool = True  # draw the heat map of a sweep
    replay_command: str = ""  # how to replay a counterexample of this run; "": not said
    fix_command: str = ""  # how to look for a repair of this input; "": not said
    width: int | None = None  # columns; None: lines are as long as they are

    def verdict(self, word: str) -> str:
        """The verdict word in its colour."""
        return self.in_colour_of(word, word)

    def in_colour_of(self, word: str, text: str) -> str:
        """The text in the colour of a verdict word."""
        return self._paint(text, f"1;{_COLOURS.get(word, _OTHERS)}")

    def heading(self, text: str) -> str:
        """The text as a heading."""
        return self._paint(text, "1")

    def faint(self, text: str) -> str:
        """The text as a side remark."""
        return self._paint(text, "2")

    def margin(self, part: str) -> str:
        """The drawing of a loop beside a step: `open`, `inside` or `close`."""
        drawn = {"open": "┌▶", "inside": "│ ", "close": "└─"} if self.unicode else _ASCII_MARGIN
        return drawn.get(part, "  ")

    def fold(self, head: str, text: str, *, below: str = "", faint: bool = False) -> Iterator[str]:
        """Head and text, wrapped to the width; further lines begin with `below` and stand under the text.

        Words are never broken, so that names can be copied.
        """
        indent = _visible(head)
        parts = [text] if self.width is None else _wrap(text, max(_LEAST_WIDTH, self.width - indent))
        for number, part in enumerate(parts):
            start = head if number == 0 else below + " " * (indent - _visible(below))
            yield start + (self.faint(part) if faint else part)

    def indent(self, columns: int) -> Style:
        """The style for lines that will be moved to the right."""
        return self if self.width is None else replace(self, width=self.width - columns)

    @property
    def ellipsis(self) -> str:
        """Stands for what is left out."""
        return "…" if self.unicode else "..."

    def _paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


_ASCII_MARGIN = {"open": "+>", "inside": "| ", "close": "+-"}
_LEAST_WIDTH = 30  # of a column of text, however narrow the terminal is
_CODES = re.compile("\x1b\\[[0-9;]*m")


def _visible(text: str) -> int:
    """How many columns a text takes."""
    return len(_CODES.sub("", text))


def _wrap(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
