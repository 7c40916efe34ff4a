"""What the verifier says about each question of an input, before and after a change, and when a change is a repair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum

from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.result import IntentResult

Key = tuple[str, ...]  # of a question: an intent with its target, or a workload with a fault


class Level(IntEnum):
    """How good an answer is, from best to worst."""

    GOOD = 0  # proved; of a cell: steady
    WEAK = 1  # vacuous; of a cell: dips
    OPEN = 2  # not decided
    BAD = 3  # violated; of a cell: stuck


OF_VERDICTS = {
    Verdict.HOLDS: Level.GOOD,
    Verdict.HOLDS_BOUNDED: Level.GOOD,
    Verdict.VACUOUS: Level.WEAK,
    Verdict.VIOLATED: Level.BAD,
    Verdict.SUPPRESSED: Level.BAD,
}
OF_GRADES = {Grade.STEADY: Level.GOOD, Grade.DIPS: Level.WEAK, Grade.UNKNOWN: Level.OPEN, Grade.STUCK: Level.BAD}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one question."""

    level: Level
    result: IntentResult
    told: str  # the verdict or grade, as people read it


Outcomes = Mapping[Key, Outcome]


def find_worse(before: Outcomes, after: Outcomes, goals: Iterable[Key], enough: Level) -> list[Key]:
    """The questions because of which a change is no repair: goals that are not met, and what is worse than before.

    What was open may stay open, and nothing may be violated that was not.
    """
    wanted = dict.fromkeys(goals, enough)
    limits = {key: wanted.get(key, outcome.level) for key, outcome in before.items()}
    limits |= {key: Level.OPEN for key in after if key not in before}
    return [key for key, limit in limits.items() if key not in after or after[key].level > limit]
