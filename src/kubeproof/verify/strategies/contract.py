"""What a strategy is: when it applies, what it may answer, what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING

from kubeproof.engine.kernel import FLAG_BITS
from kubeproof.values import dataclass
from kubeproof.verify.answered import Declined, PassedOver
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult, Statistics

if TYPE_CHECKING:
    from kubeproof.verify.proofs.slicing import Slice
    from kubeproof.verify.strategies.inquiry import Inquiry

MAX_INTENTS = FLAG_BITS // 2  # of one search: two flags each
Results = tuple[IntentResult, ...]  # of one intent: one, or all its violations


class Answers(Enum):
    """What a strategy may find out. What it may not answer it leaves open."""

    PROOFS = "proofs only"
    VIOLATIONS = "violations only"
    BOTH = "proofs and violations"


class Cost(IntEnum):
    """What a strategy takes; cheap ones come first, unless a dear one is needed to know that others pay."""

    NO_SEARCH = 0
    SEARCHES_OF_PARTS = 1
    BOUNDED_SEARCH = 2  # of the whole, up to a number of states
    FULL_SEARCH = 3  # of the whole, up to the limits that the user sets


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a strategy found out about the intents it was asked for."""

    results: Mapping[int, Results]  # by number of the intent
    statistics: Statistics  # of all searches so far, these included
    left: Mapping[int, Declined] = field(default_factory=dict)  # why intents are still open, where it can say
    final: frozenset[int] = frozenset()  # open ones of which larger searches know no more
    models: Mapping[int, str] = field(default_factory=dict)  # that answered
    passed: Mapping[int, tuple[PassedOver, ...]] = field(default_factory=dict)  # models that did not
    slices: tuple[Slice, ...] = ()  # that were verified on their own
    also: tuple[tuple[str, str], ...] = ()  # more about what was explored


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to answer intents."""

    name: str  # permanent: reports have it
    answers: Answers
    cost: Cost
    decline: Callable[[Inquiry, int], Declined | None]  # why it does not apply to an intent; None: it does
    attempt: Callable[[Inquiry, Sequence[int]], Attempt | Declined]  # Declined: it turned out not to apply
    needs: tuple[str, ...] = ()  # reductions; switched off with `--without` of any of them

    def is_switched_off(self, options: VerifyOptions) -> bool:
        """True if the user does without one of its reductions."""
        return not all(options.uses(reduction) for reduction in self.needs)


def split_in_batches(numbers: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """The numbers in order, in tuples of at most `size`."""
    return [tuple(numbers[first : first + size]) for first in range(0, len(numbers), size)]
