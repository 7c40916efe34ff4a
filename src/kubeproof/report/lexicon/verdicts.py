"""Verdict words."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.report.lexicon.entry import Explanation
from kubeproof.values import complete
from kubeproof.verdicts import Verdict

VERDICTS = complete(
    Verdict,
    {
        Verdict.HOLDS: (
            "proved",
            "Every order of controllers and events was explored, and none breaks the intent, within the printed scope.",
            "0",
        ),
        Verdict.HOLDS_BOUNDED: (
            "proved up to a bound",
            "The same for every size up to the printed bound, not beyond.",
            "0",
        ),
        Verdict.SAMPLED_OK: (
            "nothing found",
            "Nothing broke the intent where it was looked, which was not everywhere: verify --fast-find looks at some "
            "sizes, simulate at single runs. It is no proof.",
            "0",
        ),
        Verdict.VIOLATED: (
            "broken",
            "There is a run that breaks the intent; it is shown, and kubeproof replay executes it again.",
            "1",
        ),
        Verdict.VACUOUS: (
            "nothing to say",
            "No run ever comes to a state the intent speaks about: it is neither broken nor proved.",
            "3, unless others hold",
        ),
        Verdict.UNKNOWN: (
            "not decided",
            "A limit ended the search before an answer. Never take it for a proof. Allow more with --max-states, "
            "--timeout or --memory (without a Scenario and any of them the search ends at 500,000 states), or make it "
            "smaller: order events (after: stable), let them hit fewer nodes, give start-up an exact time. "
            "docs/how-to/limits-and-progress.md has more. Or the search was complete, and the intent holds only if "
            "something that is not modelled plays no part, which is named: without it in the input the proof is plain.",
            "3",
        ),
        Verdict.ERROR: ("not judged", "Something went wrong while the intent was judged.", "70"),
        Verdict.SUPPRESSED: (
            "broken and accepted",
            "There is a run that breaks the intent, and somebody accepted that with a reason.",
            "0",
        ),
    },
)


def verdicts() -> Iterator[Explanation]:
    """All verdict words."""
    for word, (title, text, code) in VERDICTS.items():
        yield Explanation(word, "verdict", title, text, (("exit code", code),), page="docs/reference/exit-codes.md")
