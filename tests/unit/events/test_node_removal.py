"""Nodes that are deleted for good: which may go, when, and what becomes of what runs there."""

from dataclasses import replace

import pytest

from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.control import Decision, Role, Seen
from kubeproof.cluster.loops.node_verbs import REMOVE, RETIRE
from kubeproof.cluster.objects import JobRules
from kubeproof.cluster.state import Health, JobPodEnd, NodeCell, Phase, Work
from kubeproof.events.common import EventSource
from kubeproof.events.declarations import NodeRemoval
from kubeproof.events.nodes.drain import DrainProgress
from kubeproof.events.nodes.removal import NodeRemovalEvent
from kubeproof.model.mechanics import Mechanics
from tests.unit.model.builders import READY, TERMINATING, cell, kind, layout, node, setup, workload

JOB = workload(kind="Job", name="import")
SETUP = setup([node("n1"), node("n2")], workload(), JOB)
LAYOUT = layout(SETUP)
MECHANICS = Mechanics(SETUP)
GONE = NodeCell(health=Health.ABSENT)


def _removal(**fields):
    event = NodeRemoval(name="removal", **fields)
    return NodeRemovalEvent(EventSource(LAYOUT, event, 0), event)


@pytest.mark.parametrize(
    ("condition", "drained", "at_once"),
    [
        ({}, 1, 1),
        ({"cordoned": 1}, 1, 1),
        ({"health": Health.LOST}, None, 1),
        ({"health": Health.UNKNOWN}, None, 1),
        ({"work": Work.DRAIN}, None, 1),
    ],
)
def test_a_node_that_is_drained_first_is_up_and_nobody_works_on_it(condition, drained, at_once):
    assert _removal().show_node(0, cell(**condition)) == drained
    assert _removal(drain_first=False).show_node(0, cell(**condition)) == at_once


@pytest.mark.parametrize(("drain_first", "verb"), [(True, RETIRE), (False, REMOVE)])
def test_any_node_it_may_hit_goes_while_the_budget_lasts(drain_first, verb):
    event = _removal(drain_first=drain_first, max=2)

    assert event.act(Seen((), (((1, 1),), ()), ((2,),))) == (
        Decision((NodeChange(NodeRef(0, 1), verb), Remember(0, (1,))), Role.EVENT),
    )
    assert event.act(Seen((), (((1, 1),), ((1, 1),)), ((0,),))) == ()


def test_a_drained_node_goes_when_only_its_object_is_left():
    progress = DrainProgress(LAYOUT, 0)

    assert progress.show_node(0, cell((READY, 1), work=Work.RETIRE)) is None
    assert progress.show_node(0, cell(work=Work.RETIRE)) == (REMOVE, 1)
    assert progress.show_node(0, cell(work=Work.RETIRE, health=Health.LOST)) is None


def test_what_is_left_on_a_deleted_node_is_gone_with_it():
    before = cell((READY, 2), (TERMINATING, 1), work=Work.RETIRE, cordoned=1, no_execute=1)

    assert MECHANICS.on_node(SETUP.nodes[0], before, NodeChange(NodeRef(0, 1), REMOVE)) == (GONE,)


@pytest.mark.parametrize(("only_failed", "failed"), [(False, 3), (True, 4)])
def test_pods_of_a_job_that_go_with_their_node_have_failed(only_failed, failed):
    job = replace(JOB, job=JobRules(only_failed=only_failed))
    mechanics = Mechanics(setup([node("n1")], workload(), job))
    pods = (
        (kind(Phase.READY, of=1), 2),
        (kind(Phase.STARTING, 1, 5, of=1), 1),
        (kind(Phase.TERMINATING, 0, 30, of=1), 1),
    )

    (after,) = mechanics.on_node(SETUP.nodes[0], cell(*sorted(pods)), NodeChange(NodeRef(0, 1), REMOVE))

    assert after == GONE._replace(finished=(((1, JobPodEnd.FAILED), failed),))
