"""Corpora of the evictions."""

from __future__ import annotations

from tests.conformance.corpus import Corpus

CORPORA: tuple[Corpus, ...] = ()
