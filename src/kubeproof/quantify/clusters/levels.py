"""Judges service levels by expectations and by shares of time in the long run."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.intents.library.service_levels import COST_PER_HOUR, READY_SHARE, RECOVERY_TIME, ServiceLevel
from kubeproof.quantify.clusters.result import UNCERTAIN, Amount, LevelChance, Shortage, Span
from kubeproof.verdicts import Verdict

HOUR_S = 3600


def judge_levels(
    levels: Sequence[ServiceLevel],
    shortages: Sequence[Shortage],
    amounts: Sequence[Amount],
    horizon_s: int,
    *,
    is_vague_open: bool = False,
) -> tuple[LevelChance, ...]:
    """Those that were asked about: HOLDS if the worst value keeps the limit, VIOLATED if it does not.

    With `is_vague_open` a value of which nobody knows how far it is off decides nothing.
    """
    short = {one.intent: one.span or one.within for one in shortages if one.span or one.within}
    recoveries = {one.intent: one.recovery_s for one in shortages if one.recovery_s is not None}
    costs = next((one.span for one in amounts if one.name == "cost"), None)
    found = []
    for level in levels:
        share, recovery = short.get(level.name), recoveries.get(level.name)
        if level.kind is READY_SHARE and share is not None:
            found.append(_judge(level, share, 1 - level.limit, 1.0, is_vague_open))
        elif level.kind is RECOVERY_TIME and recovery is not None:
            found.append(_judge(level, recovery, level.limit, 1.0, is_vague_open))
        elif level.kind is COST_PER_HOUR and costs is not None:
            found.append(_judge(level, costs, level.limit, HOUR_S / horizon_s, is_vague_open))
    return tuple(found)


def _judge(level: ServiceLevel, span: Span, at_most: float, factor: float, is_vague_open: bool) -> LevelChance:
    """What must be at most so much, in the units of the limit."""
    worst = span.greatest
    if worst is None or (is_vague_open and worst.upper is None):
        verdict = Verdict.UNKNOWN
    else:
        slack = UNCERTAIN * worst.value
        lower = worst.value - slack if worst.lower is None else worst.lower
        upper = worst.value + slack if worst.upper is None else worst.upper
        is_kept, is_broken = factor * upper <= at_most, factor * lower > at_most
        verdict = Verdict.HOLDS if is_kept else Verdict.VIOLATED if is_broken else Verdict.UNKNOWN
    value = None if worst is None else factor * worst.value
    shown = value if value is None or level.kind is not READY_SHARE else 1 - value
    return LevelChance(level.kind.id, level.kind.key, level.name, level.target, level.limit, verdict, shown)
