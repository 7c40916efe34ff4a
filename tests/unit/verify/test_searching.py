"""The searches behind a verdict: fewer orders first, every order for a short counterexample."""

from __future__ import annotations

import pytest

from kubeproof.verdicts import Verdict
from kubeproof.verify import models
from kubeproof.verify.counterexamples import weave
from kubeproof.verify.models import search_models
from kubeproof.verify.options import REDUCTIONS, Effort, VerifyOptions
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify
from kubeproof.verify.searching import Beginning, Watch
from tests.unit.model.test_startup import plan
from tests.unit.verify.inputs import loaded, node, scenario, web
from tests.unit.verify.test_slicing import TWO_TEAMS

NOT_REPEATED = VerifyOptions(effort=Effort(max_repeated=1))
EVERY_ORDER = ("unison", "por", "slicing")
CROWDED = (node("a", cpu="1"), web(1, name="one"), web(2, name="two"), web(1, name="three", cpu="0.1"))
NO_ROOM = scenario("{schedulable: {target: Deployment/shop/two}}")


def length(result: VerifyResult) -> int:
    """The steps of the one counterexample."""
    (found,) = result.results
    assert (found.verdict, found.trace is not None) == (Verdict.VIOLATED, True)
    return len(found.trace.steps) if found.trace else 0


def test_a_counterexample_is_as_short_as_in_every_order() -> None:
    documents = loaded(*CROWDED, NO_ROOM)

    assert length(verify(documents)) == length(verify(documents, VerifyOptions(without=EVERY_ORDER)))


def test_beyond_the_bound_a_longer_one_is_shown_and_replayed() -> None:
    assert length(verify(loaded(*CROWDED, NO_ROOM), NOT_REPEATED)) >= 9


def test_a_timeout_that_is_used_up_leaves_the_first_counterexample() -> None:
    found = models._search_every_order(plan(web(1)), Beginning(()), VerifyOptions(timeout_s=1.0), Watch(), 2.0)

    assert found is None


def test_the_reductions_that_applied_are_named() -> None:
    given = loaded(node("a"), node("b"), web(2), scenario("{schedulable: {target: Deployment/shop/web}}"))

    result = verify(given, VerifyOptions(without=("abstraction",)))

    assert result.verdict == Verdict.HOLDS
    assert result.statistics.reductions[-3:] == (
        "pods start in unison (Deployment/shop/web)",
        "terminating pods end in unison (Deployment/shop/web)",
        "commuting first steps taken alone",
    )


@pytest.mark.parametrize("left_out", REDUCTIONS)
def test_each_reduction_can_be_left_out(left_out: str) -> None:
    options = VerifyOptions(without=(left_out,))

    assert [options.uses(name) for name in REDUCTIONS] == [name != left_out for name in REDUCTIONS]


def test_none_is_used_without_reductions_and_every_order_is_followed_to_find_all() -> None:
    assert not any(VerifyOptions(reductions=False).uses(name) for name in REDUCTIONS)
    assert [VerifyOptions(find_all=True).uses(name) for name in REDUCTIONS] == [True, False, False, True, True]


def test_workloads_whose_start_matters_after_all_are_taken_out_one_by_one() -> None:
    shrinking = "{scale: {target: Deployment/shop/web, replicas: [1]}}"
    found = plan(web(2), web(2, name="db"), events=shrinking)

    _, search, order, *_ = search_models(found, Beginning(()), VerifyOptions(engine="python"), Watch())

    assert order.in_unison == {1}
    assert [finding.verdict for finding in search.findings] == [Verdict.HOLDS]


def test_when_several_starts_matter_none_is_in_unison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MAX_RESTARTS", 1)
    found = plan(web(2), web(2, name="db"), events="{scale: {target: Deployment/shop/web, replicas: [1]}}")

    _, _, order, *_ = search_models(found, Beginning(()), VerifyOptions(engine="python"), Watch())

    assert order.in_unison == frozenset()


def test_an_input_whose_parts_cannot_be_woven_is_searched_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weave, "MOST_STEPS", 0)
    events = "{drain: {after: stable}}"
    intent = "{minReady: {target: Deployment/shop/two, count: 1}}"

    result = verify(loaded(*TWO_TEAMS, scenario(intent, events=events, start="deployed")), NOT_REPEATED)

    assert (result.verdict, "slices" in dict(result.scope)) == (Verdict.VIOLATED, False)
