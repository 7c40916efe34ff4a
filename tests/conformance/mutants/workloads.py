"""Wrong rules of the workloads that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = ()
