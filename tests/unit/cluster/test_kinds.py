"""What kinds of workloads are like."""

from __future__ import annotations

from dataclasses import fields

import pytest

from kubeproof.cluster.kinds import CRON_JOB, DAEMON_SET, DECLARED, DEPLOYMENT, JOB, KINDS, POD, STATEFUL_SET, Kind
from kubeproof.cluster.objects import PodTemplate, Workload
from kubeproof.manifests.kinds.catalogue import WORKLOAD_READERS

EVERY = [pytest.param(kind, id=kind.name) for kind in DECLARED]


def test_every_kind_answers_every_question() -> None:
    answered = {"name": "Rollout", "version": "argoproj.io/v1alpha1", "is_pod": False}

    with pytest.raises(TypeError, match="missing"):
        Kind(**answered)  # type: ignore[arg-type]
    assert len(KINDS) == len(DECLARED)


@pytest.mark.parametrize("kind", EVERY)
def test_a_kind_has_one_way_to_say_how_many_pods_it_wants(kind: Kind) -> None:
    assert [kind.is_pod, kind.has_replicas, kind.runs_per_node, kind.runs_to_completion].count(True) == 1


@pytest.mark.parametrize("kind", EVERY)
def test_answers_agree_with_each_other(kind: Kind) -> None:
    assert kind.has_replicas == (kind.has_replica_set or kind.has_ordinals)
    assert kind.runs_to_completion == (kind.counts_completions or kind.starts_jobs)
    assert kind.replaces_pods == (kind.has_replicas or kind.runs_per_node)
    assert kind.rolls_out == (kind.owns_replica_sets or kind.has_controller_revisions)
    assert kind.is_spread_by_owner == kind.has_replicas


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("is_pod", {POD}),
        ("owns_replica_sets", {DEPLOYMENT}),
        ("runs_per_node", {DAEMON_SET}),
        ("has_ordinals", {STATEFUL_SET}),
        ("counts_completions", {JOB}),
        ("starts_jobs", {CRON_JOB}),
        ("has_controller_revisions", {DAEMON_SET, STATEFUL_SET}),
        ("sizes_in_sync", {DEPLOYMENT, STATEFUL_SET, JOB, CRON_JOB}),
    ],
)
def test_who_says_yes(question: str, kinds: set[str]) -> None:
    assert question in {field.name for field in fields(Kind)}
    assert {kind.name for kind in DECLARED if getattr(kind, question)} == kinds


def test_manifests_of_every_kind_are_read() -> None:
    assert set(WORKLOAD_READERS) == set(KINDS)


def test_a_workload_knows_the_rules_of_its_kind() -> None:
    assert Workload(JOB, "shop", "load", PodTemplate()).rules is KINDS[JOB]
