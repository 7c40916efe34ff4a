"""Corpora of the evictions."""

from __future__ import annotations

from tests.conformance.corpus import Corpus
from tests.conformance.decide import evictions as decide
from tests.conformance.inputs import evictions as inputs

KUBERNETES = ("kubernetes-1.26", "kubernetes-1.37")

CORPORA: tuple[Corpus, ...] = (
    Corpus(
        "taint-eviction",
        "Taint eviction",
        KUBERNETES,
        "taints",
        inputs.taint_history,
        2_000,
        decide=decide.taint_evictions,
        decisions=len,
        unit="pods",
    ),
    Corpus(
        "disruption-allowed",
        "Disruption controller: status of budgets",
        KUBERNETES,
        "disruption",
        inputs.budget_status,
        10_000,
        decide=decide.budget_status,
    ),
)
