"""Explanations are complete, and their examples are Scenarios that load."""

from __future__ import annotations

import pytest

from kubeproof import errors
from kubeproof.events.declarations import manuals
from kubeproof.intents.catalogue import catalogue
from kubeproof.manifests.load import load_texts
from kubeproof.report.explain import as_text, explanations, find
from kubeproof.report.style import Style
from kubeproof.verdicts import Verdict

ALL = tuple(explanations())
CLASSES = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.KubeproofError)]
TEMPLATE = """
    metadata: {labels: {app: APP}}
    spec:
      RESTARTcontainers: [{name: main, image: main:1, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
"""
NODE = """apiVersion: v1
kind: Node
metadata: {name: a, labels: {kubernetes.io/hostname: a, topology.kubernetes.io/zone: z1, pool: web}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
REST = """apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
"""


def workload(kind: str, name: str, version: str = "apps/v1") -> str:
    restart = "restartPolicy: Never\n      " if kind == "Job" else ""
    template = TEMPLATE.replace("APP", name).replace("RESTART", restart)
    selector = "" if kind == "Job" else f"  selector: {{matchLabels: {{app: {name}}}}}\n"
    head = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n"
    return f"{head}{selector}  template:{template}"


CLUSTER = "---\n".join(
    (
        NODE,
        REST,
        workload("Deployment", "web"),
        workload("Deployment", "cache"),
        workload("DaemonSet", "agent"),
        workload("Job", "report", "batch/v1"),
    )
)


def test_every_property_is_explained_by_id_key_and_alias():
    for entry in catalogue():
        for word in (entry.id, entry.key, *entry.aliases):
            assert entry.id in [one.name for one in find(word.upper())]


def test_every_event_is_explained():
    assert {one.name for one in ALL if one.kind == "event"} == set(manuals())


def test_every_error_code_is_explained():
    assert {one.name for one in ALL if one.kind == "error"} == {one.code for one in CLASSES} | {"E703"}


def test_every_verdict_is_explained():
    assert {one.name for one in ALL if one.kind == "verdict"} == set(Verdict)


def test_unknown_is_explained_for_limits_and_for_what_is_not_modelled():
    text = next(one.text for one in ALL if one.name == "UNKNOWN")

    assert "A limit ended the search" in text
    assert "holds only if something that is not modelled plays no part" in text


def test_every_explanation_says_what_it_is_and_where_to_read_on():
    assert [one.name for one in ALL if not one.text or not one.page or not one.title] == []
    assert [one.name for one in ALL if one.kind == "error" and not one.remedy] == []


@pytest.mark.parametrize("one", [one for one in ALL if one.example], ids=lambda one: f"{one.kind}-{one.name}")
def test_every_example_is_a_scenario_that_loads(one):
    indented = "\n".join(f"  {line}" for line in one.example.split("\n"))
    scenario = f"apiVersion: kubeproof.dev/v1alpha1\nkind: Scenario\nmetadata: {{name: x}}\nspec:\n{indented}\n"
    applied = [("new/web.yaml", workload("Deployment", "web"))] if one.name == "apply" else []
    texts = [("in.yaml", CLUSTER), *applied, ("scenario.yaml", scenario)]

    loaded = load_texts(texts).scenario

    found = {"property": loaded.intents, "event": loaded.events, "term": (loaded.scale,)}[one.kind]
    assert len(found) >= 1
    assert None not in found
    if one.kind == "property":
        assert [intent.key for intent in loaded.intents] == [one.title]


def test_text_is_wrapped_to_the_width_of_the_terminal_without_breaking_words():
    text = as_text(find("S013"), Style(width=60))

    assert max(len(line) for line in text.splitlines() if "ignore.kubeproof.dev" not in line) <= 60
    assert " ".join(find("S013")[0].text.split()) in " ".join(text.split())


def test_terms_of_reports_are_explained():
    (esc,) = find("esc")

    assert (esc.kind, esc.title) == ("term", "empirically sufficient scale")


def test_what_several_commands_say_is_explained_for_all_of_them():
    (sampled,) = find("SAMPLED-OK")
    (limit,) = find("E302")

    assert "--fast-find" in sampled.text
    assert "simulate" in sampled.text
    assert limit.title == "A limit was reached before the answer: of time, memory, or of alternatives that are followed"
