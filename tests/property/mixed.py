"""Random small inputs that hold workloads of several kinds at once, with whatever may stand beside them.

`mixed_inputs` draws from everything that a `Mix` admits: one to three workloads of any kinds, foreign pods under an
autoscaler's selector, quotas, budgets, priorities, claims, vertical autoscalers, events of all kinds, an empty or a
deployed start, and intents that make sense for the kinds. Pods are few and clocks exact, so that most inputs are
exhausted within 3,000 states. Narrow a `Mix` for what a test is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from kubeproof.cluster.jobs import JOB_NAME, label_job_pods
from kubeproof.cluster.kinds import (
    CRON_JOB,
    DAEMON_SET,
    DEPLOYMENT,
    JOB,
    JOBS,
    POD,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    ROLLED_OUT,
    STATEFUL_SET,
)
from kubeproof.cluster.labels import LabelSelector, Requirement, Toleration, as_labels
from kubeproof.cluster.objects import (
    ALLOW,
    FORBID,
    HOSTNAME,
    REPLACE,
    ZONE,
    Container,
    CronRules,
    JobRules,
    Node,
    PodAffinity,
    PodTemplate,
    PodTerm,
    Settings,
    Setup,
    SpreadConstraint,
    StatefulRules,
    Strategy,
    Workload,
)
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, PodDisruptionBudget
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.cluster.steering.vertical import AUTO, CPU, INITIAL, RECREATE, ContainerPolicy, VerticalPodAutoscaler
from kubeproof.cluster.volumes import Claim, StorageClass, Volume
from kubeproof.events.declarations import (
    STABLE,
    Apply,
    Completes,
    Cordon,
    CpuLoad,
    Create,
    CreateNode,
    Delete,
    Drain,
    Event,
    Maintenance,
    NeverReady,
    NodeFailure,
    NodeRemoval,
    PodCrash,
    Rollout,
    Scale,
    Unreachable,
    Usage,
    UsageChange,
    UsagePattern,
    ZoneFailure,
)
from kubeproof.intents.declarations import ALWAYS, EVENTUALLY, EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.intents.declarations import STABLE as WHEN_STABLE
from kubeproof.manifests.kinds.daemon_sets import daemon_tolerations
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from tests.property.intents import intent_lists
from tests.property.strategies import MIB, NOT_READY, UNREACHABLE, VERSIONS, choice, selector_for

ALL_KINDS = (DEPLOYMENT, REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET, DAEMON_SET, JOB, CRON_JOB, POD)
SCALED = (DEPLOYMENT, REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET)  # kinds with spec.replicas
NAMESPACE = "shop"
NAMES = ("web", "db", "batch")
HOUR, DAY, WEEK = 3600, 86_400, 7 * 86_400
DEFAULT_TOLERATIONS = (
    Toleration(NOT_READY, "Exists", "", "NoExecute", 300),
    Toleration(UNREACHABLE, "Exists", "", "NoExecute", 300),
)
MOMENTS = choice(STABLE, STABLE, None)


@dataclass(frozen=True)
class Mix:
    """What a mixed input may hold."""

    kinds: tuple[str, ...] = ALL_KINDS
    workloads: tuple[int, int] = (1, 3)  # least and most
    nodes: tuple[int, int] = (1, 3)
    most_pods: int = 4  # of all workloads together, those of DaemonSets aside
    most_events: int = 2  # moments; usage and run times come on top
    most_intents: int = 3
    starts: tuple[str, ...] = ("empty", "deployed")
    gaps_s: tuple[int, ...] = (300, HOUR, DAY, WEEK)  # between two runs of a CronJob
    autoscalers: bool = True
    foreign: bool = True  # pods of others under a Deployment's selector
    verticals: bool = True
    quotas: bool = True
    budgets: bool = True
    priorities: bool = True
    claims: bool = True
    rules: bool = True  # spread constraints, anti-affinity, node selectors
    gitops: bool = True


ANYTHING = Mix()


@st.composite
def mixed_inputs(draw: st.DrawFn, mix: Mix = ANYTHING) -> Loaded:
    """An input with workloads of several kinds, small enough to be exhausted most of the time."""
    some = draw(mixed_nodes(mix))
    declared = draw(mixed_workloads(mix))
    setup = Setup(some, declared, settings=draw(_settings(mix)))
    setup = _with_claims(draw, setup) if mix.claims and draw(choice(False, False, True)) else setup
    setup = _with_foreign_pods(draw, setup) if mix.foreign and draw(choice(False, False, True)) else setup
    setup = _with_policies(draw, setup, mix)
    events = (*_running(draw, setup), *_usage(draw, setup), *_moments(draw, setup, mix))
    scenario = Scenario(
        start=Start(draw(choice(*mix.starts))), events=events, intents=draw(mixed_intents(setup, events, mix))
    )
    return Loaded(setup, scenario)


# -- nodes and workloads --------------------------------------------------------------------------------


@st.composite
def mixed_nodes(draw: st.DrawFn, mix: Mix = ANYTHING) -> tuple[Node, ...]:
    """A few nodes, mostly alike, in one zone or two."""
    least, most = mix.nodes
    count = draw(choice(*dict.fromkeys((max(least, min(2, most)), least, max(least, min(2, most)), most))))
    zones, cpu = draw(choice(("a", "b"), ("a",))), draw(choice(1000, 1000, 400, 250))
    found = []
    for number in range(count):
        name = f"n{number + 1}"
        labels = {HOSTNAME: name, ZONE: zones[number % len(zones)], "pool": draw(choice("x", "x", "y"))}
        own = draw(choice(cpu, cpu, cpu, 400))
        found.append(Node(name, as_labels(labels), cpu_milli=own, memory_bytes=1024 * MIB, pods=draw(choice(110, 3))))
    return tuple(found)


def _settings(mix: Mix) -> st.SearchStrategy[Settings]:
    return st.builds(
        Settings,
        kubernetes_version=choice(*VERSIONS),
        monitor_period_s=st.just(0),
        startup_s=choice((1, 1), (0, 0), (0, 0), (1, 5)),
        maintenance_s=st.just((60, 60)),
        hpa_period_s=choice(15, 60),
        downscale_stabilization_s=choice(0, 30, 300),
        gitops_interval_s=choice(*[None] * 7, 180) if mix.gitops else st.none(),
    )


@st.composite
def mixed_workloads(draw: st.DrawFn, mix: Mix = ANYTHING) -> tuple[Workload, ...]:
    """Workloads of any kinds; the more there are, the fewer pods each has."""
    least, most = mix.workloads
    count = draw(choice(*dict.fromkeys((max(least, min(2, most)), least, most, max(least, min(2, most))))))
    left = mix.most_pods
    found: list[Workload] = []
    for position, name in enumerate(NAMES[:count]):
        size = draw(choice(1, max(1, min(2, left - (count - position - 1)))))
        found.append(draw(mixed_workload(draw(choice(*mix.kinds)), name, size, mix)))
        left -= size
    return tuple(found)


@st.composite
def mixed_workload(draw: st.DrawFn, kind: str, name: str, size: int, mix: Mix = ANYTHING) -> Workload:
    """A workload of this kind as its manifest would be read, with so many pods."""
    template = draw(mixed_templates(name, mix))
    one = Workload(kind, NAMESPACE, name, template, size, selector_for(name))
    if kind == DAEMON_SET:
        whole = replace(template, tolerations=daemon_tolerations(template.tolerations))
        strategy = draw(choice(Strategy(True, 0, False, 1, False), Strategy(True, 1, False, 0, False)))
        return replace(one, template=whole, replicas=0, strategy=strategy)
    if kind == STATEFUL_SET:
        rules = StatefulRules(draw(choice(0, 0, 3)), draw(st.booleans()), partition=draw(choice(0, 0, 1)))
        return replace(one, stateful=rules)
    if kind in JOBS:
        return _job(draw, one, mix)
    return replace(one, replicas=1) if kind == POD else one


def _job(draw: st.DrawFn, one: Workload, mix: Mix) -> Workload:
    rules = JobRules(
        completions=draw(choice(1, 1, 2, None)),
        backoff_limit=draw(choice(1, 0)),
        deadline_s=draw(choice(None, None, None, 30)),
        ttl_s=draw(choice(None, None, 60)),
        only_failed=draw(choice(False, False, True)),
        restarts=draw(st.booleans()),
    )
    if one.kind == JOB:
        selector = LabelSelector((Requirement(JOB_NAME, "In", (one.name,)),))
        pods = label_job_pods(one.template, one.name)
        return replace(one, template=pods, selector=selector, job=rules, replicas_given=False)
    cron = CronRules((draw(choice(*mix.gaps_s)),), draw(choice(FORBID, FORBID, REPLACE, ALLOW)))
    once = replace(rules, completions=1)
    return replace(one, replicas=1, selector=LabelSelector(), job=once, cron=cron, replicas_given=False)


@st.composite
def mixed_templates(draw: st.DrawFn, name: str, mix: Mix = ANYTHING) -> PodTemplate:
    """Pods labelled with the workload's name; some want nodes of their own, some go before others."""
    own = selector_for(name)
    apart = PodAffinity((PodTerm(HOSTNAME, own),))
    even = (SpreadConstraint(HOSTNAME, 1, True, own),)
    return PodTemplate(
        labels=(("app", name),),
        containers=(Container("main", draw(choice(100, 100, 200, None)), draw(choice(64 * MIB, None))),),
        tolerations=DEFAULT_TOLERATIONS,
        grace_s=draw(choice(0, 0, 30)),
        priority=draw(choice(None, None, None, 0, 10)) if mix.priorities else None,
        spread=draw(choice((), (), (), even)) if mix.rules else (),
        pod_anti_affinity=draw(choice(*[PodAffinity()] * 3, apart)) if mix.rules else PodAffinity(),
        node_selector=draw(choice((), (), (), (("pool", "x"),))) if mix.rules else (),
    )


# -- what stands beside them ----------------------------------------------------------------------------


def _with_claims(draw: st.DrawFn, setup: Setup) -> Setup:
    """StatefulSets with a claim for each ordinal, another workload with a claim of its own."""
    storage = StorageClass("fast", draw(choice("ebs.csi.aws.com", "rancher.io/local-path")), waits=draw(st.booleans()))
    modes = ("ReadWriteOnce",)
    data = Claim(NAMESPACE, "data", 1, "fast", modes)
    workloads = list(setup.workloads)
    for number, one in enumerate(workloads):
        if one.kind == STATEFUL_SET:
            workloads[number] = replace(one, claim_templates=(Claim("", "own", 1, "fast", modes),))
        elif one.kind in (DEPLOYMENT, REPLICA_SET, POD, JOB) and draw(st.booleans()):
            workloads[number] = replace(one, template=replace(one.template, claims=("data",)))
    volumes = (Volume("disk-1", 1, "fast", modes),) if draw(choice(False, True)) else ()
    return replace(setup, workloads=tuple(workloads), storage_classes=(storage,), volumes=volumes, claims=(data,))


def _with_foreign_pods(draw: st.DrawFn, setup: Setup) -> Setup:
    """Pods of the other workloads carry the label that the first Deployment selects by; they keep their own as well."""
    hosts = [one for one in setup.workloads if one.kind == DEPLOYMENT]
    if not hosts or len(setup.workloads) < 2:
        return setup
    shown, workloads = hosts[0].name, []
    for one in setup.workloads:
        if one is not hosts[0] and draw(choice(True, True, False)):
            labels = as_labels(dict(one.template.labels) | {"app": shown, "own": one.name})
            own = one.selector if one.kind in JOBS else LabelSelector((Requirement("own", "In", (one.name,)),))
            one = replace(one, template=replace(one.template, labels=labels), selector=own)
        workloads.append(one)
    return replace(setup, workloads=tuple(workloads))


def _with_policies(draw: st.DrawFn, setup: Setup, mix: Mix) -> Setup:
    scaled = [one for one in setup.workloads if one.kind in SCALED]
    autoscalers, verticals = [], []
    for one in scaled:
        if mix.autoscalers and draw(choice(False, False, False, True)):
            autoscalers.append(_autoscaler(draw, one))
        elif mix.verticals and draw(choice(*[False] * 7, True)):
            mode, policy = draw(choice(RECREATE, AUTO, INITIAL)), ContainerPolicy(controlled=(CPU,))
            verticals.append(VerticalPodAutoscaler(one.namespace, one.name, one.ref, mode, (policy,), 1))
    return replace(
        setup,
        autoscalers=tuple(autoscalers),
        verticals=tuple(verticals),
        quotas=_quotas(draw) if mix.quotas and draw(choice(False, False, False, True)) else (),
        budgets=_budgets(draw, setup) if mix.budgets and draw(choice(False, False, False, True)) else (),
    )


def _autoscaler(draw: st.DrawFn, target: Workload) -> HorizontalPodAutoscaler:
    metric = draw(
        choice(
            Metric("Resource", "cpu", "Utilization", 50),
            Metric("Resource", "cpu", "Utilization", 50),
            Metric("Resource", "cpu", "AverageValue", 100),
            Metric("ContainerResource", "cpu", "Utilization", 50, "main"),
        )
    )
    return HorizontalPodAutoscaler(target.namespace, target.name, target.ref, 1, draw(choice(2, 1)), (metric,))


def _quotas(draw: st.DrawFn) -> tuple[ResourceQuota, ...]:
    hard = draw(choice((("pods", 2),), (("pods", 1),), (("requests.cpu", 200),), (("count/pods", 3),)))
    return (ResourceQuota(NAMESPACE, "quota", hard),)


def _budgets(draw: st.DrawFn, setup: Setup) -> tuple[PodDisruptionBudget, ...]:
    guarded = draw(choice(*setup.workloads))
    least, most = draw(choice((None, (1, False)), (None, (0, False)), ((1, False), None), ((100, True), None)))
    return (PodDisruptionBudget(NAMESPACE, "budget", selector_for(guarded.name), least, most),)


# -- events ---------------------------------------------------------------------------------------------


def _running(draw: st.DrawFn, setup: Setup) -> list[Event]:
    """How long pods of Jobs run; shorter than the shortest schedule."""
    found: list[Event] = []
    for one in setup.workloads:
        if one.kind in JOBS:
            least_s, most_s = draw(choice((10, 10), (10, 10), (0, 0), (0, 20)))
            found.append(Completes(name=f"runs {one.name}", target=one.ref, least_s=least_s, most_s=most_s))
    return found


def _usage(draw: st.DrawFn, setup: Setup) -> list[Event]:
    """What the pods really use, where somebody asks."""
    asked = {one.target for one in (*setup.autoscalers, *setup.verticals)}
    found: list[Event] = []
    for one in setup.workloads:
        if one.ref in asked and draw(choice(True, True, True, False)):
            found.append(_used(draw, f"usage {one.name}", one.ref))
    return found


def _used(draw: st.DrawFn, name: str, target: str) -> Event:
    levels = draw(choice((Usage(percent=100), Usage(percent=10)), (Usage(percent=10),), (Usage(amount_milli=150),)))
    phases = draw(choice(((Usage(percent=200), 30), (Usage(percent=20), None)), ((Usage(percent=90), None),)))
    return draw(
        choice(
            UsageChange(name=name, resource="cpu", target=target, levels=levels, max=1, after=draw(MOMENTS)),
            CpuLoad(name=name, target=target, levels=(100, 300), max=1, after=draw(MOMENTS)),
            UsagePattern(name=name, resource="cpu", target=target, phases=phases),
        )
    )


def _moments(draw: st.DrawFn, setup: Setup, mix: Mix) -> list[Event]:
    """Up to so many events of any kind; the second one sometimes waits for the first."""
    count = draw(choice(*dict.fromkeys((min(1, mix.most_events), 0, min(1, mix.most_events), mix.most_events))))
    found: list[Event] = []
    for number in range(count):
        name = f"event-{number}"
        after = draw(MOMENTS) if not found else draw(choice(STABLE, found[0].name, STABLE))
        one = draw(st.one_of(_on_nodes(name, after, setup), _on_workloads(name, after, setup)))
        if not (isinstance(one, Create | CreateNode) and found):
            found.append(one)
    return found


def _on_nodes(name: str, after: str | None, setup: Setup) -> st.SearchStrategy[Event]:
    made: list[st.SearchStrategy[Event]] = [
        st.builds(NodeFailure, name=st.just(name), after=st.just(after), recovers=st.booleans()),
        st.builds(Drain, name=st.just(name), after=st.just(after), uncordon=st.booleans()),
        st.just(Maintenance(name=name, after=after)),
        st.builds(Cordon, name=st.just(name), after=st.just(after), reversible=st.booleans()),
        st.builds(NodeRemoval, name=st.just(name), after=st.just(after), drain_first=st.booleans()),
        st.builds(ZoneFailure, name=st.just(name), after=st.just(after), recovers=st.booleans()),
    ]
    if len(setup.nodes) > 1:
        made.append(st.just(CreateNode(name=name, after=after, node=setup.nodes[-1].name)))
    return st.one_of(*made)


@st.composite
def _on_workloads(draw: st.DrawFn, name: str, after: str | None, setup: Setup) -> Event:
    target = draw(choice(*setup.workloads))
    ref = target.ref
    made: list[Event] = [
        Delete(name=name, after=after, target=ref),
        PodCrash(name=name, after=after, target=ref),
        NeverReady(name=name, target=ref),
    ]
    if target.kind != CRON_JOB:
        made.append(Create(name=name, after=after, target=ref))
    if target.kind in SCALED:
        sizes = draw(choice((2,), (0,), (1, 2)))
        made.append(Scale(name=name, after=after, target=ref, replicas=sizes, max=len(sizes)))
    if target.kind in ROLLED_OUT:
        new = replace(target.template, containers=(Container("main", 150, 64 * MIB),))
        made += [Rollout(name=name, after=after, target=ref), Rollout(name=name, after=after, target=ref)]
        made.append(Apply(name=name, after=after, workload=replace(target, template=new), replicas_given=False))
    if ref in {one.target for one in setup.autoscalers}:
        made.append(Unreachable(name=name, after=after, target=ref, recovers=draw(st.booleans())))
    return draw(choice(*made))


# -- intents --------------------------------------------------------------------------------------------

COMMON = ("settles", "noPendingForever", "schedulable", "noOscillation", "noEviction", "maxPodObjects")
SIZED = ("minReady", "minReplicas", "maxReplicas")


@st.composite
def mixed_intents(draw: st.DrawFn, setup: Setup, events: Sequence[Event], mix: Mix = ANYTHING) -> tuple[Intent, ...]:
    """One to so many intents that make sense for the kinds, named by position; some of any other key."""
    count = draw(choice(*range(1, mix.most_intents + 1)))
    found = [draw(_intent(setup, events)) for _ in range(count)]
    if draw(choice(False, False, True)):
        found[-1] = draw(intent_lists(setup.workloads, most=1))[0]
    return tuple(replace(intent, name=f"intent-{number}") for number, intent in enumerate(found))


@st.composite
def _intent(draw: st.DrawFn, setup: Setup, events: Sequence[Event]) -> Intent:
    target = draw(choice(*setup.workloads))
    keys = list(COMMON)
    if target.kind in SCALED:
        keys += [*SIZED, "minReady"]
    if target.kind in JOBS:
        keys += ["completes"] * 3
    if target.kind == DAEMON_SET:
        keys += ["runsOnEveryNode"] * 2
    if target.kind in ROLLED_OUT:
        keys += ["rolloutCompletes"] if any(isinstance(one, Rollout | Apply) for one in events) else []
    keys += ["drainCompletes"] * 2 if any(isinstance(one, Drain | Maintenance) for one in events) else []
    key = draw(choice(*keys))
    if key in ("settles", "drainCompletes"):
        return Intent(key=key, name="")
    one = Intent(key=key, name="", target=target.ref)
    if key == "maxPodObjects":
        return replace(one, count=Amount(draw(choice(2, 1, 3))))
    if key in SIZED or key == "runsOnEveryNode":
        when = draw(choice(EVENTUALLY_ALWAYS, ALWAYS, WHEN_STABLE, EVENTUALLY))
        count = draw(choice(Amount(1), Amount(2), Amount(100, percent=True))) if key in SIZED else None
        return replace(one, when=when, count=count)
    return one
