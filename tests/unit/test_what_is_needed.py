"""What adding a thing needs: one declaration and its line in a list. Whoever forgets a part of it hears of that here.

Tables over enumerations and actions are complete when they are imported (`kubeproof.values.complete`). This compares
the lists that no import can compare: what is declared in a folder with what is listed, and what is listed with pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import get_args

import pytest

from kubeproof.cluster.loops.actions import Action, Verb
from kubeproof.cluster.loops.meanings import MEANINGS
from kubeproof.cluster.loops.node_verbs import NodeVerb
from kubeproof.controllers.descheduler import cycle, plugins
from kubeproof.controllers.scheduler import plugins as scheduler_plugins
from kubeproof.controllers.scheduler import registry
from kubeproof.events import declarations
from kubeproof.events.declarations import Event
from kubeproof.events.event import Event as Base
from kubeproof.intents import catalogue, library
from kubeproof.intents.catalogue import INTENTS
from kubeproof.intents.kind import IntentKind
from kubeproof.manifests.components.scheduler_config import PLUGINS, SCORING
from kubeproof.manifests.scenarios.events.declared import reader_of
from kubeproof.manifests.scenarios.intents.declared import own_reader
from kubeproof.manifests.scenarios.matrix_columns import FAULTS
from kubeproof.report.lexicon.events import events as explained_events
from kubeproof.report.lexicon.properties import properties as explained_intents
from kubeproof.values import complete
from kubeproof.verify import strategies
from kubeproof.verify.checks import topics
from kubeproof.verify.checks.catalogue import TOPICS
from kubeproof.verify.checks.catalogue import checks as all_checks
from kubeproof.verify.strategies.contract import Strategy
from kubeproof.verify.strategies.walk import STRATEGIES
from kubeproof.verify.words import steps
from kubeproof.verify.words.summary import WHEN_WORDS

EVENTS = declarations.kinds()
DOCS = Path(__file__).parents[2] / "docs"


def modules_of(room: ModuleType) -> Iterator[ModuleType]:
    return (import_module(one.name) for one in walk_packages(room.__path__, f"{room.__name__}."))


def declared(room: ModuleType, kind: type) -> set[object]:
    return {value for module in modules_of(room) for value in vars(module).values() if isinstance(value, kind)}


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


# -- events -----------------------------------------------------------------------------------------


def test_every_event_that_is_declared_is_listed() -> None:
    room = import_module("kubeproof.events")
    kinds = {
        value
        for module in modules_of(room)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Base) and value is not Base
    }

    assert {kind for kind in kinds if "manuals" in vars(kind)} == set(EVENTS)


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_an_event_is_told_read_explained_and_documented(kind: type[Event]) -> None:
    assert {"manuals", "footprint", "describe"} <= set(vars(kind))
    named = {one.name for one in explained_events()}
    for manual in kind.manuals:
        assert reader_of(manual.key)
        assert manual.text
        assert manual.example
        assert manual.key in named
        assert f"`{manual.key}`" in page("reference/events.md")


def test_keys_of_events_are_written_once() -> None:
    keys = [manual.key for kind in EVENTS for manual in kind.manuals]

    assert sorted(keys) == sorted(declarations.manuals())


# -- intents ----------------------------------------------------------------------------------------


def test_every_intent_that_is_declared_is_listed() -> None:
    assert {one.key for one in declared(library, IntentKind)} == {one.key for one in INTENTS}  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", INTENTS, ids=lambda kind: kind.key)
def test_an_intent_is_told_read_explained_and_documented(kind: IntentKind) -> None:
    assert re.fullmatch(r"[SLT][0-9]{3}", kind.id)
    assert all((kind.text, kind.claim, kind.broken_by, kind.example, kind.watch))
    assert not kind.default_when or kind.default_when in WHEN_WORDS
    assert not kind.own_fields or own_reader(kind)
    assert kind.id in {one.name for one in explained_intents()}
    assert f"{kind.id}  {kind.key} " in page("reference/intents.md")


def test_ids_and_names_of_intents_are_used_once() -> None:
    names = [name for one in catalogue.catalogue() for name in (one.id, one.key, *one.aliases)]

    assert len(names) == len(set(names))


# -- verbs and actions ------------------------------------------------------------------------------


def test_every_action_says_what_it_means() -> None:
    assert set(MEANINGS) == set(get_args(Action))
    assert {kind.__name__ for kind, meaning in MEANINGS.items() if not meaning.does} == {"Remember", "Tick"}


def test_a_table_that_lacks_a_verb_fails_at_import() -> None:
    words = dict.fromkeys(NodeVerb, "told")
    del words[NodeVerb.CORDON]

    with pytest.raises(TypeError, match=r"lacks \['cordon'\]"):
        complete(NodeVerb, words)


def test_every_verb_of_a_step_has_a_sentence_and_says_what_it_changes() -> None:
    told = {*steps.SENTENCES, *steps.KUBELET_VERBS, Verb.SET_REPLICAS}

    assert {verb for verb in Verb if not verb.recorded.sentence} - told == {Verb.REMEMBER}  # nobody is told of
    assert {verb for verb in Verb if verb.recorded.changes is None} == set(steps.CHANGES)


# -- columns of the matrix --------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.key)
def test_a_fault_asks_for_intents_that_exist_and_is_documented(fault) -> None:
    assert set(fault.completes) <= {one.key for one in INTENTS}
    assert f"`{fault.key}`" in page("how-to/read-the-matrix.md")


def test_keys_of_faults_are_used_once() -> None:
    assert len({fault.key for fault in FAULTS}) == len(FAULTS)


# -- checks, strategies, plugins --------------------------------------------------------------------


def test_every_module_with_checks_is_a_topic() -> None:
    told = {module.__name__.rpartition(".")[2] for module in modules_of(topics) if hasattr(module, "CHECKS")}

    assert told == {topic.module for topic in TOPICS}


def test_ids_and_keys_of_checks_are_used_once() -> None:
    names = [name for check in all_checks() for name in (check.id, check.key)]

    assert len(names) == len(set(names))


def test_every_strategy_is_walked() -> None:
    assert {one.name for one in declared(strategies, Strategy)} == {one.name for one in STRATEGIES}  # type: ignore[attr-defined]


def test_every_plugin_of_the_descheduler_is_known() -> None:
    told = {module.__name__.rpartition(".")[2] for module in modules_of(plugins) if hasattr(module, "ARGUMENTS")}

    assert told == {known.module for known in cycle.PLUGINS.values()}


def test_every_plugin_of_the_scheduler_is_listed_and_may_be_configured() -> None:
    listed = (registry.NODE_FILTERS, registry.CLUSTER_FILTERS, registry.NODE_SCORES, registry.CLUSTER_SCORES)
    built = {build.__module__ for lines in listed for _, build in lines}
    made = {
        module.__name__
        for module in modules_of(scheduler_plugins)
        if any(name.startswith("build_") for name in vars(module))
    }

    assert made == built
    assert set(registry.DEFAULT_WEIGHTS) == SCORING
    assert set(registry.FILTERS) <= PLUGINS
