"""Corpora of the hpa."""

from __future__ import annotations

from typing import Any

from tests.conformance.corpus import Corpus
from tests.conformance.decide.hpa import decide_metrics, decide_series
from tests.conformance.decide.hpa_foreign import decide_foreign
from tests.conformance.inputs.hpa import decision
from tests.conformance.inputs.hpa_foreign import foreign
from tests.conformance.inputs.hpa_series import series

UPSTREAMS = ("kubernetes-1.26", "kubernetes-1.37")


def _syncs(recorded: Any) -> int:
    return len(recorded["n"])


def _rounds(recorded: Any) -> int:
    return 2 * len(recorded)


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
    Corpus(
        name="hpa-foreign",
        controller="HPA, pods of other owners under its selector",
        upstreams=UPSTREAMS,
        program="hpa",
        generate=foreign,
        count=1_000,
        decide=decide_foreign,
        decisions=_rounds,
    ),
)
