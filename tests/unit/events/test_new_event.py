"""A new event is one module and one line: it is read, told, explained, searched and replayed from what it declares."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from kubeproof.cluster.chances import Chance
from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import Footprint, Scope, Writes
from kubeproof.cluster.loops.node_verbs import FAIL_FOR_GOOD
from kubeproof.cluster.state import KUBELET_LIVES, NodeCell
from kubeproof.errors import InternalError, ManifestError
from kubeproof.events import declarations
from kubeproof.events.common import Around, EventSource, NoWorkloads, Sourced, one_less
from kubeproof.events.declarations import EVENTS, Event, NodeChoice, check_complete
from kubeproof.events.event import Budgets
from kubeproof.events.manual import NODES, Manual, flag
from kubeproof.events.rates import event_rate
from kubeproof.manifests.scenarios.events.declared import reader_of
from kubeproof.report.lexicon.events import events as explanations
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from tests.unit.verify.inputs import loaded, node, only, scenario, verified, web


@dataclass(frozen=True, slots=True, kw_only=True)
class Theft(Event):
    """Somebody carries a node away."""

    nodes: NodeChoice = NodeChoice()
    at_night: bool = False

    manuals = (
        Manual(
            key="theft",
            text="Somebody carries a node away.",
            fields=(NODES, flag("atNight", "at_night")),
            example="theft: {max: 1}",
        ),
    )
    footprint = Footprint(writes=Writes.FAILURES, concerns_all="", takes_pods_of=Scope.NODE)

    def describe(self) -> str:
        return f"{self.nodes.one_of} is carried away {self.times}{' at night' if self.at_night else ''}"

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield TheftEvent(at, self)


@dataclass(frozen=True, slots=True)
class TheftEvent(Sourced, NoWorkloads):
    """Fails a node for good, while its budget lasts. What it reads and does it does not say."""

    source: EventSource
    event: Theft

    @property
    def reads(self) -> Reads:
        places = enumerate(self.source.layout.places)
        return self.source.reads(places=tuple(i for i, place in places if self.event.nodes.admits(place.sample)))

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        return 1 if cell.health in KUBELET_LIVES else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        left = seen.memories[0][0]
        if left == 0 or not self.source.may_happen(seen.memories):
            return ()
        memory = Remember(self.source.memory, (one_less(left),))
        return tuple(
            Decision((NodeChange(NodeRef(place, 1), FAIL_FOR_GOOD), memory), Role.EVENT)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            if groups
        )


@pytest.fixture(autouse=True)
def _shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "EVENTS", {**EVENTS, Theft: ("theft",)})


MIN_READY = "{minReady: {target: Deployment/shop/web, count: 1, when: eventuallyAlways}}"


def test_it_is_read_searched_replayed_and_told() -> None:
    result = verified(node("a"), web(1), scenario(MIN_READY, events="{theft: {atNight: true}}"))

    assert only(result).verdict == Verdict.VIOLATED
    assert "theft-1: a node is carried away at most once at night" in dict(result.scope)["events"]


def test_its_fields_choose_nodes_as_those_of_others_do() -> None:
    spared = "{theft: {nodes: {names: [b]}, after: stable}}"
    pinned = "nodeSelector: {kubernetes.io/hostname: a}"
    result = verified(node("a"), node("b"), web(1, more=pinned), scenario(MIN_READY, events=spared))

    assert only(result).verdict == Verdict.HOLDS
    assert "node b is carried away" in dict(result.scope)["events"]


def test_it_is_explained() -> None:
    (found,) = [one for one in explanations() if one.name == "theft"]

    assert dict(found.facts)["fields"] == "nodes, atNight (false)"


def test_what_it_does_not_say_is_an_error_at_once() -> None:
    class Silent(Event):
        manuals = ()

    with pytest.raises(InternalError, match="event Silent has no footprint, describe of its own"):
        check_complete(Silent, ())


def test_a_key_that_is_listed_and_not_declared_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "EVENTS", {Theft: ("robbery",)})

    with pytest.raises(InternalError, match=r"event Theft is written as \['theft'\], and listed as \['robbery'\]"):
        declarations.find_manual("robbery")


def test_every_key_has_a_reader() -> None:
    for key in declarations.manuals():
        assert callable(reader_of(key))


def test_a_key_with_fields_of_its_own_needs_a_reader_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubeproof.manifests.scenarios.events.declared._OWN_READERS", {})

    with pytest.raises(InternalError, match="nobody reads the fields of event scale"):
        reader_of("scale")


# -- an event that ends, and one that takes domains ------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan(Theft):
    """Somebody borrows a node."""

    returned: bool = True

    manuals = (Manual(key="loan", text="Somebody borrows a node.", fields=(NODES,), example="loan: {}", is_timed=True),)
    footprint = Theft.footprint
    end_field = "returned"
    describe = Theft.describe

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield TheftEvent(at, self)
        yield ReturnEvent(at, self)


@dataclass(frozen=True, slots=True)
class ReturnEvent(TheftEvent):
    """Brings it back."""

    ends = True


def test_an_event_with_an_end_may_have_a_chance_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "EVENTS", {**EVENTS, Loan: ("loan",)})
    told = "{loan: {probability: 0.1, recovery: {probability: 0.5}}}"
    (event,) = loaded(node("a"), web(1), scenario(MIN_READY, events=told)).scenario.events

    assert event.may_end
    assert not event.with_end(False).may_end
    assert event.recovery is not None


def test_what_has_no_end_may_have_no_chance_of_it() -> None:
    told = "{theft: {probability: 0.1, recovery: {probability: 0.5}}}"

    with pytest.raises(ManifestError, match="recovery is given, but nothing recovers"):
        loaded(node("a"), web(1), scenario(MIN_READY, events=told))


def test_what_ends_an_event_has_the_rate_of_its_end() -> None:
    event = Loan(name="loan", chance=Chance(per_tick=0.1), recovery=Chance(per_tick=0.5))
    at = SimpleNamespace(event=event)
    begins, ends = event.sources(at, None)  # type: ignore[arg-type]

    assert [event_rate(one, Decision(()), 0, 60).per_tick for one in (begins, ends)] == [0.1, 0.5]  # type: ignore[union-attr]


def test_whoever_takes_domains_says_which_are_down() -> None:
    with pytest.raises(InternalError, match="nobody says which are down"):
        Theft(name="theft").is_domain_down(None, 0, ())  # type: ignore[arg-type]


def test_whoever_says_which_budgets_there_are_changes_them() -> None:
    assert not Theft(name="theft").changes_budgets
    assert Strike(name="strike").changes_budgets


class Strike(Theft):
    """Nobody keeps to budgets afterwards."""

    def write_budgets(self, budgets: Budgets, *, has_happened: bool) -> Budgets:
        return () if has_happened else budgets
