"""Clusters in which everything stands beside everything: no crash, and one answer, whoever is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from kubeproof.errors import ScenarioError
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import Effort, VerifyOptions
from kubeproof.verify.planning import plan_of
from kubeproof.verify.run import verify_intents
from kubeproof.verify.searching import Watch
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.swarm import Swarm
from tests.differential.guards.judging import EAGER, Verdicts, verdicts_of
from tests.property.mixed import mixed_inputs
from tests.property.strategies import choice

MOST_STATES = 500  # beyond, an input is compared as far as it came
MOST_BY_NAME = 50
LOOKS = 60  # of walks
CHUNKS, EXAMPLES = 8, 100  # in every run; ten times as many with -m slow
IN_PARTS = VerifyOptions(max_states=2, effort=replace(EAGER, max_at_first=1, max_alone=4 * MOST_STATES))
DECIDED = 0.5  # of all verdicts, at least: comparisons of what nobody knows say nothing
EFFORTS = choice(Effort(), EAGER)
KERNELS = choice(*["auto"] * 11, "python")


def find_answers(loaded: Loaded, effort: Effort, kernel: str) -> dict[str, Verdicts]:
    """What each way to answer says, every violation replayed."""
    reduced = VerifyOptions(max_states=MOST_STATES, effort=effort)
    found = {
        "reduced": verdicts_of(loaded, reduced),
        "every run": verdicts_of(loaded, VerifyOptions(reductions=False, max_states=MOST_STATES)),
        "by name": verdicts_of(loaded, VerifyOptions(engine="reference", max_states=MOST_BY_NAME)),
    }
    if kernel != "auto":
        found[kernel] = verdicts_of(loaded, replace(reduced, engine=kernel))
        assert found[kernel] == found["reduced"]  # also what is left open
    found["walks"] = break_by_walks(loaded)
    if len(loaded.setup.workloads) > 1:
        found["in parts"] = verdicts_of(loaded, IN_PARTS)
    return found


def break_by_walks(loaded: Loaded) -> Verdicts:
    """What random walks break, each with a run that was replayed; they prove nothing."""
    options = VerifyOptions()
    asked = Inquiry(loaded, plan_of(loaded, options), options, Watch(), verify_intents)
    walks = Swarm(asked, asked.numbers)
    walks.look(LOOKS)
    assert walks.failure is None or walks.failure.verdict == Verdict.UNKNOWN, walks.failure
    return tuple(Verdict.VIOLATED if number in walks.found else Verdict.UNKNOWN for number in asked.numbers)


def compare_answers(loaded: Loaded, effort: Effort = EAGER, kernel: str = "auto") -> Counter[str]:
    """Asserts that all decided answers are the same; returns how often each verdict was given."""
    try:
        answers = find_answers(loaded, effort, kernel)
    except ScenarioError:  # no stable start
        return Counter({"refused": 1})
    decided = [set(words) - {Verdict.UNKNOWN} for words in zip(*answers.values(), strict=True)]
    assert all(len(words) < 2 for words in decided), answers
    return Counter(next(iter(words), Verdict.UNKNOWN) for words in decided)


def compare_many(number: int, examples: int) -> Counter[str]:
    """Compares so many random inputs."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(mixed_inputs(), EFFORTS, KERNELS)
    def check(loaded: Loaded, effort: Effort, kernel: str) -> None:
        found.update(compare_answers(loaded, effort, kernel))

    check()
    return found


def share_decided(found: Counter[str]) -> float:
    """How much of what was asked got an answer."""
    return 1 - found[Verdict.UNKNOWN] / found.total()


@pytest.mark.parametrize("number", range(CHUNKS))
def test_all_ways_to_answer_agree_on_mixed_clusters(number: int) -> None:
    found = compare_many(number, EXAMPLES)

    assert share_decided(found) > DECIDED
    assert found["VIOLATED"] > 0
    assert found["HOLDS"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1000, 1000 + 10 * CHUNKS))
def test_all_ways_to_answer_agree_on_many_more_mixed_clusters(number: int) -> None:
    assert share_decided(compare_many(number, EXAMPLES)) > DECIDED
