"""Schemas of CustomResourceDefinitions are not read; nothing else is ever taken for one."""

from __future__ import annotations

import pytest

from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.resource_schemas import without_schemas
from kubeproof.manifests.yaml.tree import Mapping
from tests.unit.manifests.inputs import deployment, load_text

HEAD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
NAMED = "metadata:\n  name: shops.example.org\n"
SPEC = "spec:\n  group: example.org\n# by a generator\n  versions:\n    - schema: {a: {b: c}}\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + NAMED + SPEC,
        f"---\n# generated\n\n{HEAD}{NAMED}{SPEC}",
        HEAD + NAMED + SPEC + "status:\n  conditions: []\n",
        "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1beta1\n" + NAMED + SPEC,
        (HEAD + NAMED + SPEC).replace("\n", "\r\n"),
    ],
)
def test_the_schema_of_a_definition_is_blanked_line_for_line(text: str) -> None:
    blanked = without_schemas(text)

    assert "spec: {}" in blanked
    assert "example.org" in blanked
    assert "versions" not in blanked
    assert blanked.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        deployment() + "# like a CustomResourceDefinition\n",
        HEAD.replace("Definition", "Definition, or so") + NAMED + SPEC,  # another kind
        HEAD.replace("v1\n", "v1\n  more\n") + NAMED + SPEC,  # another version, in two lines
        HEAD + NAMED + SPEC + "kind: Deployment\n",  # the last one counts
        HEAD + NAMED + SPEC + SPEC,
        HEAD + NAMED + SPEC + "'kind': Deployment\n",
        HEAD + NAMED + "spec: {group: example.org}\n",
        HEAD + "metadata: {name: shops.example.org}\n" + SPEC,
        'text: "\n' + HEAD + NAMED + SPEC + '"\n',  # inside a text
        "list:\n- " + HEAD.replace("\n", "\n  ") + SPEC,
    ],
)
def test_a_document_that_may_say_anything_else_is_left_as_it_is(text: str) -> None:
    assert without_schemas(text) == text


def test_what_follows_a_definition_keeps_its_place() -> None:
    loaded = load_text(HEAD + NAMED + SPEC, deployment(), HEAD + NAMED + SPEC)

    lines = (HEAD + NAMED + SPEC).count("\n")
    assert [one.source.line for one in loaded.setup.workloads] == [lines + 2]


def test_large_schemas_do_not_exhaust_the_input() -> None:
    schema = "spec:\n  versions:\n" + "  - {a: b}\n" * 100
    text = (HEAD + NAMED + schema + "---\n") * 10
    budget = Budget(Bounds(nodes=200))

    roots = list(read_documents(text.encode(), file="crds.yaml", budget=budget))

    assert [list(root.entries) for root in roots if isinstance(root, Mapping)] == [
        ["apiVersion", "kind", "metadata", "spec"]
    ] * 10
