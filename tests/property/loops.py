"""Random small clusters for the loops that adjust others: rollouts, autoscalers, the descheduler, drains, real load.

Most of them start with their pods in place, so that the few states are spent on what the loops do, not on deploying.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.kinds import DEPLOYMENT, POD, REPLICA_SET
from kubeproof.cluster.labels import NO_EXECUTE, NO_SCHEDULE, LabelSelector, Requirement, Taint
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Container,
    Node,
    PodTemplate,
    Settings,
    Setup,
    SpreadConstraint,
    Strategy,
    Workload,
)
from kubeproof.cluster.steering.policies import (
    ALWAYS_ALLOW,
    DeschedulerPolicy,
    DeschedulerProfile,
    HorizontalPodAutoscaler,
    Metric,
    Plain,
    PodDisruptionBudget,
    ScalingPolicy,
    ScalingRules,
)
from kubeproof.events.declarations import (
    STABLE,
    Apply,
    CpuLoad,
    Delete,
    Drain,
    Event,
    KernelPanic,
    Maintenance,
    NeverReady,
    NodeChoice,
    PodCrash,
    Rollout,
    Unreachable,
    Usage,
    UsageChange,
    UsagePattern,
)
from kubeproof.model.plan import Placement
from tests.property.events import MOMENTS, cordons, failures, scalings
from tests.property.intents import EVERY_KEY, intent_lists
from tests.property.strategies import (
    ANY_KIND,
    ANY_READINESS,
    ANY_TAINTS,
    CONTROLLED,
    MIB,
    NO_READINESS,
    POOL,
    Case,
    choice,
    nodes,
    selector_for,
    settings_values,
    spreads,
    templates,
    workload,
)

ROOMY = choice(1000, 1000, 400, 250)
MOSTLY_CLEAN = choice((), (), (), (), (), (Taint("dedicated", "web", NO_SCHEDULE),), (Taint("spot", "", NO_EXECUTE),))
NO_EVENT: st.SearchStrategy[Event | None] = st.none()


@st.composite
def placements(draw: st.DrawFn, workloads: Sequence[Workload], some: Sequence[Node]) -> Placement:
    """Where the pods run before the run: a bare Pod nowhere, those of the others on any nodes or on one."""
    names = [node.name for node in some]
    spots = []
    for pods in workloads:
        if pods.kind != POD:
            first = draw(choice(*names))
            together = draw(st.booleans())
            homes = [first if together else draw(choice(*names)) for _ in range(pods.replicas)]
            counts = tuple((node.name, homes.count(node.name)) for node in some)
            spots.append((pods.ref, counts))
    return tuple(spots)


def _with_second(draw: st.DrawFn, first: tuple[Event, ...], second: Event | None) -> tuple[Event, ...]:
    """The events; the second may wait for stability or for the first."""
    if second is None:
        return first
    moments = (None, STABLE, first[0].name) if first else (None, STABLE)
    return (*first, replace(second, after=draw(choice(*moments))))


# -- rollouts -----------------------------------------------------------------------------------------

STRATEGIES = choice(
    Strategy(),
    Strategy(rolling=False),
    Strategy(max_surge=1, surge_percent=False, max_unavailable=0, unavailable_percent=False),
    Strategy(max_surge=0, surge_percent=False, max_unavailable=1, unavailable_percent=False),
    Strategy(max_surge=0, surge_percent=False, max_unavailable=0, unavailable_percent=True),
    Strategy(max_surge=50, max_unavailable=50),
    Strategy(max_surge=100, max_unavailable=100),
    Strategy(max_surge=2, surge_percent=False, max_unavailable=1, unavailable_percent=False),
)
ROLLOUT_KEYS = ("rolloutCompletes",) * 5 + ("maxReplicas", "maxPodObjects", "minReady", *EVERY_KEY)


def _new_template(pods: Workload) -> Apply:
    """An apply that changes the pods."""
    container = Container("main", 150, 64 * MIB)
    return Apply(name="apply", workload=replace(pods, template=replace(pods.template, containers=(container,))))


@st.composite
def rollout_companions(draw: st.DrawFn, pods: Workload) -> Event | None:
    """What happens beside a rollout."""
    return draw(
        st.one_of(
            NO_EVENT,
            NO_EVENT,
            st.just(Rollout(name="second", target=pods.ref, back=True)),
            st.just(Rollout(name="second", target=pods.ref)),
            scalings(pods, "second", most=2),
            st.builds(
                lambda revision: NeverReady(name="second", target=pods.ref, revision=revision),
                choice("all", "initial", "new", "new"),
            ),
            st.just(Delete(name="second", target=pods.ref)),
            st.just(PodCrash(name="second", target=pods.ref)),
        )
    )


@st.composite
def rollout_cases(draw: st.DrawFn) -> Case:
    """Rollouts of every strategy, rolled back, scaled, paused or stuck in between."""
    some = draw(nodes(most=2))
    alone = len(some) == 1
    template = draw(templates("web", readiness=ANY_READINESS if alone else NO_READINESS, graces=(0, 0, 0, 30)))
    pods = workload(DEPLOYMENT, "web", template, draw(choice(1, 2, 0, 3) if alone else choice(1, 2)))
    pods = replace(pods, strategy=draw(STRATEGIES), paused=draw(choice(False, False, False, False, True)))
    setup = Setup(some, (pods,), settings=draw(settings_values()))
    first: Event = Rollout(name="rollout", target=pods.ref, max=draw(choice(1, 1, 2)), after=draw(MOMENTS))
    if draw(choice(False, False, False, True)):
        first = replace(_new_template(pods), after=draw(MOMENTS))
    events = _with_second(draw, (first,), draw(rollout_companions(pods)))
    placement = draw(placements((pods,), some)) if draw(choice(True, True, False)) else ()
    return Case(setup, events, draw(intent_lists((pods,), keys=ROLLOUT_KEYS)), placement)


# -- autoscalers --------------------------------------------------------------------------------------

METRICS = choice(
    Metric("Resource", "cpu", "Utilization", 50),
    Metric("Resource", "cpu", "Utilization", 50),
    Metric("Resource", "cpu", "Utilization", 80),
    Metric("Resource", "cpu", "AverageValue", 100),
    Metric("Resource", "memory", "Utilization", 50),
    Metric("Resource", "memory", "AverageValue", 1000 * 64 * MIB),
    Metric("ContainerResource", "cpu", "Utilization", 50, "main"),
)
POLICIES = choice(
    (ScalingPolicy("Pods", 1, 15),),
    (ScalingPolicy("Percent", 100, 15),),
    (ScalingPolicy("Percent", 50, 30), ScalingPolicy("Pods", 1, 60)),
    (ScalingPolicy("Pods", 1, 60),),
)
BEHAVIORS = choice(None, None, "up", "down", "both")
LEVELS = choice(
    (Usage(percent=10), Usage(percent=100)),
    (Usage(percent=100), Usage(percent=50)),
    (Usage(amount_milli=50), Usage(amount_milli=250)),
    (Usage(percent=55), Usage(percent=56)),
    (Usage(percent=200),),
    (Usage(percent=0), Usage(percent=60), Usage(percent=150)),
)
PATTERNS = choice(
    ((Usage(percent=200), 15), (Usage(percent=20), None)),
    ((Usage(percent=20), 30), (Usage(percent=200), None)),
    ((Usage(percent=150), 60), (Usage(percent=40), None)),
    ((Usage(percent=90), None),),
)
CHANGES = choice(1, 1, 2, None)
HPA_KEYS = ("noOscillation", "noOscillation", "settles", "maxReplicas", "minReplicas", "minReady", *EVERY_KEY)


@st.composite
def scaling_rules(draw: st.DrawFn) -> ScalingRules:
    """One direction of a behavior."""
    select = draw(choice("Max", "Max", "Min", "Disabled"))
    return ScalingRules(draw(POLICIES), select, draw(choice(0, 0, 30, None)), draw(choice(None, None, 0, 500)))


@st.composite
def autoscalers(draw: st.DrawFn, target: Workload, name: str = "hpa") -> HorizontalPodAutoscaler:
    """An autoscaler of one or two metrics."""
    behavior = draw(BEHAVIORS)
    least = draw(choice(1, 1, 2))
    return HorizontalPodAutoscaler(
        target.namespace,
        name,
        target.ref,
        least,
        draw(choice(3, 3, 2, least)),
        tuple(draw(st.lists(METRICS, min_size=1, max_size=2))),
        draw(scaling_rules()) if behavior in ("up", "both") else None,
        draw(scaling_rules()) if behavior in ("down", "both") else None,
    )


@st.composite
def usages(draw: st.DrawFn, target: Workload, name: str = "usage") -> Event:
    """What a workload's pods really use: by event, by age, or shared."""
    form = draw(choice("change", "change", "load", "pattern"))
    resource = draw(choice("cpu", "cpu", "memory"))
    if form == "load":
        totals = draw(choice((100, 400), (300, 100), (200,)))
        return CpuLoad(name=name, target=target.ref, levels=totals, max=draw(CHANGES), after=draw(MOMENTS))
    if form == "pattern":
        phases = draw(PATTERNS)
        return UsagePattern(name=name, resource=resource, target=target.ref, phases=phases)
    levels = draw(LEVELS)
    if resource == "memory":
        levels = tuple(replace(u, amount_milli=u.amount_milli and u.amount_milli * 1000 * MIB) for u in levels)
    return UsageChange(
        name=name,
        resource=resource,
        target=target.ref,
        levels=levels,
        initial=draw(choice(0, 0, len(levels) - 1)),
        max=draw(CHANGES),
        after=draw(MOMENTS),
    )


def shorten(draw: st.DrawFn, settings: Settings) -> Settings:
    """Windows and periods that a few syncs see through."""
    window_s = draw(choice(0, 15, 30))
    return replace(settings, hpa_period_s=draw(choice(15, 30, 60)), downscale_stabilization_s=window_s)


@st.composite
def autoscaler_companions(draw: st.DrawFn, pods: Workload) -> Event | None:
    """What happens beside an autoscaler."""
    kinds: list[st.SearchStrategy[Event | None]] = [
        NO_EVENT,
        NO_EVENT,
        NO_EVENT,
        scalings(pods, "second", most=2),
        st.just(Apply(name="second", workload=pods, replicas_given=False)),
        st.just(Delete(name="second", target=pods.ref)),
        st.just(NeverReady(name="second", target=pods.ref)),
        st.just(PodCrash(name="second", target=pods.ref)),
        unreachables(pods, "second"),
    ]
    if pods.kind == DEPLOYMENT:
        kinds.append(st.just(Rollout(name="second", target=pods.ref)))
    return draw(st.one_of(*kinds))


@st.composite
def unreachables(draw: st.DrawFn, pods: Workload, name: str) -> Unreachable:
    """A fault that keeps traffic away."""
    idle = draw(choice(Usage(percent=0), Usage(percent=20), Usage(amount_milli=5)))
    return Unreachable(name=name, target=pods.ref, recovers=draw(st.booleans()), idle=idle, max=draw(choice(1, 1, 2)))


@st.composite
def autoscale_cases(draw: st.DrawFn) -> Case:
    """Autoscalers over usage that moves, with the other writers of spec.replicas beside them."""
    some = draw(nodes(most=2, cpu=ROOMY, plain=True))
    template = draw(templates("web", graces=(0, 0, 0, 30)))
    if draw(choice(True, True, False)):
        template = replace(template, containers=(Container("main", 100, 64 * MIB),))
    pods = workload(draw(CONTROLLED), "web", template, draw(choice(1, 2, 2, 1, 1, 2, 0)))
    pods = replace(pods, replicas_given=draw(choice(True, True, False)))
    if pods.kind == DEPLOYMENT:
        pods = replace(pods, strategy=draw(STRATEGIES))
    scalers = [draw(autoscalers(pods))]
    if draw(choice(False, False, False, True)):
        scalers.append(draw(autoscalers(pods, "rival")))
    settings = shorten(draw, draw(settings_values()))
    setup = Setup(some, (pods,), settings=settings, autoscalers=tuple(scalers))
    usage = (draw(usages(pods)),) if draw(choice(True, True, True, False)) else ()
    events = _with_second(draw, usage, draw(autoscaler_companions(pods)))
    placement = draw(placements((pods,), some)) if draw(choice(True, True, False)) else ()
    return Case(setup, events, draw(intent_lists((pods,), keys=HPA_KEYS)), placement)


# -- real load ----------------------------------------------------------------------------------------

LOAD_KEYS = ("noEviction", "noEviction", "noEvictionLoop", "settles", "minReady", *EVERY_KEY)
BY_HOST = (SpreadConstraint(HOSTNAME, 1, False, LabelSelector()),)  # only then do zones not matter to the scheduler


@st.composite
def panics(draw: st.DrawFn) -> KernelPanic:
    """Kernel panics of any threshold."""
    above = draw(choice(Usage(percent=10), Usage(amount_milli=99), Usage(percent=50), Usage(percent=95)))
    return KernelPanic(name="panic", above=above, nodes=draw(drained_nodes()), max=draw(choice(None, 1, 2)))


@st.composite
def load_cases(draw: st.DrawFn) -> Case:
    """Nodes that fail under the real CPU use of their pods."""
    some = draw(nodes(most=3, taints=MOSTLY_CLEAN, cpu=choice(200, 250, 400), plain=True))
    template = draw(templates("web", graces=(0, 0, 0, 30)))
    template = replace(template, spread=draw(choice((), BY_HOST)))
    if draw(choice(True, True, False)):
        template = replace(template, containers=(Container("main", 100, 64 * MIB),))
    pods = workload(draw(ANY_KIND), "web", template, draw(choice(1, 2) if len(some) < 3 else choice(1)))
    setup = Setup(some, (pods,), settings=replace(draw(settings_values()), monitor_period_s=0))
    if pods.kind != POD and draw(choice(False, False, False, True)):
        setup = replace(setup, autoscalers=(draw(autoscalers(pods)),), settings=shorten(draw, setup.settings))
    usage = (draw(usages(pods)),) if draw(choice(True, True, False)) else ()
    events = (*usage, draw(panics()))
    placement = draw(placements((pods,), some)) if draw(choice(True, True, False)) else ()
    return Case(setup, events, draw(intent_lists((pods,), keys=LOAD_KEYS)), placement)


# -- the descheduler ----------------------------------------------------------------------------------

SPREAD, DUPLICATES = "RemovePodsViolatingTopologySpreadConstraint", "RemoveDuplicates"
TAINTS, AFFINITY = "RemovePodsViolatingNodeTaints", "RemovePodsViolatingNodeAffinity"
LOW, HIGH, RESTARTS = "LowNodeUtilization", "HighNodeUtilization", "RemovePodsHavingTooManyRestarts"
REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))
THRESHOLDS: tuple[Plain, ...] = ((("cpu", 15),), (("cpu", 25), ("memory", 15)), (("pods", 1),))
TARGETS: tuple[Plain, ...] = ((("cpu", 20),), (("cpu", 25), ("memory", 15)), (("pods", 1),))
DESCHEDULE_POINT, BALANCE_POINT = (TAINTS, AFFINITY, RESTARTS), (SPREAD, DUPLICATES, LOW, HIGH)
DESCHEDULE_KEYS = ("noEvictionLoop", "noEvictionLoop", "noEviction", "settles", "maxSkew", *EVERY_KEY)
EVICTOR_ARGUMENTS = choice(
    (),
    (),
    (),
    (),
    (("nodeFit", True),),
    (("minReplicas", 2),),
    (("labelSelector", (("matchLabels", (("app", "web"),)),)),),
    (("nodeFit", True), ("nodeSelector", f"{ZONE}=a")),
)


@st.composite
def plugin_arguments(draw: st.DrawFn, plugin: str, version: tuple[int, int]) -> Plain:
    """Arguments that the plugin takes in this version."""
    if plugin == SPREAD:
        soft = draw(st.booleans())
        wanted: Plain = ("DoNotSchedule", "ScheduleAnyway") if soft else ("DoNotSchedule",)
        chosen = ("includeSoftConstraints", soft) if version < (0, 28) else ("constraints", wanted)
        return (chosen, ("topologyBalanceNodeFit", draw(st.booleans())))
    if plugin == TAINTS:
        return draw(choice((), (("includePreferNoSchedule", True),), (("excludedTaints", ("dedicated=web",)),)))
    if plugin == AFFINITY:
        return (("nodeAffinityType", draw(choice((REQUIRED,), (REQUIRED,), (REQUIRED, PREFERRED)))),)
    if plugin == RESTARTS:
        return (("podRestartThreshold", draw(choice(1, 2))),)
    if plugin in (LOW, HIGH):
        number = draw(choice(0, 0, 0, 1))
        which = draw(choice(0, 1, 2))
        levels: Plain = (("thresholds", THRESHOLDS[which]), ("numberOfNodes", number))
        deviation = draw(choice(False, False, True))
        more: Plain = (("targetThresholds", TARGETS[which]), ("useDeviationThresholds", deviation))
        return (*levels, *more) if plugin == LOW else levels
    return ()


@st.composite
def policies(draw: st.DrawFn, plugins: Sequence[str], version: tuple[int, int]) -> DeschedulerPolicy:
    """A policy with these plugins."""
    arguments: list[tuple[str, Plain]] = [(name, draw(plugin_arguments(name, version))) for name in sorted(plugins)]
    evictor = draw(EVICTOR_ARGUMENTS)
    if evictor:
        arguments.append(("DefaultEvictor", evictor))
    first = tuple(name for name in plugins if name in DESCHEDULE_POINT)
    last = tuple(name for name in plugins if name in BALANCE_POINT)
    profile = DeschedulerProfile("p", (("deschedule", first), ("balance", last)), (), tuple(arguments))
    return DeschedulerPolicy(
        (profile,),
        node_selector=draw(choice("", "", "", "", "", "", "", f"{ZONE}=a", f"!{POOL}", f"{POOL}!=web")),
        max_per_node=draw(choice(None, None, None, None, 1)),
        max_per_namespace=draw(choice(None, None, None, None, 1)),
        max_total=draw(choice(None, None, None, None, 1)) if version >= (0, 31) else None,
    )


@st.composite
def descheduled(draw: st.DrawFn, plugins: Sequence[str]) -> PodTemplate:
    """Pods that the plugins have something to say about."""
    affinity = AFFINITY in plugins or draw(choice(False, False, False, True))
    template = draw(templates("web", affinity=affinity, graces=(0, 0, 0, 30)))
    if draw(choice(True, True, False)):
        template = replace(template, containers=(Container("main", 100, 64 * MIB),))
    if SPREAD not in plugins and draw(choice(True, True, False)):
        return template
    rules = draw(st.lists(spreads("web"), min_size=1, max_size=2))
    if draw(choice(True, True, False)):
        rules = [replace(rule, topology_key=HOSTNAME, selector=selector_for("web"), min_domains=1) for rule in rules]
    return replace(template, spread=tuple(rules))


@st.composite
def deschedule_events(draw: st.DrawFn, pods: Workload, plugins: Sequence[str]) -> tuple[Event, ...]:
    """What gives the descheduler work."""
    crash = PodCrash(name="crash", target=pods.ref, max=draw(choice(1, 2)))
    if RESTARTS in plugins:
        return (crash,)
    kinds = [cordons(most=1), scalings(pods, most=2), st.just(crash), failures(most=1), st.just(Drain(name="drain"))]
    return (draw(st.one_of(*kinds)),) if draw(choice(False, False, True)) else ()


@st.composite
def deschedule_cases(draw: st.DrawFn) -> Case:
    """The descheduler against the scheduler, from any placement; events that give it work."""
    plugins = draw(st.lists(choice(*BALANCE_POINT, SPREAD, *DESCHEDULE_POINT), min_size=1, max_size=2, unique=True))
    taints = ANY_TAINTS if TAINTS in plugins else MOSTLY_CLEAN
    some = draw(nodes(least=2, most=3, taints=taints, cpu=ROOMY, plain=draw(choice(True, True, False))))
    most = choice(2, 3, 2, 3, 1) if len(some) == 2 else choice(2, 2, 2, 1)
    pods = workload(draw(CONTROLLED), "web", draw(descheduled(plugins)), draw(most))
    workloads = [pods]
    if len(some) == 2 and draw(choice(False, False, False, True)):
        other = draw(templates("db", graces=(0,)))
        workloads.append(workload(draw(ANY_KIND), "db", other, 1, namespace=draw(choice("shop", "other"))))
    version = draw(choice((0, 36), (0, 27)))
    settings = replace(draw(settings_values()), descheduler_version=version, descheduler_interval_s=60)
    setup = Setup(some, tuple(workloads), settings=settings, descheduler=draw(policies(plugins, version)))
    if draw(choice(False, False, True)):
        limits = (draw(budgets("web")), draw(budgets("web", "other")))
        setup = replace(setup, budgets=limits[: draw(choice(1, 1, 1, 1, 2))])
    if len(workloads) == 1 and draw(choice(False, False, False, False, True)):
        setup = replace(setup, autoscalers=(draw(autoscalers(pods)),), settings=shorten(draw, settings))
    events = draw(deschedule_events(pods, plugins)) if len(workloads) == 1 else ()
    placement = draw(placements(workloads, some)) if draw(choice(True, True, True, True, False)) else ()
    return Case(setup, events, draw(intent_lists(workloads, keys=DESCHEDULE_KEYS)), placement)


# -- drains -------------------------------------------------------------------------------------------

DRAIN_KEYS = ("drainCompletes",) * 4 + ("noEviction", "minReady", "schedulable", *EVERY_KEY)
FLOORS = choice((1, False), (2, False), (50, True), None)
CEILINGS = choice((1, False), (0, False), (50, True), None)


@st.composite
def budgets(draw: st.DrawFn, app: str, name: str = "budget") -> PodDisruptionBudget:
    """A budget of any form; it may also select everything or nothing."""
    selector = draw(choice(selector_for(app), selector_for(app), LabelSelector(), None))
    policy = draw(choice("IfHealthyBudget", ALWAYS_ALLOW))
    if draw(st.booleans()):
        return PodDisruptionBudget("shop", name, selector, min_available=draw(FLOORS), unhealthy_policy=policy)
    return PodDisruptionBudget("shop", name, selector, max_unavailable=draw(CEILINGS), unhealthy_policy=policy)


@st.composite
def drains(draw: st.DrawFn, *, most: int) -> Event:
    """A drain or a maintenance."""
    chosen, concurrent = draw(drained_nodes()), draw(choice(1, 1, 2))
    times, after, once = draw(st.integers(1, most)), draw(MOMENTS), draw(st.booleans())
    if draw(choice(True, True, False)):
        common = Drain(name="drain", nodes=chosen, concurrent=concurrent, max=times, after=after, each_once=once)
        return replace(common, uncordon=draw(st.booleans()))
    return Maintenance(name="drain", nodes=chosen, concurrent=concurrent, max=times, after=after, each_once=once)


def drained_nodes() -> st.SearchStrategy[NodeChoice]:
    """Which nodes an operator works on."""
    in_zone = NodeChoice(selector=LabelSelector((Requirement(ZONE, "In", ("a",)),)))
    return choice(NodeChoice(), NodeChoice(), NodeChoice(names=("n1",)), in_zone)


@st.composite
def drain_companions(draw: st.DrawFn, pods: Workload) -> Event | None:
    """What happens beside a drain."""
    kinds: list[st.SearchStrategy[Event | None]] = [
        NO_EVENT,
        NO_EVENT,
        failures("second", most=1),
        cordons("second", most=1),
        st.just(NeverReady(name="second", target=pods.ref)),
        st.just(PodCrash(name="second", target=pods.ref)),
    ]
    if pods.kind != POD:
        kinds += [scalings(pods, "second", most=2), st.just(Delete(name="second", target=pods.ref))]
    if pods.kind == DEPLOYMENT:
        kinds.append(st.just(Rollout(name="second", target=pods.ref)))
    return draw(st.one_of(*kinds))


@st.composite
def drain_cases(draw: st.DrawFn) -> Case:
    """Operators who empty nodes through the eviction API, under budgets."""
    some = draw(nodes(most=3))
    alone = len(some) == 1
    template = draw(templates("web", readiness=ANY_READINESS if alone else NO_READINESS, graces=(0, 0, 0, 30)))
    pods = workload(draw(choice(DEPLOYMENT, REPLICA_SET, POD)), "web", template, draw(choice(1, 2, 2)))
    workloads = [pods]
    if alone and draw(choice(False, False, True)):
        workloads.append(workload(draw(ANY_KIND), "db", draw(templates("db", graces=(0,))), 1))
    limits = [draw(budgets("web"))] if draw(choice(True, True, True, False)) else []
    if limits and draw(choice(False, False, False, True)):
        limits.append(draw(budgets("web", "other")))
    lasting = draw(choice((60, 60), (60, 60), (60, 120)))
    settings = replace(draw(settings_values()), maintenance_s=lasting)
    setup = Setup(some, tuple(workloads), settings=settings, budgets=tuple(limits))
    first = draw(drains(most=2 if len(some) < 3 else 1))
    second = draw(drain_companions(pods)) if len(some) < 3 and len(workloads) == 1 else None
    placement = draw(placements(workloads, some)) if draw(choice(True, True, True, False)) else ()
    return Case(setup, _with_second(draw, (first,), second), draw(intent_lists(workloads, keys=DRAIN_KEYS)), placement)


LOOP_FAMILIES: dict[str, Callable[[], st.SearchStrategy[Case]]] = {
    "rollout": rollout_cases,
    "autoscale": autoscale_cases,
    "load": load_cases,
    "deschedule": deschedule_cases,
    "drain": drain_cases,
}
