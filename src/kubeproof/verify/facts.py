"""What is wrong in the last state of a run: sentences that know what they speak of."""

from __future__ import annotations


class Fact(str):
    """A sentence about the end of a run; reports ask its parts and never read its words."""

    about: str  # the workload that is held up, by reference; "": all of them, or none
    node: str  # the node that refuses its pods
    shape: str  # what it says, without names and numbers; "": nobody has told

    def __new__(cls, text: str, about: str = "", node: str = "", shape: str = "") -> Fact:
        """The sentence with its parts."""
        made = super().__new__(cls, text)
        made.about, made.node, made.shape = about, node, shape
        return made

    def __getnewargs__(self) -> tuple[str, str, str, str]:  # type: ignore[override]
        """The sentence and its parts, for copies and checkpoints."""
        return str(self), self.about, self.node, self.shape
