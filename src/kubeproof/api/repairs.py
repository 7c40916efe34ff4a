"""`kubeproof.fix`: the smallest change of the manifests that is proved to help."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.api.html import fold, preformatted
from kubeproof.api.inputs import Nodes, Paths, take_input
from kubeproof.api.shapes import reshape
from kubeproof.report.fix import as_diff, as_text, summary
from kubeproof.report.frame import Frame
from kubeproof.report.style import Style
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verify.fix.choice import Limits, check_kinds
from kubeproof.verify.fix.result import FixResult
from kubeproof.verify.fix.run import BUDGET_S, FixOptions, find_repairs
from kubeproof.verify.options import VerifyOptions


@dataclass(frozen=True, slots=True)
class Repairs(FixResult):
    """Proposals, the best first; nothing is written."""

    @property
    def is_repaired(self) -> bool:
        """True if the first proposal mends all that is violated, or nothing is."""
        return not self.unrepaired

    @property
    def diff(self) -> str:
        """The first proposal for `patch` and `git apply`; empty if there is none."""
        return as_diff(self, Frame()) if self.proposals else ""

    def __str__(self) -> str:
        return as_text(self, Style(), Frame(), "kubeproof fix")

    def _repr_html_(self) -> str:
        """What a notebook shows: what came out, and the change."""
        return preformatted(summary(self), self.diff) + fold("everything", str(self))


def fix(
    paths: Paths,
    *,
    faults: Sequence[str] = (),
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
    proposals: int = 3,
    nodes: Nodes = (),
    timeout_s: float = BUDGET_S,
    options: VerifyOptions = VerifyOptions(),
    values: Sequence[str] = (),
    stop: Stop | None = None,
) -> Repairs:
    """Looks for the cheapest changes after which all that is violated is proved, and nothing is worse.

    `allow` and `deny` are kinds of edits, as `kubeproof fix --kinds` lists them; `faults` those of the matrix. Needs
    the extra `fix`.
    """
    check_kinds((*allow, *deny))
    loaded = take_input(paths, values=values, nodes=nodes)
    asked = FixOptions(
        verify=options,
        budget_s=timeout_s,
        limits=Limits(tuple(allow), tuple(deny)),
        faults=tuple(faults),
        wanted=proposals,
    )
    found = find_repairs(loaded, asked, stop=stop)
    return reshape(found, Repairs)
