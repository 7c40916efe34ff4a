"""Clusters in which everything stands beside everything: no crash, and one answer from reductions, parts, engines and replay."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from kubeproof.errors import ScenarioError
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.options import VerifyOptions
from tests.differential.guards.judging import UNKNOWN, Verdicts, reduced_verdicts, verdicts_of
from tests.property.mixed import mixed_inputs

MOST_STATES = 1_500  # beyond, an input is compared as far as it came
MOST_BY_NAME = 250
CHUNKS, EXAMPLES = 20, 100  # in every run; ten times as many with -m slow
DECIDED = 0.6  # of all verdicts, at least: comparisons of what nobody knows say nothing


def find_answers(loaded: Loaded) -> dict[str, Verdicts]:
    """What each way to answer says, every violation replayed."""
    found = {
        "reduced": verdicts_of(loaded, VerifyOptions(max_states=MOST_STATES)),
        "every run": verdicts_of(loaded, VerifyOptions(reductions=False, max_states=MOST_STATES)),
        "by name": verdicts_of(loaded, VerifyOptions(engine="reference", max_states=MOST_BY_NAME)),
    }
    if len(loaded.setup.workloads) > 1:
        found["in parts"] = reduced_verdicts(loaded, in_parts=True)
    return found


def compare_answers(loaded: Loaded) -> Counter[str]:
    """Asserts that all decided answers are the same; returns how often each verdict was given."""
    try:
        answers = find_answers(loaded)
    except ScenarioError:  # no stable start
        return Counter({"refused": 1})
    decided = [set(words) - {UNKNOWN} for words in zip(*answers.values(), strict=True)]
    assert all(len(words) < 2 for words in decided), answers
    return Counter(next(iter(words), UNKNOWN) for words in decided)


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
    @given(mixed_inputs())
    def check(loaded: Loaded) -> None:
        found.update(compare_answers(loaded))

    check()
    return found


def share_decided(found: Counter[str]) -> float:
    """How much of what was asked got an answer."""
    return 1 - found[UNKNOWN] / found.total()


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
