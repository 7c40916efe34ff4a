"""Who acted in a search, and who never did."""

import pytest

from kubeproof.cases.library import load_case
from kubeproof.manifests.load import load
from kubeproof.verify.run import verify
from kubeproof.verify.words.coverage import Coverage, join_coverage
from tests.unit.verify.inputs import FAILING, LOOP, PENDING, node, scenario, verified, web


@pytest.mark.parametrize("engine", ["python", "auto"])
def test_loops_that_nothing_calls_upon_are_idle(engine):
    numbers = verified(*PENDING, engine=engine).statistics

    assert dict(numbers.acted)["scheduler web"] == ("binds pods", "refuses nodes by NodeResourcesFit")
    assert numbers.idle == ("taint-eviction", "node-controller")
    assert "scheduler web: TaintToleration" in numbers.unused
    assert "scheduler web: NodeResourcesFit" not in numbers.unused


def test_who_acts_while_the_cluster_is_deployed_has_acted():
    numbers = verified(*FAILING).statistics

    assert dict(numbers.acted)["deployment web"] == ("scales ReplicaSets",)
    assert "stops nodes" in dict(numbers.acted)["event nodeFailure-1"]


def test_an_event_that_never_may_happen_is_idle():
    never = "{cordon: {name: never, nodes: {matchLabels: {a: b}}}}"
    documents = (node("a"), web(1), scenario("{settles: {}}", events=never))

    assert "event never" in verified(*documents).statistics.idle


def test_the_ordinals_of_a_stateful_set_are_scheduled_one_by_one():
    numbers = verify(load(load_case("c15", "violating"))).statistics

    assert "scheduler db" not in (*numbers.idle, *dict(numbers.acted))
    assert "binds pods" in dict(numbers.acted)["scheduler db-0"]


def test_what_acts_in_one_of_several_searches_is_not_idle():
    one = Coverage((("a", ("x",)),), ("b", "c"), (), ("a: P", "a: Q"))
    other = Coverage((("b", ("y",)), ("a", ("refuses nodes by Q",))), ("a", "c"), ("a: Q",), ("a: P",))

    assert join_coverage((one, other)) == Coverage(
        (("a", ("refuses nodes by Q", "x")), ("b", ("y",))), ("c",), ("a: Q",), ("a: P",)
    )


def test_a_loop_is_counted_too():
    assert verified(*LOOP).statistics.acted
