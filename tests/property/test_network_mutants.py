"""Checks of changing networks with one condition taken away: the comparison with the slow twin must notice each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from kubeproof.errors import InternalError
from kubeproof.network.failures import search as failures
from kubeproof.network.failures import twins
from kubeproof.network.failures.scene import Usage
from kubeproof.network.headers import classes
from kubeproof.network.kubernetes.tiers import Tiers
from kubeproof.network.rollouts import flight, plan
from kubeproof.network.updates import incremental
from kubeproof.network.updates.tables import IndexedTable
from tests.property.test_failures import check_failures
from tests.property.test_headers import check_devices
from tests.property.test_rollouts import check_plan, check_rollout
from tests.property.test_updates import check_updates
from tests.unit.network.test_policy_conformance import all_of, answer

SEEDS = range(40)


def is_noticed(check: Callable[[int], object], seeds: Iterable[int] = SEEDS) -> bool:
    for seed in seeds:
        try:
            check(seed)
        except (AssertionError, InternalError, KeyError, ValueError):
            return True
    return False


def test_a_change_that_never_comes_while_a_packet_is_there_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight._Search, "_wait", lambda *_: None)

    assert is_noticed(check_rollout)


def test_a_round_during_the_rollout_that_counts_as_endless_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight._Search, "_is_over", lambda *_: True)

    assert is_noticed(check_rollout, range(200))


def test_a_change_that_is_taken_for_one_of_no_concern_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight.Rollout, "_concerns_change", lambda self, change: bool(change.downs))

    assert is_noticed(check_rollout)


def test_a_plan_without_its_waits_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan._Planner, "_is_epoch_safe", lambda *_: True)

    assert is_noticed(check_plan)


def test_a_step_that_is_always_safe_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan._Planner, "_is_safe", lambda *_: True)

    assert is_noticed(check_plan)


def test_an_update_that_concerns_nobody_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental.Watch, "_cover", lambda *_: 0)

    assert is_noticed(check_updates)


def test_a_table_that_forgets_patterns_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = IndexedTable.about

    def about(self: IndexedTable, destinations: Any) -> Any:
        return tuple(rule for rule in whole(self, destinations) if "*" not in rule.match.destination)

    monkeypatch.setattr(IndexedTable, "about", about)

    assert is_noticed(check_updates)


def test_links_that_are_taken_for_unused_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "find_usage", lambda *_: Usage(frozenset()))

    assert is_noticed(check_failures)


def test_nodes_that_are_taken_for_twins_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twins._Exchange, "changes_nothing", lambda *_: True)

    assert is_noticed(check_failures, range(200))


def test_headers_that_are_split_wrongly_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = classes.split

    def split(packets: classes.Class, boxes: Any) -> Any:
        inside, rest = whole(packets, boxes)
        return inside, rest[:-1] or rest

    monkeypatch.setattr(classes, "split", split)

    assert is_noticed(check_devices)


def test_a_rewrite_that_is_lost_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "rewrite", lambda packets, sets: packets)

    assert is_noticed(check_devices)


def test_a_tier_that_does_not_pass_on_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [all_of("Pass"), all_of("Deny", "Baseline", name="b")]
    assert answer(objects, "green", "red", "tcp", 80) == "no"

    monkeypatch.setattr(Tiers, "judge", lambda self, policies, direction: None)
    assert answer(objects, "green", "red", "tcp", 80) == "yes"
