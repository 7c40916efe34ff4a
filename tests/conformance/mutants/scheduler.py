"""Wrong rules of the scheduler that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = ()
