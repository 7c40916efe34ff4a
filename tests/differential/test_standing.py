"""Inputs without the workloads that stand still against the whole inputs: the same runs, state by state.

Random running clusters with something that happens to a node. Each intent of a workload that is touched is searched in
every order, with everybody and with those alone that may move: the verdicts and the numbers of states are the same.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from kubeproof.events.declarations import Drain, NodeChoice, NodeFailure, NodeRemoval
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import lasting_intent
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.standing import set_aside
from kubeproof.verify.run import verify_intents
from tests.unit.verify.what_if.clusters import budget, deployment, load, node

EVERY_ORDER = VerifyOptions(reductions=False, max_states=1_500)
NODES = NodeChoice(names=("a",))
EVENTS = (
    Drain(name="drain", nodes=NODES, uncordon=True),
    NodeRemoval(name="removal", nodes=NODES),
    NodeFailure(name="nodeLoss", nodes=NODES, recovers=False),
)


def random_cluster(rng: random.Random) -> Loaded:
    """Three nodes, a workload on the first, and some that may be anywhere else."""
    parts = [node(name, cpu=rng.choice(("2", "3"))) for name in "abc"]
    spots = [{"a": 1}, {"a": 1, "b": 1}]
    parts += deployment(
        "web",
        rng.choice(spots),
        cpu=rng.choice(("500m", "1")),
        **rng.choice(({}, {"priorityClassName": "system-cluster-critical"})),
    )
    if rng.random() < 0.4:
        parts.append(budget("web", maxUnavailable=rng.choice((0, 1))))
    for name in ("db", "mail"):
        pods = {place: rng.randint(0, 1) for place in rng.choice(("bc", "abc", "bc"))}
        if any(pods.values()):
            parts += deployment(name, pods, cpu=rng.choice(("500m", "1", "0")))
    return load(*parts)


def search(loaded: Loaded) -> tuple[str, int]:
    (found,) = verify_intents(loaded, EVERY_ORDER).results
    return found.verdict, found.states


@pytest.mark.parametrize("chunk", range(3))
def test_the_runs_of_those_that_may_move_are_the_runs_of_the_whole(chunk):
    rng = random.Random(20_000 + chunk)
    left_out = 0
    for _ in range(9):
        loaded = random_cluster(rng)
        web = next(one for one in loaded.setup.workloads if one.name == "web")
        scenario = replace(loaded.scenario, events=(rng.choice(EVENTS),), intents=(lasting_intent(web),))
        whole = replace(loaded, scenario=scenario)
        standing = set_aside(whole)
        left_out += len(standing.left_out)
        assert search(standing.loaded) == search(whole)

    assert left_out >= 3
