"""`must: true`: what is not judged because the event would have come, and what is judged all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.cases.library import load_case
from kubeproof.cluster.objects import Settings, Setup
from kubeproof.events.declarations import Delete
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.load import load
from kubeproof.verdicts import Verdict
from kubeproof.verify.run import verify
from tests.differential.comparison import compare
from tests.differential.guards.clusters import deployment, nodes, of
from tests.property.controllers import Flapper
from tests.property.strategies import Case
from tests.unit.verify.inputs import node, scenario, verified, web

WEB = "Deployment/shop/web"
GROWS = "{{scale: {{name: grow, target: Deployment/shop/web, replicas: [2], must: {must}{more}}}}}"
STAYS = '{{ltl: {{formula: "{formula}", where: {{two: "ready(\'Deployment/shop/web\') == 2", rest: stable}}}}}}'


def verdict(intent: str, events: str) -> str:
    """The verdict on a web of one pod, the same by all searches."""
    read = verified(node("a"), web(1), scenario(intent, events=events))
    (result,) = read.results
    return result.verdict


@pytest.mark.parametrize("more", ["", ", after: stable"])
@pytest.mark.parametrize(
    "intent",
    [
        f"{{minReady: {{target: {WEB}, count: 2, when: eventuallyAlways}}}}",
        f"{{minReady: {{target: {WEB}, count: 2, when: eventually}}}}",
        f"{{minReady: {{target: {WEB}, count: 2, when: stable}}}}",
        STAYS.format(formula="F G two | G F !rest"),
        STAYS.format(formula="G(rest -> two)"),
    ],
)
def test_a_cluster_at_rest_waits_for_an_event_that_must_happen(intent: str, more: str) -> None:
    assert verdict(intent, GROWS.format(must="false", more=more)) == Verdict.VIOLATED
    assert verdict(intent, GROWS.format(must="true", more=more)) == Verdict.HOLDS


def test_what_must_never_be_is_judged_before_the_event_too() -> None:
    always = f"{{minReady: {{target: {WEB}, count: 2, when: always}}}}"

    assert verdict(always, GROWS.format(must="true", more="")) == Verdict.VIOLATED


def test_an_event_that_is_never_possible_excuses_nothing() -> None:
    other = "{nodeFailure: {name: loss, nodes: {names: [a]}}}"
    waits = GROWS.format(must="true", more=", after: loss")

    assert verdict(f"{{minReady: {{target: {WEB}, count: 2, when: stable}}}}", f"{other}, {waits}") == Verdict.VIOLATED


def test_others_that_wait_for_a_stable_cluster_may_come_before_it() -> None:
    cordon = "{cordon: {name: cordon, after: stable}}"
    first = "{ltl: {formula: \"G !first\", where: {first: \"happened('cordon') && !happened('grow')\"}}}"

    assert verdict(first, f"{cordon}, {GROWS.format(must='true', more='')}") == Verdict.VIOLATED


def loops(must: bool, after: str | None = None) -> set[str]:
    """The verdicts of all searches on c8, whose pods are evicted for ever unless the workload is deleted."""
    case = load(load_case("c8", "violating"))
    formula = Intent(key="ltl", name="calm", formula="F G !evicted", where=(("evicted", "evicted()"),))
    calm = Intent(key="noEvictionLoop", name="no-loop", target=WEB)
    delete = Delete(name="delete", target=WEB, must=must, after=after)
    changed = replace(case, scenario=replace(case.scenario, events=(delete,), intents=(formula, calm)))
    return {one.verdict for one in verify(changed).results}


def test_an_endless_run_in_which_the_event_is_always_possible_does_not_count() -> None:
    assert loops(must=False) == {Verdict.VIOLATED}
    assert loops(must=True) == {Verdict.HOLDS}


def test_an_endless_run_in_which_the_event_is_never_possible_counts() -> None:
    assert loops(must=True, after="stable") == {Verdict.VIOLATED}


@pytest.mark.parametrize(("must", "verdicts"), [(False, (Verdict.VIOLATED,)), (True, (Verdict.HOLDS,))])
def test_the_search_by_name_waits_for_the_event_as_well(must: bool, verdicts: tuple[str, ...]) -> None:
    pods = deployment("web", 1, 100, grace_s=0)
    setup = Setup(nodes(1), (pods,), settings=Settings(startup_s=(0, 0)))
    delete = Delete(name="delete", target=pods.ref, must=must)
    case = Case(setup, (delete,), (of("noOscillation", pods),), own=(Flapper(pods.ref, 0, 1),))

    found = compare(case, reference_states=2000)

    assert (found.verdicts, found.is_complete) == (verdicts, True)
