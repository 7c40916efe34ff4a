"""Facts about single states: counts, percentages, skew."""

import pytest

from kubeproof.cluster.labels import LabelSelector, NodeTerm, Requirement
from kubeproof.cluster.loops.control import Reads, Seen
from kubeproof.cluster.objects import HOSTNAME, ZONE
from kubeproof.cluster.state import Phase, WorkloadCell
from kubeproof.intents.declarations import Amount
from kubeproof.intents.facts.counts import NothingPending, ReadyAtLeast, ReplicasAtLeast, ReplicasAtMost, count_pods
from kubeproof.intents.facts.places import SkewAtMost, matching_workloads
from kubeproof.intents.views import Counts
from tests.unit.model.builders import READY, STARTING, TERMINATING, UNREADY, cell, kind, layout, node, setup, workload

RUNNING = kind(Phase.RUNNING, 0, 10)
MIXED = cell((READY, 2), (STARTING, 1), (RUNNING, 1), (UNREADY, 1), (TERMINATING, 7), (kind(Phase.READY, of=1), 5))


@pytest.mark.parametrize(
    ("number", "percent", "desired", "pods"),
    [
        (3, False, 10, 3),
        (50, True, 3, 2),
        (50, True, 4, 2),
        (66, True, 3, 2),
        (67, True, 3, 3),
        (1, True, 1, 1),
        (0, True, 9, 0),
        (100, True, 7, 7),
        (150, True, 3, 5),
        (50, True, 0, 0),
    ],
)
def test_percentages_round_up(number, percent, desired, pods):
    assert Amount(number, percent).of(desired) == pods


def test_amounts_read_as_they_are_written():
    assert (str(Amount(3)), str(Amount(50, True))) == ("3", "50%")


def test_pods_are_counted_over_equal_nodes():
    assert count_pods(((MIXED, 3), (cell(), 9)), (0,), (Phase.READY,)) == 6
    assert count_pods(((MIXED, 1),), (1,), (Phase.READY,)) == 5
    assert count_pods(((MIXED, 1),), (0, 1), (Phase.READY,)) == 7


def _facts(make, *amount):
    whole = setup([node("n1"), node("n2")], workload(3), workload(name="api"))
    return make(layout(whole, (0, 1)), 0, *amount)


def _seen(fact, spec, *nodes):
    return Seen((fact.show_workload(0, spec),), (fact.show_nodes(0, nodes),))


SPEC = WorkloadCell(desired=6, replicas=6, unbound=1)


@pytest.mark.parametrize(
    ("make", "holding", "failing"),
    [
        pytest.param(ReadyAtLeast, 2, 3, id="minReady counts ready pods"),
        pytest.param(ReplicasAtLeast, 6, 7, id="minReplicas counts all but terminating"),
        pytest.param(ReplicasAtMost, 6, 5, id="maxReplicas counts the same"),
    ],
)
def test_counting_facts_at_their_boundary(make, holding, failing):
    """Two ready, three not ready in various ways, one without a node, seven terminating."""
    for number, holds in ((holding, True), (failing, False)):
        fact = _facts(make, Amount(number))
        assert fact.holds(_seen(fact, SPEC, (MIXED, 1), (cell(), 1))) is holds


def test_percent_counts_follow_the_desired_replicas():
    fact = _facts(ReadyAtLeast, Amount(34, True))

    assert fact.holds(_seen(fact, SPEC._replace(desired=5), (MIXED, 1)))
    assert not fact.holds(_seen(fact, SPEC._replace(desired=6), (MIXED, 1)))


def test_nothing_pending_looks_at_pods_without_a_node():
    fact = _facts(NothingPending)

    assert not fact.holds(_seen(fact, SPEC, (MIXED, 1)))
    assert fact.holds(_seen(fact, SPEC._replace(unbound=0), (cell((STARTING, 1)), 1)))


def test_a_workload_is_settled_once_all_desired_pods_are_ready():
    fact = _facts(ReadyAtLeast, Amount(1))

    assert fact.is_settled(_seen(fact, WorkloadCell(desired=2), (MIXED, 1)))
    assert not fact.is_settled(_seen(fact, WorkloadCell(desired=3), (MIXED, 1)))
    assert not fact.is_settled(_seen(fact, WorkloadCell(desired=0), (MIXED, 1)))
    assert not fact.is_settled(_seen(fact, WorkloadCell(exists=0, desired=2), (MIXED, 1)))


def test_states_matter_while_the_workload_exists_and_wants_pods():
    fact = _facts(ReadyAtLeast, Amount(1))

    assert fact.matters(_seen(fact, WorkloadCell(desired=1), (cell(), 1)))
    assert not fact.matters(_seen(fact, WorkloadCell(desired=0), (cell(), 1)))
    assert not fact.matters(_seen(fact, WorkloadCell(exists=0, desired=1), (cell(), 1)))


def test_counting_facts_read_one_workload_and_all_places():
    assert _facts(ReadyAtLeast, Amount(1)).reads == Reads((0,), (0,))


# -- skew -------------------------------------------------------------------------------------------

ZONED = [node("a1", "a"), node("a2", "a"), node("b1", "b"), node("x1")]


def _skew(key=ZONE, skew=1, *, affine=None, nodes=None, workloads=(0,), places=(), unique=()):
    whole = setup(nodes or ZONED, workload(4), workload(name="api"))
    return SkewAtMost(layout(whole, *places, unique=unique), workloads, affine, key, skew)


def _zone_seen(fact, per_node, desired=4):
    workloads = tuple(fact.show_workload(w, WorkloadCell(desired=desired)) for w in fact.workloads)
    places = fact.layout.places
    shown = tuple(fact.show_nodes(p, tuple((per_node[i], 1) for i in places[p].nodes)) for p in fact.reads.places)
    return Seen(workloads, shown)


def _pods(*numbers):
    return [cell((READY, n)) if n else cell() for n in numbers]


@pytest.mark.parametrize(
    ("pods", "holds"),
    [((1, 1, 1, 0), True), ((1, 1, 0, 0), False), ((2, 0, 3, 0), True), ((0, 0, 2, 0), False), ((1, 0, 0, 9), True)],
)
def test_zones_are_added_up_and_nodes_without_the_key_left_out(pods, holds):
    fact = _skew()

    assert fact.reads == Reads((0,), (0, 1, 2))
    assert fact.holds(_zone_seen(fact, _pods(*pods))) is holds


def test_terminating_pods_do_not_count_and_starting_ones_do():
    fact = _skew()

    assert fact.holds(_zone_seen(fact, [cell((TERMINATING, 5)), cell(), cell(), cell()]))
    assert not fact.holds(_zone_seen(fact, [cell((STARTING, 2)), cell(), cell(), cell()]))


def test_a_larger_skew_allows_more():
    fact = _skew(skew=2)

    assert fact.holds(_zone_seen(fact, _pods(1, 1, 0, 0)))


def test_a_key_unique_to_each_node_makes_each_node_a_domain():
    nodes = [node("n1"), node("n2"), node("n3")]
    fact = _skew(HOSTNAME, nodes=nodes, places=((0, 1, 2),), unique=(HOSTNAME,))

    assert fact.holds(_zone_seen(fact, _pods(2, 1, 1)))
    assert not fact.holds(_zone_seen(fact, _pods(2, 2, 0)))


def test_domains_are_those_that_the_pods_node_affinity_admits():
    by_selector = workload(node_selector=((ZONE, "a"),)).template
    by_term = workload(required_terms=(NodeTerm((Requirement(ZONE, "In", ("a",)),)),)).template
    never = workload(required_terms=()).template

    assert _skew(affine=by_selector).reads.places == (0, 1)
    assert _skew(affine=by_term).reads.places == (0, 1)
    assert _skew(affine=workload().template).reads.places == (0, 1, 2)
    assert _skew(affine=never).reads.places == ()


def test_without_domains_nothing_is_skewed():
    fact = _skew("rack")

    assert fact.holds(Seen((Counts(1, 4),), ()))


def test_skew_is_settled_and_matters_by_the_sum_of_its_workloads():
    fact = _skew(workloads=(0, 1))
    pods = [cell((READY, 2)), cell((kind(Phase.READY, of=1), 2)), cell(), cell()]

    assert fact.is_settled(_zone_seen(fact, pods, desired=2))
    assert not fact.is_settled(_zone_seen(fact, pods, desired=3))
    assert fact.matters(_zone_seen(fact, pods, desired=1))
    assert not fact.matters(_zone_seen(fact, pods, desired=0))


def test_a_selector_finds_workloads_by_pod_labels_and_namespace():
    workloads = (workload(), workload(namespace="lab"), workload(name="api"))
    everything = LabelSelector()
    other = LabelSelector((Requirement("app", "NotIn", ("web",)),))

    assert matching_workloads(workloads, everything, None) == (0, 1, 2)
    assert matching_workloads(workloads, everything, "lab") == (1,)
    assert matching_workloads(workloads, other, None) == ()
