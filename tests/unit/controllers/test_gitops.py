"""The GitOps reconciler: what it writes back, what it leaves alone, and when."""

from dataclasses import replace

from kubeproof.cluster.loops.actions import CreateObject, Remember, SetDesired, SetTemplate
from kubeproof.cluster.loops.control import Decision, Reads, Role, Seen
from kubeproof.cluster.state import NEVER, WorkloadCell
from kubeproof.controllers.gitops import GitOpsController, find_reconciled
from kubeproof.events.declarations import Apply, Create, Scale
from kubeproof.model.plan import make_plan
from tests.unit.model.builders import WEB, layout, node, setup, workload

INTERVAL_S = 60
AGAIN = Remember(3, (INTERVAL_S, INTERVAL_S))


def _controller(commits=(), **fields):
    declared = replace(workload(2), **fields)
    return GitOpsController(layout(setup([node("n1")], declared)), 0, 3, INTERVAL_S, commits)


def _seen(controller, cell, memory=(0, 0), *others):
    return Seen((controller.show_workload(0, cell),), (), (memory, *others))


def test_it_reads_its_workload_and_no_pods():
    assert _controller().name == f"gitops {WEB}"
    assert _controller().reads == Reads((0,), (), (3,))


def test_replicas_that_the_manifest_states_are_written_back():
    controller = _controller()
    seen = _seen(controller, WorkloadCell(desired=5, replicas=5))

    assert controller.act(seen) == (Decision((SetDesired(0, 2), AGAIN)),)
    assert controller.why(seen) == ("the object says replicas: 5, the manifest 2",)


def test_replicas_that_the_manifest_omits_are_left_alone():
    controller = _controller(replicas_given=False)

    assert controller.act(_seen(controller, WorkloadCell(desired=5, replicas=5))) == ()


def test_replicas_that_may_differ_are_written_with_the_rest_at_most():
    drifted = WorkloadCell(desired=5, replicas=5)
    for keeps, written in ((True, (SetTemplate(0, 0),)), (False, (SetDesired(0, 2), SetTemplate(0, 0)))):
        whole = setup([node("n1")], workload(2), gitops_ignored=((WEB, keeps),))
        controller = GitOpsController(layout(whole), 0, 3, INTERVAL_S)

        assert controller.act(_seen(controller, drifted)) == ()
        assert controller.act(_seen(controller, drifted._replace(template=1))) == (Decision((*written, AGAIN)),)


def test_drift_is_undone_in_the_namespaces_that_are_named():
    whole = setup([node("n1")], workload(2), workload(2, namespace="lab"), gitops_interval_s=60)

    assert find_reconciled(whole, frozenset()) == (0, 1)
    named = replace(whole, settings=replace(whole.settings, gitops_namespaces=("lab",)))
    assert find_reconciled(named, frozenset()) == (1,)


def test_the_pod_template_is_written_back_together_with_the_replicas():
    controller = _controller()
    seen = _seen(controller, WorkloadCell(desired=5, replicas=5, template=1))

    assert controller.act(seen) == (Decision((SetDesired(0, 2), SetTemplate(0, 0), AGAIN)),)


def test_a_daemonset_has_no_replicas_to_write_back():
    controller = _controller(kind="DaemonSet")

    assert controller.act(_seen(controller, WorkloadCell(desired=7))) == ()
    assert controller.act(_seen(controller, WorkloadCell(desired=7, template=2))) == (
        Decision((SetTemplate(0, 0), AGAIN)),
    )


def test_a_deleted_object_is_created_again():
    controller = _controller()
    seen = _seen(controller, WorkloadCell(exists=0, replicas=0))

    assert controller.act(seen) == (Decision((CreateObject(0), AGAIN)),)
    assert controller.why(seen) == ("the manifest is in Git, the object is gone",)


def test_an_object_that_an_event_brings_is_not_in_git_before():
    controller = _controller(commits=((1, (1,)),))
    absent = WorkloadCell(exists=0)

    assert controller.act(_seen(controller, absent, (0, 0), (1,))) == ()
    assert controller.act(_seen(controller, absent, (0, 0), (0,))) == (Decision((CreateObject(0), AGAIN)),)


def test_within_an_open_phase_it_may_come_at_any_time_and_must_at_the_end():
    controller = _controller()
    drifted = WorkloadCell(desired=5, replicas=5)

    assert controller.act(_seen(controller, drifted, (0, 60)))[0].role == Role.OPTIONAL
    assert controller.due(_seen(controller, drifted, (0, 60))) == 60
    assert controller.later(_seen(controller, drifted, (0, 60)), 20) == (0, 40)
    assert controller.act(_seen(controller, drifted, (20, 20))) == ()
    assert controller.due(_seen(controller, drifted, (20, 20))) == 20
    assert controller.later(_seen(controller, drifted, (20, 20)), 20) == (0, 0)


def test_without_drift_its_clock_holds_nothing_up_and_passes_intervals():
    controller = _controller()
    as_declared = WorkloadCell(desired=2, replicas=2)

    assert controller.due(_seen(controller, as_declared, (20, 20))) == NEVER
    assert controller.later(_seen(controller, as_declared, (20, 20)), 10) == (10, 10)
    assert controller.later(_seen(controller, as_declared, (20, 20)), 50) == (30, 30)
    assert controller.later(_seen(controller, as_declared, (20, 20)), 140) == (60, 60)
    assert controller.later(_seen(controller, as_declared, (20, 20)), None) == (0, 60)


def test_only_workloads_of_the_input_are_reconciled_and_bare_pods_are_not():
    pod = replace(workload(1, kind="Pod", name="tool"), replicas_given=False)
    whole = setup([node("n1")], workload(2), pod, gitops_interval_s=INTERVAL_S)

    assert find_reconciled(whole, frozenset()) == (0,)
    assert find_reconciled(whole, frozenset({0})) == ()
    assert find_reconciled(setup([node("n1")]), frozenset()) == ()


def test_a_plan_has_one_reconciler_per_workload_with_memories_of_their_own():
    other = workload(1, name="api")
    brought = workload(1, name="late")
    whole = setup([node("n1")], workload(2), other, gitops_interval_s=INTERVAL_S)
    events = (
        Scale(name="scale", target=WEB, replicas=(3,)),
        Create(name="create", target=other.ref),
        Apply(name="apply", workload=brought),
    )

    plan = make_plan(whole, events)

    found = [loop for loop in plan.controllers if isinstance(loop, GitOpsController)]
    assert [(loop.workload, loop.memory, loop.commits) for loop in found] == [(0, 3, ()), (1, 4, ((1, (1,)),))]
    assert plan.memories[3:] == ((0, 60), (0, 60))
