"""An action and a change of nodes are one declaration each: what it changes, its tags and its words follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from kubeproof.cluster.loops.actions import ANY, EvictedPods, NodeChange, NodeRef, Verb
from kubeproof.cluster.loops.effects import clocks_of, find_writes, losers
from kubeproof.cluster.loops.footprint import Clocks, Writes
from kubeproof.cluster.loops.meanings import ENDS, MEANINGS, About, Recorded, means, write_out
from kubeproof.cluster.loops.node_verbs import Meaning, NodeVerb
from kubeproof.cluster.loops.tagging import tags_of
from kubeproof.cluster.loops.tags import Tag, tag_of
from kubeproof.model.by_name.state import State
from kubeproof.verify.result import Change
from kubeproof.verify.words import coverage, steps
from tests.unit.model.builders import node, setup, workload

NODE = NodeRef(0, ANY)
SETUP = setup([node("a")], workload(1))
STATE = State((), (), (), (), ())


@pytest.fixture(autouse=True)
def _shipped() -> Iterator[None]:
    shipped = dict(MEANINGS)
    yield
    MEANINGS.clear()
    MEANINGS.update(shipped)


def test_an_action_is_known_by_what_is_declared_of_it() -> None:
    @means(
        lambda one: Writes.DELETIONS if one.pods else Writes.BINDINGS,
        Tag.PLACEMENT,
        "shoos pods away",
        clocks=Clocks.OTHER,
        picks=lambda one: (EvictedPods(one.workload, (1,), 0, one.pods),),
    )
    class Shoo(NamedTuple):
        node: NodeRef
        workload: int
        pods: int

    some, none = Shoo(NODE, 2, 3), Shoo(NODE, 2, 0)

    assert find_writes(some) == Writes.DELETIONS  # type: ignore[arg-type]
    assert find_writes(none) == Writes.BINDINGS  # type: ignore[arg-type]
    assert tuple(losers(some)) == (2,)  # type: ignore[arg-type]
    assert tuple(losers(none)) == ()  # type: ignore[arg-type]
    assert clocks_of(some) == Clocks.OTHER  # type: ignore[arg-type]
    assert tags_of((some,)) == Tag.STEP | Tag.PLACEMENT | tag_of(2, Tag.PLACEMENT)  # type: ignore[arg-type]
    assert coverage._find_words(Shoo) == "shoos pods away"


def test_an_action_that_does_not_say_what_it_writes_is_refused_where_it_stands() -> None:
    with pytest.raises(TypeError, match="writes"):
        means(tags=Tag.PODS, does="does something")  # type: ignore[call-arg]


def test_a_recorded_verb_is_told_by_what_is_declared_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Recorded("shoos {1} from {0}, to revision {2:revision}", About.NODE, ((1, *ENDS), ("{0}", "noise", "{2}")))
    monkeypatch.setattr(Verb.UNROUTE, "recorded", told)
    step = (Verb.UNROUTE, "a", ("web-1", "web-2"), 0)

    assert steps._sentence(SETUP, STATE, step) == "shoos 2 pods: web-1, web-2 from a, to revision 1"
    assert steps._object(step, "shop") == "Node/a"
    assert steps._changes(step, "shop") == [
        Change("Pod/shop/web-1", "deletionTimestamp", "set"),
        Change("Pod/shop/web-2", "deletionTimestamp", "set"),
        Change("a", "noise", "0"),
    ]


def test_what_names_contain_is_not_taken_as_a_template() -> None:
    assert write_out("creates {0}", ("{0.__class__}",), str) == "creates {0.__class__}"


def test_a_change_of_nodes_is_known_by_what_is_declared_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Meaning(Writes.CORDONS, "puts node {node} to sleep", "hibernates nodes", "sleeps", Clocks.MAINTENANCE)
    monkeypatch.setattr(NodeVerb.CORDON, "meaning", told)
    change = NodeChange(NODE, NodeVerb.CORDON)

    assert find_writes(change) == Writes.CORDONS
    assert clocks_of(change) == Clocks.MAINTENANCE
    assert steps._sentence(SETUP, STATE, ("cordon", "a")) == "puts node a to sleep"
    assert steps._changes(("cordon", "a"), "") == [Change("Node/a", "", "cordon")]
