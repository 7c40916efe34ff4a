"""The replayer believes nothing: a doctored trace is refused."""

import pytest

from kubeproof.controllers.own import Adapted, scale
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.plan import OwnLoop, make_plan
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.replayer import ReplayMismatch, replay
from tests.unit.verify.inputs import FAILING, LOOP, PENDING, loaded, model_of, node, only, scenario, verified, web


def _recorded(documents):
    result = only(verified(*documents))
    assert result.verdict == Verdict.VIOLATED
    return [(step.actor, step.code) for step in result.trace.steps], result.trace.loop_start


def _replay(documents, recorded, loop_start=None, number=0):
    model = model_of(*documents)
    (start,) = model.initial()
    return replay(model, start, recorded, loop_start=loop_start, monitor_number=number)


def test_a_true_trace_is_followed_to_its_end():
    recorded, loop_start = _recorded(PENDING)

    replayed = _replay(PENDING, recorded)

    assert loop_start is None
    assert [actor for actor, _ in recorded] == [step.controller for step in replayed.steps]
    assert len(replayed.states) == len(recorded) + 1
    assert replayed.states[-1].unbound == (("web-3",),)


def test_a_changed_step_is_refused():
    recorded, _ = _recorded(PENDING)
    recorded[2] = (recorded[2][0], (("bind", "web-9", "n1"),))

    with pytest.raises(ReplayMismatch, match="step 3 of the trace is not possible"):
        _replay(PENDING, recorded)


def test_a_step_by_somebody_else_is_refused():
    recorded, _ = _recorded(PENDING)
    recorded[2] = ("kubelet", recorded[2][1])

    with pytest.raises(ReplayMismatch, match="kubelet cannot do"):
        _replay(PENDING, recorded)


def test_time_does_not_pass_before_urgent_work_is_done():
    recorded, _ = _recorded(PENDING)
    tick = next(step for step in recorded if step[0] == "time")

    with pytest.raises(ReplayMismatch, match=r"step 3 .*time cannot do"):
        _replay(PENDING, [*recorded[:2], tick, *recorded[2:]])


def test_a_dropped_step_is_refused():
    recorded, _ = _recorded(PENDING)

    with pytest.raises(ReplayMismatch, match="step 2 of the trace is not possible"):
        _replay(PENDING, [recorded[0], *recorded[2:]])


def test_a_trace_that_ends_too_early_is_refused():
    recorded, _ = _recorded(PENDING)

    with pytest.raises(ReplayMismatch, match="its last state is not stable"):
        _replay(PENDING, recorded[:-1])
    with pytest.raises(ReplayMismatch, match="its last state is not bad"):
        _replay(PENDING, recorded[:1])


def test_a_loop_is_followed_and_closes():
    recorded, loop_start = _recorded(LOOP)

    replayed = _replay(LOOP, recorded, loop_start)

    assert loop_start is not None
    assert replayed.states[loop_start] == replayed.states[-1]


def test_a_loop_that_does_not_close_is_refused():
    recorded, loop_start = _recorded(LOOP)

    with pytest.raises(ReplayMismatch, match="does not return to where it began"):
        _replay(LOOP, recorded[:-1], loop_start)
    with pytest.raises(ReplayMismatch, match="does not return to where it began"):
        _replay(LOOP, recorded, len(recorded))
    with pytest.raises(ReplayMismatch, match="does not return to where it began"):
        _replay(LOOP, recorded, -1)


def test_a_property_of_loops_needs_a_loop():
    recorded, _ = _recorded(LOOP)

    with pytest.raises(ReplayMismatch, match="it has no loop"):
        _replay(LOOP, recorded)


def test_a_loop_proves_nothing_about_single_states():
    documents = (*LOOP[:2], scenario("{maxReplicas: {target: Deployment/shop/web, count: 2}}"))
    recorded, loop_start = _recorded(LOOP)

    with pytest.raises(ReplayMismatch, match="no loop breaks such a property"):
        _replay(documents, recorded, loop_start)


def test_a_loop_that_changes_nothing_that_counts_is_refused():
    documents = (*LOOP[:2], scenario("{noOscillation: {target: Deployment/shop/web, of: replicas}}"))
    recorded, loop_start = _recorded(LOOP)

    with pytest.raises(ReplayMismatch, match="changes nothing that counts"):
        _replay(documents, recorded, loop_start)


@pytest.mark.parametrize(
    ("intent", "problem"),
    [
        ("{minReady: {target: Deployment/shop/web, count: 2, when: eventuallyAlways}}", "has no bad state"),
        ("{minReady: {target: Deployment/shop/web, count: 2, when: eventually}}", "is not bad throughout"),
        ("{noPendingForever: {target: Deployment/shop/web}}", "is not bad throughout"),
    ],
)
def test_a_loop_must_break_the_very_property(intent, problem):
    recorded, loop_start = _recorded(LOOP)

    with pytest.raises(ReplayMismatch, match=problem):
        _replay((*LOOP[:2], scenario(intent)), recorded, loop_start)


def _flipping(*intents):
    """A controller of one's own that undoes its own write at once, while the Deployment controller has work."""

    class Flip:
        name = "flip"

        def act(self, cluster):
            (one,) = cluster.workloads
            yield scale(one.ref, 3 - one.desired)

    given = loaded(node("n1"), web(1), scenario(*intents))
    loop = OwnLoop(lambda layout: Adapted(layout, Flip()))
    model = RepresentativeModel(make_plan(given.setup, (), given.scenario.intents, own=(loop,)))
    return model, [("flip", (("set-desired", "Deployment/shop/web", n),)) for n in (2, 1)]


def test_a_loop_that_starves_a_controller_is_refused():
    model, steps = _flipping("{settles: {}}")

    with pytest.raises(ReplayMismatch, match="its loop starves deployment"):
        replay(model, model.initial()[0], steps, loop_start=0, monitor_number=0)


def test_a_loop_with_an_event_in_it_is_refused():
    """Budgets fall, so such a loop cannot close; an event that recovers has none of its own."""
    model = model_of(node("n1"), web(1), scenario("{settles: {}}", events="{nodeFailure: {max: 2}}"))
    steps = [
        ("event nodeFailure-1", (("fail", "n1"), ("remember", 0, (1,)))),
        ("event nodeFailure-1", (("recover", "n1"),)),
    ]

    with pytest.raises(ReplayMismatch, match="does not return to where it began"):
        replay(model, model.initial()[0], steps, loop_start=0, monitor_number=0)


def test_deployed_runs_are_judged_from_the_deployed_state():
    result = only(verified(*FAILING))

    assert result.trace.deployed_steps == 5
    assert [step.actor for step in result.trace.steps[5:]] == ["event nodeFailure-1", "time", "node-controller"]
