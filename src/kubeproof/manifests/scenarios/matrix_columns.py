"""The columns of the survival matrix: what may happen to a workload, one thing at a time, and what it should survive.

A fault is declared once, here: its column, whom it concerns, its events, and what else must hold while it lasts.
`kubeproof.verify.matrix` asks each of them of each workload; `kubeproof init` writes them into a Scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Node,
    Setup,
    Workload,
)
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.volumes import find_claim, is_attached_once
from kubeproof.events.declarations import (
    STABLE,
    Completes,
    CreateNode,
    Drain,
    Event,
    Maintenance,
    NeverReady,
    NodeFailure,
    PodCrash,
    Rollout,
    Scale,
    ZoneFailure,
)
from kubeproof.events.event import NEW_REVISION
from kubeproof.intents.declarations import ALWAYS, EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from kubeproof.manifests.scenarios.default_scenario import budget_wants, covers, usage_swings
from kubeproof.model.expansion.cron import RUN_S
from kubeproof.values import dataclass

DEPLOYED, EMPTY = "deployed", "empty"
ALL_OF_THEM = Amount(100, percent=True)
DEPLOY = "deploy"  # the fault that is none: everything else begins where it ends
ROLLOUT = "rollout"
NODE_ADDED = "nodeAdded"
ADDED = "kubeproof-added"  # name of the node that comes


def _everybody(setup: Setup, workload: Workload) -> bool:
    return True


def _as_it_is(setup: Setup) -> Setup:
    return setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One column of the matrix."""

    key: str  # as --faults names it
    head: str  # of its column, short
    title: str  # what happens, as a clause
    rank: int  # how soon it is asked for in pairs: the likely ones first
    events: Callable[[Setup, Workload], tuple[Event, ...]]
    concerns: Callable[[Setup, Workload], bool] = _everybody
    begins: str = DEPLOYED
    completes: tuple[str, ...] = ()  # further intents that must hold, by key
    prepare: Callable[[Setup], Setup] = _as_it_is
    stays_down: bool = False  # nodes that it hits never come back: pods there never end


# -- whom a fault concerns, and what happens --------------------------------------------------------


def _none(setup: Setup, workload: Workload) -> tuple[Event, ...]:
    return ()


def _keeps_running(workload: Workload) -> bool:
    return not workload.rules.runs_to_completion


def _rolls_out(setup: Setup, workload: Workload) -> bool:
    waits = not workload.stateful.rolling or (workload.rules.runs_per_node and not workload.strategy.rolling)
    return workload.rules.rolls_out and not workload.paused and not waits  # OnDelete waits for somebody


def _is_sized_by_hand(setup: Setup, workload: Workload) -> bool:
    is_sized = workload.rules.has_replicas and not _has_one_disk(setup, workload)
    return is_sized and all(autoscaler.target != workload.ref for autoscaler in setup.autoscalers)


def _has_one_disk(setup: Setup, workload: Workload) -> bool:
    """True for a single pod with a volume that one node at a time mounts: nobody gives it a second pod."""
    claims = (find_claim(setup, workload.namespace, name) for name in workload.template.claims)
    is_bound_to_one = any(claim is not None and is_attached_once(setup, claim) for claim in claims)
    return is_bound_to_one and workload.replicas <= 1 and len(setup.nodes) > 1


def _has_own_disk(setup: Setup, workload: Workload) -> bool:
    """True if it never has a second pod, and nobody else mounts its disk."""
    is_sized = any(autoscaler.target == workload.ref for autoscaler in setup.autoscalers)
    if is_sized or not _has_one_disk(setup, workload):
        return False
    near = (one for one in setup.workloads if one.namespace == workload.namespace)
    others = (one for one in near if workload.ref not in (one.ref, one.owner))
    return not any(set(one.template.claims) & set(workload.template.claims) for one in others)


def keep_disks(setup: Setup) -> Setup:
    """The setup where a disk stays attached as long as its pod is there, if one pod alone mounts it.

    On a node that stays down a pod never ends: the attach-detach controller of Kubernetes takes a volume from a node
    only when the pod is gone, so that the next one waits without end.
    """
    own = (one for one in setup.workloads if one.rules.replaces_pods and _has_own_disk(setup, one))
    kept = {f"{one.namespace}/{name}" for one in own for name in one.template.claims}
    claims = (
        replace(one, is_kept=True) if one.key in kept and is_attached_once(setup, one) else one for one in setup.claims
    )
    return replace(setup, claims=tuple(claims)) if kept else setup


def _is_swung(setup: Setup, workload: Workload) -> bool:
    return any(event.target == workload.ref for event in usage_swings(setup))


def _has_zones(setup: Setup, workload: Workload) -> bool:
    return _misses_a_node(setup, workload) and len({dict(node.labels).get(ZONE) for node in setup.nodes} - {None}) > 1


def _has_neighbours(setup: Setup, workload: Workload) -> bool:
    """True where there is a node to lose."""
    return bool(setup.nodes)


def _is_there_for_long(setup: Setup, workload: Workload) -> bool:
    """True for what is still there when node after node is taken up; a Job is over by then."""
    return bool(setup.nodes) and not workload.rules.runs_to_completion


def _misses_a_node(setup: Setup, workload: Workload) -> bool:
    """True for what has somewhere else to go when a node stays down.

    A daemon pod has not. A Job is not called complete while one of its pods cannot end there, though its work is done.
    """
    return bool(setup.nodes) and not (workload.rules.runs_per_node or workload.rules.runs_to_completion)


def _reacts_to_new_nodes(setup: Setup, workload: Workload) -> bool:
    """True if somebody acts on a new node: a DaemonSet, a descheduler, or a constraint that counts domains."""
    spreads = any(constraint.hard for constraint in workload.template.spread)
    return bool(setup.nodes) and (workload.rules.runs_per_node or setup.descheduler is not None or spreads)


def _peak(setup: Setup, workload: Workload) -> tuple[Event, ...]:
    """Load rises to what lets the autoscaler act, and falls again when all is at rest."""
    swings = [event for event in usage_swings(setup) if event.target == workload.ref]
    return tuple(replace(event, max=2, after=STABLE) for event in swings)


def _upgrade(setup: Setup, workload: Workload) -> tuple[Event, ...]:
    return (Maintenance(name="upgrade", each_once=True, max=len(setup.nodes), after=STABLE),)


def _scale(setup: Setup, workload: Workload) -> tuple[Event, ...]:
    """One more, and back."""
    sizes = (workload.replicas + 1, workload.replicas)
    return (Scale(name="scale", target=workload.ref, replicas=sizes, max=len(sizes)),)


def _with_another_node(setup: Setup) -> Setup:
    """The setup with one node more, like the one whose kind is the most frequent."""
    alike: dict[Node, list[Node]] = {}
    for node in setup.nodes:
        alike.setdefault(replace(node, name="", labels=_nameless(node)), []).append(node)
    first = max(alike.values(), key=len)[0]
    names = {node.name for node in setup.nodes}
    name = next(name for name in (ADDED, *(f"{ADDED}-{n}" for n in range(2, len(names) + 3))) if name not in names)
    labels = tuple((key, name if key == HOSTNAME else value) for key, value in first.labels)
    return replace(setup, nodes=(*setup.nodes, replace(first, name=name, labels=labels)))


def _nameless(node: Node) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in node.labels if key != HOSTNAME)


FAULTS: tuple[Fault, ...] = (
    Fault(
        key=DEPLOY, head="deploy", title="it is deployed for the first time", rank=0, events=_none,
        begins=EMPTY, completes=("noCreateFailLoop",),
    ),
    Fault(
        key=ROLLOUT, head="rollout", title="a new revision is rolled out", rank=1,
        events=lambda setup, workload: (Rollout(name=ROLLOUT, target=workload.ref),),
        concerns=_rolls_out, completes=("rolloutCompletes",),
    ),
    Fault(
        key="nodeFailure", head="node down", title="a node fails and comes back", rank=2,
        events=lambda setup, workload: (NodeFailure(name="nodeFailure", comes_back=True),), concerns=_has_neighbours,
    ),
    Fault(
        key="nodeLoss", head="node lost", title="a node fails and stays down", rank=2,
        events=lambda setup, workload: (NodeFailure(name="nodeLoss", recovers=False),), concerns=_misses_a_node,
        prepare=keep_disks, stays_down=True,
    ),
    Fault(
        key="drain", head="drain", title="a node is drained and uncordoned", rank=3,
        events=lambda setup, workload: (Drain(name="drain", uncordon=True),), concerns=_has_neighbours,
        completes=("drainCompletes",),
    ),
    Fault(
        key="upgrade", head="upgrade", title="all nodes are drained, rebooted and uncordoned, one after the other",
        rank=6, events=_upgrade, concerns=_is_there_for_long, completes=("drainCompletes",),
    ),
    Fault(
        key="zoneFailure", head="zone lost", title="all nodes of a zone fail and stay down", rank=6,
        events=lambda setup, workload: (ZoneFailure(name="zoneFailure", recovers=False),), concerns=_has_zones,
        prepare=keep_disks, stays_down=True,
    ),
    Fault(
        key="loadPeak", head="load peak", title="its load rises above its autoscaler's target, and falls again",
        rank=4, events=_peak, concerns=_is_swung, completes=("noOscillation",),
    ),
    Fault(
        key="podCrash", head="pod crash", title="a container of one of its pods exits", rank=5,
        events=lambda setup, workload: (PodCrash(name="podCrash", target=workload.ref),),
        concerns=lambda setup, workload: _keeps_running(workload) and not workload.template.ends_for_good,
    ),
    Fault(
        key="descheduling", head="desched.", title="the descheduler does its rounds", rank=8, events=_none,
        concerns=lambda setup, workload: setup.descheduler is not None and workload.rules.replaces_pods,
        completes=("noEvictionLoop",),
    ),
    Fault(
        key="scale", head="scale", title="it is scaled up by hand, and back", rank=7, events=_scale,
        concerns=_is_sized_by_hand,
    ),
    Fault(
        key=NODE_ADDED, head="node added", title="a node joins", rank=8,
        events=lambda setup, workload: (CreateNode(name="nodeAdded", node=setup.nodes[-1].name, after=STABLE),),
        concerns=_reacts_to_new_nodes, prepare=_with_another_node,
    ),
)  # fmt: skip
BY_KEY = {fault.key: fault for fault in FAULTS}


# -- what a workload should survive -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Floor:
    """The ready pods that a workload should never be below, and who says so."""

    count: int
    budget: PodDisruptionBudget | None = None  # None: one pod, as nobody says more


def floor_of(setup: Setup, workload: Workload) -> Floor:
    """One pod, or what a budget wants of its replicas; none for what does not keep running."""
    if workload.rules.runs_to_completion or workload.replicas == 0:
        return Floor(0)
    found = Floor(1)
    for budget in setup.budgets:
        wanted = budget_wants(budget, workload.replicas) if covers(budget, workload) else 0
        if not workload.rules.runs_per_node and wanted > found.count:
            found = Floor(wanted, budget)
    return found


BACK, FLOOR = "comes back", "never below"  # names of intents, before the workload's


def lasting_intent(workload: Workload) -> Intent:
    """What must be true of a workload in the end."""
    about = Intent(key="minReady", name=f"{BACK} {workload.ref}", target=workload.ref, source=workload.source)
    if workload.rules.runs_to_completion:
        return replace(about, key="completes")
    if workload.rules.runs_per_node:
        return replace(about, key="runsOnEveryNode", when=EVENTUALLY_ALWAYS)
    return replace(about, when=EVENTUALLY_ALWAYS, count=ALL_OF_THEM)


def floor_intent(workload: Workload, count: int) -> Intent:
    """So many pods are ready from the first time on that all were."""
    name = f"{FLOOR} {count} {workload.ref}"
    return Intent(
        key="minReady", name=name, target=workload.ref, when=ALWAYS, count=Amount(count), source=workload.source
    )


def is_floor(intent: Intent) -> bool:
    """True for what `floor_intent` makes: no other question of a fault is about every moment."""
    return intent.key == "minReady" and intent.when == ALWAYS


def further_intent(key: str, workload: Workload) -> Intent:
    """One of the intents that a fault brings along; of a drain that the workload's own pods leave the node."""
    of = "replicas" if key == "noOscillation" else "any"
    return Intent(key=key, name=f"{key} {workload.ref}", target=workload.ref, of=of, source=workload.source)


MAX_LEVELS = 20  # numbers of ready pods that one search tells apart below the floor


def levels_of(floor: int) -> tuple[int, ...]:
    """The numbers of ready pods to ask for, from the floor down to one; of many, some."""
    if floor <= MAX_LEVELS:
        return tuple(range(floor, 0, -1))
    steps = {1 + (floor - 1) * step // (MAX_LEVELS - 1) for step in range(MAX_LEVELS)}
    return tuple(sorted(steps, reverse=True))


def intents_of(setup: Setup, workload: Workload, faults: Sequence[Fault]) -> tuple[Intent, ...]:
    """What is asked of a workload: it is complete in the end, never below its floor, and what the faults add."""
    keys = dict.fromkeys(key for fault in faults for key in fault.completes)
    found = [lasting_intent(workload), *(further_intent(key, workload) for key in keys)]
    if all(fault.begins == DEPLOYED for fault in faults) and not workload.rules.is_pod:
        found += [floor_intent(workload, count) for count in levels_of(floor_of(setup, workload).count)]
    return tuple(found)


def rows_of(setup: Setup) -> tuple[Workload, ...]:
    """The workloads that the matrix is about: those that have pods."""
    return tuple(w for w in setup.workloads if w.owner is None and _has_pods(w))


def _has_pods(workload: Workload) -> bool:
    """True unless nobody asks for any: no replicas, or a Job that is suspended."""
    if workload.rules.runs_to_completion:
        return not (workload.job.suspended or (workload.cron is not None and workload.cron.suspended))
    return workload.replicas > 0 or workload.rules.runs_per_node


def concerning(setup: Setup, workload: Workload, chosen: Sequence[Fault] = FAULTS) -> tuple[Fault, ...]:
    """The faults that mean something to a workload."""
    return tuple(fault for fault in chosen if fault.concerns(setup, workload))


def under_faults(loaded: Loaded, keys: Sequence[str], target: str, columns: Mapping[str, Fault] = BY_KEY) -> Loaded:
    """The input with the scenario of one cell: the faults of these columns, and what the workload should survive."""
    faults = [columns[key] for key in keys]
    setup = loaded.setup
    for fault in faults:
        setup = fault.prepare(setup)
    if all(fault.begins == DEPLOYED for fault in faults) and not loaded.scenario.start.pods:
        setup = within_bounds(setup)
    workload = next(one for one in setup.workloads if one.ref == target)
    scenario = Scenario(
        name=" and ".join(keys),
        start=_start(loaded, faults),
        events=(
            *(event for fault in faults for event in fault.events(setup, workload)),
            *_circumstances(setup, workload, keys),
        ),
        intents=intents_of(setup, workload, faults),
        is_default=True,
    )
    return replace(loaded, setup=setup, scenario=scenario)


def _circumstances(setup: Setup, workload: Workload, keys: Sequence[str]) -> tuple[Event, ...]:
    """How pods are while the faults last.

    Where a rollout adds a pod to the one that has the disk, nothing is proved, as attaching is not modelled. A new pod
    waits for the disk as long as the old one keeps it on another node: what is looked for is a run like that.
    """
    if tuple(keys) == (ROLLOUT,) and adds_to_its_disk(setup, workload):
        return (NeverReady(name="waiting", target=workload.ref, revision=NEW_REVISION),)
    return tuple(_within_deadline(setup, workload))


def _within_deadline(setup: Setup, workload: Workload) -> Iterator[Event]:
    """How long pods of a Job with a deadline run: nobody tells, but who set it meant it to suffice.

    So it does if nothing happens, and where it can also if all pods have to run twice, as after a drain, or after a
    node has been silent until its pods are evicted.
    """
    job = workload.job
    if not workload.rules.runs_to_completion or job.deadline_s is None:
        return
    from kubeproof.controllers.workloads.job_sync import FIRST_BACK_OFF_S

    in_turn = -(-(job.completions or 1) // max(workload.replicas, 1))  # pods, one after the other
    tolerated_s = [one.seconds for one in workload.template.tolerations if one.seconds is not None]
    drained_s = workload.template.grace_s + FIRST_BACK_OFF_S
    silent_s = setup.settings.grace_s + setup.settings.monitor_period_s + max(tolerated_s, default=0) + drained_s
    for tries, lost_s in ((2, silent_s), (2, drained_s), (1, 0)):
        most_s = (job.deadline_s - lost_s - 1) // (tries * in_turn) - setup.settings.startup_s[1] - 1
        if most_s > 0:
            if most_s < RUN_S[1]:
                yield Completes(name="run", target=workload.ref, least_s=min(RUN_S[0], most_s), most_s=most_s)
            return


def adds_to_its_disk(setup: Setup, workload: Workload) -> bool:
    """True if a rollout adds a pod before it takes away the only one, and both mount a disk that nobody else does."""
    if not (workload.rules.owns_replica_sets and workload.strategy.rolling and workload.replicas == 1):
        return False
    return not workload.strategy.unavailable_of(1) and _has_own_disk(setup, workload)


def within_bounds(setup: Setup) -> Setup:
    """The setup when autoscalers have done what needs no metric: what was deployed is within their bounds."""

    def bound(workload: Workload) -> Workload:
        bounds = [(a.min_replicas, a.max_replicas) for a in setup.autoscalers if a.target == workload.ref]
        if len(bounds) != 1 or not workload.replicas:
            return workload  # of several nobody knows which comes last, and 0 switches them off
        return replace(workload, replicas=min(max(workload.replicas, bounds[0][0]), bounds[0][1]))

    return replace(setup, workloads=tuple(map(bound, setup.workloads)))


def _start(loaded: Loaded, faults: Sequence[Fault]) -> Start:
    """Pods that run already are the start of every fault; otherwise what the fault begins with."""
    if loaded.scenario.start.pods:
        return loaded.scenario.start
    return Start(EMPTY if any(fault.begins == EMPTY for fault in faults) else DEPLOYED)
