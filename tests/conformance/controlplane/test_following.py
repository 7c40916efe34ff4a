"""The follower accepts only what the model can do: recorded runs with one action changed are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conformance.controlplane.following import Followed, follow
from tests.conformance.controlplane.runs import DATA, Recorded, Run, read_run


def recorded(name: str) -> Run:
    return read_run(DATA / f"{name}.jsonl")


def changed(run: Run, number: int, action: Recorded) -> Run:
    return replace(run, actions=(*run.actions[:number], action, *run.actions[number + 1 :]))


def find(run: Run, who: str, verb: str, nth: int = 0) -> int:
    """The index of the nth action of this kind."""
    return [i for i, action in enumerate(run.actions) if (action.who, action.verb) == (who, verb)][nth]


def is_refused(followed: Followed) -> bool:
    assert followed.is_exhaustive
    return followed.accepted < followed.total - followed.beyond


def test_a_binding_to_a_node_of_lower_score_is_refused():
    run = recorded("c8-1")
    third = find(run, "scheduler", "bind", 2)
    assert run.actions[find(run, "scheduler", "bind")].node == "on-demand-1"

    followed = follow(changed(run, third, run.actions[third]._replace(node="on-demand-1")))

    assert is_refused(followed)
    assert followed.stuck_at is not None
    assert followed.stuck_at.word.who == "scheduler"


def test_a_binding_to_a_full_node_is_refused():
    run = recorded("c5-1")
    last = find(run, "scheduler", "bind", -2)  # the last is after the cut

    assert is_refused(follow(changed(run, last, run.actions[last]._replace(node="node-1"))))


@pytest.mark.parametrize("replicas", [1, 3, 5])
def test_another_size_by_the_autoscaler_is_refused(replicas: int):
    run = recorded("c1-1")
    second = find(run, "hpa", "scale", 1)

    assert is_refused(follow(changed(run, second, run.actions[second]._replace(amount=replicas))))


def test_an_eviction_from_a_node_that_is_not_above_average_is_refused():
    run = recorded("c5-1")
    first = find(run, "descheduler", "evict")
    elsewhere = next(a for a in run.actions if (a.who, a.verb, a.node) == ("scheduler", "bind", "node-1"))

    moved = run.actions[first]._replace(object=elsewhere.object, node="node-1")

    assert is_refused(follow(changed(run, first, moved)))


def test_the_pod_that_is_deleted_must_be_one_that_ranks_first():
    run = recorded("c2-1")
    homes = {a.object: a.node for a in run.actions if a.verb == "bind"}
    alone = next(pod for pod, node in homes.items() if list(homes.values()).count(node) == 1)
    first = find(run, "replicaset", "delete")

    wrong = run.actions[first]._replace(object=alone, node=homes[alone])

    assert is_refused(follow(changed(run, first, wrong)))


def test_a_pod_too_many_is_refused():
    run = recorded("c6-1")
    create = find(run, "replicaset", "create", 2)
    extra = run.actions[create]._replace(object="Pod/shop/web-extra")

    followed = follow(replace(run, actions=(*run.actions[: create + 1], extra, *run.actions[create + 1 :])))

    assert is_refused(followed)


def test_a_change_of_load_that_the_scenario_does_not_have_is_refused():
    run = recorded("c3-1")
    change = find(run, "event", "cpu")

    assert is_refused(follow(changed(run, change, run.actions[change]._replace(amount=60))))


def test_maintenance_while_the_other_node_is_away_is_refused():
    run = recorded("c6-1")
    back = find(run, "drain", "uncordon")

    followed = follow(replace(run, actions=(*run.actions[:back], *run.actions[back + 1 :])))

    assert is_refused(followed)
    assert followed.stuck_at is not None
    assert followed.stuck_at.word.verb == "cordon"
