"""Counterexamples as pictures, and the numbers behind decisions as values."""

import pytest

from kubeproof.cases.library import load_case
from kubeproof.manifests.load import load
from kubeproof.verify.counterexamples.rerun import rerun
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from kubeproof.verify.words.numbers import Autoscaling, ScoreTable
from kubeproof.verify.words.pictures import PENDING, film_of, scene_of


@pytest.fixture(scope="module")
def rerun_case():
    """The re-executed counterexample of a shipped case."""

    def run(name):
        result = verify(load(load_case(name, "violating")))
        (one,) = (one for one in result.results if one.trace is not None)
        return one, rerun(result.inputs, one, VerifyOptions())

    return run


@pytest.mark.parametrize("name", ["c1", "c3", "c8"])
def test_the_changes_lead_through_every_state_of_the_run(rerun_case, name):
    one, again = rerun_case(name)

    film = film_of(again)

    assert len(film.changes) == len(film.numbers) == len(one.trace.steps)
    assert list(film.scenes()) == [scene_of(state) for state in again.states]


def test_a_binding_has_the_scores_of_every_node_with_their_weights(rerun_case):
    film = film_of(rerun_case("c8")[1])

    table = next(numbers for numbers in film.numbers if numbers is not None)
    assert isinstance(table, ScoreTable)
    assert (table.pod, table.node, table.omitted) == ("web-1", "on-demand-1", 0)
    assert [(row.node, row.total, row.is_best) for row in table.rows] == [
        ("on-demand-1", 862, True),
        ("spot-1", 822, False),
        ("spot-2", 822, False),
    ]
    for row in table.rows:
        assert row.total == sum(weight * score for (_, weight), score in zip(table.plugins, row.scores, strict=True))


def test_a_sync_of_an_autoscaler_has_its_arithmetic(rerun_case):
    film = film_of(rerun_case("c3")[1])

    sync = film.numbers[2]
    assert isinstance(sync, Autoscaling)
    assert (sync.current, sync.replicas, sync.least, sync.most) == (5, 6, 5, 6)
    (metric,) = sync.metrics
    assert (metric.measured, metric.target, metric.ratio, metric.pods, metric.proposal) == (75, 50, 1.5, 5, 8)
    assert sync.reasons == ("limited to maxReplicas 6",)


def test_a_pod_without_a_node_has_the_refusal_of_every_node(rerun_case):
    film = film_of(rerun_case("c3")[1])

    *_, last = film.scenes()
    assert [name for name, pod in last.pods.items() if pod.phase == PENDING] == ["web-6"]
    (table,) = film.end
    assert (table.pod, table.node) == ("web-6", "")
    assert {row.refused_by for row in table.rows} == {"PodTopologySpread"}


def test_nodes_are_put_together_by_what_pods_are_spread_over(rerun_case):
    assert film_of(rerun_case("c8")[1]).keys == ("lifecycle",)
    film = film_of(rerun_case("c3")[1])
    assert film.keys == ("topology.kubernetes.io/zone",)
    assert [(node.name, node.domains) for node in film.nodes] == [
        ("node-a1", ("zone-a",)),
        ("node-a2", ("zone-a",)),
        ("node-b1", ("zone-b",)),
    ]
