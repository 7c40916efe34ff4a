"""How a text report looks: colour, drawing characters, how much is said."""

from __future__ import annotations

from kubeproof.values import dataclass

_COLOURS = {"HOLDS": "32", "HOLDS-BOUNDED": "32", "SAMPLED-OK": "32", "VIOLATED": "31", "ERROR": "31"}
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

    @property
    def ellipsis(self) -> str:
        """Stands for what is left out."""
        return "…" if self.unicode else "..."

    def _paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


_ASCII_MARGIN = {"open": "+>", "inside": "| ", "close": "+-"}
