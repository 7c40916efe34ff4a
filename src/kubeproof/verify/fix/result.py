"""What a search for repairs found: proposals that are proved, and what was tried where there is none."""

from __future__ import annotations

from kubeproof.values import dataclass
from kubeproof.verify.fix.edits import Edit, cost_of
from kubeproof.verify.result import IntentResult


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after."""

    file: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that is proved to help."""

    edits: tuple[Edit, ...]
    files: tuple[FileChange, ...]  # those that can be written
    patch_only: tuple[tuple[str, str], ...]  # files that cannot, each with the reason
    patch: str  # for kustomize
    repairs: tuple[str, ...]  # what was violated and is proved now
    keeps: tuple[str, ...]  # what held and is proved again
    open: tuple[str, ...]  # what is not decided, as it was not before

    @property
    def cost(self) -> int:
        return cost_of(self.edits)

    @property
    def gives_up(self) -> tuple[str, ...]:
        """What it costs beside capacity."""
        return tuple(dict.fromkeys(edit.gives_up for edit in self.edits if edit.gives_up))

    @property
    def fields(self) -> int:
        """How many fields and objects it writes."""
        return sum(len(operations) for edit in self.edits for _, operations in edit.changes) + sum(
            len(edit.added) for edit in self.edits
        )

    def total(self, what: str) -> int:
        """More pods, cpu_m or memory than before."""
        return sum(getattr(edit, what) for edit in self.edits)


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of the edits of one kind, each by itself."""

    kind: str
    count: int
    last: str  # the farthest one that failed
    why: str  # what goes wrong with it


@dataclass(frozen=True, slots=True)
class Effort:
    """What it took."""

    candidates: int = 0
    refused: int = 0  # that no API server would take
    replayed: int = 0  # refuted by a run that was known
    verified: int = 0  # looked at by a search
    full: int = 0  # of these with every question, as far as it stood
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class FixResult:
    """The answer to: what is the smallest change that helps?"""

    scenario: str
    violated: tuple[IntentResult, ...]  # what is to be repaired
    proposals: tuple[Proposal, ...]  # the best first
    unrepaired: tuple[IntentResult, ...]  # what the first proposal leaves violated
    undecided: tuple[IntentResult, ...]  # what was open from the start
    tried: tuple[Tried, ...]
    effort: Effort
    ended_by: str = ""  # "time", "interrupted"; "": there is nothing more to try
    is_matrix: bool = False
