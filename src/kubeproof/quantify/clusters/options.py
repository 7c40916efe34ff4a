"""What may be asked about a cluster."""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.quantify.clusters.space import SpaceOptions
from kubeproof.quantify.methods import CheckSettings
from kubeproof.values import dataclass

OPEN, UNIFORM = "open", "uniform"  # which loop acts next
WITHIN, EVER, FIRST, AMOUNTS, LONG_RUN = "within", "ever", "first", "amounts", "long-run"
SHORT, RECOVERY = "short", "recovery"  # share of the horizon with too few ready pods; how long that lasts
QUESTIONS = (WITHIN, EVER, FIRST, AMOUNTS, SHORT, LONG_RUN, RECOVERY)
IN_STEPS = (WITHIN, EVER, FIRST, AMOUNTS, LONG_RUN)  # unless others are asked for


def silent(line: str) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """What to ask, and how."""

    order: str = OPEN
    horizon_s: int | None = None  # None: as the Scenario says
    questions: tuple[str, ...] = IN_STEPS
    at_most: float | None = None  # allowed probability of a violation within the horizon
    space: SpaceOptions = SpaceOptions()
    check: CheckSettings = CheckSettings()
    exact: bool = False  # fractions instead of rounded numbers
    tell: Callable[[str], None] = silent  # what is being answered
