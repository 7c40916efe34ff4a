"""Finished results to make reports from."""

from kubeproof.cluster.objects import Source
from kubeproof.verify.result import (
    HOLDS,
    VIOLATED,
    IntentResult,
    Statistics,
    Trace,
    TraceStep,
    VerifyResult,
)

SCORES = ("node-a scores 100", "node-b scores 90")


def step(actor: str, action: str, time_s: int = 0, why: tuple[str, ...] = ()) -> TraceStep:
    """A step; the scheduler's has its scores as reasons."""
    return TraceStep(
        actor=actor,
        action=action,
        object="Pod/shop/web-1",
        changes=("Pod/shop/web-1 spec.nodeName = node-a",),
        time_s=time_s,
        why=why or (SCORES if actor == "scheduler" else ()),
        code=("bind", 0, (1, 2)),
    )


TRACE = Trace(
    steps=(step("replicaset", "creates shop/web-1"), step("scheduler", "binds shop/web-1 to node-a", 3)),
    final=("node-b: PodTopologySpread skew 2 above 1",),
)

VIOLATION = IntentResult(
    id="S004",
    intent="web fits",
    key="schedulable",
    target="Deployment/shop/web",
    verdict=VIOLATED,
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
    verdict=HOLDS,
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
    verdict=VIOLATED,
    scope=(("nodes", "3"), ("workloads", "Deployment/shop/web")),
    results=(VIOLATION, PROOF),
    not_modelled=("kind Service (web.yaml:40)",),
    statistics=STATISTICS,
    inputs=(("web.yaml", "kind: Deployment\n"),),
)
