"""What is tuned: something that can be run with any setting, as often as it takes."""

from __future__ import annotations

from typing import Protocol

from kubeproof.errors import KubeproofError
from kubeproof.intents.catalogue import entry
from kubeproof.intents.library.service_levels import LEVEL_KEYS, RECOVERY_TIME
from kubeproof.simulate.outcome import IntentOutcome
from kubeproof.tune.space import Setting, Space
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

EVENTFUL = ("lifecycle", "oscillation")  # categories of intents that may wait for something that never comes


class RefusedSetting(KubeproofError):
    """A setting that no API server or no Scenario takes."""

    code = "E202"
    exit_code = 2


@dataclass(frozen=True, slots=True)
class Measure:
    """What some runs of a setting gave."""

    costs: tuple[float, ...]  # of each run: those of the same number meet the same luck in all settings
    promises: tuple[IntentOutcome, ...]
    margin: float  # of the promise that is kept least, at the estimate; below zero: broken

    @property
    def runs(self) -> int:
        return len(self.costs)

    @property
    def cost(self) -> float:
        """The mean."""
        return sum(self.costs) / len(self.costs)

    @property
    def verdict(self) -> Verdict:
        """SAMPLED-OK if every promise is kept with confidence, VIOLATED if one is broken, else UNKNOWN: also
        where one had nothing to say."""
        verdicts = {promise.verdict for promise in self.promises if not is_moot(promise)}
        if Verdict.VIOLATED in verdicts:
            return Verdict.VIOLATED
        return Verdict.SAMPLED_OK if verdicts <= {Verdict.SAMPLED_OK} else Verdict.UNKNOWN


def is_moot(promise: IntentOutcome) -> bool:
    """True for a promise about what never happened, and need not: no shortage, no recovery; no drain, none to end.

    A number of pods that was never reached is no such thing.
    """
    if promise.verdict != Verdict.VACUOUS:
        return False
    return promise.key == RECOVERY_TIME.key or (
        promise.key not in LEVEL_KEYS and entry(promise.key).category in EVENTFUL
    )


class Subject(Protocol):
    """Something with knobs."""

    @property
    def space(self) -> Space:
        """What may be set."""
        ...

    @property
    def most_runs(self) -> int:
        """As many runs of one setting decide about it; 1 where all are alike."""
        ...

    def run(self, setting: Setting, runs: int) -> Measure:
        """What the first so many runs give; those that were made are not made again. Raises RefusedSetting."""
        ...

    def run_again(self, setting: Setting, runs: int) -> Measure:
        """The same with luck that no setting has met yet."""
        ...
