"""Rollouts that add a pod to the one that has the disk: the run in which the new pod waits for it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from kubeproof.cluster.objects import family, workload_number
from kubeproof.cluster.state import Phase
from kubeproof.controllers.scheduler.plugins.volumes import KEPT
from kubeproof.events.declarations import NeverReady
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import under_faults
from kubeproof.model.by_name.node import Pod
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import State
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.lift import NamedPath
from kubeproof.verify.counterexamples.rerun import rerun
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.matrix.one_disk import NOT_SHOWN, is_disk_elsewhere
from kubeproof.verify.matrix.options import MatrixOptions
from kubeproof.verify.matrix.result import Cell, Grade
from kubeproof.verify.matrix.run import run_matrix
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.result import IntentResult, VerifyResult
from kubeproof.verify.run import verify_intents
from tests.unit.verify.matrix.test_matrix import NODES, node

DB = "Deployment/shop/db"


def claim(mode: str = "ReadWriteOnce", more: str = "") -> str:
    return f"""
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: shop}}
spec: {{accessModes: [{mode}], resources: {{requests: {{storage: 1Gi}}}}{more}}}
---"""


def mounting(strategy: str = "{}", name: str = "db", extra: str = "") -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop}}
spec:
  strategy: {strategy}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      {extra}
      containers: [{{name: db, image: db, resources: {{requests: {{cpu: 100m, memory: 64Mi}}}}}}]
      volumes: [{{name: data, persistentVolumeClaim: {{claimName: data}}}}]
---"""


ZONAL = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  claimRef: {namespace: shop, name: data}
  csi: {driver: pd.csi.storage.gke.io, volumeHandle: disk}
  nodeAffinity:
    required:
      nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [za]}]}]
---"""


def load(*texts: str) -> Loaded:
    return load_texts([("input.yaml", "".join(texts))])


def roll_out(loaded: Loaded) -> tuple[Cell, VerifyResult]:
    """The cell of the rollout, and the result that has it."""
    result = run_matrix(loaded, VerifyOptions(), MatrixOptions(faults=("rollout",), pairs=False, executor=InProcess()))
    assert result.matrix is not None
    cell = next(cell for cell in result.matrix.cells if cell.target == DB)
    return cell, result


def result_of(cell: Cell, result: VerifyResult) -> IntentResult:
    assert cell.finding is not None
    return result.results[cell.finding]


def test_the_new_pod_waits_on_another_node_and_the_run_is_replayed() -> None:
    cell, result = roll_out(load(NODES, claim(), mounting()))

    told = result_of(cell, result)
    again = rerun(result.inputs, told, VerifyOptions())

    assert cell.grade == Grade.STUCK
    assert cell.detail.endswith("as its new pod waits for a disk that the old one keeps on another node")
    assert told.remedy.startswith(f"Write strategy: {{type: Recreate}} into {DB}, so that its old pod gives up data")
    assert is_disk_elsewhere(again.model.plan.setup, DB, NamedPath(again.run.states, again.run.steps))


@pytest.mark.parametrize(
    ("mode", "strategy", "grade"),
    [
        ("ReadWriteMany", "{}", Grade.STEADY),
        ("ReadWriteOnce", "{type: Recreate}", Grade.DIPS),
        ("ReadWriteOnce", "{rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}", Grade.UNKNOWN),  # the old one goes first
    ],
)
def test_nobody_waits_where_pods_do_not_meet_at_the_disk(mode: str, strategy: str, grade: Grade) -> None:
    loaded = load(NODES, claim(mode), mounting(strategy))

    assert not any(isinstance(e, NeverReady) for e in under_faults(loaded, ("rollout",), DB).scenario.events)
    assert roll_out(loaded)[0].grade == grade


def test_a_disk_that_one_node_reaches_keeps_both_pods_there() -> None:
    cell, _ = roll_out(load(NODES, ZONAL, claim(more=", volumeName: disk, storageClassName: ''"), mounting()))

    assert (cell.grade, cell.detail) == (Grade.UNKNOWN, NOT_SHOWN)


def test_who_has_a_disk_that_several_workloads_mount_is_not_decided() -> None:
    cell, _ = roll_out(load(NODES, claim(), mounting(), mounting(name="copy")))

    assert cell.grade == Grade.UNKNOWN


def test_every_state_of_the_run_has_the_old_pod_alone_on_its_node() -> None:
    cell, result = roll_out(load(NODES, claim(), mounting()))
    again = rerun(result.inputs, result_of(cell, result), VerifyOptions())
    setup, last = again.model.plan.setup, again.run.states[-1]
    old, new = family(setup, workload_number(setup, DB))
    pods = {pod.workload: pod for one in last.nodes for pod in one.pods}

    ended = pods[old].become(phase=Phase.TERMINATING)

    def is_real(*placed: tuple[Pod, ...]) -> bool:
        """Whether the run may be in the state with these pods on the nodes."""
        nodes = tuple(one._replace(pods=there) for one, there in zip(last.nodes, (*placed, ()), strict=True))
        return is_disk_elsewhere(setup, DB, NamedPath((last._replace(nodes=nodes),), ()))

    assert is_real((pods[old],), (pods[new],))
    assert not is_real((ended,), (pods[new],))
    assert not is_real((pods[old], pods[new]), ())
    assert not is_real((), (pods[new],))


@pytest.mark.parametrize("seed", range(6))
def test_it_is_stuck_where_the_rollout_by_name_comes_to_two_nodes(seed: int) -> None:
    """Without the assumption about its readiness: a state has the old pod on one node and the new one on another."""
    rng = random.Random(seed)
    names = "abc"[: rng.randint(2, 3)]
    nodes = "".join(node(name, rng.choice(("za", "zb")), cpu=rng.choice(("1", "4"))) for name in names)
    asked = ("", "topology.kubernetes.io/zone: za", "kubernetes.io/hostname: a")
    extra = f"nodeSelector: {{{rng.choice(asked)}}}"
    loaded = load(nodes, claim(), mounting(extra=extra))

    assert (roll_out(loaded)[0].grade == Grade.STUCK) == _meets_two_nodes(loaded)


def _meets_two_nodes(loaded: Loaded) -> bool:
    faulty = under_faults(loaded, ("rollout",), DB)
    events = tuple(event for event in faulty.scenario.events if not isinstance(event, NeverReady))
    plan = plan_input(replace(faulty, scenario=replace(faulty.scenario, events=events)), VerifyOptions())
    old, new = family(plan.setup, workload_number(plan.setup, DB))
    deploying, model = RepresentativeModel(plan.deploying()), RepresentativeModel(plan)
    placed = _reach(deploying, list(deploying.initial()))
    begun = [model.restart(state) for state in placed if deploying.is_stable(state)]
    return any(_is_apart(state, old, new) for state in _reach(model, begun))


def _reach(model: RepresentativeModel, begun: list[State]) -> set[State]:
    """All states that can be reached."""
    known, waiting = set(begun), list(begun)
    while waiting:
        for step in model.steps(waiting.pop()):
            if step.target not in known:
                known.add(step.target)
                waiting.append(step.target)
    return known


def _is_apart(state: State, old: int, new: int) -> bool:
    bound = [(pod, number) for number, one in enumerate(state.nodes) for pod in one.pods]
    at = {pod.workload: number for pod, number in bound if pod.phase != Phase.TERMINATING}
    return old in at and new in at and at[old] != at[new]


def grades_under(loaded: Loaded, *faults: str) -> dict[str, Grade]:
    options = MatrixOptions(faults=faults, pairs=False, executor=InProcess())
    matrix = run_matrix(loaded, VerifyOptions(), options).matrix
    assert matrix is not None
    return {cell.faults[0]: cell.grade for cell in matrix.cells if cell.target == DB}


@pytest.mark.parametrize(
    ("mode", "lost"), [("ReadWriteOnce", Grade.STUCK), ("ReadWriteOncePod", Grade.STUCK), ("ReadWriteMany", Grade.DIPS)]
)
def test_a_node_that_stays_down_keeps_its_disk_and_one_that_comes_back_gives_it_up(mode: str, lost: Grade) -> None:
    loaded = load(NODES, claim(mode), mounting("{type: Recreate}"))

    assert grades_under(loaded, "nodeFailure", "nodeLoss") == {"nodeFailure": Grade.DIPS, "nodeLoss": lost}


def test_what_helps_a_pod_whose_disk_is_on_a_dead_node_is_told() -> None:
    loaded = load(NODES, claim(), mounting("{type: Recreate}"))
    options = MatrixOptions(faults=("nodeLoss",), pairs=False, executor=InProcess())

    (told,) = (one for one in run_matrix(loaded, VerifyOptions(), options).results if one.trace is not None)

    assert "node.kubernetes.io/out-of-service" in told.remedy
    assert ("VolumeRestrictions", KEPT.reason) in told.trace.obstacles


@pytest.mark.parametrize(
    ("recovers", "verdict"), [("comesBack: true", Verdict.HOLDS), ("recovers: false", Verdict.UNKNOWN)]
)
def test_a_scenario_in_which_a_node_stays_down_leaves_open_what_its_disk_decides(
    recovers: str, verdict: Verdict
) -> None:
    asked = f"""
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: s}}
spec:
  start: deployed
  events: [{{nodeFailure: {{{recovers}}}}}]
  intents: [{{minReady: {{target: {DB}, count: 1, when: eventuallyAlways}}}}]
"""
    loaded = load(NODES, claim(), mounting("{type: Recreate}"), asked)

    assert verify_intents(loaded, VerifyOptions()).verdict == verdict
