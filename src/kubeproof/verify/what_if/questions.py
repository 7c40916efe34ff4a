"""The questions that people ask of a cluster, each as a column of the survival matrix that is about these very nodes.

A question derives from a column that exists: its events are those of the column, with the nodes, sizes or manifests
that the user names; who is asked is who has something at stake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches

from kubeproof.cluster.objects import HOSTNAME, ZONE, Node, Setup, Workload
from kubeproof.errors import UsageError
from kubeproof.events.declarations import (
    Apply,
    CpuLoad,
    Create,
    Drain,
    Event,
    NodeChoice,
    NodeFailure,
    NodeRemoval,
    Rollout,
    Scale,
)
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import BY_KEY, DEPLOY, DEPLOYED, ROLLOUT, Fault, rows_of
from kubeproof.values import dataclass

CORDON, UPGRADE = "cordon", "upgrade"
FEW_NODES = 8  # up to which an upgrade is searched turn after turn; of more one turn decides
SURGE = "kubeproof-surge"  # names of the nodes that an upgrade adds


@dataclass(frozen=True, slots=True)
class Happens:
    """Events that do not depend on whom one asks about."""

    events: tuple[Event, ...]

    def __call__(self, setup: Setup, workload: Workload) -> tuple[Event, ...]:
        return self.events


@dataclass(frozen=True, slots=True)
class Among:
    """Of all workloads these."""

    refs: frozenset[str]

    def __call__(self, setup: Setup, workload: Workload) -> bool:
        return workload.ref in self.refs


@dataclass(frozen=True, slots=True)
class RollsOut:
    """The workload that one asks about gets a new revision."""

    def __call__(self, setup: Setup, workload: Workload) -> tuple[Event, ...]:
        return (Rollout(name=ROLLOUT, target=workload.ref),)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: of an input that is prepared for it, by columns of a matrix."""

    key: str  # "drain", as the command has it
    words: str  # as it was asked: "drain node-7"
    clause: str  # what happens: "node-7 is drained"
    loaded: Loaded
    columns: tuple[Fault, ...]
    nodes: tuple[str, ...] = ()  # that something happens to
    notes: tuple[str, ...] = ()  # what was taken to be so

    @property
    def events(self) -> tuple[Event, ...]:
        """All that may happen, whomever one asks about."""
        setup = self.loaded.setup
        told = (
            event
            for fault in self.columns
            for workload in rows_of(setup)
            if fault.concerns(setup, workload)
            for event in fault.events(setup, workload)
        )
        return tuple(dict.fromkeys(told))


# -- nodes ------------------------------------------------------------------------------------------


def ask_drain(loaded: Loaded, names: Sequence[str]) -> Question:
    """Nodes are drained, one after the other, and stay cordoned."""
    nodes = _find_nodes(loaded, names)
    event = Drain(name="drain", nodes=NodeChoice(names=nodes), each_once=True, max=len(nodes))
    return _of_nodes("drain", "drain", loaded, nodes, event, f"{_list(nodes)} {_are(nodes)} drained")


def ask_removal(loaded: Loaded, names: Sequence[str]) -> Question:
    """Nodes are drained and deleted."""
    nodes = _find_nodes(loaded, names)
    event = NodeRemoval(name="removal", nodes=NodeChoice(names=nodes), max=len(nodes))
    clause = f"{_list(nodes)} {_are(nodes)} drained and deleted"
    return _of_nodes("remove", "drain", loaded, nodes, event, clause)


def ask_failure(loaded: Loaded, names: Sequence[str]) -> Question:
    """Nodes, or all nodes of a zone, fail at once and stay down."""
    known = {node.name for node in loaded.setup.nodes}
    zones = {node.label_map.get(ZONE) for node in loaded.setup.nodes} - {None}
    is_zone = len(names) == 1 and names[0] not in known and names[0] in zones
    if is_zone:
        nodes = tuple(node.name for node in loaded.setup.nodes if node.label_map.get(ZONE) == names[0])
    else:
        nodes = _find_nodes(loaded, names, frozenset(map(str, zones)))
    event = NodeFailure(
        name="nodeLoss", nodes=NodeChoice(names=nodes), recovers=False, together=len(nodes) > 1, max=len(nodes)
    )
    said = f"all {len(nodes)} nodes of zone {names[0]}" if is_zone else _list(nodes)
    clause = f"{said} {'fail' if is_zone or len(nodes) > 1 else 'fails'} and {_stay(nodes)} down"
    return _of_nodes("fail", "nodeLoss", loaded, nodes, event, clause, words=f"fail {' '.join(names)}")


def ask_cordon(loaded: Loaded, names: Sequence[str]) -> Question:
    """Nodes are cordoned. That moves nothing; what has pods there is asked whether it can still be rolled out."""
    nodes = _find_nodes(loaded, names)
    there = _with_pods_on(loaded, nodes)
    closed = tuple(replace(n, unschedulable=True) if n.name in nodes else n for n in loaded.setup.nodes)
    prepared = replace(loaded, setup=replace(loaded.setup, nodes=closed))
    column = replace(
        BY_KEY[ROLLOUT], title=f"a new revision is rolled out while {_list(nodes)} {_are(nodes)} cordoned",
        events=RollsOut(), concerns=Among(frozenset(r for r in there if _rolls_out(loaded, r))),
    )  # fmt: skip
    clause = f"{_list(nodes)} {_are(nodes)} cordoned"
    note = "cordoning moves no pod: asked is whether what has pods there can be rolled out meanwhile"
    return Question(CORDON, f"cordon {' '.join(nodes)}", clause, prepared, (column,), nodes, (note,))


def _rolls_out(loaded: Loaded, ref: str) -> bool:
    workload = next(one for one in loaded.setup.workloads if one.ref == ref)
    return BY_KEY[ROLLOUT].concerns(loaded.setup, workload)


def _of_nodes(
    key: str, fault: str, loaded: Loaded, nodes: tuple[str, ...], event: Event, clause: str, *, words: str = ""
) -> Question:
    concerned = Among(frozenset(_with_pods_on(loaded, nodes)))
    column = replace(BY_KEY[fault], title=clause, events=Happens((event,)), concerns=concerned)
    return Question(key, words or f"{key} {' '.join(nodes)}", clause, loaded, (column,), nodes)


def _with_pods_on(loaded: Loaded, nodes: Iterable[str]) -> tuple[str, ...]:
    """The workloads that have pods on the nodes, or may have if nobody knows where pods are; not DaemonSets."""
    setup, wanted = loaded.setup, set(nodes)
    moved = [one for one in rows_of(setup) if not one.rules.runs_per_node]
    if not loaded.scenario.start.pods:
        return tuple(one.ref for one in moved)
    there = {ref for ref, node in loaded.scenario.start.spots() if node in wanted}
    return tuple(one.ref for one in moved if one.ref in there or one.home in wanted)


def _find_nodes(loaded: Loaded, names: Sequence[str], others: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The names, each once; raises if there is no such node."""
    known = [node.name for node in loaded.setup.nodes]
    for name in names:
        if name not in known:
            close = get_close_matches(name, [*known, *sorted(others)], n=1)
            meant = f"Did you mean {close[0]!r}?" if close else f"There are: {_shorten(known)}."
            raise UsageError(f"there is no node {name!r}", meant)
    return tuple(dict.fromkeys(names))


# -- all nodes --------------------------------------------------------------------------------------


def ask_upgrade(loaded: Loaded, surge: int = 0) -> Question:
    """All nodes are drained, rebooted and uncordoned, one after the other, with some nodes more meanwhile."""
    known = loaded.setup.nodes
    if not known:
        raise UsageError("there is no node to upgrade", "Name manifests with Node objects, --live, or --nodes.")
    added = tuple(_like_most(known, number) for number in range(1, surge + 1))
    prepared = replace(loaded, setup=replace(loaded.setup, nodes=(*known, *added)))
    is_by_turns = bool(loaded.scenario.start.pods) and len(known) > FEW_NODES
    rows = [one for one in rows_of(loaded.setup) if not (is_by_turns and one.rules.runs_per_node)]
    asked = frozenset(one.ref for one in rows if BY_KEY[UPGRADE].concerns(loaded.setup, one))
    column = replace(BY_KEY[UPGRADE], concerns=Among(asked))
    more = f", with {surge} more meanwhile" if surge else ""
    clause = f"all {len(known)} nodes are drained, rebooted and uncordoned, one after the other{more}"
    notes = (f"{surge} nodes like the most frequent kind are there all the time",) if surge else ()
    if len(rows) < len(rows_of(loaded.setup)):
        notes = (*notes, "DaemonSets are not asked: drains leave their pods alone, which come back with their node")
    words = f"upgrade --surge {surge}" if surge else UPGRADE
    return Question(UPGRADE, words, clause, prepared, (column,), tuple(node.name for node in known), notes)


def _like_most(nodes: Sequence[Node], number: int) -> Node:
    kinds: dict[Node, list[Node]] = {}
    for node in nodes:
        labels = tuple((key, value) for key, value in node.labels if key != HOSTNAME)
        kinds.setdefault(replace(node, name="", labels=labels, unschedulable=False, images=()), []).append(node)
    first = max(kinds.values(), key=len)[0]
    name = f"{SURGE}-{number}"
    labels = tuple((key, name if key == HOSTNAME else value) for key, value in first.labels)
    return replace(first, name=name, labels=labels, unschedulable=False)


# -- workloads --------------------------------------------------------------------------------------


def ask_scale(loaded: Loaded, sizes: Sequence[tuple[str, int]]) -> Question:
    """Workloads get another number of replicas."""
    targets = [(_find_workload(loaded, name), replicas) for name, replicas in sizes]
    for target, _ in targets:
        if not target.rules.has_replicas:
            raise UsageError(f"{target.ref} has no replicas", "Only what has replicas can be scaled.")
    events = tuple(
        Scale(name=f"scale-{number}", target=target.ref, replicas=(replicas,))
        for number, (target, replicas) in enumerate(targets, 1)
    )
    scaled = {autoscaler.target for autoscaler in loaded.setup.autoscalers}
    notes = tuple(f"{one.ref} has an autoscaler, which writes its size, too" for one, _ in targets if one.ref in scaled)
    clause = " and ".join(f"{target.ref} is scaled from {target.replicas} to {n}" for target, n in targets)
    asked = frozenset(target.ref for target, _ in targets)
    column = replace(BY_KEY["scale"], title=clause, events=Happens(events), concerns=Among(asked))
    words = f"scale {' '.join(f'{name}={replicas}' for name, replicas in sizes)}"
    return Question("scale", words, clause, loaded, (column,), notes=notes)


def _find_workload(loaded: Loaded, name: str) -> Workload:
    """The workload of a name: `Kind/namespace/name`, `namespace/name` or `name`, as far as it is the only one."""
    rows = rows_of(loaded.setup)
    wanted = name.lower()
    found = [one for one in rows if one.ref.lower() == wanted or one.ref.lower().endswith(f"/{wanted}")]
    if not found and wanted.count("/") == 1:  # deployment/web, as kubectl has it
        kind, _, rest = wanted.partition("/")
        found = [one for one in rows if one.kind.lower() == kind and one.name.lower() == rest]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{name!r} may be {_shorten([one.ref for one in found])}", "Write Kind/namespace/name.")
    close = get_close_matches(name, [text for one in rows for text in (one.ref, one.name)], n=1)
    meant = f"Did you mean {close[0]!r}?" if close else f"There are: {_shorten([one.ref for one in rows])}."
    raise UsageError(f"there is no workload {name!r}", meant)


def ask_load(loaded: Loaded, percent: int) -> Question:
    """The load of all workloads with an autoscaler that looks at CPU changes by a share, from what it aims at."""
    if percent <= -100:
        raise UsageError(f"a load cannot fall by {-percent} %", "Write load +50% or load -30%.")
    known = {one.ref: one for one in rows_of(loaded.setup)}
    events: list[CpuLoad] = []
    notes: list[str] = []
    for autoscaler in loaded.setup.autoscalers:
        target = known.get(autoscaler.target)
        metric = next((m for m in autoscaler.metrics if m.name == "cpu" and m.target_type == "Utilization"), None)
        request = sum(container.cpu_milli or 0 for container in target.template.containers) if target else 0
        if target is None or metric is None or not request:
            notes.append(f"{autoscaler.target}: its autoscaler does not look at a share of the CPU request; left out")
            continue
        now = target.replicas * request * metric.value // 100
        levels = (now, now * (100 + percent) // 100)
        events.append(CpuLoad(name=f"load-{len(events) + 1}", target=target.ref, levels=levels, max=1))
    if not events:
        remedy = "Only what a HorizontalPodAutoscaler sizes by CPU reacts to load."
        raise UsageError("no workload has an autoscaler that looks at its CPU", remedy)
    notes.append("before it, pods use as much CPU as their autoscalers aim at")
    asked = frozenset(event.target for event in events)
    clause = f"the load of {len(asked)} workload{'s' if len(asked) > 1 else ''} changes by {percent:+d} %"
    column = replace(BY_KEY["loadPeak"], title=clause, events=LoadOf(tuple(events)), concerns=Among(asked))
    return Question("load", f"load {percent:+d}%", clause, loaded, (column,), notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class LoadOf:
    """The load of the workload that one asks about changes; that of others is as it is, which their searches ask."""

    events: tuple[CpuLoad, ...]

    def __call__(self, setup: Setup, workload: Workload) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.target == workload.ref)


def ask_apply(loaded: Loaded, new: Loaded, name: str) -> Question:
    """Manifests are applied to what runs now: workloads change or come, all else counts as applied before."""
    known = {one.ref: one for one in loaded.setup.workloads}
    changed = [one for one in rows_of(new.setup) if one.ref in known and _differs(known[one.ref], one)]
    created = [one for one in rows_of(new.setup) if one.ref not in known]
    if not changed and not created:
        told = "no workload of it differs from what runs" if rows_of(new.setup) else "it holds no workload"
        raise UsageError(f"{name}: {told}", "Name manifests that change or add a workload.")
    prepared, notes = _with_objects(loaded, new, created)
    events: list[Event] = [
        Apply(name=f"apply-{number}", workload=one, replicas_given=one.replicas_given)
        for number, one in enumerate(changed, 1)
    ]
    events += [Create(name=f"create-{number}", target=one.ref) for number, one in enumerate(created, 1)]
    counts = [_count(changed, "changes"), _count(created, "comes", "come")]
    clause = f"{name} is applied ({', '.join(filter(None, counts))})"
    columns = []
    for key, asked in ((ROLLOUT, changed), (DEPLOY, created)):
        if asked:
            refs = frozenset(one.ref for one in asked)
            columns.append(
                replace(BY_KEY[key], title=clause, events=Happens(tuple(events)), concerns=Among(refs), begins=DEPLOYED)
            )
    return Question("apply", f"apply -f {name}", clause, prepared, tuple(columns), notes=tuple(notes))


def _count(found: Sequence[Workload], one: str, many: str = "change") -> str:
    return f"{len(found)} workload{'s' if len(found) > 1 else ''} {many if len(found) > 1 else one}" if found else ""


def _differs(now: Workload, then: Workload) -> bool:
    plain = replace(then, source=now.source, replicas=then.replicas if then.replicas_given else now.replicas)
    return plain != replace(now, replicas_given=plain.replicas_given)


def _with_objects(loaded: Loaded, new: Loaded, created: Sequence[Workload]) -> tuple[Loaded, list[str]]:
    """What runs, with the workloads that come as objects of the input, and all else of the new manifests."""
    setup, other, notes = loaded.setup, new.setup, []
    budgets = {(b.namespace, b.name): b for b in setup.budgets} | {(b.namespace, b.name): b for b in other.budgets}
    scalers = {(a.namespace, a.name): a for a in setup.autoscalers}
    scalers |= {(a.namespace, a.name): a for a in other.autoscalers}
    quotas = {(q.namespace, q.name): q for q in setup.quotas} | {(q.namespace, q.name): q for q in other.quotas}
    if other.budgets or other.autoscalers or other.quotas:
        notes.append("budgets, autoscalers and quotas of the new manifests count as applied before their workloads")
    whole = replace(
        setup,
        workloads=(*setup.workloads, *created),
        budgets=tuple(budgets.values()),
        autoscalers=tuple(scalers.values()),
        quotas=tuple(quotas.values()),
    )
    return replace(loaded, setup=whole), notes


# -- words ------------------------------------------------------------------------------------------


def _list(names: Sequence[str]) -> str:
    return (
        names[0]
        if len(names) == 1
        else f"{', '.join(names[:-1])} and {names[-1]}"
        if len(names) < 5
        else (f"{', '.join(names[:3])} and {len(names) - 3} more nodes")
    )


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _stay(names: Sequence[str]) -> str:
    return "stays" if len(names) == 1 else "stay"


def _shorten(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
