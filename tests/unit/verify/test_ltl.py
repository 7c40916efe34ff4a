"""`ltl` intents through the whole of verify: verdicts, traces with letters, reductions, limits, replay."""

import json
from dataclasses import replace

import pytest

from kubeproof.cases.library import load_case
from kubeproof.engine.search import find_compiled_kernel
from kubeproof.errors import ScenarioError
from kubeproof.intents.declarations import EVICTORS, Intent
from kubeproof.manifests.load import load
from kubeproof.report.formats.json import document
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.replayer import ReplayMismatch, replay
from kubeproof.verify.run import verify
from tests.unit.verify.inputs import model_of, node, scenario, verified, web

WEB = "Deployment/shop/web"


def ltl(formula, **where):
    """An intent in flow style."""
    return json.dumps({"ltl": {"formula": formula, "where": where}})


def verdicts(result):
    return [one.verdict for one in result.results]


def test_a_liveness_formula_catches_the_loop_of_case_c8():
    where = (("evicted", f"evicted('{WEB}', by='descheduler')"),)
    formula = Intent(key="ltl", name="finally-calm", formula="F G !evicted", where=where)
    case = load(load_case("c8", "violating"))

    (result,) = verify(replace(case, scenario=replace(case.scenario, intents=(formula,)))).results

    assert result.verdict == Verdict.VIOLATED
    assert (result.trace.loop_start, result.trace.loop_certainty) == (13, "inevitable")
    loop = result.trace.steps[13:]
    assert [step.actor for step in loop if step.holds == ("evicted",)] == ["descheduler"]


def test_the_same_formula_holds_for_the_repaired_case():
    where = (("evicted", f"evicted('{WEB}', by='descheduler')"),)
    formula = Intent(key="ltl", name="finally-calm", formula="F G !evicted", where=where)
    case = load(load_case("c8", "safe"))

    assert verify(replace(case, scenario=replace(case.scenario, intents=(formula,)))).verdict == Verdict.HOLDS


def test_a_safety_formula_has_a_shortest_counterexample_with_its_letters():
    input_ = node("a"), web(2), scenario(ltl("G !both", both=f"ready('{WEB}') == 2"))

    (result,) = verified(*input_).results

    assert result.verdict == Verdict.VIOLATED
    assert [step.holds for step in result.trace.steps] == [()] * 5 + [("both",)]
    assert (result.trace.begins_with, result.trace.propositions) == ((), (("both", f"ready('{WEB}') == 2"),))


def test_letters_are_in_the_json_report_of_formulas_only():
    input_ = node("a"), web(2), scenario(ltl("G !both", both=f"ready('{WEB}') == 2"), "{settles: {}}")

    formula, settles = document(verified(*input_))["results"]

    assert formula["propositions"] == {"both": f"ready('{WEB}') == 2"}
    assert (formula["holds_at_start"], formula["trace"][-1]["holds"]) == ([], ["both"])
    assert "propositions" not in settles


def test_a_stable_state_may_last_for_ever():
    input_ = node("a"), web(3), scenario(ltl("F full", full=f"ready('{WEB}') == 3"))

    (result,) = verified(*input_).results

    assert (result.verdict, result.trace.loop_start) == (Verdict.VIOLATED, None)
    assert result.trace.final[-1] == "nothing changes any more until an event comes, and none need come"


def test_a_formula_whose_left_side_never_happens_is_vacuous():
    more, some = f"ready('{WEB}') > 2", f"ready('{WEB}') > 0"
    input_ = node("a"), web(2), scenario(ltl("G(p -> F q)", p=more, q=some), ltl("G(!p | F q)", p=more, q=some))

    assert verdicts(verified(*input_)) == [Verdict.VACUOUS, Verdict.HOLDS]


@pytest.mark.parametrize(
    ("formula", "where"),
    [
        ("X !cordoned", {}),  # `X` counts steps: the cordon may be the first of all
        ("F(still & !cordoned)", {"still": "stable"}),  # or come before the cluster is stable
    ],
)
@pytest.mark.parametrize(
    "options", [{}, {"without": ("por", "unison", "slicing", "symmetry")}], ids=["reduced", "full"]
)
def test_no_order_that_a_formula_can_tell_is_left_out(formula, where, options):
    events = "{cordon: {}}"
    intent = ltl(formula, cordoned="nodes(cordoned=true) > 0", **where)

    result = verified(node("a", cpu="500m"), web(1), scenario(intent, events=events), **options)

    assert verdicts(result) == [Verdict.VIOLATED]


def test_orders_that_a_formula_cannot_tell_are_left_out():
    nodes = ltl("G !cordoned", cordoned="nodes(cordoned=true) > 0")
    pods = ltl("G !waits", waits="pending() > 5")

    blind = verified(node("a"), web(2), scenario(nodes), without=("slicing",)).statistics
    watchful = verified(node("a"), web(2), scenario(pods), without=("slicing",)).statistics

    assert "commuting first steps taken alone" in blind.reductions
    assert "commuting first steps taken alone" not in watchful.reductions


def test_equal_nodes_stay_interchangeable_unless_one_is_named():
    by_number = verified(*map(node, "abc"), web(2), scenario(ltl("G !p", p="nodes(cordoned=true) > 1")))
    by_name = verified(*map(node, "abc"), web(2), scenario(ltl("G !p", p="nodes('a', cordoned=true) > 1")))

    assert [dict(result.scope)["nodes"] for result in (by_number, by_name)] == ["3 in 1 class(es)", "3 in 2 class(es)"]


def test_a_limit_leaves_a_formula_undecided():
    input_ = node("a"), web(2), scenario(ltl("G !p", p=f"ready('{WEB}') > 2"))

    assert verdicts(verified(*input_, max_states=4)) == [Verdict.UNKNOWN]


def test_a_violation_within_the_limit_is_told():
    input_ = node("a"), web(2), scenario(ltl("G !p", p=f"pending('{WEB}') > 0"))

    assert verdicts(verified(*input_, max_states=4)) == [Verdict.VIOLATED]


@pytest.mark.skipif(find_compiled_kernel() is None, reason="the compiled engine is not built")
def test_all_engines_agree():
    formulas = [ltl("F G p", p=f"ready('{WEB}') == 2"), ltl("G(p -> F q)", p="nodes(up=false) > 0", q="stable")]
    events = "{nodeFailure: {recovers: true}}"
    input_ = node("a", cpu="1"), node("b", cpu="1"), web(2), scenario(*formulas, events=events)

    found = {engine: verdicts(verified(*input_, engine=engine)) for engine in ("python", "compiled", "reference")}

    assert list(found.values()) == [[Verdict.VIOLATED, Verdict.HOLDS]] * 3


def test_a_formula_is_judged_from_the_deployed_state_on():
    where = {"full": f"ready('{WEB}') == 2"}

    fresh = verified(node("a"), web(2), scenario(ltl("G full", **where)))
    deployed = verified(node("a"), web(2), scenario(ltl("G full", **where), start="deployed"))

    assert (verdicts(fresh), verdicts(deployed)) == ([Verdict.VIOLATED], [Verdict.HOLDS])


def test_every_way_to_break_a_formula_is_told_on_request():
    down = ltl("G(up -> G up)", up=f"ready('{WEB}') == 1")
    events = f"{{podCrash: {{target: {WEB}}}}}, {{nodeFailure: {{recovers: false}}}}"

    results = verified(node("a"), web(1), scenario(down, events=events, start="deployed"), find_all=True).results

    assert {one.trace.steps[-1].actor for one in results} == {"event podCrash-1", "node-controller"}


def test_a_trace_after_which_the_formula_may_hold_does_not_stand_up_to_replay():
    model = model_of(node("a"), web(2), scenario(ltl("G !p", p=f"ready('{WEB}') == 2")))
    (start,) = model.initial()
    first = model.steps(start)[0]

    with pytest.raises(ReplayMismatch, match="the formula may still hold after it"):
        replay(model, start, [(first.controller, first.concrete)], loop_start=None, monitor_number=0)


def test_formulas_in_one_search_with_library_intents_change_no_verdict_of_theirs():
    formula = ltl("G F p", p="stable")
    alone = verified(node("a"), web(3), scenario(f"{{schedulable: {{target: {WEB}}}}}"))
    together = verified(node("a"), web(3), scenario(formula, f"{{schedulable: {{target: {WEB}}}}}"))

    assert verdicts(together) == [Verdict.HOLDS, *verdicts(alone)]


@pytest.mark.parametrize("evictor", EVICTORS)
def test_evictions_by_anybody_who_can_be_named_can_be_asked_for(evictor):
    result = verified(node("a"), web(1), scenario(ltl("G !gone", gone=f"evicted('{WEB}', by='{evictor}')")))

    assert result.verdict == Verdict.HOLDS


def test_equal_bare_pods_are_told_apart_where_a_formula_names_one():
    pod = """apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop, labels: {{app: lone}}}}
spec: {{nodeName: a, containers: [{{name: main, image: registry.example.com/main}}]}}
status: {{phase: Running}}
"""
    pods = [pod.format(name=name) for name in ("one", "two")]
    intents = [
        ltl("G here", here="ready('Pod/shop/two') == 1"),
        ltl("G !both", both="ready('*/shop/one') >= 2"),
    ]

    result = verified(node("a"), web(1), *pods, scenario(*intents))

    assert verdicts(result) == ["HOLDS", "HOLDS"]


# -- what events have done --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "where", "verdict"),
    [
        ("G(down -> gone)", {"down": "nodes(up=false) > 0", "gone": "happened('loss')"}, Verdict.HOLDS),
        ("F gone", {"gone": "happened('loss')"}, Verdict.VIOLATED),  # it may happen, and need not
        ("G(gone -> G gone)", {"gone": "happened('loss')"}, Verdict.HOLDS),
        (
            "G(second -> F first)",
            {"second": f"revision('{WEB}') == 2", "first": f"revision('{WEB}') == 1"},
            Verdict.VIOLATED,
        ),
        ("G !third", {"third": f"revision('{WEB}') == 3"}, Verdict.HOLDS),
        ("G(peak -> happened)", {"peak": "level('peak') == 1", "happened": "happened('peak')"}, Verdict.HOLDS),
        ("G(happened -> peak)", {"peak": "level('peak') == 1", "happened": "happened('peak')"}, Verdict.VIOLATED),
    ],
)
def test_predicates_know_what_events_have_done(formula, where, verdict):
    loss, rollout = "{nodeFailure: {name: loss, max: unlimited}}", f"{{rollout: {{target: {WEB}}}}}"
    peak = f"{{cpuChange: {{name: peak, target: {WEB}, levels: [10m, 20m]}}}}"
    chosen = loss if "loss" in str(where) else f"{rollout}, {peak}"

    assert verdicts(verified(node("a"), web(1), scenario(ltl(formula, **where), events=chosen))) == [verdict]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("happened('los')", "calls happened with event 'los', which is none of the Scenario that happens"),
        ("level('loss') > 0", "calls level with event 'loss', which is none of the Scenario that has levels"),
    ],
)
def test_an_event_that_a_predicate_names_is_in_the_scenario(call, problem):
    with pytest.raises(ScenarioError, match=problem):
        verified(node("a"), web(1), scenario(ltl("G !p", p=call), events="{nodeFailure: {name: loss}}"))
