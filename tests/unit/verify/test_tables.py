"""Every closed set has words for all of its members, wherever there are words for some."""

from __future__ import annotations

from pickle import dumps, loads

import pytest

from kubeproof.cluster.loops.node_verbs import NodeVerb
from kubeproof.cluster.state import Health, Phase, Work
from kubeproof.intents.catalogue import catalogue
from kubeproof.report.frame import Frame
from kubeproof.report.html.page import render
from kubeproof.values import complete
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from kubeproof.verify.words.pictures import HEALTHS, PHASES, WORKS, Film, films_of
from tests.unit.verify.inputs import loaded, node, scenario, web


@pytest.mark.parametrize("verb", NodeVerb)
def test_every_verb_of_nodes_has_words(verb: NodeVerb) -> None:
    assert "{node}" in verb.meaning.sentence
    assert verb.meaning.does
    assert verb.meaning.tells


def test_a_verb_of_nodes_is_found_by_its_word_and_survives_a_copy() -> None:
    assert NodeVerb("fail-with-zone") is NodeVerb.FAIL_ZONE
    assert loads(dumps(NodeVerb.FAIL_ZONE)) is NodeVerb.FAIL_ZONE


@pytest.mark.parametrize(("table", "kinds"), [(PHASES, Phase), (HEALTHS, Health), (WORKS, Work)])
def test_every_state_of_pods_and_nodes_has_a_picture(table, kinds) -> None:
    assert set(table) == set(kinds)
    assert all(words or kind == Work.NONE for kind, words in table.items())


def test_every_intent_has_words() -> None:
    assert all(one.broken_by and one.text and one.example.startswith(one.key) for one in catalogue())


def test_a_table_that_lacks_an_entry_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a table lacks \['b'\] and has \['c'\] too much"):
        complete(("a", "b"), {"a": 1, "c": 2})


EVENTS = (
    "nodeRemoval: {drainFirst: true}", "nodeRemoval: {drainFirst: false}", "drain: {}", "drain: {uncordon: true}",
    "maintenance: {}", "nodeFailure: {}", "cordon: {}",
)  # fmt: skip


@pytest.mark.parametrize("event", EVENTS)
def test_a_violation_by_any_event_of_nodes_is_drawn(event: str) -> None:
    apart = "nodeSelector: {kubernetes.io/hostname: n1}"
    when = "stable" if event.startswith("cordon") else "always"
    intents = "{minReady: {target: Deployment/shop/web, count: 1}}"
    if when == "stable":
        intents = "{onlyOn: {target: Deployment/shop/web, nodes: {names: [n2]}}}"
    result = verify(loaded(node("n1"), node("n2"), web(1, more=apart), scenario(intents, events=f"{{{event}}}")))

    assert result.verdict == Verdict.VIOLATED
    (film,) = films_of(result, VerifyOptions())
    assert isinstance(film, Film), film
    assert "told but not drawn" not in render(result, (film,), Frame(base="", replay_command=""))
