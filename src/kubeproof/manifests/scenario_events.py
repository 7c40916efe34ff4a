"""Events of a Scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kubeproof.cluster.objects import POD, Node, Workload
from kubeproof.events.declarations import STABLE, Apply, Cordon, Create, Event, NodeFailure, Scale
from kubeproof.manifests.fields import LARGEST_INT32, Fields, suggestion
from kubeproof.manifests.printable import printable
from kubeproof.manifests.targets import read_nodes, read_targets
from kubeproof.manifests.tree import Mapping, Scalar, ScalarKind
from kubeproof.manifests.workloads import ReadWorkload

LATER = frozenset(
    {
        "zoneFailure",
        "nodeRemoval",
        "drain",
        "maintenance",
        "cpuChange",
        "memoryChange",
        "cpuPattern",
        "memoryPattern",
        "cpuLoad",
        "kernelPanic",
        "podCrash",
        "neverReady",
        "completes",
        "delete",
        "rollout",
        "rollback",
        "unreachable",
    }
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What events and intents may refer to."""

    nodes: Sequence[Node]
    workloads: Sequence[Workload]
    read_applied: Callable[[Fields], ReadWorkload]  # the object an `apply` event names or holds


@dataclass(frozen=True, slots=True)
class Common:
    """Fields that every event has."""

    name: str
    is_named: bool
    max: int | None
    after: str | None


def read_events(spec: Fields, around: Surroundings) -> tuple[Event, ...]:
    """The events, with unique names and an `after` relation without cycles."""
    events: list[Event] = []
    places: dict[str, Fields] = {}
    for position, entry in enumerate(spec.children("events"), start=1):
        key, fields = only_key(entry, set(_READERS), LATER, "event")
        for event in _READERS[key](fields, _common(fields, key, position), around):
            if event.name in places or event.name == STABLE:
                fields.fail("name", f"is {printable(event.name)!r} again", remedy="Event names are unique")
            places[event.name] = fields
            events.append(event)
        fields.finish_strictly("name", "max", "after")
    _check_order(events, places)
    return tuple(events)


def only_key(entry: Fields, known: set[str], later: frozenset[str], noun: str) -> tuple[str, Fields]:
    """The one key of an entry and its fields; `settles:` without a value counts as `settles: {}`."""
    keys = list(entry.mapping.entries)
    if len(keys) != 1:
        entry.log.fail(
            f"{entry.path} has {len(keys)} keys",
            line=entry.mapping.line,
            remedy=f"Write one {noun} per entry",
        )
    key = keys[0]
    if key in later:
        entry.log.fail(
            f"{noun} {key} is not modelled yet",
            line=entry.line_of(key),
            remedy=f"Modelled: {', '.join(sorted(known))}",
        )
    if key not in known:
        entry.log.fail(
            f"unknown {noun} {printable(key)}", line=entry.line_of(key), remedy=suggestion(key, known | later)
        )
    child = entry.child(key)
    return key, child if child is not None else Fields(_empty_at(entry, key), entry.path_of(key), entry.log)


def _empty_at(entry: Fields, key: str) -> Mapping:
    at = entry.mapping.entries[key]
    return Mapping({}, at.line, at.column)


def _common(fields: Fields, key: str, position: int) -> Common:
    name = fields.text("name")
    return Common(
        name=name or f"{key}-{position}",
        is_named=bool(name),
        max=fields.integer("max", least=1, most=1000),
        after=fields.text("after"),
    )


def _node_failure(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    recovers, together = fields.boolean("recovers"), fields.boolean("together")
    event = NodeFailure(
        name=common.name,
        max=common.max or 1,
        after=common.after,
        source=fields.source,
        nodes=read_nodes(fields, around.nodes),
        recovers=True if recovers is None else recovers,
        together=together or False,
    )
    return [event]


def _cordon(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    event = Cordon(
        name=common.name,
        max=common.max or 1,
        after=common.after,
        source=fields.source,
        nodes=read_nodes(fields, around.nodes),
        reversible=fields.boolean("reversible") or False,
    )
    return [event]


def _scale(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    """One event per scalable workload; `max` defaults to one use of each value."""
    replicas = _replica_choices(fields)
    chosen = read_targets(fields, around.workloads)
    for workload in chosen or ():
        if workload.kind == POD:
            fields.fail("target", f"{workload.ref} has no replicas", remedy="Scale a Deployment or ReplicaSet")
    scalable = [w for w in (around.workloads if chosen is None else chosen) if w.kind != POD]
    return [
        Scale(
            name=_name_of(common, workload, len(scalable), fields),
            max=common.max or len(replicas),
            after=common.after,
            source=fields.source,
            target=workload.ref,
            replicas=replicas,
        )
        for workload in scalable
    ]


def _replica_choices(fields: Fields) -> tuple[int, ...]:
    """The values of `replicas`, each once, in the order given."""
    values: dict[int, None] = {}
    for index, item in enumerate(fields.items("replicas")):
        if not isinstance(item, Scalar) or item.kind is not ScalarKind.INTEGER:
            fields.fail("replicas", f"[{index}] is not an integer", remedy="Write replicas: [2, 5]")
        if not 0 <= int(item.text) <= LARGEST_INT32:
            fields.fail("replicas", f"[{index}] is {item.text}", remedy=f"It lies between 0 and {LARGEST_INT32}")
        values[int(item.text)] = None
    if not values:
        fields.fail("replicas", "is required", remedy="Write replicas: [2, 5]")
    return tuple(values)


def _name_of(common: Common, workload: Workload, count: int, fields: Fields) -> str:
    """The event's name; made unique when one entry stands for several workloads."""
    if count == 1:
        return common.name
    if common.is_named:
        fields.fail("name", f"would name {count} events", remedy="Name one target, or leave the name out")
    return f"{common.name} {workload.ref}"


def _create(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    target = fields.required_text("target")
    if target.split("/")[0] in ("Node", "PodDisruptionBudget"):
        fields.fail("target", f"is {printable(target)!r}", remedy="Only creating workloads is modelled yet")
    chosen = read_targets(fields, around.workloads) or []
    return [
        Create(
            name=_name_of(common, workload, len(chosen), fields),
            max=common.max or 1,
            after=common.after,
            source=fields.source,
            target=workload.ref,
        )
        for workload in chosen
    ]


def _apply(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    """An applied workload; one that is in the input may change its replicas but not its pods."""
    read = around.read_applied(fields)
    _check_applied(fields, read.workload, around.workloads)
    event = Apply(
        name=common.name,
        max=common.max or 1,
        after=common.after,
        source=fields.source,
        workload=read.workload,
        replicas_given=read.replicas_given,
    )
    return [event]


def _check_applied(fields: Fields, new: Workload, workloads: Sequence[Workload]) -> None:
    for old in workloads:
        if old.ref != new.ref:
            continue
        if old.selector != new.selector:
            key = "file" if fields.has("file") else "manifest"
            fields.fail(key, f"changes the selector of {new.ref}", remedy="Selectors are immutable")
        if old.template != new.template:
            key = "file" if fields.has("file") else "manifest"
            fields.fail(
                key,
                f"changes the pods of {new.ref}",
                remedy="Rollouts are not modelled yet; change replicas only",
            )


def _check_order(events: list[Event], places: dict[str, Fields]) -> None:
    """Every `after` names `stable` or another event, and following it never comes back."""
    follows = {event.name: event.after for event in events}
    for event in events:
        if event.after not in (None, STABLE) and event.after not in follows:
            remedy = suggestion(event.after, {STABLE, *follows} - {event.name})
            places[event.name].fail("after", f"is {printable(event.after)!r}, not an event", remedy=remedy)
    for event in events:
        passed, current = {event.name}, event.after
        while current not in (None, STABLE):
            if current in passed:
                places[event.name].fail("after", "waits for itself", remedy="Break the circle")
            passed.add(current)
            current = follows[current]


_READERS: dict[str, Callable[[Fields, Common, Surroundings], list[Event]]] = {
    "nodeFailure": _node_failure,
    "cordon": _cordon,
    "scale": _scale,
    "create": _create,
    "apply": _apply,
}
