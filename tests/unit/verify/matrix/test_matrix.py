"""The survival matrix: grades that follow from manifests, without a Scenario."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.engine.stopped import INTERRUPTED
from kubeproof.errors import NothingToCheckError
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import under_faults
from kubeproof.stop import Stop
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.rerun import rerun
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.matrix import asks_for_matrix
from kubeproof.verify.matrix.options import MatrixOptions
from kubeproof.verify.matrix.result import Cell, Grade, Matrix
from kubeproof.verify.matrix.run import MatrixProgress, run_matrix
from kubeproof.verify.matrix.solve import Evidence
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.proofs.slices import search_part
from kubeproof.verify.proofs.slicing import Slice, cut_by_relations
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.searching import Watch

HERE = InProcess()


def node(name: str, zone: str, cpu: str = "4") -> str:
    return f"""
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: {zone}}}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "110"}}}}
---"""


NODES = node("a", "za") + node("b", "zb") + node("c", "zc")


def workload(kind: str = "Deployment", *, replicas: int = 1, cpu: str = "100m", extra: str = "") -> str:
    return f"""
apiVersion: apps/v1
kind: {kind}
metadata: {{name: web, namespace: shop}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      {extra}
      containers: [{{name: web, image: web, resources: {{requests: {{cpu: {cpu}, memory: 64Mi}}}}}}]
---"""


BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 100%, selector: {matchLabels: {app: web}}}
---"""


def load(*texts: str) -> Loaded:
    return load_texts([("input.yaml", "".join(texts))])


def survey(loaded: Loaded, *faults: str, pairs: bool = False, least: Grade = Grade.DIPS) -> VerifyResult:
    chosen = MatrixOptions(faults=faults, pairs=pairs, executor=HERE, least_grade=least)
    return run_matrix(loaded, VerifyOptions(), chosen)


def matrix_of(result: VerifyResult) -> Matrix:
    assert result.matrix is not None
    return result.matrix


def cell(result: VerifyResult, fault: str, target: str = "Deployment/shop/web") -> Cell:
    found = matrix_of(result).cell(target, fault)
    assert found is not None
    return found


def test_a_single_replica_dips_while_its_pod_moves_and_the_longest_time_is_told():
    result = survey(load(NODES, workload()), "deploy", "rollout", "nodeLoss", "drain")

    assert [cell(result, key).grade for key in ("deploy", "rollout")] == [Grade.STEADY, Grade.STEADY]
    lost, drained = cell(result, "nodeLoss"), cell(result, "drain")
    assert (lost.grade, lost.lowest, lost.longest_s) == (Grade.DIPS, 0, 305)  # 300 s tolerated, 5 s to start
    assert (drained.grade, drained.lowest, drained.longest_s) == (Grade.DIPS, 0, 5)
    assert result.verdict == Verdict.HOLDS


def test_two_replicas_are_steady_where_one_dips():
    result = survey(load(NODES, workload(replicas=2)), "nodeFailure", "nodeLoss", "drain", "upgrade", "podCrash")

    assert {one.grade for one in matrix_of(result).cells} == {Grade.STEADY}


def test_a_pod_of_a_stateful_set_never_leaves_a_dead_node():
    result = survey(load(NODES, workload("StatefulSet")), "nodeFailure", "nodeLoss")

    assert cell(result, "nodeLoss", "StatefulSet/shop/web").grade == Grade.STUCK
    assert cell(result, "nodeFailure", "StatefulSet/shop/web").grade == Grade.DIPS
    assert result.verdict == Verdict.VIOLATED


def test_a_budget_of_all_pods_blocks_drains_and_raises_the_floor():
    result = survey(load(NODES, workload(replicas=2), BUDGET), "drain", "nodeLoss")

    assert matrix_of(result).rows[0].floor == 2
    assert matrix_of(result).rows[0].floor_from == "PodDisruptionBudget/shop/web"
    drained, lost = cell(result, "drain"), cell(result, "nodeLoss")
    assert drained.grade == Grade.STUCK
    assert result.results[drained.finding or 0].key == "drainCompletes"
    assert (lost.grade, lost.lowest) == (Grade.DIPS, 1)


def test_a_budget_of_another_workload_that_blocks_a_drain_is_that_workloads_fault():
    quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: all, namespace: shop}\nspec: {hard: {pods: 9}}\n---"
    other = workload(extra="").replace("namespace: shop", "namespace: data")
    budget = BUDGET.replace("namespace: shop", "namespace: data")
    for beside in ("", quota):  # with a quota nothing is proved whatever the others do: all are searched together
        result = survey(load(NODES, beside, workload(replicas=2), other, budget), "drain")

        assert cell(result, "drain").grade == Grade.STEADY
        assert cell(result, "drain", "Deployment/data/web").grade == Grade.STUCK


def test_pods_that_may_never_be_ready_may_hold_up_a_drain_that_others_wait_for() -> None:
    apart = "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}"
    alone = f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{apart}]}}}}"
    gated = workload(replicas=2, extra="readinessGates: [{conditionType: lb}]").replace("web", "gated")
    one_of_two = BUDGET.replace("web", "gated").replace("100%", "1")
    beside = load(NODES, workload(replicas=3, extra=alone), gated, one_of_two)

    kept = cell(survey(beside, "drain", "podCrash"), "drain")

    assert kept.grade == Grade.UNKNOWN
    assert "readinessGates of Deployment/shop/gated" in kept.detail
    assert cell(survey(beside, "podCrash"), "podCrash").grade == Grade.STEADY
    assert cell(survey(load(NODES, workload(replicas=2), gated, one_of_two), "drain"), "drain").grade == Grade.STEADY


def test_pods_that_come_back_to_a_drained_node_hold_up_no_drain_of_kubectl():
    agent = workload(replicas=2, extra="tolerations: [{operator: Exists}]")
    beside = workload(replicas=2).replace("web", "shop")

    result = survey(load(NODES, agent, beside), "drain")

    assert {one.grade for one in matrix_of(result).cells} == {Grade.UNKNOWN}
    assert "kubectl drain evicts the pods that it finds" in cell(result, "drain").detail


def test_a_budget_that_refuses_is_told_although_pods_might_come_back_to_a_drained_node():
    agent = workload(replicas=2, extra="tolerations: [{operator: Exists}]")

    assert cell(survey(load(NODES, agent, BUDGET), "drain"), "drain").grade == Grade.STUCK


def test_what_is_never_complete_is_told_once_and_no_fault_is_searched():
    result = survey(load(NODES, workload(replicas=2, cpu="6")))

    first = cell(result, "deploy")
    others = [one for one in matrix_of(result).cells if one.faults != ("deploy",)]
    assert first.grade == Grade.STUCK
    assert others
    assert {(one.grade, one.finding) for one in others} == {(Grade.STUCK, first.finding)}
    assert len(result.results) == 1


def test_every_bad_cell_has_a_run_that_stands_up_to_replay():
    loaded = load(NODES, workload("StatefulSet"), workload("StatefulSet", replicas=3).replace("web", "api"))
    result = survey(loaded, "nodeLoss", "drain")

    shown = [one for one in result.results if one.verdict == Verdict.VIOLATED]
    assert len(shown) > 1
    for one in shown:
        again = rerun(result.inputs, one, VerifyOptions())
        assert again.loaded.scenario.name == one.faults[0]


def test_columns_are_those_that_apply():
    result = survey(load(NODES.replace("topology.kubernetes.io/zone", "rack"), workload()))

    keys = [column.key for column in matrix_of(result).columns]
    assert keys == ["deploy", "rollout", "nodeFailure", "nodeLoss", "drain", "upgrade", "podCrash", "scale"]


def test_a_better_grade_can_be_asked_for():
    loaded = load(NODES, workload())

    assert survey(loaded, "drain").verdict == Verdict.HOLDS
    assert survey(loaded, "drain", least=Grade.STEADY).verdict == Verdict.VIOLATED


def test_pairs_of_faults_do_not_decide_the_verdict():
    result = survey(load(NODES, workload("StatefulSet")), "drain", "nodeLoss", pairs=True)
    alone = survey(load(NODES, workload("StatefulSet")), "drain", pairs=True)

    (pair,) = matrix_of(result).pairs
    assert (pair.faults, pair.grade) == (("nodeLoss", "drain"), Grade.STUCK)
    assert result.results[pair.finding or 0].severity == "warning"
    assert matrix_of(alone).pairs == ()


def test_without_time_every_cell_is_open_and_says_so():
    times = iter([0.0, *([100.0] * 1000)])

    result = run_matrix(
        load(NODES, workload()), VerifyOptions(timeout_s=60.0), MatrixOptions(executor=HERE), clock=lambda: next(times)
    )

    assert {one.grade for one in matrix_of(result).cells} == {Grade.UNKNOWN}
    assert "not reached within the time" in matrix_of(result).cells[0].detail
    assert result.verdict == Verdict.UNKNOWN


def test_asked_to_stop_it_answers_with_what_is_graded():
    stop = Stop()

    def stop_soon(progress: MatrixProgress) -> None:
        if progress.done == 1 and progress.phase == "faults" and progress.total > 1:
            stop.ask()

    result = run_matrix(
        load(NODES, workload()), VerifyOptions(), MatrixOptions(executor=HERE), progress=stop_soon, stop=stop
    )

    grades = [one.grade for one in matrix_of(result).cells]
    assert grades[0] == Grade.STEADY
    assert grades[-1] == Grade.UNKNOWN
    assert result.statistics.stopped_by == INTERRUPTED


def test_what_is_not_modelled_leaves_a_cell_open():
    result = survey(load(NODES, workload(extra="runtimeClassName: gvisor")), "rollout")

    assert cell(result, "rollout").grade == Grade.UNKNOWN
    assert "not modelled" in cell(result, "rollout").detail


LATE = "strategy: {rollingUpdate: {maxSurge: SURGE, maxUnavailable: DOWN}}\n  minReadySeconds: 30\n  selector:"


def late(replicas: int, surge: int, unavailable: int) -> str:
    """A Deployment whose pods count as available half a minute after they are ready."""
    waits = LATE.replace("SURGE", str(surge)).replace("DOWN", str(unavailable))
    return workload(replicas=replicas).replace("selector:", waits)


SCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
---"""


@pytest.mark.parametrize("beside", ["", workload().replace("web", "other")])
def test_that_pods_are_available_later_holds_a_rollout_up_and_breaks_nothing(beside: str) -> None:
    assert cell(survey(load(NODES, late(2, 1, 0), beside), "rollout"), "rollout").grade == Grade.STEADY
    assert cell(survey(load(NODES, late(2, 0, 2), beside), "rollout"), "rollout").grade == Grade.DIPS


def test_a_dip_that_needs_some_pods_to_be_available_is_open() -> None:
    budget = BUDGET.replace("100%", "2")

    assert cell(survey(load(NODES, late(3, 0, 2), budget), "rollout"), "rollout").grade == Grade.UNKNOWN


def test_an_autoscaler_may_take_pods_away_that_are_not_available_yet() -> None:
    found = cell(survey(load(NODES, late(2, 1, 0), SCALER), "rollout"), "rollout")

    assert found.grade == Grade.UNKNOWN
    assert "minReadySeconds" in found.detail


def test_pods_that_are_available_later_break_nothing_where_the_autoscaler_keeps_to_its_minimum() -> None:
    keeps = SCALER.replace("minReplicas: 1", "minReplicas: 2")

    assert cell(survey(load(NODES, late(2, 1, 0), keeps), "rollout"), "rollout").grade == Grade.STEADY
    another = keeps.replace("{name: web, namespace: shop}", "{name: too, namespace: shop}")
    assert cell(survey(load(NODES, late(2, 1, 0), keeps, another), "rollout"), "rollout").grade == Grade.UNKNOWN
    rises = keeps.replace("averageUtilization: 80", "averageUtilization: 70")
    assert cell(survey(load(NODES, late(2, 1, 0), rises), "rollout"), "rollout").grade == Grade.UNKNOWN


def test_pods_with_a_deadline_take_no_more_room_than_they_declare() -> None:
    job = JOB.replace("podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}", "")
    due = job.replace("restartPolicy: Never,", "restartPolicy: Never, activeDeadlineSeconds: 60,").replace("CPU", "1")
    found = survey(load(NODES, workload(), due), "deploy")

    assert cell(found, "deploy").grade == Grade.STEADY
    assert cell(found, "deploy", "Job/shop/load").grade == Grade.UNKNOWN


def test_a_scenario_is_verified_as_it_is_written():
    loaded = load(NODES, workload())

    assert asks_for_matrix(loaded, VerifyOptions())
    assert not asks_for_matrix(loaded, VerifyOptions(engine="reference"))
    assert not asks_for_matrix(replace(loaded, scenario=replace(loaded.scenario, is_default=False)), VerifyOptions())


def test_nothing_to_hit_is_nothing_to_check():
    with pytest.raises(NothingToCheckError, match="no workload that a fault could hit"):
        survey(load(NODES, workload(replicas=0)))


def test_objects_that_stand_for_manifests_elsewhere_are_to_be_rendered():
    release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\n"
    with pytest.raises(NothingToCheckError, match=r"what HelmRelease objects name: helm template"):
        survey(load(NODES, release))


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: shop}
spec:
  podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}
  template:
    metadata: {labels: {app: load}}
    spec: {restartPolicy: Never, containers: [{name: load, image: load, resources: {requests: {cpu: CPU}}}]}
---"""


def test_how_many_pods_a_neighbour_has_within_its_bounds_decides_nothing_if_there_is_room_for_all():
    result = survey(load(NODES, workload(replicas=2), JOB.replace("CPU", "1")), "nodeLoss", "drain")

    assert {cell(result, fault).grade for fault in ("nodeLoss", "drain")} == {Grade.STEADY}
    told = cell(result, "drain", "Job/shop/load")
    assert told.grade == Grade.UNKNOWN
    assert "podFailurePolicy" in told.detail


def test_without_room_for_all_it_is_not_known_what_the_neighbour_leaves():
    one_node = node("a", "za", cpu="1")
    result = survey(load(one_node, workload(cpu="600m"), JOB.replace("CPU", "600m")), "deploy")

    assert cell(result, "deploy").grade == Grade.UNKNOWN
    assert "podFailurePolicy of Job/shop/load" in cell(result, "deploy").detail


def test_workloads_with_the_same_labels_are_proved_together_where_scores_count_both() -> None:
    other = workload("ReplicaSet", replicas=2).replace("name: web, namespace: shop", "name: old, namespace: shop")
    apart = workload().replace("web", "apart")
    loaded = load(NODES, workload(replicas=2), other, apart)

    found = survey(loaded, "nodeLoss", "drain")

    assert cell(found, "nodeLoss").grade == Grade.STEADY
    assert cell(found, "drain", "ReplicaSet/shop/old").grade == Grade.DIPS  # the others may be on the other nodes


def test_a_single_workload_is_proved_with_fewer_states_than_a_search_takes() -> None:
    found = run_matrix(
        load(NODES, workload(replicas=10)),
        VerifyOptions(max_states=2_000),
        MatrixOptions(faults=("rollout",), pairs=False, executor=HERE),
    )

    assert cell(found, "rollout").grade == Grade.STEADY


def test_what_is_proved_of_a_workload_stays_proved_when_more_are_looked_at() -> None:
    part = Slice(load(NODES, workload()), ("Deployment/shop/web",), (0, 1, 2))
    part = replace(part, loaded=under_faults(part.loaded, ("rollout",), "Deployment/shop/web"))
    searched = search_part(part, plan_input(part.loaded, VerifyOptions()), VerifyOptions(), Watch())
    found = {0: Verdict.UNKNOWN, 1: Verdict.VIOLATED, 2: Verdict.UNKNOWN}
    more = Evidence(part, searched, found).knowing(frozenset({0, 1}))

    assert more.found == {0: Verdict.HOLDS, 1: Verdict.VIOLATED, 2: Verdict.UNKNOWN}
    assert more.proved == {0}


VOLUME = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: local, hostPath: {path: /data}}
---"""


def claim(storage_class: str) -> str:
    return f"""
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: shop}}
spec: {{storageClassName: {storage_class}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
---"""


def test_a_volume_that_is_kept_for_nobody_concerns_those_whose_claims_it_fits() -> None:
    using = workload(extra="volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]").replace("web", "db")
    loaded = load(NODES, VOLUME, claim("local"), using, workload())

    assert [part.workloads for part in cut_by_relations(loaded)] == [("Deployment/shop/db",), ("Deployment/shop/web",)]


def test_the_claim_of_an_ordinal_concerns_who_mounts_it_too() -> None:
    waits = "\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\n"
    waits += "provisioner: ebs.csi.aws.com\nvolumeBindingMode: WaitForFirstConsumer\n---"
    own = "{metadata: {name: data}, spec: {storageClassName: fast, accessModes: [ReadWriteMany]}}"
    db = workload("StatefulSet", extra="nodeSelector: {topology.kubernetes.io/zone: zb}").replace("web", "db")
    db = db.replace("  replicas: 1", f"  replicas: 1\n  volumeClaimTemplates: [{own}]")
    mount = "volumes: [{name: data, persistentVolumeClaim: {claimName: data-db-0}}]"
    backup = workload(extra=f"nodeSelector: {{topology.kubernetes.io/zone: za}}\n      {mount}")
    shared = claim("fast").replace("{name: data,", "{name: data-db-0,").replace("ReadWriteOnce", "ReadWriteMany")

    result = survey(load(NODES, waits, shared, db, backup, workload().replace("web", "other")), "deploy")

    assert [one.grade for one in matrix_of(result).cells] == [Grade.STUCK, Grade.STUCK, Grade.STEADY]


def prioritized(cpu: str = "100m") -> Loaded:
    """A Deployment whose PriorityClass is not in the input, beside another one."""
    return load(NODES, workload(cpu=cpu, extra="priorityClassName: high"), workload(cpu=cpu).replace("web", "other"))


def test_a_priority_that_nobody_tells_decides_nothing_where_room_is_never_short() -> None:
    assert cell(survey(prioritized(), "deploy"), "deploy").grade == Grade.STEADY
    assert cell(survey(prioritized(), "nodeLoss"), "nodeLoss", "Deployment/shop/other").grade == Grade.DIPS


def test_a_priority_that_nobody_tells_leaves_cells_open_where_room_may_be_short() -> None:
    found = survey(prioritized(cpu="3"), "upgrade")

    assert cell(found, "upgrade").grade == Grade.UNKNOWN
    assert "PriorityClass high" in cell(found, "upgrade").detail


METRIC = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: "5"}}}]
---"""


def test_a_metric_that_nobody_knows_decides_nothing_where_every_size_is_proved() -> None:
    found = survey(load(NODES, workload(), METRIC), "deploy", "drain", "rollout")

    assert cell(found, "deploy").grade == Grade.STEADY
    assert cell(found, "rollout").grade == Grade.STEADY
    assert cell(found, "drain").grade == Grade.DIPS


def once_mounting(*, replicas: int = 1, strategy: str = "{type: Recreate}") -> Loaded:
    """A Deployment that mounts a ReadWriteOnce claim by its name."""
    mount = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"
    web = workload(replicas=replicas, extra=mount).replace("  selector:", f"  strategy: {strategy}\n  selector:", 1)
    return load(NODES, web, ONCE)


ONCE = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---"""


def test_a_single_pod_with_a_disk_is_not_scaled_by_hand() -> None:
    decided = matrix_of(survey(once_mounting()))

    assert "scale" not in [column.key for column in decided.columns]
    assert all(one.grade != Grade.UNKNOWN for one in decided.cells)
    assert cell(survey(once_mounting(replicas=2), "scale"), "scale").grade == Grade.UNKNOWN


def test_a_rollout_whose_pods_meet_at_a_disk_says_what_to_change() -> None:
    strategy = "{rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}"
    open_cell = cell(survey(once_mounting(strategy=strategy), "rollout"), "rollout")

    assert open_cell.grade == Grade.UNKNOWN
    assert "claim data of Deployment/shop/web" in open_cell.detail
    assert "strategy {type: Recreate} avoids that" in open_cell.detail


@pytest.mark.parametrize(("policy", "is_asked"), [("Never", False), ("OnFailure", True), ("Always", True)])
def test_a_pod_that_ends_with_its_container_is_not_asked_about_crashes(policy: str, is_asked: bool) -> None:
    pod = f"""apiVersion: v1
kind: Pod
metadata: {{name: once, namespace: shop}}
spec: {{restartPolicy: {policy}, containers: [{{name: main, image: main}}]}}
"""
    columns = matrix_of(survey(load(NODES, pod))).columns

    assert ("podCrash" in [column.key for column in columns]) == is_asked


def with_deadline(seconds: int, completions: int = 1) -> str:
    return f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: fill, namespace: shop}}
spec:
  activeDeadlineSeconds: {seconds}
  completions: {completions}
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: fill, image: fill, resources: {{requests: {{cpu: 100m, memory: 64Mi}}}}}}]
---"""


@pytest.mark.parametrize(
    ("seconds", "completions", "grade"),
    [(300, 1, Grade.STEADY), (60, 2, Grade.STEADY), (4, 1, Grade.STUCK)],
)
def test_the_deadline_of_a_job_suffices_where_nothing_happens(seconds: int, completions: int, grade: Grade) -> None:
    """How long its pods run nobody tells; a deadline in which they may not even start is too short for sure."""
    found = survey(load(NODES, with_deadline(seconds, completions)), "deploy", "drain")

    assert cell(found, "deploy", "Job/shop/fill").grade == grade


def test_a_deadline_is_over_before_a_dead_node_is_given_up() -> None:
    found = survey(load(NODES, with_deadline(300)), "drain", "nodeFailure")

    assert cell(found, "drain", "Job/shop/fill").grade == Grade.STEADY
    assert cell(found, "nodeFailure", "Job/shop/fill").grade == Grade.STUCK
    longer = survey(load(NODES, with_deadline(600)), "nodeFailure")
    assert cell(longer, "nodeFailure", "Job/shop/fill").grade == Grade.STEADY


def test_a_scheduler_that_the_input_lacks_may_be_there() -> None:
    strange = cell(survey(load(NODES, workload(extra="schedulerName: volcano")), "deploy"), "deploy")

    assert strange.grade == Grade.UNKNOWN
    assert "another scheduler may serve volcano (input.yaml:" in strange.detail
