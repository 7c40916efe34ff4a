"""Clusters in which it would be enough to follow one pod of a workload, but for one thing."""

from __future__ import annotations

from typing import Any

from kubeproof.cluster.kinds import CRON_JOB, STATEFUL_SET
from kubeproof.cluster.objects import (
    HOSTNAME,
    REPLACE,
    CronRules,
    HostPort,
    PodAffinity,
    PodTerm,
    SchedulerProfile,
    SpreadConstraint,
    Strategy,
    Workload,
)
from kubeproof.cluster.running import RunningPods
from kubeproof.cluster.state import Phase
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric
from kubeproof.cluster.volumes import Claim, StorageClass, Volume
from kubeproof.events.declarations import (
    NEW_REVISION,
    STABLE,
    Cordon,
    CpuLoad,
    Create,
    Drain,
    NeverReady,
    NodeFailure,
    Rollout,
    Scale,
    Usage,
    UsageChange,
)
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.manifests.loaded import Loaded, Start
from tests.differential.guards.clusters import (
    Witness,
    apart_by,
    budget,
    cluster,
    container,
    deployment,
    node,
    of,
    placed,
    selecting,
    workload,
)

TWO = Amount(2)
ROOMY = node("n1", 9000)
CLOSED = node("n2", 9000, unschedulable=True)
OWN = selecting(app="a")
CORDON = Cordon(name="cordon", after=STABLE)
READ_WRITE_ONCE = ("ReadWriteOnce",)
TINY = workload("tiny", cpu=1)


def all_ready(target: Workload) -> Intent:
    """All pods that are wanted are ready in the end."""
    return of("minReady", target, count=Amount(100, percent=True), when="eventuallyAlways")


def pair(**more: Any) -> Workload:
    """Two small pods of a ReplicaSet."""
    return workload("a", 2, 1, **more)


def only(disk: str) -> dict[str, Any]:
    """For pods of nodes with such a disk."""
    return {"node_selector": (("disk", disk),)}


def without_a_node() -> Loaded:
    """No node admits the pods."""
    a = pair(**only("ssd"))
    return cluster((ROOMY,), a, all_ready(a))


def too_full() -> Loaded:
    """There is room for one pod of two."""
    a = workload("a", 2)
    return cluster((node("n1"),), a, all_ready(a))


def with_one_volume() -> Loaded:
    """The second ordinal has no volume."""
    claim = Claim("", "data", 1, "local", READ_WRITE_ONCE)
    a = workload("a", 2, 1, kind=STATEFUL_SET, claim_templates=(claim,))
    return cluster(
        (ROOMY,),
        a,
        all_ready(a),
        volumes=(Volume("disk", 1, "local", READ_WRITE_ONCE),),
        storage_classes=(StorageClass("local", "kubernetes.io/no-provisioner", waits=True),),
    )


def with_one_claim() -> Loaded:
    """One pod at a time may use the claim."""
    modes = ("ReadWriteOncePod",)
    a = pair(claims=("data",))
    claim = Claim("shop", "data", 1, "local", modes, volume="disk")
    return cluster(
        (ROOMY,),
        a,
        all_ready(a),
        claims=(claim,),
        volumes=(Volume("disk", 1, "local", modes, claim="shop/data"),),
        storage_classes=(StorageClass("local", "kubernetes.io/no-provisioner"),),
    )


def placed_elsewhere() -> Loaded:
    """One pod is on a node that no scheduler would choose for the other one."""
    a = pair(**only("ssd"))
    return cluster((ROOMY,), a, all_ready(a), start=placed(a=(("n1", 1),)))


def running_elsewhere() -> Loaded:
    """The same, as the input has it."""
    a = pair(**only("ssd"))
    return cluster((ROOMY,), a, all_ready(a), start=Start("running", pods=(RunningPods(a.ref, "n1", Phase.READY),)))


def kept_by_a_budget() -> Loaded:
    """The only node is never uncordoned, as the budget keeps a pod there, and the new one has no other."""
    a = workload("a", 1, 1)
    drain = Drain(name="drain", after=STABLE, uncordon=True)
    scale = Scale(name="scale", after=STABLE, target=a.ref, replicas=(2,))
    return cluster(
        (ROOMY,), a, all_ready(a), events=(drain, scale), start="deployed", budgets=(budget(most=0, app="a"),)
    )


def spread_evenly() -> Loaded:
    """Pods must be spread over two nodes, of which one takes none."""
    a = pair(spread=apart_by(HOSTNAME, "a"))
    return cluster((ROOMY, CLOSED), a, all_ready(a))


def spread_by_default() -> Loaded:
    """The same, as the scheduler would have it."""
    a = pair()
    profile = SchedulerProfile(default_spread=(SpreadConstraint(HOSTNAME, 1, True, None),))
    return cluster((ROOMY, CLOSED), a, all_ready(a), profiles=(profile,))


def near_the_first() -> Loaded:
    """The second pod has to be where the first is, and that node takes none any more."""
    a = workload("a", 1, 1, pod_affinity=PodAffinity((PodTerm(HOSTNAME, OWN),)))
    scale = Scale(name="scale", after=STABLE, target=a.ref, replicas=(2,))
    return cluster((ROOMY, node("n2", 9000)), a, all_ready(a), events=(CORDON, scale), start="deployed")


def apart() -> Loaded:
    """No node takes two pods."""
    a = pair(pod_anti_affinity=PodAffinity((PodTerm(HOSTNAME, OWN),)))
    return cluster((ROOMY,), a, all_ready(a))


def on_one_port() -> Loaded:
    """Both pods want the same port."""
    a = pair(containers=(container(1, host_ports=(HostPort(80),)),))
    return cluster((ROOMY,), a, all_ready(a))


def never_ready_again() -> Loaded:
    """The pods of the new revision are never ready."""
    a = deployment("a", 1, 1)
    rollout, broken = Rollout(name="new", target=a.ref), NeverReady(name="no", target=a.ref, revision=NEW_REVISION)
    return cluster((ROOMY,), a, of("rolloutCompletes", a), events=(rollout, broken))


def resized_while_rolled_out() -> Loaded:
    """The Deployment has noted its new size before, and does nothing but scale."""
    a = deployment("a", 2, 1, strategy=Strategy(max_surge=0, surge_percent=False))
    rollout, scale = Rollout(name="new", target=a.ref), Scale(name="scale", target=a.ref, replicas=(1,))
    return cluster((ROOMY,), a, of("rolloutCompletes", a), events=(rollout, scale), start="deployed")


def autoscaled(target: Workload, aim: int, least: int = 1, most: int = 2) -> HorizontalPodAutoscaler:
    """Follows the share of CPU that pods use."""
    return HorizontalPodAutoscaler(
        "shop", "a", target.ref, least, most, (Metric("Resource", "cpu", "Utilization", aim),)
    )


def autoscaled_while_rolled_out() -> Loaded:
    """The same, because of an autoscaler."""
    a = deployment("a", 2, 100, strategy=Strategy(max_surge=0, surge_percent=False))
    rollout = Rollout(name="new", target=a.ref)
    usage = UsageChange(name="use", resource="cpu", target=a.ref, levels=(Usage(percent=50), Usage(percent=10)), max=1)
    return cluster(
        (ROOMY,),
        a,
        of("rolloutCompletes", a),
        events=(rollout, usage),
        start="deployed",
        autoscalers=(autoscaled(a, 50),),
    )


def recreated() -> Loaded:
    """A pod never ends on a dead node, and the new one waits for it."""
    a = deployment("a", 1, 1, strategy=Strategy(rolling=False))
    loss = NodeFailure(name="loss", recovers=False, after=STABLE)
    rollout = Rollout(name="new", target=a.ref)
    return cluster((ROOMY, node("n2", 9000)), a, of("rolloutCompletes", a), events=(rollout, loss), start="deployed")


def grown_too_late() -> Loaded:
    """The only node takes no new pods."""
    a = workload("a", 1, 1)
    scale = Scale(name="scale", after=STABLE, target=a.ref, replicas=(2,))
    return cluster((ROOMY,), a, all_ready(a), events=(CORDON, scale), start="deployed")


def autoscaled_too_late() -> Loaded:
    """The same, because of an autoscaler."""
    a = workload("a", 1, 100)
    use = UsageChange(
        name="use", resource="cpu", target=a.ref, levels=(Usage(percent=50), Usage(percent=100)), max=1, after=STABLE
    )
    return cluster((ROOMY,), a, all_ready(a), events=(CORDON, use), start="deployed", autoscalers=(autoscaled(a, 50),))


def scaled_down() -> Loaded:
    """There are fewer pods in the end."""
    a = pair()
    scale = Scale(name="scale", target=a.ref, replicas=(1,))
    return cluster((ROOMY,), a, of("minReady", a, count=TWO, when="eventuallyAlways"), events=(scale,))


def autoscaled_down() -> Loaded:
    """The same, because of an autoscaler."""
    a = workload("a", 2, 100)
    use = UsageChange(name="use", resource="cpu", target=a.ref, levels=(Usage(percent=10),), max=0)
    asked = of("minReady", a, count=TWO, when="eventuallyAlways")
    return cluster((ROOMY,), a, asked, events=(use,), autoscalers=(autoscaled(a, 50),))


def asked_at_any_moment() -> Loaded:
    """A pod is missing for a while."""
    a = pair()
    drain = Drain(name="drain", after=STABLE)
    asked = of("minReady", a, count=TWO, when="always")
    return cluster((ROOMY, node("n2", 9000)), (a, TINY), asked, events=(drain,), start="deployed")


def asked_for_more() -> Loaded:
    """More pods are asked for than are wanted."""
    a = pair()
    return cluster((ROOMY,), a, of("minReady", a, count=Amount(3), when="eventuallyAlways"))


def asked_of_others() -> Loaded:
    """At most one pod is asked for, which says nothing of what becomes of each."""
    a = pair()
    return cluster((ROOMY,), (a, TINY), of("maxReplicas", a, count=Amount(1)))


def never_rolled_out() -> Loaded:
    """Nobody begins a rollout."""
    a = deployment("a", 1, 1)
    return cluster((ROOMY,), a, of("rolloutCompletes", a))


def swinging(**more: Any) -> tuple[Workload, dict[str, Any]]:
    """A shared load, in whole thousandths, is a little too much for two pods and too little for three."""
    a = workload("a", 2, 10, **more)
    load = CpuLoad(name="load", target=a.ref, levels=(5,), max=0)
    return a, {"events": (load,), "autoscalers": (autoscaled(a, 17, 1, 3),)}


def resized_without_end() -> Loaded:
    """The autoscaler never comes to rest."""
    a, more = swinging()
    return cluster((ROOMY,), a, of("noOscillation", a), **more)


def settled_but_for_another() -> Loaded:
    """One workload is at rest, the other, whose pods keep apart, never is."""
    apart = PodAffinity((PodTerm(HOSTNAME, OWN),))
    a, more = swinging(pod_anti_affinity=apart)
    return cluster((ROOMY, node("n2"), node("n3")), (a, TINY), of("settles"), **more)


def never_wanted() -> Loaded:
    """Somebody would want a pod if the cluster ever were stable."""
    a, (b, more) = workload("b", 0, 1), swinging()
    scale = Scale(name="scale", after=STABLE, target=a.ref, replicas=(1,))
    events = (*more.pop("events"), scale)
    return cluster((ROOMY,), (b, a), all_ready(a), events=events, **more)


def never_created() -> Loaded:
    """Somebody would create the workload if the cluster ever were stable."""
    a, (b, more) = workload("b", 1, 1), swinging()
    create = Create(name="create", after=STABLE, target=a.ref)
    events = (*more.pop("events"), create)
    return cluster((ROOMY,), (b, a), all_ready(a), events=events, **more)


def replaced_jobs() -> Loaded:
    """A Job of a CronJob may still run when its schedule says so again."""
    cron = workload("c", cpu=1, kind=CRON_JOB, cron=CronRules((60,), REPLACE))
    return cluster((ROOMY,), (cron, TINY), of("completes", cron))


WITNESSES: dict[str, Witness] = {
    "a Job makes way for the next": replaced_jobs,
    "no node admits a pod": without_a_node,
    "pods fill the only node": too_full,
    "nobody ever wants a pod": never_wanted,
    "nobody ever creates a workload": never_created,
    "an ordinal has no volume": with_one_volume,
    "two pods want one claim": with_one_claim,
    "a pod is placed where no other comes": placed_elsewhere,
    "a pod runs where no other comes": running_elsewhere,
    "a budget keeps a pod on the only node": kept_by_a_budget,
    "two pods are spread over a closed node": spread_evenly,
    "two pods are spread by default": spread_by_default,
    "the second pod has to be near the first": near_the_first,
    "two pods keep apart on one node": apart,
    "two pods want the same port": on_one_port,
    "new pods are never ready": never_ready_again,
    "a Deployment is resized in the middle of a rollout": resized_while_rolled_out,
    "an autoscaler resizes in the middle of a rollout": autoscaled_while_rolled_out,
    "a new pod waits for one that never ends": recreated,
    "the second pod comes when the node is closed": grown_too_late,
    "an autoscaler wants a second pod when the node is closed": autoscaled_too_late,
    "a workload is scaled down": scaled_down,
    "an autoscaler scales down": autoscaled_down,
    "a pod is missing for a while": asked_at_any_moment,
    "more pods are asked for than wanted": asked_for_more,
    "fewer pods are asked for than wanted": asked_of_others,
    "nobody begins a rollout": never_rolled_out,
    "an autoscaler never rests": resized_without_end,
    "one workload rests, another never does": settled_but_for_another,
}
