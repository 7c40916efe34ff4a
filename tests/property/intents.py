"""Random intents about a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.kinds import DAEMON_SET, JOBS, POD, ROLLED_OUT
from kubeproof.cluster.labels import (
    LabelSelector,
    Requirement,
)
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Workload,
)
from kubeproof.intents.declarations import ALWAYS, EVICTORS, WHENS, Amount, Intent
from tests.property.strategies import POOL, choice

COUNTED = ("minReady", "minReplicas", "maxReplicas")
TIMED = (*COUNTED, "maxSkew", "maxPodObjects", "maxNodes", "spread", "notColocated", "onlyOn", "runsOnEveryNode")
EVERY_KEY = (
    "settles",
    "minReady",
    "minReady",
    "minReplicas",
    "maxReplicas",
    "maxSkew",
    "schedulable",
    "noPendingForever",
    "noOscillation",
    "maxPodObjects",
    "maxNodes",
    "spread",
    "notColocated",
    "onlyOn",
    "noEviction",
    "noEvictionLoop",
    "noCreateFailLoop",
)
AMOUNTS = choice(Amount(1), Amount(2), Amount(0), Amount(100, percent=True), Amount(50, percent=True), Amount(3))
TOPOLOGY_KEYS = choice(HOSTNAME, ZONE, ZONE, POOL)
NODE_SELECTORS = choice(
    LabelSelector((Requirement(ZONE, "In", ("a",)),)),
    LabelSelector((Requirement(POOL, "DoesNotExist"),)),
    LabelSelector(),
)


@st.composite
def intents(draw: st.DrawFn, workloads: Sequence[Workload], keys: tuple[str, ...]) -> Intent:
    """One of these intents, with any `when` it allows; the name is added later."""
    key = draw(choice(*keys))
    target = draw(choice(*(w.ref for w in workloads)))
    timed = Intent(key=key, name="", target=target, when=draw(choice(*WHENS)) if key in TIMED else ALWAYS)
    if key in ("settles", "drainCompletes"):
        return replace(timed, target=None)
    if key == "noOscillation":
        of = draw(choice("any", "replicas", "placement"))
        return replace(timed, target=draw(choice(None, target)), of=of)
    if key in COUNTED:
        return replace(timed, count=draw(AMOUNTS))
    if key in ("noEviction", "noEvictionLoop"):
        return replace(timed, by=draw(choice("any", *EVICTORS)))
    if key in ("maxPodObjects", "maxNodes"):
        return _objects_intent(draw, timed)
    return _topology_intent(draw, timed, workloads) if key in TIMED[3:] and key != "runsOnEveryNode" else timed


def _objects_intent(draw: st.DrawFn, intent: Intent) -> Intent:
    count = Amount(draw(choice(2, 1, 3)))
    if intent.key == "maxPodObjects":
        phases = draw(choice((), (), ("Failed",), ("Pending", "Terminating"), ("Running",)))
        return replace(intent, target=draw(choice(intent.target, intent.target, None)), count=count, phases=phases)
    names, selector = draw(choice((None, None), (("n1",), None))), draw(choice(None, NODE_SELECTORS))
    nodes = draw(selector) if selector is not None and names[0] is None else None
    return replace(intent, target=None, count=count, nodes=nodes, node_names=names[0])


def _topology_intent(draw: st.DrawFn, intent: Intent, workloads: Sequence[Workload]) -> Intent:
    if intent.key == "maxSkew":
        return _skew(draw, intent, workloads)
    if intent.key == "onlyOn":
        by_name = draw(choice(False, False, True))
        nodes = None if by_name else draw(NODE_SELECTORS)
        return replace(intent, nodes=nodes, node_names=("n1",) if by_name else None)
    keyed = replace(intent, topology_key=draw(TOPOLOGY_KEYS))
    if intent.key == "spread":
        return replace(keyed, domains=draw(choice(1, 2, 2, 3)))
    selector = draw(choice(LabelSelector(), *(w.selector for w in workloads)))
    return replace(keyed, selector=selector, namespace=draw(choice(None, "other")))


def _skew(draw: st.DrawFn, intent: Intent, workloads: Sequence[Workload]) -> Intent:
    by_selector = draw(choice(False, False, True))
    return replace(
        intent,
        target=None if by_selector and draw(st.booleans()) else intent.target,
        topology_key=draw(TOPOLOGY_KEYS),
        skew=draw(choice(1, 1, 0, 2)),
        selector=draw(choice(LabelSelector(), *(w.selector for w in workloads))) if by_selector else None,
        namespace=draw(choice(None, "shop", "other")) if by_selector else None,
    )


def _can_mean(intent: Intent, workloads: Sequence[Workload]) -> bool:
    """Nobody replaces a bare pod, only some kinds roll out or complete, and only DaemonSets want every node."""
    kinds = {w.ref: w.kind for w in workloads}
    if intent.key == "completes":
        return kinds[str(intent.target)] in JOBS
    if intent.key in ("rolloutCompletes", "runsOnEveryNode"):
        meant = ROLLED_OUT if intent.key == "rolloutCompletes" else (DAEMON_SET,)
        return kinds[str(intent.target)] in meant
    return intent.key not in ("noEvictionLoop", "noCreateFailLoop") or kinds[str(intent.target)] != POD


@st.composite
def intent_lists(
    draw: st.DrawFn, workloads: Sequence[Workload], *, most: int = 3, keys: tuple[str, ...] = EVERY_KEY
) -> tuple[Intent, ...]:
    """One to `most` intents, named by position."""
    drawn = draw(st.lists(intents(workloads, keys), min_size=1, max_size=most))
    meant = [i if _can_mean(i, workloads) else Intent(key="settles", name="") for i in drawn]
    return tuple(replace(intent, name=f"intent-{number}") for number, intent in enumerate(meant))
