"""Clusters in which workloads could be proved one by one, whatever the others do, but for one thing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kubeproof.cluster.kinds import DAEMON_SET, JOB, POD, STATEFUL_SET
from kubeproof.cluster.labels import NO_SCHEDULE, Taint, Toleration
from kubeproof.cluster.nodes.places import UNSCHEDULABLE
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    HostPort,
    JobRules,
    PodAffinity,
    PodTerm,
    SchedulerProfile,
    Settings,
    SpreadConstraint,
    WeightedPodTerm,
    Workload,
)
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.cluster.volumes import Claim, StorageClass, Volume
from kubeproof.events.declarations import (
    NEW_REVISION,
    STABLE,
    Completes,
    Drain,
    NeverReady,
    NodeFailure,
    Rollout,
    Scale,
)
from kubeproof.intents.declarations import Amount
from kubeproof.manifests.loaded import Loaded
from tests.differential.guards.clusters import (
    Witness,
    budget,
    cluster,
    container,
    deployment,
    for_good,
    named,
    node,
    of,
    placed,
    selecting,
    workload,
)

ONE = Amount(1)
READY = {"count": ONE, "when": "eventuallyAlways"}
TINY = workload("tiny", cpu=1)


def on_port(name: str, **more: Any) -> Workload:
    """A small pod that takes a port of its node."""
    return workload(name, containers=(container(1, host_ports=(HostPort(80),)),), **more)


def preempted() -> Loaded:
    """A pod of higher priority takes the place of a ready one."""
    a, b = workload("a", priority=0), workload("b", priority=10)
    return cluster((node("n1"),), (a, b), of("minReady", a, count=ONE), start=placed(a=(("n1", 1),)))


def preempted_for_a_port() -> Loaded:
    """There is room for both, but they want the same port."""
    a, b = on_port("a", priority=0), on_port("b", priority=10)
    return cluster((node("n1", 9000),), (a, b, TINY), of("minReady", a, count=ONE), start=placed(a=(("n1", 1),)))


def refused_again_and_again() -> Loaded:
    """The kubelet refuses the pod that names its node, without end, and no time passes in which others start."""
    a = workload("a", cpu=1, node_name="n1", node_selector=(("disk", "ssd"),))
    return cluster((node("n1"),), (a, TINY), of("minReady", TINY, **READY))


def evicted_at_once() -> Loaded:
    """The drained node takes the pod back, and evicts it, without end, and no time passes in which others start."""
    a = workload("a", tolerations=for_good(UNSCHEDULABLE), containers=(container(1),))
    drain = Drain(name="drain", nodes=named("n1"))
    settings = Settings(startup_s=(1, 1), monitor_period_s=0)
    return cluster(
        (node("n1"), node("n2")), (a, TINY), of("minReady", TINY, **READY), events=(drain,), settings=settings
    )


def ending_without_end() -> Loaded:
    """The taint evicts a pod second by second, and those that still end fill the node."""
    old = Taint("old", "", "NoExecute")
    a = workload("a", cpu=200, tolerations=(Toleration("old", "Exists", "", "", 1),), grace_s=2)
    b = workload("b", cpu=200, tolerations=for_good("old"), grace_s=0)
    scale = Scale(name="scale", target=b.ref, replicas=(2,))
    return cluster((node("n1", 800, taints=(old,)),), (a, b), of("noPendingForever", b), events=(scale,))


def elsewhere_too_small() -> Loaded:
    """The scheduler does not ask for labels, and the node without the label is too small."""
    a = workload("a", node_selector=(("disk", "ssd"),))
    some = (node("n1", disk="ssd"), node("n2", 100))
    profile = SchedulerProfile(disabled=frozenset({"NodeAffinity"}))
    return cluster(some, (a, workload("b")), of("noPendingForever", a), profiles=(profile,))


def past_its_deadline() -> Loaded:
    """The Job ends before its pod does."""
    job = workload("a", cpu=1, kind=JOB, job=JobRules(deadline_s=5), grace_s=0)
    runs = Completes(name="runs", target=job.ref, least_s=9, most_s=9)
    return cluster((node("n1"),), (job, TINY), of("completes", job), events=(runs,))


def refused_on_its_node() -> Loaded:
    """The node that the pod names has no room left."""
    a, b = workload("a", kind=POD, node_name="n1"), workload("b", kind=POD, bound_to="n1")
    return cluster((node("n1"),), (a, b), of("minReady", a, **READY))


def under_a_quota() -> Loaded:
    """The quota admits one pod of two; the other workload is in another namespace."""
    a, b = workload("a", 2, 1), replace(workload("b", cpu=1), namespace="garage")
    quota = ResourceQuota("shop", "quota", (("pods", 1),))
    return cluster((node("n1"),), (a, b), of("minReady", a, count=Amount(2), when="stable"), quotas=(quota,))


def scaled_up() -> Loaded:
    """The autoscaler wants more pods than the intent admits."""
    a = deployment("a", cpu=100)
    metric = Metric("Resource", "cpu", "Utilization", 20)
    scaler = HorizontalPodAutoscaler("shop", "a", a.ref, 1, 2, (metric,))
    return cluster((node("n1"),), (a, TINY), of("maxReplicas", a, count=ONE), autoscalers=(scaler,))


def written_in_turn() -> Loaded:
    """The autoscaler writes its minimum, the reconciler what the manifest says, again and again."""
    a = workload("a", cpu=100)
    metric = Metric("Resource", "cpu", "Utilization", 90)
    scaler = HorizontalPodAutoscaler("shop", "a", a.ref, 2, 2, (metric,))
    settings = Settings(startup_s=(1, 1), monitor_period_s=0, gitops_interval_s=60)
    return cluster((node("n1"),), (a, TINY), of("noOscillation", a), autoscalers=(scaler,), settings=settings)


def never_drained() -> Loaded:
    """A budget keeps the other pod on the node, which is never uncordoned."""
    a = workload("a", cpu=1, node_selector=(("disk", "ssd"),))
    b = workload("b", cpu=1, node_selector=(("disk", "ssd"),))
    drain = Drain(name="drain", after=STABLE, uncordon=True, nodes=named("n1"))
    return cluster(
        (node("n1", disk="ssd"), node("n2")),
        (a, b),
        of("noPendingForever", a),
        events=(drain,),
        start="deployed",
        budgets=(budget(most=0, app="b"),),
    )


def daemon_without_room() -> Loaded:
    """The pod of the other workload is there first."""
    a = workload("a", kind=DAEMON_SET)
    return cluster((node("n1"),), (a, workload("b")), of("noPendingForever", a))


def beside_daemons() -> Loaded:
    """What the daemon pods take is not there for others."""
    a, b = workload("a"), workload("b", kind=DAEMON_SET, cpu=500)
    return cluster((node("n1"), node("n2")), (a, b), of("noPendingForever", a))


def beside_one_that_was_put_there() -> Loaded:
    """A pod that runs where the scheduler would not put it leaves no room for the one that belongs there."""
    own = node("n1", pool="own", taints=(Taint("pool", "own", NO_SCHEDULE),))
    asks = {"node_selector": (("pool", "own"),), "tolerations": (Toleration("pool", "Exists"),)}
    a, b = workload("a", cpu=500, **asks), workload("b", kind=POD, bound_to="n1")
    return cluster((own, node("n2")), (a, b), of("noPendingForever", a))


def beside_surge() -> Loaded:
    """A rollout that is never complete keeps a pod too many."""
    a, b = workload("a", cpu=300), deployment("b", cpu=400)
    rollout = Rollout(name="rollout", target=b.ref)
    broken = NeverReady(name="broken", target=b.ref, revision=NEW_REVISION)
    return cluster((node("n1"),), (a, b), of("noPendingForever", a), events=(rollout, broken))


def beside_scaled() -> Loaded:
    """The other workload is scaled up, and takes the room."""
    a, b = workload("a", cpu=400), workload("b", 1, 350)
    scale = Scale(name="scale", target=b.ref, replicas=(4,))
    return cluster((node("n1"), node("n2")), (a, b), of("noPendingForever", a), events=(scale,))


def spread_over_others() -> Loaded:
    """A pod keeps out of the zone that has two pods more of the other workload."""
    spread = (SpreadConstraint(ZONE, 1, True, selecting(app="b"), honor_affinity=False),)
    a = workload("a", cpu=1, spread=spread, node_selector=((ZONE, "z1"),))
    b = workload("b", 2, 1, node_selector=((ZONE, "z1"),))
    some = (node("n1", **{ZONE: "z1"}), node("n2", **{ZONE: "z2"}))
    return cluster(some, (a, b), of("noPendingForever", a))


def one_volume_for_two() -> Loaded:
    """Two claims want the only volume."""
    modes = ("ReadWriteOnce",)
    claims = tuple(Claim("shop", name, 1, "local", modes) for name in ("one", "two"))
    a, b = (workload(name, cpu=1, claims=(claim.name,)) for name, claim in zip("ab", claims, strict=True))
    return cluster(
        (node("n1"),),
        (a, b),
        of("noPendingForever", a),
        claims=claims,
        volumes=(Volume("disk", 1, "local", modes),),
        storage_classes=(StorageClass("local", "kubernetes.io/no-provisioner", waits=True),),
    )


def mounted_by_a_backup() -> Loaded:
    """Somebody mounts the claim of an ordinal in another zone: it gets its volume where the first of them is."""
    modes = ("ReadWriteMany",)
    own, known = Claim("", "data", 1, "fast", modes), Claim("shop", "data-a-0", 1, "fast", modes)
    a = workload("a", cpu=1, kind=STATEFUL_SET, claim_templates=(own,), node_selector=((ZONE, "z1"),))
    b = workload("b", cpu=1, claims=("data-a-0",), node_selector=((ZONE, "z2"),))
    some = (node("n1", **{ZONE: "z1"}), node("n2", **{ZONE: "z2"}))
    classes = (StorageClass("fast", "ebs.csi.aws.com", waits=True),)
    return cluster(some, (a, b), of("noPendingForever", b), claims=(known,), storage_classes=classes)


def together(db: Workload, web: Workload, **more: Any) -> Loaded:
    """Both pods of web are on the node without db, and it is lost."""
    loss = NodeFailure(name="loss", recovers=False, after=STABLE, nodes=named("n2"))
    return cluster(
        (node("n1"), node("n2")), (web, db), of("minReady", web, count=ONE), events=(loss,), start="deployed", **more
    )


def drawn_to_the_empty_node() -> Loaded:
    """What the other workload leaves free counts more than that pods should be apart."""
    profile = SchedulerProfile(weights=(("NodeResourcesFit", 9),))
    db = workload("db", cpu=700, node_selector=((HOSTNAME, "n1"),))
    return together(db, workload("web", 2, 100), profiles=(profile,))


def spread_from_others() -> Loaded:
    """Pods keep away from those of the other workload rather than from each other."""
    labels = {name: (("app", name), ("tier", "x")) for name in ("web", "db")}
    soft = (SpreadConstraint(HOSTNAME, 1, False, selecting(tier="x")),)
    db = workload("db", 3, 1, labels=labels["db"], node_selector=((HOSTNAME, "n1"),))
    return together(db, workload("web", 2, 1, labels=labels["web"], spread=soft))


def repelled_by_others() -> Loaded:
    """A pod of the other workload would rather have those of web elsewhere."""
    terms = (WeightedPodTerm(100, PodTerm(HOSTNAME, selecting(app="web"))),)
    db = workload("db", 3, 1, node_selector=((HOSTNAME, "n1"),), pod_anti_affinity=PodAffinity(preferred=terms))
    return together(db, workload("web", 2, 1))


def spread_over_a_cordoned_node() -> Loaded:
    """A node that takes no pods counts as a domain without any."""
    a = workload("a", 2, 1, spread=(SpreadConstraint(HOSTNAME, 1, True, selecting(app="a")),))
    return cluster((node("n1"), node("n2", unschedulable=True)), (a, TINY), of("noPendingForever", a))


def kept_out_of_a_zone() -> Loaded:
    """A pod that ends on a dead node keeps its successor out of the zone, and others may fill the third one."""
    apart = PodAffinity((PodTerm(ZONE, selecting(app="web")),))
    web = workload("web", 2, 200, pod_anti_affinity=apart)
    zoned = tuple(node(f"{zone}{number}", **{ZONE: zone}) for zone in "abc" for number in (1, 2))
    others = (workload("db", 1, 900), workload("dc", 1, 900))
    loss = NodeFailure(name="loss", recovers=False)
    start = placed(web=(("a1", 1), ("b1", 1)), db=(("c1", 1),), dc=(("c2", 1),))
    asked = of("minReady", web, count=Amount(2), when="eventuallyAlways")
    return cluster(zoned, (web, *others), asked, events=(loss,), start=start)


WITNESSES: dict[str, Witness] = {
    "a pod of higher priority takes the room": preempted,
    "a pod of higher priority takes the port": preempted_for_a_port,
    "a pod is refused without end": refused_again_and_again,
    "a drained node evicts a pod without end": evicted_at_once,
    "pods end without end": ending_without_end,
    "a scheduler does not ask for labels": elsewhere_too_small,
    "a Job ends before its pods": past_its_deadline,
    "a pod is refused on the node that it names": refused_on_its_node,
    "a quota counts the pods of a part": under_a_quota,
    "an autoscaler resizes a part": scaled_up,
    "an autoscaler and a reconciler write in turn": written_in_turn,
    "others never leave a drained node": never_drained,
    "a daemon pod comes too late": daemon_without_room,
    "daemon pods take room": beside_daemons,
    "a pod runs on a node that would refuse it": beside_one_that_was_put_there,
    "a workload that grows takes room": beside_scaled,
    "a rollout that is never complete takes room": beside_surge,
    "a spread constraint counts pods of others": spread_over_others,
    "claims want the same volume": one_volume_for_two,
    "the claim of an ordinal is mounted by others": mounted_by_a_backup,
    "pods are spread over a cordoned node": spread_over_a_cordoned_node,
    "pods are drawn to the empty node": drawn_to_the_empty_node,
    "pods are spread from those of others": spread_from_others,
    "pods are repelled by those of others": repelled_by_others,
    "a pod that never ends keeps its successor out of a zone": kept_out_of_a_zone,
}
