"""One verification: plans, limits, starts, words, reasons and summaries."""

from dataclasses import replace

import pytest

from kubeproof.engine.reference import reach
from kubeproof.engine.stopped import StoppedBy, StopReason
from kubeproof.errors import InternalError, NothingToCheckError, ScenarioError
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.lift import follow
from kubeproof.verify.options import Effort, VerifyOptions
from kubeproof.verify.run import plan_of, verify
from kubeproof.verify.words.explain import MOST_NODES
from kubeproof.verify.words.summary import abstractions, overall
from tests.unit.verify.inputs import FAILING, LOOP, PENDING, loaded, model_of, node, only, scenario, verified, web

T = "Deployment/shop/web"


def test_an_input_without_workloads_has_nothing_to_check():
    with pytest.raises(NothingToCheckError, match="no workload"):
        plan_of(loaded(node("n1"), scenario("{settles: {}}")), VerifyOptions())


def test_a_scenario_without_intents_has_nothing_to_check():
    with pytest.raises(NothingToCheckError, match="no intents"):
        plan_of(loaded(node("n1"), web(1), scenario()), VerifyOptions())


@pytest.mark.parametrize("engine", ["python", "reference"])
def test_a_deployed_start_needs_a_stable_placement(engine):
    with pytest.raises(ScenarioError, match="needs a stable placement, and none exists") as caught:
        verified(*LOOP[:2], scenario("{settles: {}}", start="deployed"), engine=engine)

    assert caught.value.exit_code == 2


@pytest.mark.parametrize("engine", ["python", "reference"])
def test_a_deployed_start_within_a_limit_that_is_too_small_leaves_unknown(engine):
    result = verified(*FAILING, max_states=2, engine=engine)

    assert (result.verdict, only(result).verdict) == (Verdict.UNKNOWN, Verdict.UNKNOWN)
    assert "not decided, the search was stopped by 2 states" in only(result).detail
    assert dict(result.scope)["explored"] == "in part: stopped by 2 states"


def test_a_limit_leaves_unknown_with_the_reason():
    result = verified(*PENDING, max_states=3)

    assert (result.verdict, only(result).verdict) == (Verdict.UNKNOWN, Verdict.UNKNOWN)
    assert "not decided, the search was stopped by 3 states" in only(result).detail
    assert dict(result.scope)["explored"] == "in part: stopped by 3 states"


@pytest.mark.parametrize("documents", [PENDING, LOOP, FAILING])
def test_the_reference_engine_agrees(documents):
    assert verified(*documents, engine="reference").verdict == verified(*documents).verdict == Verdict.VIOLATED


def test_a_reference_run_within_a_limit_is_unknown():
    assert verified(*PENDING, engine="reference", max_states=3).verdict == Verdict.UNKNOWN


def test_without_reductions_the_verdict_is_the_same():
    documents = (node("n1"), node("n2"), *PENDING[1:])

    merged, apart = verified(*documents), verified(*documents, reductions=False)

    assert merged.verdict == apart.verdict == Verdict.HOLDS
    assert merged.statistics.states < apart.statistics.states


@pytest.mark.parametrize("engine", ["python", "reference"])
def test_more_ways_to_choose_victims_than_can_be_followed_leave_unknown(monkeypatch, engine):
    events = f"{{scale: {{target: {T}, replicas: [3]}}}}"
    shrinking = (node("n1"), node("n2"), web(4), scenario(f"{{maxReplicas: {{target: {T}, count: 4}}}}", events=events))
    monkeypatch.setattr("kubeproof.controllers.workloads.replicaset.MOST_WAYS", 1)

    result = verified(*shrinking, engine=engine, without=("abstraction",))

    assert (result.verdict, only(result).verdict) == (Verdict.UNKNOWN, Verdict.UNKNOWN)
    assert str(result.statistics.stopped_by) == "more than 1 ways to choose 1 victims in one scale-down"
    assert "not decided, the search was stopped by more than 1 ways" in only(result).detail
    monkeypatch.setattr("kubeproof.controllers.workloads.replicaset.MOST_WAYS", 2)
    assert verified(*shrinking, engine=engine, without=("abstraction",)).verdict == Verdict.HOLDS


def test_two_deployments_of_one_name_in_two_namespaces_are_told_apart():
    nodes = (node("a1", cpu="1"), node("b1", cpu="1"))

    result = verified(*nodes, web(1, namespace="green"), web(2, namespace="blue"), scenario("{schedulable: {}}"))

    assert [(one.target, one.verdict) for one in result.results] == [
        ("Deployment/green/web", Verdict.VIOLATED),
        ("Deployment/blue/web", Verdict.VIOLATED),
    ]
    green, blue = (one.trace for one in result.results)
    assert [(step.actor, step.object) for step in blue.steps] == [
        ("deployment green/web", "Deployment/green/web"),
        ("replicaset green/web", "Deployment/green/web"),
        ("scheduler green/web", "Pod/green/web-1"),
        ("deployment blue/web", "Deployment/blue/web"),
        ("replicaset blue/web", "Deployment/blue/web"),
        ("scheduler blue/web", "Pod/blue/web-1"),
        ("time", ""),
        ("kubelet", "Node/a1"),
        ("kubelet", "Node/b1"),
    ]
    assert green.final[1] == "1 pod(s) of Deployment/green/web without a node: green/web-1"
    assert blue.final[1] == "1 pod(s) of Deployment/blue/web without a node: blue/web-2"


def _manifest(replicas):
    pod = "metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: registry.example.com/main}]}"
    spec = f"{replicas}selector: {{matchLabels: {{app: web}}}}, template: {{{pod}}}"
    return f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: shop}}, spec: {{{spec}}}}}"


@pytest.mark.parametrize(
    ("first", "applied", "sizes"),
    [
        pytest.param("replicas: 1, ", "replicas: 2, ", {1, 2, 3}, id="given twice"),
        pytest.param("replicas: 2, ", "", {1, 2, 3}, id="given before: removed, so defaulted to 1"),
        pytest.param("", "replicas: 2, ", {1, 2, 3}, id="given now"),
        pytest.param("", "", {1, 3}, id="never given: the live value stays"),
    ],
)
def test_an_apply_that_omits_replicas_keeps_the_live_value_only_if_the_first_manifest_omitted_it(first, applied, sizes):
    grow = f"{{scale: {{name: grow, target: {T}, replicas: [3]}}}}"
    apply = f"{{apply: {{name: again, after: grow, manifest: {_manifest(applied)}}}}}"
    whole = loaded(node("n1"), _manifest(first) + "\n", scenario("{settles: {}}", events=f"{grow}, {apply}"))

    graph = reach(IndividualModel(plan_of(whole, VerifyOptions())), max_states=5_000)

    assert graph.is_complete
    assert {state.specs[0].desired for state in graph.steps} == sizes


def test_an_event_follows_an_apply_that_changes_nothing():
    apply = f"{{apply: {{name: again, manifest: {_manifest('')}}}}}"
    grow = f"{{scale: {{name: grow, after: again, target: {T}, replicas: [3]}}}}"
    intent = f"{{maxReplicas: {{target: {T}, count: 1}}}}"

    steps = _steps(node("n1"), _manifest("") + "\n", scenario(intent, events=f"{apply}, {grow}"))

    assert [step.actor for step in steps] == ["event again", "event grow", "deployment web", "replicaset web"]


def test_controllers_asked_twice_answer_the_same():
    assert verified(*PENDING, check_controllers=True).verdict == Verdict.VIOLATED


def test_progress_is_told_with_what_is_done():
    seen = []

    verify(loaded(*FAILING), VerifyOptions(engine="python"), seen.append)

    assert {progress.phase for progress in seen} <= {"deploying", "searching", "looking for loops"}


# -- words ------------------------------------------------------------------------------------------


def _steps(*documents):
    return only(verified(*documents)).trace.steps


def told(step):
    return tuple(map(str, step.changes))


def test_steps_tell_who_did_what_to_which_object():
    steps = _steps(*PENDING)

    assert [(step.object, told(step)) for step in steps[:3]] == [
        (T, (f"ReplicaSet of {T} spec.replicas = 3",)),
        (T, tuple(f"Pod/shop/web-{n} created" for n in (1, 2, 3))),
        ("Pod/shop/web-1", ("Pod/shop/web-1 spec.nodeName = n1",)),
    ]
    assert [step.action for step in steps] == [
        f"creates the ReplicaSet of {T} with 3 replicas",
        "creates 3 pods: web-1, web-2, web-3",
        "binds web-1 to n1",
        "binds web-2 to n1",
        "1 s pass",
        "of n1 starts 2 pods: web-1, web-2",
    ]
    assert steps[4].object == ""
    assert told(steps[5]) == ("Pod/shop/web-1 status.phase = Running", "Pod/shop/web-2 status.phase = Running")


def test_more_than_four_pods_are_summed_up():
    intent = f"{{maxReplicas: {{target: {T}, count: 1}}}}"

    assert _steps(node("n1"), web(6), scenario(intent))[1].action == "creates 6 pods: web-1, web-2, web-3 and 3 more"


def test_rejections_and_direct_creations_are_told():
    steps = _steps(*LOOP)

    assert steps[1].action == "creates 3 pods: web-1, web-2, web-3 directly on n1 (spec.nodeName)"
    assert told(steps[1])[:2] == ("Pod/shop/web-1 created", "Pod/shop/web-1 spec.nodeName = n1")
    assert "of n1 rejects pod web-1" in steps[3].action
    assert "Pod/shop/web-1 status.phase = Failed" in told(steps[3])


def test_failure_notice_taint_and_eviction_are_told():
    steps = _steps(*FAILING[:3], scenario(f"{{minReplicas: {{target: {T}, count: 1}}}}", events="{nodeFailure: {}}"))

    assert [(step.time_s, step.action, step.object) for step in steps[5:]] == [
        (1, "node n1 fails: its kubelet falls silent", "Node/n1"),
        (51, "50 s pass", ""),
        (
            51,
            "marks node n1 Ready=Unknown, its pods not ready, and taints it unreachable:NoSchedule",
            "Node/n1",
        ),
        (51, "taints node n1 unreachable:NoExecute", "Node/n1"),
        (351, "300 s pass", ""),
        (351, "evicts pod web-1 from n1 (NoExecute taint not tolerated any longer)", "Node/n1"),
    ]
    assert told(steps[-1]) == ("Pod/shop/web-1 deletionTimestamp set",)


def test_scaling_and_deletion_are_told():
    steps = _steps(
        node("n1"),
        web(2),
        scenario(
            f"{{minReplicas: {{target: {T}, count: 2}}}}",
            events=f"{{scale: {{target: {T}, replicas: [0]}}}}",
            start="deployed",
        ),
    )

    assert [step.action for step in steps[-3:]] == [
        f"sets spec.replicas of {T} to 0",
        f"scales the ReplicaSet of {T} from 2 to 0",
        "deletes 2 pods: web-1, web-2",
    ]
    assert (steps[-1].object, told(steps[-1])[1]) == ("Pod/shop/web-1", "Pod/shop/web-2 deletionTimestamp set")


# -- reasons ----------------------------------------------------------------------------------------


def test_bindings_carry_filters_and_scores_of_every_node():
    documents = (node("n1"), node("n2"), node("n3", taints="{key: a, effect: NoSchedule}"), web(5))
    steps = _steps(*documents, scenario(f"{{schedulable: {{target: {T}}}}}"))

    first = next(step for step in steps if step.action.startswith("binds"))
    assert [line.split(" ")[:2] for line in first.why] == [["n1:", "score"], ["n2:", "score"], ["n3:", "rejected"]]
    assert "(3 x TaintToleration 100 + NodeResourcesFit " in first.why[0]
    last = [step for step in steps if step.action.startswith("binds")][-1]
    assert [line for line in last.why if "only feasible" in line] == [
        f"{last.action.split()[-1]}: the only feasible node, not scored"
    ]


def test_the_last_state_tells_why_each_node_refuses():
    documents = (node("n1"), node("n2", cpu="500m"), node("n3", taints="{key: a, effect: NoSchedule}"))

    final = only(verified(*documents, web(3), PENDING[2])).trace.final

    assert final[:2] == (
        f"{T}: desired 3, ready 2, not ready 0, without a node 1",
        f"1 pod(s) of {T} without a node: web-3",
    )
    assert [line.split(" (")[0] for line in final[2:]] == [
        "n1: NodeResourcesFit: Insufficient cpu",
        "n2: NodeResourcesFit: Insufficient cpu",
        "n3: TaintToleration: node(s) had untolerated taint(s)",
    ]


def test_many_nodes_are_summed_up_by_reason():
    nodes = [node(f"n{i}", cpu="500m") for i in range(MOST_NODES + 1)]

    final = only(verified(*nodes, web(1), PENDING[2])).trace.final

    assert len(final) == 3
    assert final[2].startswith("13 node(s), e.g. n0: NodeResourcesFit: Insufficient cpu")


def test_a_cluster_without_nodes_and_an_unknown_scheduler_say_so():
    nobody = web(1, more="schedulerName: nobody")

    without = only(verified(web(1), PENDING[2]))
    assert without.trace.final[-1] == "the cluster has no nodes"
    assert without.remedy.startswith("Name the nodes, too")
    assert only(verified(node("n1"), nobody, PENDING[2])).trace.final[-1] == "no scheduler profile is named nobody"


def test_sources_name_the_objects_of_the_trace():
    result = only(verified(*PENDING))

    assert [(ref, str(source)) for ref, source in result.sources] == [(T, "in.yaml:7"), ("Node/n1", "in.yaml:1")]
    assert str(result.location).startswith("in.yaml:")


# -- summaries --------------------------------------------------------------------------------------


def _result(verdict):
    return type("R", (), {"verdict": verdict})()


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        ([Verdict.HOLDS], Verdict.HOLDS),
        ([Verdict.HOLDS, Verdict.VACUOUS], Verdict.HOLDS),
        ([Verdict.VACUOUS, Verdict.VACUOUS], Verdict.VACUOUS),
        ([Verdict.HOLDS, Verdict.UNKNOWN], Verdict.UNKNOWN),
        ([Verdict.UNKNOWN, Verdict.ERROR], Verdict.ERROR),
        ([Verdict.UNKNOWN, Verdict.ERROR, Verdict.VIOLATED, Verdict.HOLDS], Verdict.VIOLATED),
    ],
)
def test_the_overall_verdict_is_the_worst(verdicts, worst):
    assert overall([_result(verdict) for verdict in verdicts]) == worst


def test_the_scope_says_what_was_verified():
    events = f"{{nodeFailure: {{}}}}, {{cordon: {{after: stable}}}}, {{scale: {{target: {T}, replicas: [1, 2]}}}}"
    scope = dict(verified(node("n1"), node("n2"), web(1), scenario("{settles: {}}", events=events)).scope)

    assert scope["scenario"] == "small"
    assert scope["nodes"] == "2 in 1 class(es)"
    assert scope["workloads"] == f"{T} x 1"
    assert scope["events"] == (
        "nodeFailure-1: a node fails at most once, may recover; cordon-2: a node is cordoned at most once, "
        f"after stable; scale-3: {T} scaled to 1, 2, once each"
    )
    assert scope["pod start-up"] == "1 to 5 s"
    assert scope["explored"] == "every interleaving, exhaustively"


@pytest.mark.parametrize(
    ("intent", "detail"),
    [
        (
            f"{{maxReplicas: {{target: {T}, count: 1}}}}",
            f"proved from the sizes that are ever written: {T} has at most 1 pods, at all times",
        ),
        (
            f"{{minReady: {{target: {T}, count: 1}}}}",
            f"proved for every run: {T} has at least 1 ready pods, at all times once it has reached its desired state",
        ),
        (
            f"{{minReplicas: {{target: {T}, count: 2, when: eventually}}}}",
            f"there is a run in which this fails: {T} has at least 2 pods, at some time",
        ),
        (
            "{noOscillation: {of: placement}}",
            "proved for every run: no endless run keeps changing the placement of the cluster",
        ),
    ],
)
def test_details_say_what_was_found(intent, detail):
    assert only(verified(node("n1"), web(1), scenario(intent))).detail == detail


def test_only_violations_have_a_remedy():
    assert only(verified(*PENDING)).remedy.startswith("Make room for Deployment/shop/web on a node")
    assert only(verified(node("n1"), web(1), PENDING[2])).remedy == ""


def test_what_the_model_leaves_out_is_named_where_it_can_matter():
    grow = f"{{scale: {{name: grow, target: {T}, replicas: [2]}}}}"

    def notes(count, events):
        nodes = [node(f"n{i}") for i in range(count)]
        given = loaded(*nodes, web(1), scenario("{settles: {}}", events=events))
        return [note.split(" ")[0] for note in abstractions(given, plan_of(given, VerifyOptions()))]

    assert notes(1, "") == []
    assert notes(1, "{cordon: {name: rescale}}") == ["events"]
    assert notes(1, grow) == ["events", "pod"]
    assert notes(100, "") == ["scheduler"]


# -- naming a path ----------------------------------------------------------------------------------


class _Elsewhere:
    """A store that says every step leads to a state that does not exist."""

    class store:  # noqa: N801
        @staticmethod
        def cells_of(state):
            return ("nowhere",) * 3


def test_a_path_that_no_named_step_follows_is_a_fault_of_ours():
    from kubeproof.cluster.loops.actions import SetReplicas
    from kubeproof.cluster.loops.control import Decision, Role
    from kubeproof.engine.system import Effect, Step

    model = model_of(*PENDING)
    (start,) = model.initial()
    step = Step(0, Effect(int(Role.URGENT), 0, (), Decision((SetReplicas(0, 3),))), 1)

    with pytest.raises(InternalError, match="no step by name follows"):
        follow(model, start, _Elsewhere, [step])


TEN_UNASKED = VerifyOptions(engine="python", effort=Effort(max_unasked=10, max_looks=0))


def test_the_built_in_scenario_ends_by_itself_unless_the_user_says_how_far_to_go() -> None:
    unasked = loaded(node("a"), node("b"), web(2))

    assert verify(unasked, TEN_UNASKED).statistics.stopped_by == StoppedBy(StopReason.STATES, 10)
    assert verify(unasked, replace(TEN_UNASKED, max_states=100_000)).statistics.stopped_by is None
    assert verify(unasked, replace(TEN_UNASKED, timeout_s=3600)).statistics.stopped_by is None


def test_a_scenario_of_the_users_is_searched_to_the_end() -> None:
    asked = loaded(node("a"), node("b"), web(2), scenario("{settles: {}}"))

    assert verify(asked, TEN_UNASKED).statistics.stopped_by is None
