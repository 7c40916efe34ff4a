"""Looking ahead with fractions, as long as they do not become too long.

Every step multiplies fractions of 53 bits and more, so that their length grows with the steps, and the time with the
square of them. How fast they grow is seen only by looking a little ahead: a sixteenth of the horizon, an eighth, …
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.quantify.checking import Answer, check
from kubeproof.quantify.prism.formulas import formula
from kubeproof.quantify.storm import Model, StormRefusal

if TYPE_CHECKING:
    from collections.abc import Callable

    Tell = Callable[[str], None]

MOST_BITS = 1_000_000_000  # choices times instants times bits of the result of one question: less than half a minute
PARTS = (16, 8, 4, 2)
FEWEST = 16  # instants that need no trial


def look_ahead(
    model: Model, question: Callable[[int], str], horizon_s: int, unit_s: int, tell: Tell = lambda line: None
) -> Answer:
    """The answer to a question about a horizon, in fractions; refused as soon as they are seen to become too long."""
    instants = horizon_s // unit_s
    for part in PARTS if instants > FEWEST else ():
        ahead_s = horizon_s // part
        tell(f"fractions: {ahead_s:,} of {horizon_s:,} s ahead")
        bits = _bits(check(model, formula(question(ahead_s))))
        if model.choices * instants * bits * part > MOST_BITS:
            longest_s = int(ahead_s * (MOST_BITS / (model.choices * (ahead_s / unit_s) * bits)) ** 0.5) // 2
            raise StormRefusal(
                f"fractions become too long to look {horizon_s} s ahead ({bits:,} bits after {ahead_s} s); "
                f"leave out --exact, or ask for about {max(unit_s, longest_s)} s (--within)"
            )
    tell(f"fractions: {horizon_s:,} s ahead")
    return check(model, formula(question(horizon_s)))


def _bits(answer: Answer) -> int:
    """How long the fraction is."""
    return 1 if answer.value is None else answer.value.as_integer_ratio()[1].bit_length()
