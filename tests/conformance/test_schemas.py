"""The recorded cases are what their JSON Schemas say."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.conformance.components import admission, descheduler, evictions, hpa, scheduler, workloads
from tests.conformance.corpus import Corpus, read_lines

SCHEMAS = Path(__file__).parents[2] / "conformance" / "schema"
COMPONENTS = {
    "scheduler": scheduler.CORPORA,
    "hpa": hpa.CORPORA,
    "workloads": workloads.CORPORA,
    "evictions": evictions.CORPORA,
    "descheduler": descheduler.CORPORA,
    "admission": admission.CORPORA,
}
BY_SCHEMA = [(component, corpus) for component, corpora in COMPONENTS.items() for corpus in corpora]


def schema(component: str) -> dict[str, object]:
    content: dict[str, object] = json.loads((SCHEMAS / f"{component}.schema.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize(("component", "corpus"), BY_SCHEMA, ids=lambda value: getattr(value, "name", value))
def test_recorded_cases_follow_the_schema(component: str, corpus: Corpus) -> None:
    shared = Resource.from_contents(schema("cluster"))
    registry: Registry[object] = Registry().with_resource("cluster.schema.json", shared)
    registry = registry.with_resource(str(schema("cluster")["$id"]), shared)
    validator = Draft202012Validator(schema(component), registry=registry)
    for case in islice(read_lines(corpus.inputs_file), 40):
        validator.validate(case)
