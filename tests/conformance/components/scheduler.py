"""Corpora of the scheduler."""

from __future__ import annotations

from tests.conformance.corpus import Corpus
from tests.conformance.decide import preemption as decide_preemption
from tests.conformance.decide import scheduler as decide
from tests.conformance.inputs import node_content, preemption, volumes
from tests.conformance.inputs import scheduler as inputs

UPSTREAMS = ("kubernetes-1.26", "kubernetes-1.37")

CORPORA: tuple[Corpus, ...] = (
    Corpus(
        name="scheduler-decisions",
        controller="scheduler",
        upstreams=UPSTREAMS,
        program="scheduler",
        generate=inputs.decision,
        count=20_000,
        decide=decide.decide,
    ),
    Corpus(
        name="scheduler-sequences",
        controller="scheduler",
        upstreams=UPSTREAMS,
        program="scheduler",
        generate=inputs.sequence,
        count=2_000,
        decide=decide.decide_sequence,
        decisions=len,
    ),
    Corpus(
        name="scheduler-preemption",
        controller="scheduler, preemption",
        upstreams=UPSTREAMS,
        program="scheduler",
        generate=preemption.preemption,
        count=3_000,
        decide=decide_preemption.decide,
    ),
    Corpus(
        name="scheduler-ports-images",
        controller="scheduler, host ports and images",
        upstreams=UPSTREAMS,
        program="scheduler",
        generate=node_content.ports_and_images,
        count=2_000,
        decide=decide.decide_with_images,
    ),
    Corpus(
        name="scheduler-volumes",
        controller="scheduler, persistent volumes",
        upstreams=UPSTREAMS,
        program="scheduler",
        generate=volumes.volumes,
        count=2_000,
        decide=decide.decide_with_volumes,
    ),
)
