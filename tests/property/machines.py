"""Random small clusters whose node groups a cluster autoscaler grows and shrinks."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.kinds import DEPLOYMENT, POD, REPLICA_SET
from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.nodes.node_groups import EXPANDERS, ClusterAutoscaler, NodeGroup, with_groups
from kubeproof.cluster.objects import HOSTNAME, ZONE, Container, Node, PodTemplate, Setup, Workload
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.volumes import Claim, StorageClass
from kubeproof.events.declarations import STABLE, Drain, Event, NodeFailure, Scale, ZoneFailure
from tests.property.families import BASIC_FAMILIES
from tests.property.intents import intent_lists
from tests.property.jobs import job_cases
from tests.property.owners import OWNER_FAMILIES, STRATEGIES, daemon_set
from tests.property.priorities import PRIORITY_FAMILIES
from tests.property.strategies import (
    MIB,
    TOLERATIONS,
    Case,
    choice,
    node_labels,
    plain_spreads,
    selector_for,
    settings_values,
    workload,
)

CPU = 1000
OTHERS = {**BASIC_FAMILIES, **OWNER_FAMILIES, **PRIORITY_FAMILIES, "job": job_cases}
LOCAL = StorageClass("fast", "rancher.io/local-path", waits=True)
ZONAL = StorageClass("fast", "ebs.csi.aws.com", waits=True)


@st.composite
def machine_cases(draw: st.DrawFn) -> Case:
    """Groups and pods made for each other, or any other case with its nodes in a group."""
    return draw(st.one_of(_grown_cases(), _grown_cases(), _attached_cases()))


@st.composite
def _attached_cases(draw: st.DrawFn) -> Case:
    """What other loops do to pods and nodes, beside an autoscaler that knows the first node's group."""
    names = choice("daemon", "stateful", "preempt", "failure", "job")
    case = draw(OTHERS[draw(names)]())
    group = NodeGroup("group", draw(choice(0, 1)), len(case.setup.nodes) + draw(choice(0, 1)), case.setup.nodes[0])
    flags = ClusterAutoscaler(
        (group,),
        unneeded_s=draw(choice(30, 0)),
        unready_s=60,
        delay_after_add_s=draw(choice(0, 20)),
        provisioning_s=draw(choice((5, 5), (0, 0))),
        removes_unready=draw(st.booleans()),
    )
    return replace(case, setup=with_groups(case.setup, flags))


@st.composite
def _grown_cases(draw: st.DrawFn) -> Case:
    """One or two groups, pods that take a third to a whole node, and what makes them more, fewer or move."""
    zones = draw(choice(("a",), ("a",), ("a", "b"), ("a", "b")))
    some = tuple(_node(f"n{index + 1}", zone) for index, zone in enumerate(zones[: draw(choice(1, 1, 2))]))
    first = workload(draw(choice(DEPLOYMENT, REPLICA_SET)), "web", draw(_template("web")), draw(choice(1, 1, 2)))
    workloads = [first, *draw(_others(is_small=first.replicas == 1))]
    bare = Setup(some, tuple(workloads), settings=draw(settings_values()))
    if draw(choice(False, False, False, True)):
        bare = _with_claim(bare, draw(choice(LOCAL, ZONAL)))
    setup = with_groups(replace(bare, budgets=draw(_budgets())), draw(_autoscalers(zones)))
    return Case(setup, draw(_events(first, zones)), draw(intent_lists(workloads, most=2)))


def _node(name: str, zone: str) -> Node:
    return Node(name, node_labels(name, zone, None, True), cpu_milli=CPU, memory_bytes=1024 * MIB)


@st.composite
def _template(draw: st.DrawFn, app: str) -> PodTemplate:
    return PodTemplate(
        labels=(("app", app),),
        containers=(Container("main", draw(choice(600, 600, 400, 1000, 300, None)), 64 * MIB),),
        tolerations=draw(TOLERATIONS),
        spread=tuple(draw(st.lists(plain_spreads(app), max_size=1))) if draw(choice(False, False, True)) else (),
        grace_s=draw(choice(0, 0, 10)),
        safe_to_evict=draw(choice(None, None, None, True, False)),
        has_local_storage=draw(choice(False, False, False, True)),
    )


@st.composite
def _others(draw: st.DrawFn, *, is_small: bool) -> list[Workload]:
    kind = draw(choice(None, None, POD, DEPLOYMENT, "DaemonSet")) if is_small else None
    if kind is None:
        return []
    template = replace(draw(_template("db")), spread=(), priority=draw(choice(0, 0, -20)))
    if kind == "DaemonSet":
        small = replace(template, containers=(Container("main", 100, 64 * MIB),), priority=0)
        return [daemon_set("db", small, draw(STRATEGIES))]
    return [workload(kind, "db", template, 1, namespace=draw(choice("shop", "shop", "kube-system")))]


@st.composite
def _budgets(draw: st.DrawFn) -> tuple[PodDisruptionBudget, ...]:
    if draw(choice(True, True, False)):
        return ()
    amounts = draw(choice(((1, False), None), (None, (1, False)), (None, (0, False))))
    return (PodDisruptionBudget("shop", "budget", draw(choice(selector_for("web"), LabelSelector())), *amounts),)


@st.composite
def _autoscalers(draw: st.DrawFn, zones: tuple[str, ...]) -> ClusterAutoscaler:
    groups = [NodeGroup(f"group-{z}", draw(choice(0, 0, 1)), draw(choice(2, 1)), _node("t", z)) for z in zones]
    if draw(choice(False, False, True)):
        shape = replace(_node("t", zones[0]), cpu_milli=draw(choice(2000, 500)))
        groups = [*groups[:1], NodeGroup("other", 0, 1, shape)]
    return ClusterAutoscaler(
        tuple(groups),
        expanders=draw(choice((), *((name,) for name in EXPANDERS))),
        priorities=((10, ("other",)), (5, ("group",))),
        unneeded_s=draw(choice(30, 30, 0)),
        unready_s=draw(choice(60, 400)),
        delay_after_add_s=draw(choice(0, 20, 60)),
        provisioning_s=draw(choice((20, 20), (0, 0), (5, 15))),
        removes_unready=draw(choice(True, True, False)),
        skips_local_storage=draw(st.booleans()),
        ignores_daemon_sets=draw(st.booleans()),
        balances=draw(st.booleans()),
        utilization_permille=draw(choice(500, 700)),
        most_nodes=draw(choice(0, 0, 2)),
    )


@st.composite
def _events(draw: st.DrawFn, first: Workload, zones: tuple[str, ...]) -> tuple[Event, ...]:
    kind = draw(choice("scale", "scale", "none", "failure", "zone", "drain", "both"))
    after = draw(choice(STABLE, STABLE, None))
    sizes = (first.replicas + 1, 0) if draw(st.booleans()) else (1 if first.replicas != 1 else 2,)
    scale = Scale(name="scale", target=first.ref, replicas=sizes, max=len(sizes), after=after)
    if kind == "none":
        return ()
    if kind == "failure":
        return (NodeFailure(name="failure", recovers=draw(st.booleans()), after=after),)
    if kind == "zone":
        return (ZoneFailure(name="zone", topology_key=draw(choice(ZONE, ZONE, HOSTNAME)), after=after),)
    if kind == "drain":
        return (Drain(name="drain", uncordon=draw(st.booleans()), after=after),)
    return (scale,) if kind == "scale" else (scale, NodeFailure(name="failure", after=STABLE))


def _with_claim(setup: Setup, storage_class: StorageClass) -> Setup:
    """The first workload's pods share a claim."""
    first = setup.workloads[0]
    mounting = replace(first, template=replace(first.template, claims=("data",)))
    claim = Claim("shop", "data", 1, "fast", ("ReadWriteOnce",))
    return replace(setup, workloads=(mounting, *setup.workloads[1:]), claims=(claim,), storage_classes=(storage_class,))
