"""A new intent is one declaration and one line: it is read, watched, told and explained from what it declares."""

from __future__ import annotations

import pytest

from kubeproof.errors import InternalError
from kubeproof.intents import catalogue
from kubeproof.intents.catalogue import INTENTS
from kubeproof.intents.declarations import Amount
from kubeproof.intents.facts.counts import ReplicasAtMost
from kubeproof.intents.kind import IntentField, IntentKind
from kubeproof.intents.monitor import monitor_fact
from kubeproof.report.lexicon.properties import properties
from kubeproof.verdicts import Verdict
from tests.unit.verify.inputs import node, only, scenario, verified, web

FRUGAL = IntentKind(
    id="X001",
    key="frugal",
    category="numbers",
    text="At most `count` pods exist.",
    claim=lambda intent, who, when: f"{who} makes do with {intent.count} pods, {when}",
    broken_by="One pod too many.",
    example="frugal: {target: Deployment/shop/web, count: 2}",
    watch=lambda asked: monitor_fact(
        asked, ReplicasAtMost(asked.layout, asked.workload, asked.intent.count or Amount(1)), is_bound=True
    ),
    typed_fields=(IntentField.TARGET, IntentField.AMOUNT, IntentField.WHEN),
    default_when="always",
    is_upper_bound=True,
)
ODD = IntentKind(
    id="X002",
    key="odd",
    category="numbers",
    text="The number of pods is odd.",
    claim=lambda intent, who, when: f"{who} is odd",
    broken_by="An even number.",
    example="odd: {parity: 1}",
    watch=FRUGAL.watch,
    typed_fields=("parity",),
)


@pytest.fixture(autouse=True)
def _shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "INTENTS", (*INTENTS, FRUGAL, ODD))


@pytest.mark.parametrize(("count", "verdict"), [(2, Verdict.HOLDS), (1, Verdict.VIOLATED)])
def test_it_is_read_searched_and_replayed(count: int, verdict: Verdict) -> None:
    found = only(verified(node("a"), web(2), scenario(f"{{frugal: {{count: {count}}}}}")))

    assert (found.id, found.verdict) == ("X001", verdict)
    assert f"Deployment/shop/web makes do with {count} pods, at all times" in found.detail


def test_it_is_explained() -> None:
    (found,) = [one for one in properties() if one.name == "X001"]

    assert dict(found.facts)["fields"] == "target, count, when"


def test_a_field_of_its_own_needs_a_reader_of_its_own() -> None:
    with pytest.raises(InternalError, match="nobody reads parity of intent odd"):
        verified(node("a"), web(2), scenario("{odd: {parity: 1}}"))
