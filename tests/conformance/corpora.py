"""All recorded corpora, by component."""

from __future__ import annotations

from tests.conformance.components import admission, descheduler, evictions, hpa, scheduler, workloads
from tests.conformance.corpus import Corpus

CORPORA: tuple[Corpus, ...] = (
    *scheduler.CORPORA,
    *hpa.CORPORA,
    *workloads.CORPORA,
    *evictions.CORPORA,
    *descheduler.CORPORA,
    *admission.CORPORA,
)


def by_name(name: str) -> Corpus:
    """The corpus of that name."""
    return next(corpus for corpus in CORPORA if corpus.name == name)
