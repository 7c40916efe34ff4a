"""The survival matrix: its columns, and what stands in its cells."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.manifests.scenarios.matrix_columns import EMPTY, FAULTS, Fault
from kubeproof.report.lexicon.entry import Explanation
from kubeproof.values import complete
from kubeproof.verify.matrix.result import Grade

PAGE = "docs/how-to/read-the-matrix.md"
GRADES = complete(
    Grade,
    {
        Grade.STEADY: (
            "ok",
            "never below its minimum",
            "Proved: in every run at least its minimum of pods is ready at all times (one, or what its budgets want), "
            "and all are ready in the end.",
        ),
        Grade.DIPS: (
            "0 40s",
            "below its minimum for a while",
            "In some run fewer pods are ready than its minimum; the cell tells how few at the lowest, and for how long "
            "at most in the runs that were explored. Proved: in every run it is complete again in the end.",
        ),
        Grade.STUCK: (
            "STUCK",
            "some run never comes back",
            "There is a run after which something stays wrong until somebody mends it: a pod without a node, a drain "
            "that never ends, loops that undo each other's work. The run is shown below the table.",
        ),
        Grade.UNKNOWN: (
            "?",
            "not decided",
            "The time was over, or the answer rests on something that is not modelled; the lines below the table say "
            "what is known. More time is --timeout, fewer questions are --faults and --no-pairs.",
        ),
    },
)


def explain_matrix() -> Iterator[Explanation]:
    """Every grade and every column."""
    for grade, (cell, title, text) in GRADES.items():
        yield Explanation(str(grade), "grade", title, text, (("in a cell", cell),), page=PAGE)
    for fault in FAULTS:
        facts = (("column", fault.head), ("alone", f"kubeproof verify PATH --faults {fault.key} --no-pairs"))
        yield Explanation(fault.key, "fault", fault.title, _say(fault), facts, page=PAGE, aliases=(fault.head,))


def _say(fault: Fault) -> str:
    begins = "without any pod" if fault.begins == EMPTY else "when everything is deployed, wherever pods may be placed"
    return (
        f"A column of the survival matrix: what becomes of each workload if {fault.title}. It begins {begins}, and "
        "nothing else happens beside it."
    )
