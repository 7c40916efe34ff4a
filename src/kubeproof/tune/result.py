"""What tuning found: the settings that were looked at, ranked, and what to change for the best one."""

from __future__ import annotations

from kubeproof.simulate.outcome import IntentOutcome
from kubeproof.tune.space import Knob
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.fix.inputs import WrittenOut


@dataclass(frozen=True, slots=True)
class Ranked:
    """A setting with what its runs gave."""

    settings: tuple[tuple[str, str], ...]  # of each knob its value
    cost: float  # of an hour; of an experiment of the whole
    runs: int
    verdict: Verdict
    promises: tuple[IntentOutcome, ...]
    is_current: bool
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class Verified:
    """What `verify` says of an intent with the best setting."""

    title: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class TuneResult:
    """The answer to: which setting keeps all promises at least cost?"""

    scenario: str
    knobs: tuple[Knob, ...]
    ranking: tuple[Ranked, ...]  # what keeps all promises first, the cheapest first; then what is open, then the rest
    refused: tuple[tuple[str, str], ...]  # settings that nobody takes, in words, with the reason
    best: Ranked | None
    confirmed: Ranked | None  # the best setting in fresh runs; None where all runs are alike
    passed_over: tuple[tuple[str, str], ...]  # cheaper settings that fresh runs or `verify` did not bear out: and why
    verified: tuple[Verified, ...]
    written: WrittenOut | None
    does: tuple[str, ...]  # what the change does, edit by edit
    size: int  # of the space
    runs: int
    duration_s: int
    seed: int
    ended_by: str
    has_prices: bool
    elapsed_s: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """SAMPLED-OK if there is a best setting; VIOLATED if every setting breaks a promise; else UNKNOWN."""
        if self.best is not None:
            return Verdict.SAMPLED_OK
        is_hopeless = self.ranking and all(one.verdict == Verdict.VIOLATED for one in self.ranking)
        return Verdict.VIOLATED if is_hopeless else Verdict.UNKNOWN

    @property
    def current(self) -> Ranked | None:
        """What the input has."""
        return next((one for one in self.ranking if one.is_current), None)
