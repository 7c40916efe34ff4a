"""A new scheduler plugin is one module and one line: pods follow it, and reports tell what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kubeproof.cluster.objects import SchedulerProfile
from kubeproof.controllers.scheduler import registry
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import Judging, NodeView, Rejection, declare_filter
from kubeproof.controllers.scheduler.registry import NODE_FILTERS
from kubeproof.model.loops.shared import forget
from kubeproof.verdicts import Verdict
from kubeproof.verify.proofs.crowd.conditions import find_obstacle
from kubeproof.verify.proofs.slicing import Inseparable, cut, cut_by_relations
from tests.unit.verify.inputs import loaded, node, only, scenario, verified, web


class Loners:
    """Pods of one node only: refuses a node that has a pod already."""

    def reject(self, view: NodeView) -> Rejection | None:
        return Rejection("node(s) were not lonely", unresolvable=True) if view.pods else None


def build_filter(pod: IncomingPod) -> Loners:
    """The filter, for every pod."""
    return Loners()


LONELY = "give every pod of Deployment/shop/web a node of its own"
declared = declare_filter(Judging.NODE, change="give every pod of {ref} a node of its own")


def ship(monkeypatch: pytest.MonkeyPatch, build: Callable[[IncomingPod], Loners]) -> None:
    monkeypatch.setattr(registry, "NODE_FILTERS", (*NODE_FILTERS, ("Loners", build)))


@pytest.fixture(autouse=True)
def _shipped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    ship(monkeypatch, build_filter)
    forget()  # schedulers that other tests have made
    yield
    forget()


@pytest.mark.parametrize(("replicas", "verdict"), [(1, Verdict.HOLDS), (2, Verdict.VIOLATED)])
def test_it_refuses_nodes_and_is_told(replicas: int, verdict: Verdict) -> None:
    found = only(verified(node("a"), web(replicas), scenario("{schedulable: {}}")))

    assert found.verdict == verdict
    assert ("Loners" in repr(found.trace)) == (verdict == Verdict.VIOLATED)


def test_what_helps_against_it_stands_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = only(verified(node("a"), web(2), scenario("{schedulable: {}}")))
    ship(monkeypatch, declared(lambda pod: build_filter(pod)))
    forget()
    spoken = only(verified(node("a"), web(2), scenario("{schedulable: {}}")))

    assert [LONELY in repr(one.trace) for one in (silent, spoken)] == [False, True]


# -- a filter that does not say by what it judges ---------------------------------------------------

APART = (node("a"), web(1, cpu="100m"), web(1, name="db", cpu="100m"))
BOTH = ("{schedulable: {target: Deployment/shop/web}}", "{schedulable: {target: Deployment/shop/db}}")


def test_nothing_is_proved_of_parts_with_it() -> None:
    asked = loaded(*APART, scenario(*BOTH))

    assert find_obstacle(asked) == "it is not known by what the scheduler's filter Loners judges"
    assert isinstance(cut(asked), Inseparable)
    assert cut_by_relations(asked) == ()
    assert {one.verdict for one in verified(*APART, scenario(*BOTH)).results} == {Verdict.VIOLATED}


def test_parts_are_cut_once_it_says_by_what_it_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, declared(lambda pod: build_filter(pod)))  # which is not so: each alone would be placed

    assert len(cut_by_relations(loaded(*APART, scenario(*BOTH)))) == 2
    assert find_obstacle(loaded(*APART, scenario(*BOTH))) == ""


def test_it_does_not_matter_where_no_profile_runs_it() -> None:
    assert registry.find_unproven([]) == "Loners"
    assert registry.find_unproven([SchedulerProfile(disabled=frozenset({"Loners"}))]) == ""


def test_every_filter_that_is_shipped_says_by_what_it_judges() -> None:
    assert registry.filters_judging(None) == {"Loners"}
    assert registry.filters_judging(*Judging) == set(registry.FILTERS)
