"""Small clusters and policies for the descheduler's tests."""

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import (
    HOSTNAME,
    Container,
    Node,
    PodTemplate,
    Setup,
    SpreadConstraint,
    Workload,
)
from kubeproof.cluster.steering.policies import DeschedulerPolicy, DeschedulerProfile
from kubeproof.controllers.descheduler import NodeEntry, PodGroup, evictions, explain

OLD, NEWEST = (0, 27), (0, 36)
VERSIONS = [(0, minor) for minor in range(27, 37)]
UNIQUE = frozenset({HOSTNAME})
SPREAD = "RemovePodsViolatingTopologySpreadConstraint"
DUPLICATES = "RemoveDuplicates"
GIB = 1024**3


def node(name, *, cpu=64_000, memory=64 * GIB, pods=110, **labels):
    pairs = {HOSTNAME: name, **labels}
    return Node(name, labels=tuple(sorted(pairs.items())), cpu_milli=cpu, memory_bytes=memory, pods=pods)


def pods(number, workload=0, *, terminating=False, failed=False, age=1000, restarts=0, ready=True):
    return PodGroup(workload, number, terminating, failed, age, restarts, ready)


def entry(where, *groups, count=1, is_ready=True, unschedulable=False, taints=()):
    return NodeEntry(where, count, is_ready, unschedulable, tuple(taints), groups)


def web(index=0, *, cpu=8000, memory=8 * GIB, kind="Deployment", namespace="shop", labels=None, **template):
    labels = {"app": f"web{index}"} if labels is None else labels
    container = Container("main", cpu_milli=cpu, memory_bytes=memory)
    return Workload(
        kind,
        namespace,
        f"web{index}",
        PodTemplate(labels=tuple(sorted(labels.items())), containers=(container,), **template),
        replicas=3,
    )


def spread(key, *, skew=1, hard=True, app="web0", **more):
    selector = LabelSelector((Requirement("app", "In", (app,)),))
    return SpreadConstraint(key, max_skew=skew, hard=hard, selector=selector, **more)


def profile(*plugins, name="p", evictor=None, **arguments):
    """A profile with Balance and Deschedule plugins told apart by name, and arguments by plugin."""
    balance = [p for p in plugins if p in (SPREAD, DUPLICATES, "LowNodeUtilization", "HighNodeUtilization")]
    deschedule = [p for p in plugins if p not in balance]
    given = {"DefaultEvictor": frozen(evictor or {}), **{key: frozen(value) for key, value in arguments.items()}}
    enabled = (("deschedule", tuple(deschedule)), ("balance", tuple(balance)))
    return DeschedulerProfile(name, enabled=enabled, arguments=tuple(sorted(given.items())))


def policy(*plugins, evictor=None, limits=None, selector="", **arguments):
    return DeschedulerPolicy(
        (profile(*plugins, evictor=evictor, **arguments),), node_selector=selector, **(limits or {})
    )


def frozen(value):
    if isinstance(value, dict):
        return tuple((key, frozen(value[key])) for key in sorted(value))
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value


def soft_spread(version, **more):
    """The argument that includes soft constraints, by version."""
    if version < (0, 28):
        return {SPREAD: {"includeSoftConstraints": True, **more}}
    return {SPREAD: {"constraints": ["DoNotSchedule", "ScheduleAnyway"], **more}}


def run(workloads, chosen, *nodes, version=NEWEST, unique=UNIQUE, unbound=()):
    return evictions(Setup(workloads=tuple(workloads)), chosen, nodes, version, unique, unbound=unbound)


def told(workloads, chosen, *nodes, version=NEWEST, unique=UNIQUE):
    return explain(Setup(workloads=tuple(workloads)), chosen, nodes, version, unique)


def losses(outcomes):
    """Per outcome the pods lost by entry, summed over nodes and groups."""
    result = []
    for outcome in outcomes:
        total = {}
        for loss in outcome:
            total[loss.entry] = total.get(loss.entry, 0) + sum(number for _, number in loss.losses)
        result.append(total)
    return result
