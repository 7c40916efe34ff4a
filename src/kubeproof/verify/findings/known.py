"""What a verification has decided so far, for whoever watches it and for the answer if it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubeproof.verdicts import Verdict
from kubeproof.verify.result import IntentResult, Statistics

Found = Callable[[IntentResult], None]  # is told of every intent that turns out to be violated, once


class Known:
    """The decided intents by name, with all violations of each; later answers replace earlier ones."""

    def __init__(self, found: Found | None = None) -> None:
        self._found = found
        self._told: set[str] = set()
        self.results: dict[str, tuple[IntentResult, ...]] = {}
        self.spent: list[Statistics] = []  # of the searches that have ended

    def note(self, results: Sequence[IntentResult]) -> None:
        """Takes over all that is decided among the results; those of one intent must come together."""
        by_name: dict[str, list[IntentResult]] = {}
        for one in results:
            if one.verdict != Verdict.UNKNOWN:
                by_name.setdefault(one.intent, []).append(one)
        self.results.update((name, tuple(found)) for name, found in by_name.items())

    def tell(self) -> None:
        """Tells of the violations that nobody has been told of, because there is more to do before the answer."""
        if self._found is None:
            return
        for name, (first, *_) in self.results.items():
            if first.verdict == Verdict.VIOLATED and name not in self._told:
                self._told.add(name)
                self._found(first)
