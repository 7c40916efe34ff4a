"""The naive search of named objects, without any reduction: the oracle of all others."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry

ENGINE = "reference"


def decline(inquiry: Inquiry, number: int) -> Declined | None:
    """Only who asks for the engine gets it."""
    return None if inquiry.options.engine == ENGINE else Declined(Reason.NOT_ASKED)


def decline_other_engine(inquiry: Inquiry) -> Declined | None:
    """Why nobody else searches when the engine is asked for."""
    return Declined(Reason.OTHER_ENGINE) if inquiry.options.engine == ENGINE else None


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
    """Verdicts of all intents, without runs."""
    from kubeproof.verify.counterexamples.reference_run import reference_results

    found, spent = reference_results(inquiry.loaded, inquiry.plan, inquiry.options, inquiry.watch.stop)
    return Attempt({number: (found[number],) for number in numbers}, inquiry.add(spent))


STRATEGY = Strategy("reference", Answers.BOTH, Cost.FULL_SEARCH, decline, attempt)
