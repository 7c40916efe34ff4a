"""Walks beside searches: what they find is an answer, what they do not find is none, and they end nobody's search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.engine.stopped import StopReason
from kubeproof.errors import InternalError
from kubeproof.manifests.loaded import Loaded
from kubeproof.stop import Stop
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import Effort, SearchProgress, VerifyOptions
from kubeproof.verify.planning import plan_of
from kubeproof.verify.result import IntentResult
from kubeproof.verify.run import verify, verify_intents
from kubeproof.verify.searching import Watch
from kubeproof.verify.strategies import swarm, whole
from kubeproof.verify.strategies.inquiry import Inquiry
from tests.unit.verify.inputs import loaded, node, scenario, web

WEB = "Deployment/shop/web"
FEW = VerifyOptions(engine="python", max_states=40, effort=Effort(states_for_a_look=1, max_looks=40))
LOST = "{nodeFailure: {recovers: false}}"


def two_nodes(intents: str, *, events: str = LOST, start: str = "empty", replicas: int = 2) -> Loaded:
    """A Deployment on two nodes, of which one may be lost."""
    return loaded(node("n1"), node("n2"), web(replicas), scenario(intents, events=events, start=start))


def ask_for_ready(count: int) -> str:
    return f"{{minReady: {{target: {WEB}, count: {count}}}}}"


def inquire(given: Loaded, options: VerifyOptions = FEW, stop: Stop | None = None) -> Inquiry:
    """A verification that nothing is known of yet."""
    watch = Watch(stop=stop or Stop())
    return Inquiry(given, plan_of(given, options), options, watch, lambda loaded, asked: verify_intents(loaded, asked))


def only(given: Loaded, options: VerifyOptions = FEW) -> IntentResult:
    (one,) = verify(given, options).results
    return one


@pytest.mark.parametrize(("start", "states"), [("empty", 24), ("deployed", 10)])
def test_what_walks_break_is_an_answer_where_the_search_came_to_its_limit(start: str, states: int) -> None:
    given = two_nodes(ask_for_ready(1), start=start, events="{nodeFailure: {max: 2, recovers: false}}")
    one = only(given, replace(FEW, max_states=states))

    assert one.verdict == Verdict.VIOLATED
    assert one.strategy is not None
    assert one.strategy.name == "swarm"
    assert one.trace is not None


def test_a_run_that_was_walked_is_not_said_to_be_a_shortest_one() -> None:
    asked = inquire(two_nodes(ask_for_ready(2)))
    walks = swarm.Swarm(asked, [0])

    walks.look(200)

    trace = walks.found[0].trace
    assert trace is not None
    assert not trace.is_shortest
    assert trace.steps


def test_what_walks_do_not_break_stays_open_and_says_so() -> None:
    one = only(two_nodes(ask_for_ready(1)), replace(FEW, max_states=12))

    assert one.verdict == Verdict.UNKNOWN
    assert "random walks of up to" in one.detail
    assert one.detail.endswith("broke nothing")


def test_walks_are_the_same_each_time() -> None:
    found = []
    for _ in range(2):
        walks = swarm.Swarm(inquire(two_nodes(ask_for_ready(2))), [0])
        walks.look(200)
        found.append((walks.walked, walks.longest, walks.found[0].trace))

    assert found[0] == found[1]


def test_walks_begin_in_a_placement_that_they_came_to_themselves() -> None:
    walks = swarm.Swarm(inquire(two_nodes(ask_for_ready(2), start="deployed")), [0])

    walks.look(200)

    trace = walks.found[0].trace
    assert trace is not None
    assert 0 < trace.deployed_steps < len(trace.steps)


def test_they_look_whenever_a_search_has_doubled_its_states_and_end_it_when_all_is_found() -> None:
    effort = Effort(max_unaided=10, max_looks=200, max_shorter=1_000)
    asked = inquire(two_nodes(ask_for_ready(2)), VerifyOptions(effort=effort))
    walks = swarm.Swarm(asked, [0])
    walks.wanted = frozenset({0})
    told: list[int] = []
    watch = walks.accompany(replace(asked.watch, progress=lambda progress: told.append(progress.states)))
    assert watch.progress is not None

    seen = []
    for states in (5, 10, 1_000):
        watch.progress(SearchProgress(states, 0, 0, 0, 0.0, "searching"))
        seen.append((bool(walks.found), watch.stop.is_asked))

    assert told == [5, 10, 1_000]
    assert seen == [(False, False), (True, False), (True, True)]
    assert not asked.watch.stop.is_asked  # the run goes on


def test_a_search_that_is_to_end_tells_the_run_unless_walks_ended_it() -> None:
    run = Stop()
    enough = swarm.Enough(run)

    enough.is_found = True
    enough.ask()
    assert (enough.is_asked, run.is_asked) == (True, False)

    enough.is_found = False
    enough.ask()
    assert (enough.is_asked, run.is_asked) == (True, True)


def test_a_search_that_walks_have_ended_says_that_all_is_violated() -> None:
    given = two_nodes(ask_for_ready(2), events="{nodeFailure: {max: 2}}, {podCrash: {}}", replicas=4)
    effort = Effort(max_unaided=1, max_looks=200, max_shorter=1)
    options = VerifyOptions(engine="python", effort=effort)
    asked = inquire(given, options)
    swarm.release(asked, [0], wanted=[0])
    assert asked.swarm is not None
    asked.swarm.look(200)
    assert asked.swarm.found

    progress = asked.watch_of_search.progress
    assert progress is not None
    progress(SearchProgress(4_096, 0, 0, 0, 0.0, "searching"))
    found = whole.attempt(asked, [0])

    assert found.statistics.stopped_by is not None
    assert found.statistics.stopped_by.reason == StopReason.ALL_VIOLATED


def test_what_goes_wrong_on_a_walk_costs_the_walks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(swarm.Swarm, "_walk", fail)

    one = only(two_nodes(ask_for_ready(1)), replace(FEW, max_states=12))

    assert one.verdict == Verdict.UNKNOWN
    assert one.strategy is not None
    assert [passed.reason for passed in one.strategy.before if passed.name == "swarm"] == ["failed"]


def test_a_proof_that_a_walk_contradicts_is_an_error_of_ours() -> None:
    asked = inquire(two_nodes(ask_for_ready(1)), VerifyOptions(engine="python"))
    swarm.release(asked, [0])
    assert asked.swarm is not None
    asked.swarm.found[0] = asked.unknown(0)

    with pytest.raises(InternalError, match="a walk breaks what is proved"):
        whole.attempt(asked, [0])


@pytest.mark.parametrize("options", [replace(FEW, find_all=True), replace(FEW, engine="reference")])
def test_nobody_walks_where_all_violations_or_another_engine_are_asked_for(options: VerifyOptions) -> None:
    one = only(two_nodes(ask_for_ready(1)), replace(options, max_states=5))

    assert "random walks" not in one.detail


def test_formulas_are_left_to_searches() -> None:
    formula = f"{{ltl: {{formula: 'G p', where: {{p: \"ready('{WEB}') < 2\"}}}}}}"
    asked = inquire(two_nodes(formula))
    walks = swarm.Swarm(asked, [0])

    walks.look(40)

    assert walks.found == {}
