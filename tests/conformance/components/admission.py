"""Corpora of the API server's admission of pods."""

from __future__ import annotations

from tests.conformance.corpus import Corpus
from tests.conformance.decide import admission as decide
from tests.conformance.inputs import admission as inputs

CORPORA: tuple[Corpus, ...] = (
    Corpus(
        name="pod-admission",
        controller="LimitRanger and ResourceQuota admission",
        upstreams=("kubernetes-1.26", "kubernetes-1.37"),
        program="admission",
        generate=inputs.namespace,
        count=4_000,
        decide=decide.decide,
    ),
)
