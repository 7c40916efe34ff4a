"""What each action does to a cell."""

import pytest

from kubeproof.cluster.labels import Toleration
from kubeproof.cluster.loops.actions import (
    ANY,
    Advance,
    Arrive,
    Bind,
    CreateObject,
    CreatePods,
    Delete,
    DeleteUnbound,
    EvictDue,
    NodeChange,
    NodeRef,
    SetDesired,
    SetReplicas,
    Tick,
)
from kubeproof.cluster.loops.node_verbs import (
    CORDON,
    FAIL,
    NOTICE,
    RECOVER,
    TAINT,
    TAINT_SLOWLY,
    TAINT_VERY_SLOWLY,
    UNCORDON,
    UNTAINT,
    WELCOME,
)
from kubeproof.cluster.objects import Readiness
from kubeproof.cluster.state import NEVER, Cause, Health, Phase, Work, WorkloadCell, add_pods, replace_node
from kubeproof.model.by_name.ticks import all_ticked, next_due, tick
from kubeproof.model.mechanics import Mechanics
from tests.unit.model.builders import (
    READY,
    STARTING,
    TERMINATING,
    UNREADY,
    cell,
    kind,
    node,
    setup,
    taint,
    workload,
)

REF = NodeRef(0, ANY)
HOST = node("n1")
ENDING_DEAD = kind(Phase.TERMINATING)
NO_AGES = ((),)


def _mechanics(*workloads, **settings):
    return Mechanics(setup([HOST], *(workloads or (workload(3),)), **settings))


def _on_node(content, action, *workloads, host=HOST, **settings):
    return _mechanics(*workloads, **settings).on_node(host, content, action)


def _one(content, action, *workloads, **more):
    (result,) = _on_node(content, action, *workloads, **more)
    return result


# -- workloads --------------------------------------------------------------------------------------


def test_the_desired_size_of_a_deployment_leaves_its_replicaset_alone():
    before = WorkloadCell(desired=3, replicas=3, unbound=1)

    assert _mechanics().on_workload(before, SetDesired(0, 5)) == (WorkloadCell(1, 5, 3, 1),)
    assert _mechanics(workload(kind="ReplicaSet")).on_workload(before, SetDesired(0, 5)) == (WorkloadCell(1, 5, 5, 1),)


def test_writes_on_the_workload_cell():
    before, mechanics = WorkloadCell(desired=3, replicas=2, unbound=2), _mechanics()

    assert mechanics.on_workload(before, SetReplicas(0, 3)) == (WorkloadCell(1, 3, 3, 2),)
    assert mechanics.on_workload(before, CreatePods(0, 4)) == (WorkloadCell(1, 3, 2, 6),)
    assert mechanics.on_workload(before, DeleteUnbound(0, 2)) == (WorkloadCell(1, 3, 2, 0),)
    with pytest.raises(TypeError):
        mechanics.on_workload(before, Tick(1))


@pytest.mark.parametrize(
    ("declared", "created"),
    [
        pytest.param(workload(3), WorkloadCell(1, 3, NEVER, 0), id="Deployment"),
        pytest.param(workload(3, kind="ReplicaSet"), WorkloadCell(1, 3, 3, 0), id="ReplicaSet"),
        pytest.param(workload(kind="Pod"), WorkloadCell(1, 1, NEVER, 1), id="Pod"),
        pytest.param(workload(kind="Pod", bound_to="n1"), WorkloadCell(1, 1, NEVER, 0), id="running Pod"),
    ],
)
def test_how_an_object_begins(declared, created):
    assert _mechanics(declared).on_workload(WorkloadCell(exists=0), CreateObject(0)) == (created,)


# -- arriving and moving on -------------------------------------------------------------------------


def test_a_bound_pod_starts_within_the_start_up_range():
    assert _one(cell(), Bind(REF, 0)) == cell((STARTING, 1))
    assert _one(cell(), Bind(REF, 0), startup_s=(2, 2)) == cell((kind(Phase.STARTING, 2, 2), 1))
    assert _one(cell((STARTING, 1)), Arrive(REF, 0, 3)) == cell((STARTING, 4))


@pytest.mark.parametrize("health", [Health.LOST, Health.UNKNOWN])
def test_a_pod_that_arrives_on_a_dead_node_does_not_start(health):
    assert _one(cell(health=health), Bind(REF, 0)).pods == ((kind(Phase.STARTING), 1),)


def test_a_pod_that_arrives_on_a_tainted_node_is_evicted_after_its_toleration_at_least_a_second():
    tolerant = workload(tolerations=(Toleration("broken", "Exists", "", "NoExecute", 60),))
    host = node("n1", taints=(taint(),))

    assert _one(cell(), Arrive(REF, 0, 1), host=host).pods == ((kind(Phase.STARTING, 1, 5, 1), 1),)
    assert _one(cell(), Arrive(REF, 0, 1), tolerant, host=host).pods == ((kind(Phase.STARTING, 1, 5, 60), 1),)


def _advance(pod_kind, rejected=0):
    return Advance(REF, pod_kind.workload, pod_kind.phase, pod_kind.least_s, pod_kind.most_s, rejected)


DUE = kind(Phase.STARTING, 0, 4)


def test_without_a_probe_a_started_pod_is_ready():
    assert _one(cell((DUE, 2), (READY, 1)), _advance(DUE)) == cell((READY, 3))


def test_with_a_probe_it_runs_first_for_the_delay_and_the_successes_asked_for():
    probed = workload(readiness=Readiness(initial_delay_s=5, period_s=10, success_threshold=3))
    running = kind(Phase.RUNNING, 25, 35)

    assert _one(cell((DUE, 1)), _advance(DUE), probed) == cell((running, 1))
    due = kind(Phase.RUNNING, 0, 10)
    assert _one(cell((due, 1)), _advance(due), probed) == cell((READY, 1))


def test_other_kinds_stay_and_eviction_clocks_are_kept():
    watched = DUE._replace(evict_s=200)
    later = kind(Phase.STARTING, 0, 0)

    assert _one(cell((DUE, 1), (watched, 1), (later, 1)), _advance(DUE)) == cell(
        (READY, 1), (kind(Phase.READY, evict_s=200), 1), (later, 1)
    )


def test_rejected_pods_are_gone():
    assert _one(cell((DUE, 3)), _advance(DUE, 2)) == cell((READY, 1))
    assert _one(cell((DUE, 1), (DUE._replace(evict_s=9), 2)), _advance(DUE, 3)) == cell()


def test_an_ended_pod_is_gone():
    assert _one(cell((TERMINATING, 2), (READY, 1)), _advance(TERMINATING)) == cell((READY, 1))


# -- deleting ---------------------------------------------------------------------------------------


def _delete(*losses):
    return Delete(REF, 0, tuple((tuple(int(p) for p in phases), count) for phases, count in losses))


def test_a_deleted_pod_terminates_within_its_grace_period():
    assert _one(cell((READY, 2)), _delete(((Phase.READY,), 1))) == cell((READY, 1), (TERMINATING, 1))
    assert _one(cell((READY, 1)), _delete(((Phase.READY,), 1)), workload(grace_s=7)) == cell(
        (kind(Phase.TERMINATING, 0, 7), 1)
    )


def test_a_pod_that_never_started_or_has_no_grace_vanishes():
    assert _one(cell((STARTING, 2)), _delete(((Phase.STARTING,), 2))) == cell()
    assert _one(cell((READY, 1)), _delete(((Phase.READY,), 1)), workload(grace_s=0)) == cell()


def test_on_a_dead_node_a_deleted_pod_stays_until_the_kubelet_is_back():
    dead = {"health": Health.UNKNOWN}

    assert _one(cell((UNREADY, 1), **dead), _delete(((Phase.UNREADY,), 1))) == cell((ENDING_DEAD, 1), **dead)
    assert _one(cell((kind(Phase.STARTING), 1), **dead), _delete(((Phase.STARTING,), 1))) == cell(
        (ENDING_DEAD, 1), **dead
    )


def test_kinds_that_the_deleter_cannot_tell_apart_are_taken_in_every_way():
    early, late = kind(Phase.RUNNING, 0, 9), kind(Phase.RUNNING, 3, 12)
    outcomes = _on_node(cell((early, 1), (late, 2)), _delete(((Phase.RUNNING, Phase.UNREADY), 2)))

    assert set(outcomes) == {cell((late, 1), (TERMINATING, 2)), cell((early, 1), (TERMINATING, 2))}
    assert len(outcomes) == 2


def test_several_losses_are_taken_one_after_the_other():
    content = cell((READY, 2), (STARTING, 1))

    assert _one(content, _delete(((Phase.STARTING,), 1), ((Phase.READY,), 1))) == cell((READY, 1), (TERMINATING, 1))
    assert _on_node(content, _delete(((Phase.UNREADY,), 1))) == ()


def test_eviction_takes_all_that_are_due_of_the_workload():
    due, other = kind(Phase.READY, evict_s=0), kind(Phase.READY, evict_s=0, of=1)
    content = cell((due, 2), (kind(Phase.STARTING, 0, 3, 0), 1), (kind(Phase.READY, evict_s=5), 1), (other, 1))

    assert _one(content, EvictDue(REF, 0), workload(), workload(name="api")) == cell(
        (TERMINATING, 2), (kind(Phase.READY, evict_s=5), 1), (other, 1)
    )


def test_an_unknown_action_is_refused():
    with pytest.raises(TypeError):
        _on_node(cell(), SetReplicas(0, 1))


# -- conditions of the node -------------------------------------------------------------------------


def _after(content, verb, *workloads, **more):
    return _one(content, NodeChange(REF, verb), *workloads, **more)


def test_cordon_and_uncordon():
    assert _after(cell((READY, 1)), CORDON) == cell((READY, 1), cordoned=1)
    assert _after(cell(cordoned=1), UNCORDON) == cell()


@pytest.mark.parametrize(("version", "least"), [((1, 31), 40), ((1, 32), 50)])
def test_a_failed_node_is_noticed_between_the_grace_period_and_five_seconds_later(version, least):
    failed = _after(cell((READY, 1), (STARTING, 1), (TERMINATING, 1)), FAIL, kubernetes_version=version)

    assert failed == cell(
        (READY, 1),
        (kind(Phase.STARTING), 1),
        (ENDING_DEAD, 1),
        health=Health.LOST,
        least_s=least,
        most_s=least + 5,
        cause=Cause.FAILURE,
    )


def test_a_node_that_fails_again_before_it_is_welcomed_is_known_to_be_gone():
    failed = _after(cell((UNREADY, 1), health=Health.BACK), FAIL)

    assert failed == cell((UNREADY, 1), health=Health.UNKNOWN, cause=Cause.FAILURE)


def test_an_unnoticed_node_recovers_as_if_nothing_was():
    lost = cell((READY, 1), (kind(Phase.STARTING), 1), (ENDING_DEAD, 1), health=Health.LOST, least_s=3, most_s=8)

    assert _after(lost, RECOVER) == cell((READY, 1), (STARTING, 1), (TERMINATING, 1))


def test_a_noticed_node_waits_to_be_welcomed():
    watched = kind(Phase.UNREADY, evict_s=100)
    gone = cell((watched, 1), health=Health.UNKNOWN, no_execute=1)

    assert _after(gone, RECOVER) == cell((watched, 1), health=Health.BACK, no_execute=1)
    assert _after(cell((watched, 1), health=Health.BACK, no_execute=1), WELCOME) == cell((READY, 1))


def test_noticing_makes_ready_pods_not_ready_and_stops_the_clock():
    lost = cell((READY, 2), (kind(Phase.RUNNING), 1), health=Health.LOST, least_s=0, most_s=0)

    assert _after(lost, NOTICE) == cell((UNREADY, 2), (kind(Phase.RUNNING), 1), health=Health.UNKNOWN)


def test_the_no_execute_taint_starts_the_eviction_clocks_of_those_that_have_none():
    content = cell(
        (UNREADY, 1), (kind(Phase.UNREADY, evict_s=7), 1), (ENDING_DEAD, 1), (kind(Phase.UNREADY, of=1), 1),
        health=Health.UNKNOWN,
    )  # fmt: skip
    hasty = workload(name="hasty", tolerations=())

    assert _after(content, TAINT, workload(), hasty) == cell(
        (kind(Phase.UNREADY, evict_s=300), 1),
        (kind(Phase.UNREADY, evict_s=7), 1),
        (ENDING_DEAD, 1),
        (kind(Phase.UNREADY, evict_s=0, of=1), 1),
        health=Health.UNKNOWN,
        no_execute=1,
    )


@pytest.mark.parametrize(("verb", "seconds"), [(TAINT_SLOWLY, 10), (TAINT_VERY_SLOWLY, 100)])
def test_the_next_taint_of_a_zone_waits_for_a_clock_of_the_last_one_that_ends_by_itself(verb, seconds):
    after = _after(cell(health=Health.UNKNOWN), verb)

    assert after == cell(health=Health.UNKNOWN, no_execute=1, least_s=seconds, most_s=seconds)
    assert tick(after, seconds - 1, ()) == after._replace(least_s=1, most_s=1)
    assert tick(after, seconds, ()) == cell(health=Health.UNKNOWN, no_execute=1)


def test_a_node_that_is_being_deleted_keeps_its_own_clock():
    leaving = cell(health=Health.UNKNOWN, work=Work.LEAVE, least_s=50, most_s=50)

    assert _after(leaving, TAINT_SLOWLY) == leaving._replace(no_execute=1)


def test_the_no_execute_taint_ends_a_running_clock_at_once_if_it_is_not_tolerated():
    content = cell((kind(Phase.UNREADY, evict_s=7), 1), health=Health.UNKNOWN)

    assert _after(content, TAINT, workload(tolerations=())) == cell(
        (kind(Phase.UNREADY, evict_s=0), 1), health=Health.UNKNOWN, no_execute=1
    )


def test_without_the_taint_the_clocks_stop_unless_the_nodes_own_taints_keep_them():
    watched = cell((kind(Phase.UNREADY, evict_s=7), 1), health=Health.UNKNOWN, no_execute=1)

    assert _after(watched, UNTAINT) == cell((UNREADY, 1), health=Health.UNKNOWN)
    assert _after(watched, UNTAINT, host=node("n1", taints=(taint(),))) == watched._replace(no_execute=0)


# -- time and multisets -----------------------------------------------------------------------------


def test_the_next_clock_is_the_least_that_still_runs():
    assert next_due(cell(), NO_AGES) == NEVER
    assert next_due(cell((READY, 1), (kind(Phase.STARTING, 0, 4, 300), 1)), NO_AGES) == 4
    assert next_due(cell((STARTING, 1), health=Health.LOST, least_s=50, most_s=55), NO_AGES) == 1
    assert next_due(cell((kind(Phase.READY, evict_s=0), 1)), NO_AGES) == NEVER


def test_ages_that_matter_are_clocks_too_and_count_up_to_the_last_of_them():
    ages = ((60, 300),)
    young, grown = READY._replace(age_s=10), READY._replace(age_s=300)

    assert next_due(cell((young, 1)), ages) == 50
    assert next_due(cell((young, 1), (kind(Phase.STARTING, 0, 4), 1)), ages) == 4
    assert next_due(cell((grown, 1)), ages) == NEVER
    assert tick(cell((young, 1)), 50, ages) == cell((READY._replace(age_s=60), 1))
    assert tick(cell((young, 1), (grown, 1)), 290, ages) == cell((grown, 2))
    assert tick(cell((young, 1)), 291, ages) == cell((grown, 1))
    assert tick(cell((READY, 1)), 50, ages) == cell((READY, 1))


def test_clocks_fall_to_zero_and_stay_there():
    later = tick(cell((STARTING, 1), (READY, 1), health=Health.LOST, least_s=2, most_s=7), 3, NO_AGES)

    assert later == cell((kind(Phase.STARTING, 0, 2), 1), (READY, 1), health=Health.LOST, least_s=0, most_s=4)


def test_nodes_may_become_equal_by_time():
    nodes = ((cell((kind(Phase.STARTING, 0, 3), 1)), 1), (cell((kind(Phase.STARTING, 1, 3), 1)), 2))

    assert all_ticked(nodes, 1, NO_AGES) == ((cell((kind(Phase.STARTING, 0, 2), 1)), 3),)


def test_multisets_keep_no_zeros_and_never_go_below():
    assert add_pods(((READY, 1),), READY, -1) == ()
    with pytest.raises(ValueError, match="no 1 pods"):
        add_pods((), READY, -1)
    assert replace_node(((cell(), 2),), cell(), cell(cordoned=1)) == ((cell(), 1), (cell(cordoned=1), 1))
    assert replace_node(((cell(), 1),), cell(), cell(cordoned=1)) == ((cell(cordoned=1), 1),)
