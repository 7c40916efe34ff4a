"""Corpora of the workloads."""

from __future__ import annotations

from tests.conformance.corpus import Corpus

CORPORA: tuple[Corpus, ...] = ()
