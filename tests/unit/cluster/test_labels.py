"""Selectors, taints and tolerations match as upstream's do."""

import pytest

from kubeproof.cluster.labels import LabelSelector, NodeTerm, Requirement, Taint, Toleration, tolerates_all
from kubeproof.cluster.objects import Strategy


@pytest.mark.parametrize(
    ("operator", "values", "present", "absent"),
    [
        ("In", ("x", "y"), True, False),
        ("In", ("z",), False, False),
        ("NotIn", ("x",), False, True),
        ("NotIn", ("z",), True, True),
        ("Exists", (), True, False),
        ("DoesNotExist", (), False, True),
    ],
)
def test_requirements_on_a_label_of_value_x_and_without_it(operator, values, present, absent):
    requirement = Requirement("key", operator, values)

    assert requirement.matches({"key": "x"}) is present
    assert requirement.matches({"other": "x"}) is absent


@pytest.mark.parametrize(
    ("operator", "bound", "value", "matches"),
    [
        ("Gt", "2", "3", True),
        ("Gt", "3", "3", False),
        ("Lt", "4", "3", True),
        ("Lt", "3", "3", False),
        ("Gt", "2", "many", False),
        ("Gt", "few", "3", False),
        ("Gt", "2", "1_0", False),  # not a number upstream
        ("Lt", "99999999999999999999", "3", False),  # beyond 64 bits
        ("Gt", "3", "9223372036854775808", False),
        ("Gt", "3", "9223372036854775807", True),
        ("Lt", "010", "7", True),
    ],
)
def test_comparisons_need_integers_on_both_sides(operator, bound, value, matches):
    assert Requirement("cores", operator, (bound,)).matches({"cores": value}) is matches
    assert not Requirement("cores", operator, (bound,)).matches({})
    assert not Requirement("cores", operator, (bound, bound)).matches({"cores": value})


def test_an_empty_selector_matches_everything_and_an_empty_term_nothing():
    assert LabelSelector().is_empty
    assert LabelSelector().matches({})
    assert not NodeTerm().matches({}, "n1")


def test_a_term_needs_all_its_expressions_and_fields():
    term = NodeTerm((Requirement("a", "Exists"),), (Requirement("metadata.name", "In", ("n1",)),))

    assert term.matches({"a": "1"}, "n1")
    assert not term.matches({"a": "1"}, "n2")
    assert not term.matches({}, "n1")


def test_every_taint_needs_a_toleration():
    taints = (Taint("a"), Taint("b", "x"))

    assert tolerates_all((Toleration("", "Exists"),), taints)
    assert tolerates_all((Toleration("a"), Toleration("b", value="x")), taints)
    assert not tolerates_all((Toleration("a"), Toleration("b", value="y")), taints)
    assert tolerates_all((), ())


@pytest.mark.parametrize(
    ("strategy", "replicas", "missing"),
    [
        (Strategy(), 4, 1),
        (Strategy(), 3, 0),
        (Strategy(max_surge=0, max_unavailable=25), 3, 1),
        (Strategy(max_unavailable=2, unavailable_percent=False), 10, 2),
        (Strategy(max_unavailable=9, unavailable_percent=False), 3, 3),
        (Strategy(max_surge=0, surge_percent=False, max_unavailable=0, unavailable_percent=False), 3, 1),
        (Strategy(rolling=False), 4, 0),
    ],
)
def test_how_many_pods_a_rollout_may_miss(strategy, replicas, missing):
    """Percent of maxUnavailable round down, of maxSurge up; both zero count as one unavailable."""
    assert strategy.unavailable_of(replicas) == missing
