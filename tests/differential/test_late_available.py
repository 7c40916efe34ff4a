"""Rollouts whose pods are available later than ready, step by step, against those in which they are so at once."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.rollout.revisions import Revision, resolve
from kubeproof.controllers.rollout.sync import sync


class Pods(NamedTuple):
    """Both ReplicaSets of a Deployment: what they want, and their pods."""

    old_wanted: int
    old: int  # all are available
    new_wanted: int  # -1: there is no such ReplicaSet yet
    starting: int
    ready: int  # and not available
    available: int


def step(pods: Pods, replicas: int, strategy: Strategy, *, waits: bool) -> set[Pods]:
    """What may happen next: to sizes, to old pods, to new ones."""
    surge, _ = resolve(strategy, replicas)
    noted = (replicas, replicas + surge)
    new = pods.starting + pods.ready + pods.available
    revisions = [Revision(pods.old_wanted, pods.old, pods.old, *noted)]
    if pods.new_wanted >= 0:
        revisions.append(Revision(pods.new_wanted, pods.available, new, *noted))
    written = sync(replicas, strategy, False, tuple(revisions), 1 if pods.new_wanted >= 0 else None, pods.old > 0)
    sizes = (*written.sizes, *(() if written.created is None else (written.created,)))
    after = {pods._replace(old_wanted=sizes[0], new_wanted=sizes[1] if len(sizes) > 1 else -1)}
    after.add(pods._replace(old=min(pods.old, pods.old_wanted)))
    after.add(pods._replace(starting=pods.starting + max(0, pods.new_wanted - new)))
    if pods.starting:
        moved = {"ready": pods.ready + 1} if waits else {"available": pods.available + 1}
        after.add(pods._replace(starting=pods.starting - 1, **moved))
    if pods.ready:
        after.add(pods._replace(ready=pods.ready - 1, available=pods.available + 1))
    return after - {pods}


def explore(replicas: int, strategy: Strategy, *, waits: bool) -> tuple[int, set[Pods]]:
    """The fewest ready pods of any run, and the states in which runs end."""
    todo = [Pods(replicas, replicas, -1, 0, 0, 0)]
    known, ends = set(todo), set()
    while todo:
        pods = todo.pop()
        after = step(pods, replicas, strategy, waits=waits)
        ends |= set() if after else {pods}
        todo += after - known
        known |= after
    return min(pods.old + pods.ready + pods.available for pods in known), ends


@pytest.mark.parametrize("replicas", [1, 2, 3, 5])
@pytest.mark.parametrize("surge", [0, 1, 2])
@pytest.mark.parametrize("unavailable", [0, 1, 2])
def test_pods_that_are_available_later_leave_no_fewer_ready_and_end_alike(
    replicas: int, surge: int, unavailable: int
) -> None:
    strategy = Strategy(True, surge, False, unavailable, False)

    fewest, ends = explore(replicas, strategy, waits=True)
    at_once, complete = explore(replicas, strategy, waits=False)

    assert fewest >= at_once
    assert fewest == at_once or at_once > 0
    assert ends == complete
    assert len(ends) == 1
