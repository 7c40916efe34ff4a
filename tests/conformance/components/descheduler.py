"""Corpora of the descheduler: which pods a cycle with one plugin may evict."""

from __future__ import annotations

from tests.conformance.corpus import Corpus
from tests.conformance.decide import descheduler as decide
from tests.conformance.inputs.descheduler import GENERATORS

CORPORA: tuple[Corpus, ...] = tuple(
    Corpus(
        name=f"descheduler-{plugin}",
        controller="descheduler",
        upstreams=("descheduler-0.27", "descheduler-0.36"),
        program="descheduler",
        generate=generate,
        count=5_000,
        decide=decide.decide,
        explain=decide.unseen,
        unit="clusters",
    )
    for plugin, generate in GENERATORS.items()
)
