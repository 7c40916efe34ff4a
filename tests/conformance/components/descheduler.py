"""Corpora of the descheduler: which pods a cycle may evict, for each plugin alone and for several together."""

from __future__ import annotations

from tests.conformance.corpus import Corpus
from tests.conformance.decide import descheduler as decide
from tests.conformance.inputs.descheduler import GENERATORS

CORPORA: tuple[Corpus, ...] = tuple(
    Corpus(
        name=f"descheduler-{name}",
        controller="descheduler",
        upstreams=("descheduler-0.27", "descheduler-0.36"),
        program="descheduler",
        generate=generate,
        count=2_000 if name == "cycle" else 5_000,
        decide=decide.decide,
        explain=decide.unseen,
        differences=decide.DIFFERENCES if name in ("cycle", decide.SPREAD) else (),
        unit="clusters",
    )
    for name, generate in GENERATORS.items()
)
