"""Finished results to make reports from."""

from dataclasses import replace

from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.objects import Source
from kubeproof.manifests.loaded import Group, Sort
from kubeproof.verdicts import Verdict
from kubeproof.verify.facts import Fact
from kubeproof.verify.matrix.result import Cell, Column, Grade, Matrix, Row
from kubeproof.verify.result import (
    Change,
    IntentResult,
    OmittedGroup,
    Statistics,
    Trace,
    TraceStep,
    VerifyResult,
)

ANTI = "InterPodAffinity: node(s) didn't match pod anti-affinity rules"
READY = (Change("Pod/shop/other-1", "ready", "True"),)
SCORES = ("node-a scores 100", "node-b scores 90")


def named(text: str) -> Actor:
    """Who acts, from a kind and what it looks after."""
    kind, _, about = text.partition(" ")
    return Actor(ActorKind(kind), about)


def step(actor: str, action: str, time_s: int = 0, why: tuple[str, ...] = ()) -> TraceStep:
    """A step; the scheduler's has its scores as reasons."""
    return TraceStep(
        actor=named(actor),
        action=action,
        object="Pod/shop/web-1",
        changes=(Change("Pod/shop/web-1", "spec.nodeName", "node-a"),),
        time_s=time_s,
        why=why or (SCORES if actor == "scheduler" else ()),
        code=("bind", 0, (1, 2)),
    )


TRACE = Trace(
    steps=(step("replicaset", "creates shop/web-1"), step("scheduler", "binds shop/web-1 to node-a", 3)),
    final=(Fact("node-b: PodTopologySpread skew 2 above 1"),),
)

VIOLATION = IntentResult(
    id="S004",
    intent="web fits",
    key="schedulable",
    target="Deployment/shop/web",
    verdict=Verdict.VIOLATED,
    detail="pod shop/web-1 has no feasible node",
    nodes=3,
    pods=1,
    states=1200,
    transitions=3400,
    trace=TRACE,
    remedy="Raise maxSkew to 2.",
    sources=(("Deployment/shop/web", Source("web.yaml", 4)), ("Node/node-b", Source("nodes.yaml", 20))),
    location=Source("scenario.yaml", 9),
)

PROOF = IntentResult(
    id="L001",
    intent="settles",
    key="settles",
    target="",
    verdict=Verdict.HOLDS,
    detail="every run becomes stable",
    nodes=3,
    pods=1,
    states=1,
    transitions=1,
)

STATISTICS = Statistics(
    states=1200,
    transitions=3400,
    depth=17,
    elapsed_s=0.5,
    memo_calls=1000,
    memo_misses=50,
    engine="compiled",
    reductions=("symmetry",),
    acted=(("replicaset web", ("creates pods",)),),
    idle=("taint-eviction",),
)

RESULT = VerifyResult(
    scenario="one-node-down",
    verdict=Verdict.VIOLATED,
    scope=(("nodes", "3"), ("workloads", "Deployment/shop/web")),
    results=(VIOLATION, PROOF),
    not_modelled=("kind Service (web.yaml:40)",),
    statistics=STATISTICS,
    inputs=(("web.yaml", "kind: Deployment\n"),),
)

# -- a survival matrix -------------------------------------------------------------------------------

COLUMNS = (
    Column("rollout", "rollout", "a new revision is rolled out"),
    Column("nodeLoss", "node lost", "a node fails and stays down"),
    Column("podCrash", "pod crash", "a container of one of its pods exits"),
)


def matrix_row(name: str, replicas: int = 1, line: int = 1) -> Row:
    return Row(f"Deployment/shop/{name}", replicas, 1, "", Source("shop.yaml", line))


def matrix_result(name: str, fault: str, verdict: str, trace: Trace | None = None, **more: str) -> IntentResult:
    """The result of a cell."""
    return IntentResult(
        id="S001",
        intent=f"comes back Deployment/shop/{name} ({fault})",
        key="minReady",
        target=f"Deployment/shop/{name}",
        verdict=verdict,
        detail=f"about Deployment/shop/{name}",
        nodes=3,
        pods=4,
        states=10,
        transitions=12,
        trace=trace,
        location=Source("shop.yaml", 1),
        faults=(fault,),
        **more,
    )


def lost(name: str, node: str) -> Trace:
    """A run in which a node is lost and the workload's pod finds no other."""
    ref = f"Deployment/shop/{name}"
    return Trace(
        steps=(
            step(f"scheduler {name}", f"binds {name}-1 to {node}"),
            TraceStep(named("event nodeLoss"), f"node {node} fails for good", f"Node/{node}", (), 20),
            TraceStep(named("time"), "50 s pass", "", (), 70),
            TraceStep(named("kubelet"), "of node-z starts pod other-1", "Node/node-z", READY, 70),
            TraceStep(named(f"replicaset {name}"), f"creates pod {name}-2", f"Deployment/shop/{name}", (), 70),
        ),
        final=(
            Fact(f"{ref}: desired 1, ready 0, not ready 0, without a node 1", shape="desired, without a node"),
            Fact(f"1 pod(s) of {ref} without a node: {name}-2", ref, shape="without a node"),
            *(Fact(f"{other}: {ANTI} (a={other}: 1 pod(s))", node=other, shape=ANTI) for other in ("node-y", "node-z")),
        ),
        deployed_steps=1,
    )


def crashed(name: str) -> Trace:
    """A run in which a container exits."""
    said = f"a container of pod {name}-1 on node-a exits"
    changed = (Change(f"Pod/shop/{name}-1", "status.ready", "False"),)
    told = f"Deployment/shop/{name}: desired 1, ready 0, not ready 1, without a node 0"
    final = (Fact(told, shape="desired, not ready"),)
    crash = TraceStep(named("event podCrash"), said, "", changed, 20)
    steps = (step(f"scheduler {name}", f"binds {name}-1 to node-a"), crash)
    return Trace(steps, final=final, deployed_steps=1)


def _matrix() -> VerifyResult:
    results: list[IntentResult] = []
    cells: list[Cell] = []

    def add(grade: Grade, result: IntentResult, lowest: int | None = None, longest_s: int | None = None) -> None:
        cells.append(Cell(result.target, result.faults, grade, result.detail, lowest, longest_s, len(results)))
        results.append(result)

    for name in ("api", "cart", "web"):
        add(Grade.STEADY, matrix_result(name, "rollout", Verdict.HOLDS))
        if name == "web":
            add(Grade.UNKNOWN, matrix_result(name, "nodeLoss", Verdict.UNKNOWN))
        else:
            more = {"remedy": "Give it another node."}
            add(Grade.STUCK, matrix_result(name, "nodeLoss", Verdict.VIOLATED, lost(name, f"node-of-{name}"), **more))
        more = {"severity": "info", "remedy": "Run two."}
        add(Grade.DIPS, matrix_result(name, "podCrash", Verdict.VIOLATED, crashed(name), **more), 0, 345)
    rows = tuple(matrix_row(name, line=line) for line, name in enumerate(("api", "cart", "web"), 1))
    matrix = Matrix(COLUMNS, rows, tuple(cells), pairs_left=7)
    return replace(
        RESULT,
        scenario="survival matrix",
        scope=(("kubernetes", "1.37"), ("nodes", "3 in 1 class(es)"), ("assumed nodes", "3 nodes of 4 CPU")),
        results=tuple(results),
        omitted=(OmittedGroup(Group(Sort.KIND, "Service"), 1, False),),
        matrix=matrix,
    )


MATRIX_RESULT = _matrix()
