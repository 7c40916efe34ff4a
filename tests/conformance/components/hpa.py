"""Corpora of the hpa."""

from __future__ import annotations

from typing import Any

from tests.conformance.corpus import Corpus
from tests.conformance.decide.hpa import decide_metrics, decide_series
from tests.conformance.inputs.hpa import decision
from tests.conformance.inputs.hpa_series import series

UPSTREAMS = ("kubernetes-1.26", "kubernetes-1.37")


def _syncs(recorded: Any) -> int:
    return len(recorded["n"])


CORPORA: tuple[Corpus, ...] = (
    Corpus(
        name="hpa-decisions",
        controller="HPA, replicas for metrics",
        upstreams=UPSTREAMS,
        program="hpa",
        generate=decision,
        count=7_500,
        decide=decide_metrics,
        decisions=len,
    ),
    Corpus(
        name="hpa-series",
        controller="HPA, behavior over time",
        upstreams=UPSTREAMS,
        program="hpa",
        generate=series,
        count=1_100,
        decide=decide_series,
        decisions=_syncs,
        unit="syncs",
    ),
)
