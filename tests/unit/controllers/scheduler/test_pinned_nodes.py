from __future__ import annotations

import pytest

from kubeproof.cluster.kinds import POD
from kubeproof.cluster.labels import NodeTerm, Requirement
from kubeproof.cluster.objects import PodTemplate, SchedulerProfile
from tests.unit.controllers.scheduler.builders import info, node, refusals, scheduler, scores, template, workload

TWO = [info(node("n1")), info(node("n2"))]


def named(*names: str) -> NodeTerm:
    """A term that pins all of these names at once."""
    return NodeTerm(fields=tuple(Requirement("metadata.name", "In", (name,)) for name in names))


def reasons(pod: PodTemplate, version: tuple[int, int], **options: SchedulerProfile) -> list[str]:
    return [row.reason for row in scheduler(pod, version=version, **options).evaluate(TWO).rows]


def test_nodes_that_prefilter_leaves_out_have_the_frameworks_words_since_1_32() -> None:
    pod = template(required_terms=(named("n2"),))

    assert reasons(pod, (1, 32)) == ["node(s) didn't satisfy plugin(s) [NodeAffinity]", ""]
    assert reasons(pod, (1, 31)) == ["", ""]
    assert refusals(scheduler(pod, version=(1, 31)).evaluate(TWO).rows) == ["NodeAffinity", ""]


def test_preemption_may_look_at_nodes_that_prefilter_leaves_out_up_to_1_26() -> None:
    pod = template(required_terms=(named("n2"),))

    assert not scheduler(pod, version=(1, 26)).evaluate(TWO).rows[0].unresolvable
    assert scheduler(pod, version=(1, 27)).evaluate(TWO).rows[0].unresolvable


def test_node_name_pins_since_1_37() -> None:
    pod = template(node_name="n2")

    assert reasons(pod, (1, 37)) == ["node(s) didn't satisfy plugin(s) [NodeName]", ""]
    assert reasons(pod, (1, 36)) == ["node(s) didn't match the requested node name", ""]


def test_node_name_and_affinity_that_pin_different_nodes_refuse_all() -> None:
    pod = template(node_name="n2", required_terms=(named("n1"),))
    words = "node(s) didn't satisfy plugin(s) [NodeAffinity NodeName] simultaneously"

    assert reasons(pod, (1, 37)) == [words, words]


def test_node_name_and_affinity_that_pin_the_same_node_are_both_named() -> None:
    pod = template(node_name="n2", required_terms=(named("n2"),))

    assert reasons(pod, (1, 37)) == ["node(s) didn't satisfy plugin(s) [NodeAffinity NodeName]", ""]


@pytest.mark.parametrize("plugin", ["NodeAffinity", "NodeName"])
def test_disabled_plugin_does_not_pin(plugin: str) -> None:
    pod = template(node_name="n2", required_terms=(named("n1"),))
    profile = SchedulerProfile(disabled=frozenset({plugin}))
    left = {"NodeAffinity": 1, "NodeName": 0}[plugin]

    assert scheduler(pod, profile=profile).choose(TWO) == (left,)


def test_one_contradictory_term_conflicts_up_to_1_26_though_terms_are_alternatives() -> None:
    pod = template(required_terms=(named("n1", "n2"), named("n2")))

    assert reasons(pod, (1, 26)) == ["pod affinity terms conflict"] * 2
    assert scheduler(pod, version=(1, 27)).choose(TWO) == (1,)


def test_only_contradictory_terms_conflict() -> None:
    assert reasons(template(required_terms=(named("n1", "n2"),)), (1, 37)) == ["pod affinity terms conflict"] * 2


def test_name_without_a_node_fails_the_attempt_up_to_1_26() -> None:
    pod = template(required_terms=(named("n2"), named("gone")))
    before = scheduler(pod, version=(1, 26))
    evaluation = before.evaluate(TWO)

    assert [row.reason for row in evaluation.rows] == ['nodeinfo not found for node name "gone"'] * 2
    assert before.choose(TWO) == evaluation.chosen == ()
    assert scheduler(pod, version=(1, 27)).choose(TWO) == (1,)


@pytest.mark.parametrize(
    ("plugin", "score", "skipped_since"),
    [("NodeAffinity", 0, 30), ("InterPodAffinity", 0, 28), ("PodTopologySpread", 100, 28)],
)
def test_plugin_with_nothing_to_do_gives_every_node_the_same_until_it_can_be_skipped(
    plugin: str, score: int, skipped_since: int
) -> None:
    bare = workload(template(), kind=POD)
    before = scheduler(bare, version=(1, skipped_since - 1)).evaluate([info(node("n1"), count=2)]).rows
    since = scheduler(bare, version=(1, skipped_since)).evaluate([info(node("n1"), count=2)]).rows

    assert scores(before, plugin) == [score]
    assert scores(since, plugin) == [None]
