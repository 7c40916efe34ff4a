"""A verification that is asked to stop, or interrupted anywhere, answers with what is known by then."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kubeproof.engine import search
from kubeproof.engine.stopped import ALL_VIOLATED, INTERRUPTED, StoppedBy, StopReason
from kubeproof.manifests.loaded import Loaded
from kubeproof.stop import Stop
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples import lift, traces
from kubeproof.verify.options import Effort, SearchProgress, VerifyOptions
from kubeproof.verify.proofs import slices
from kubeproof.verify.result import IntentResult, Statistics, VerifyResult
from kubeproof.verify.run import verify
from kubeproof.verify.words.summary import combine
from tests.unit.verify.inputs import loaded, node, scenario, web

NODES = (node("n1", cpu="8"), node("n2", cpu="8"), node("n3", cpu="8"))
TOO_LARGE = "{minReady: {target: Deployment/shop/%s, count: 5}}"
FITS = "{minReady: {target: Deployment/shop/%s, count: 1, when: eventuallyAlways}}"
FAILURE = "{nodeFailure: {}}"
APART = """affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: front}}}]}}"""
PENDING = "{noPendingForever: {target: Deployment/shop/%s}}"

NINE_STATES = StoppedBy(StopReason.STATES, 9)


def whole() -> tuple[Loaded, VerifyOptions]:
    """One search."""
    given = loaded(*NODES, web(2, name="front"), scenario(TOO_LARGE % "front", FITS % "front", events=FAILURE))
    return given, VerifyOptions(engine="python")


def parts() -> tuple[Loaded, VerifyOptions]:
    """Workloads that do not meet, one after the other; the first violates an intent."""
    at = "nodeSelector: {kubernetes.io/hostname: %s}"
    workloads = (web(1, name="front", more=at % "n1"), web(1, name="back", more=at % "n2"))
    documents = (node("n1"), node("n2"), *workloads)
    intents = (TOO_LARGE % "front", FITS % "front", FITS % "back", TOO_LARGE % "back")
    return loaded(*documents, scenario(*intents)), VerifyOptions(engine="python")


def one_by_one() -> tuple[Loaded, VerifyOptions]:
    """Workloads that share their nodes: the whole for a moment, then each alone, then the whole."""
    intents = (PENDING % "front", FITS % "back", TOO_LARGE % "back")
    given = loaded(*NODES, web(3, name="front", cpu="100m", more=APART), web(2, name="back"),
                   scenario(*intents, events=FAILURE))  # fmt: skip
    return given, VerifyOptions(engine="python", effort=Effort(max_at_first=5, max_alone=400, max_at_last=40))


INPUTS = (whole, parts, one_by_one)


@pytest.fixture(autouse=True)
def _short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "STATES_BETWEEN_JUDGEMENTS", 4)
    monkeypatch.setattr(search, "STATES_BETWEEN_LOOKS", 2)


class Counting:
    """Counts reports of progress and does something at one of them."""

    def __init__(self, moment: int = -1, then: Callable[[], None] = lambda: None) -> None:
        self.calls, self._moment, self._then = 0, moment, then

    def __call__(self, progress: SearchProgress) -> None:
        self.calls += 1
        if self.calls == self._moment:
            self._then()


def interrupt() -> None:
    raise KeyboardInterrupt


def moments(given: Callable[[], tuple[Loaded, VerifyOptions]]) -> tuple[VerifyResult, range]:
    """The whole answer, and some moments of the way there."""
    counting = Counting()
    answer = verify(*given(), counting)
    return answer, range(1, counting.calls + 1, max(1, counting.calls // 6))


def check_partial(partial: VerifyResult, answer: VerifyResult) -> None:
    """No verdict that is known differs from the right one; what is open is told to be interrupted."""
    right = {one.intent: one.verdict for one in answer.results}
    assert [one.intent for one in partial.results] == [one.intent for one in answer.results]
    assert all(one.verdict in (Verdict.UNKNOWN, right[one.intent]) for one in partial.results)
    assert all(one.trace is not None for one in partial.results if one.verdict == Verdict.VIOLATED)
    is_open = any(one.verdict == Verdict.UNKNOWN for one in partial.results)
    if any(one.verdict == Verdict.UNKNOWN and right[one.intent] != Verdict.UNKNOWN for one in partial.results):
        assert partial.statistics.stopped_by == INTERRUPTED
        assert dict(partial.scope)["explored"] == "in part: interrupted"
    assert is_open or partial.verdict == answer.verdict


@pytest.mark.parametrize("given", INPUTS)
def test_an_interrupt_at_any_moment_ends_all_searches_and_keeps_what_is_known(given) -> None:
    answer, when = moments(given)

    for moment in when:
        counting = Counting(moment, interrupt)
        partial = verify(*given(), counting)
        assert counting.calls <= moment + 1  # cycles among what is explored may be looked for
        check_partial(partial, answer)


@pytest.mark.parametrize("given", INPUTS)
def test_who_is_asked_to_stop_at_any_moment_stops_with_what_is_known(given) -> None:
    answer, when = moments(given)

    for moment in when:
        stop = Stop()
        counting = Counting(moment, stop.ask)
        check_partial(verify(*given(), counting, stop=stop), answer)
        assert stop.is_obeyed
        assert counting.calls <= moment + 1


def test_a_violation_of_the_first_part_is_told_while_the_others_are_searched() -> None:
    stop = Stop()
    told: list[IntentResult] = []

    def found(one: IntentResult) -> None:
        told.append(one)
        stop.ask()

    partial = verify(*parts(), stop=stop, found=found)

    assert [(one.target, one.verdict) for one in told] == [("Deployment/shop/front", Verdict.VIOLATED)]
    assert [one.verdict for one in partial.results] == [
        Verdict.VIOLATED,
        Verdict.HOLDS,
        Verdict.UNKNOWN,
        Verdict.UNKNOWN,
    ]
    assert partial.results[2].detail.startswith("not decided, the search was interrupted: ")


def test_a_violation_is_told_once_and_while_the_search_goes_on() -> None:
    counting = Counting()
    told: list[tuple[IntentResult, int]] = []
    answer = verify(*whole(), counting, found=lambda one: told.append((one, counting.calls)))

    assert [one.verdict for one in answer.results] == [Verdict.VIOLATED, Verdict.HOLDS]
    ((first, calls),) = told
    assert (first.intent, first.verdict, calls < counting.calls) == (answer.results[0].intent, Verdict.VIOLATED, True)
    assert first.trace is not None


def test_telling_of_violations_changes_no_number_of_the_answer() -> None:
    plain, told = verify(*whole()), verify(*whole(), found=lambda one: None)

    assert plain.results == told.results
    assert (plain.statistics.states, plain.statistics.depth) == (told.statistics.states, told.statistics.depth)


@pytest.mark.parametrize(
    ("given", "module", "name"),
    [
        (whole, lift, "lift"),
        (parts, slices, "show_violation"),
        (one_by_one, slices, "show_violation"),
        (one_by_one, traces, "make_trace"),
    ],
)
def test_an_interrupt_outside_of_a_search_leaves_an_answer_too(given, module, name, monkeypatch) -> None:
    answer = verify(*given())
    monkeypatch.setattr(module, name, lambda *_, **__: interrupt())

    check_partial(verify(*given()), answer)


def test_the_reference_search_ends_when_it_is_asked_to_and_when_its_time_is_over() -> None:
    given, _ = whole()
    stop = Stop()
    stop.ask()

    asked = verify(given, VerifyOptions(engine="reference"), stop=stop)
    late = verify(given, VerifyOptions(engine="reference", timeout_s=1e-9))
    heavy = verify(given, VerifyOptions(engine="reference", memory_bytes=2**20))

    reasons = [one.statistics.stopped_by for one in (asked, late, heavy)]
    assert reasons == [INTERRUPTED, StoppedBy(StopReason.TIME, 1e-9), StoppedBy(StopReason.MEMORY, 2**20)]
    assert {one.verdict for result in (asked, late, heavy) for one in result.results} == {Verdict.UNKNOWN}


@pytest.mark.parametrize("engine", ["python", "compiled", "reference"])
@pytest.mark.parametrize("limit", [{"max_states": 3}, {"timeout_s": 1e-9}, {"memory_bytes": 2**20}])
def test_every_engine_keeps_every_limit(engine: str, limit: dict) -> None:
    given, _ = whole()
    result = verify(given, VerifyOptions(engine=engine, **limit))

    assert result.statistics.stopped_by
    assert Verdict.UNKNOWN in {one.verdict for one in result.results}


@pytest.mark.parametrize("at_first", [5, 40])
def test_a_proof_never_stands_beside_a_search_in_part(at_first: int) -> None:
    given, _ = one_by_one()
    effort = Effort(max_at_first=at_first, max_alone=10, max_at_last=100_000)
    result = verify(given, VerifyOptions(engine="python", effort=effort, max_states=100_000))

    assert {one.verdict for one in result.results} <= {Verdict.HOLDS, Verdict.VIOLATED, Verdict.VACUOUS}
    assert result.statistics.stopped_by is None
    assert dict(result.scope)["explored"] == "every interleaving, exhaustively"


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        ((None, None), None),
        ((None, NINE_STATES), NINE_STATES),
        ((NINE_STATES, INTERRUPTED), INTERRUPTED),
        ((ALL_VIOLATED, NINE_STATES), NINE_STATES),
        ((ALL_VIOLATED, None), None),
        ((ALL_VIOLATED, ALL_VIOLATED), ALL_VIOLATED),
    ],
)
def test_several_searches_are_stopped_by_what_left_something_open(reasons, told) -> None:
    assert combine([Statistics(states=3, stopped_by=reason) for reason in reasons]).stopped_by == told
