"""Two verifications side by side: which intents are newly violated, fixed, or as before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import IntentResult, VerifyResult

NEWLY_VIOLATED = "newly violated"
NO_LONGER_DECIDED = "no longer decided"
FIXED = "fixed"
STILL_VIOLATED = "still violated"
CHANGED = "changed"  # between other verdicts
NEW = "new"  # the base has no such intent, and it is not violated
GONE = "gone"  # the head has no such intent
UNCHANGED = "unchanged"
ORDER = (NEWLY_VIOLATED, NO_LONGER_DECIDED, STILL_VIOLATED, FIXED, CHANGED, NEW, GONE, UNCHANGED)
DIPS = "DIPS"
_OPEN = (Verdict.UNKNOWN, Verdict.ERROR)
_NO_PROOF = (
    Verdict.VACUOUS,
    Verdict.SUPPRESSED,
)  # a violation that became one of these is not seen any longer, and not fixed


@dataclass(frozen=True, slots=True)
class Change:
    """One intent in both; None where it does not exist."""

    kind: str  # one of ORDER
    base: IntentResult | None
    head: IntentResult | None

    @property
    def either(self) -> IntentResult:
        """The result to name it by."""
        found = self.head or self.base
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of every intent, the worst first."""

    base: VerifyResult | None  # None: there was nothing to verify
    head: VerifyResult
    changes: tuple[Change, ...]

    def of(self, kind: str) -> tuple[Change, ...]:
        """The changes of one kind."""
        return tuple(change for change in self.changes if change.kind == kind)


def compare(base: VerifyResult | None, head: VerifyResult) -> Difference:
    """Intents are the same if property, name and target are; of several violations of one the first counts.

    Cells of a matrix are the same if fault and target are. Pairs of faults are left out: how many of them were looked
    at is a matter of time.
    """
    before = _by_name(base.results if base is not None else ())
    after = _by_name(head.results)
    changes = [*_changes(before, after)]
    return Difference(base, head, tuple(sorted(changes, key=lambda change: ORDER.index(change.kind))))


def _by_name(results: Sequence[IntentResult]) -> dict[tuple[str, ...], IntentResult]:
    found: dict[tuple[str, ...], IntentResult] = {}
    for one in results:
        if len(one.faults) < 2:
            found.setdefault((*one.faults, one.target) if one.faults else (one.id, one.intent, one.target), one)
    return found


def _word(one: IntentResult) -> str:
    """The verdict; a dip that is good enough is no violation, and no proof that nothing happens either."""
    return DIPS if one.verdict == Verdict.VIOLATED and not one.is_decisive else one.verdict


def _changes(
    before: dict[tuple[str, ...], IntentResult], after: dict[tuple[str, ...], IntentResult]
) -> Iterator[Change]:
    for name, head in after.items():
        base = before.get(name)
        yield Change(_kind(_word(base) if base is not None else None, _word(head)), base, head)
    yield from (Change(GONE, base, None) for name, base in before.items() if name not in after)


def _kind(before: str | None, after: str) -> str:
    if after == Verdict.VIOLATED:
        return STILL_VIOLATED if before == Verdict.VIOLATED else NEWLY_VIOLATED
    if after in _OPEN and before not in _OPEN:
        return NO_LONGER_DECIDED
    if before is None:
        return NEW
    if before == Verdict.VIOLATED:
        return CHANGED if after in _NO_PROOF else FIXED
    return UNCHANGED if before == after else CHANGED
