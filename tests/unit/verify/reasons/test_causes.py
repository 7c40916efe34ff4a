"""What a violation needs: fields and events that decide, and the step from which it is lost."""

from __future__ import annotations

from itertools import count

import pytest

from kubeproof.manifests.load import load_texts
from kubeproof.verdicts import Verdict
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.explained import Causes
from kubeproof.verify.matrix.options import MatrixOptions
from kubeproof.verify.matrix.run import run_matrix
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.reasons.causes import with_causes
from kubeproof.verify.run import verify_intents
from tests.unit.verify.inputs import PENDING, loaded, node, scenario, web

T = "Deployment/shop/web"
ENGINE = VerifyOptions(engine="python")
RELEASE = "{rollout: {name: release}}"
ROLLOUT = (
    node("n1", cpu="1"),
    web(1),
    scenario(
        "{rolloutCompletes: {}}", events="{rollout: {name: release}}, {podCrash: {name: crash}}", start="deployed"
    ),
)
DRAIN = (
    node("n1"),
    node("n2"),
    web(2),
    scenario(f"{{minReady: {{target: {T}, count: 1}}}}", events="{drain: {name: upgrade, max: 2}}", start="deployed"),
)
LATE = (node("n1"), web(1), scenario("{noPendingForever: {}}", events=f"{{scale: {{target: {T}, replicas: [3]}}}}"))


def causes_of(*documents: str, budget_s: float = 1e9, ticks: bool = False) -> Causes:
    """Of the first violation; with `ticks` every look at the clock takes a second."""
    given = loaded(*documents)
    seconds = count()
    clock = (lambda: float(next(seconds))) if ticks else (lambda: 0.0)
    found = with_causes(given, verify_intents(given, ENGINE), ENGINE, budget_s=budget_s, clock=clock)
    one = next(one for one in found.results if one.verdict == Verdict.VIOLATED)
    assert one.causes is not None
    return one.causes


def test_the_fields_that_decide_are_named_with_their_lines():
    causes = causes_of(*PENDING)
    found = {one.field: one for one in causes.needed if one.decides}

    replicas = found["spec.replicas"]
    assert (replicas.object, replicas.value, replicas.instead) == (T, "3", "spec.replicas 3 -> 2")
    lines = "---\n".join(PENDING).split("\n")
    assert lines[replicas.place.line - 1].strip() == "replicas: 3"
    assert "spec.template.spec.containers[0].resources.requests.cpu" in found
    assert causes.is_complete


def test_an_event_decides_only_if_the_intent_needs_it():
    found = {one.object: one.decides for one in causes_of(*ROLLOUT).needed if not one.field}

    assert found == {"event release": True}  # nobody crashes in a shortest run


@pytest.mark.parametrize(
    ("documents", "steps"),
    [
        (PENDING, 0),  # whatever happens, one pod of three finds no room
        (
            LATE := (
                node("n1"),
                web(1),
                scenario("{noPendingForever: {}}", events=f"{{scale: {{target: {T}, replicas: [3]}}}}"),
            ),
            None,
        ),
    ],
)
def test_it_is_lost_from_where_every_run_fails(documents, steps):
    found = causes_of(*documents)

    assert found.lost_after is not None
    assert found.is_exact
    if steps is not None:
        assert found.lost_after == steps
    else:
        given = loaded(*documents)
        trace = next(one.trace for one in verify_intents(given, ENGINE).results if one.trace)
        before = [step.actor.kind for step in trace.steps[: found.lost_after]]
        assert "event" in before  # not before somebody asks for more pods


def test_each_that_decides_is_a_repair_of_the_intent_and_is_told_as_such():
    given = loaded(*PENDING)
    found = with_causes(given, verify_intents(given, ENGINE), ENGINE, budget_s=1e9, clock=lambda: 0.0)
    (one,) = found.results

    assert one.remedy.startswith("Each of these alone is proved to mend this intent")
    assert "spec.replicas 3 -> 2" in one.remedy
    mended = load_texts([("in.yaml", "---\n".join(PENDING).replace("replicas: 3", "replicas: 2"))])
    assert verify_intents(mended, ENGINE).verdict == Verdict.HOLDS


def test_without_time_it_is_told_that_not_all_was_tried():
    causes = causes_of(*PENDING, budget_s=4.0, ticks=True)

    assert not causes.is_complete


def test_what_holds_has_no_causes():
    given = loaded(node("n1"), web(1), scenario("{schedulable: {}}"))
    result = verify_intents(given, ENGINE)

    assert with_causes(given, result, ENGINE) == result


LARGE = (node("n1", cpu="1"), web(1, cpu="2").replace('cpu: "2"', 'cpu: "2", memory: 12Gi'))


def test_where_nothing_decides_alone_two_fields_do_together():
    found = causes_of(*LARGE, scenario("{schedulable: {}}"))

    assert not any(one.decides for one in found.needed if one.field)
    assert [one.field.rpartition(".")[2] for one in found.together] == ["cpu", "memory"]
    assert [one.field for one in found.core] == [found.together[1].field]  # the other is spared once it is less


def test_a_core_is_enough_with_all_else_written_otherwise_at_once():
    found = causes_of(*PENDING)
    spared = {(one.object, one.field) for one in found.needed} - {(one.object, one.field) for one in found.core}

    assert found.core
    assert not any(one.decides for one in found.needed if (one.object, one.field) in spared)


def test_cells_of_a_matrix_have_causes_too():
    near = "- {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}"
    apart = f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{near[2:]}]}}}}"
    given = loaded(node("n1"), node("n2"), web(2, more=apart))
    chosen = MatrixOptions(faults=("rollout",), pairs=False, executor=InProcess())
    result = run_matrix(given, ENGINE, chosen)
    (one,) = with_causes(given, result, ENGINE, budget_s=1e9, clock=lambda: 0.0).results

    assert one.causes is not None
    decide = {cause.field for cause in one.causes.needed if cause.decides}
    assert "spec.strategy.rollingUpdate.maxUnavailable" in decide
    assert one.remedy.startswith("Each of these alone is proved to mend this cell")
