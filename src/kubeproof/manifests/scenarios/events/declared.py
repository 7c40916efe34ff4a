"""Events of a Scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kubeproof.cluster.kinds import ROLLED_OUT
from kubeproof.cluster.objects import Workload
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.errors import InternalError
from kubeproof.events.declarations import (
    APPLIED,
    CREATED,
    DELETED,
    STABLE,
    Apply,
    BudgetChange,
    Completes,
    Create,
    CreateNode,
    Delete,
    Event,
    NodeChoice,
    NodeRemoval,
    Scale,
    find_manual,
    list_keys,
    manuals,
)
from kubeproof.events.event import Problem
from kubeproof.events.manual import Field, FieldType
from kubeproof.late import resolve
from kubeproof.manifests.scenarios.events.chances import CHANCE_KEYS, with_chance
from kubeproof.manifests.scenarios.events.fields import (
    ANY_NUMBER,
    Common,
    Surroundings,
    each_target,
    name_of,
    only_key,
    read_common,
    refuse_moment,
)
from kubeproof.manifests.scenarios.events.usage import USAGE_READERS, Reader, check_one_usage
from kubeproof.manifests.scenarios.intents.targets import read_nodes, read_targets
from kubeproof.manifests.validation.names import check_label_key
from kubeproof.manifests.yaml.durations import read_seconds
from kubeproof.manifests.yaml.fields import LARGEST_INT32, Fields, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Scalar, ScalarKind

BUDGET, NODE = "PodDisruptionBudget/", "Node/"


def read_events(spec: Fields, around: Surroundings) -> tuple[Event, ...]:
    """The events, with unique names and an `after` relation without cycles."""
    events: list[Event] = []
    places: dict[str, Fields] = {}
    before = len(spec.log.problems)
    for position, entry in enumerate(spec.children("events"), start=1):
        events += spec.log.gather(partial(_read_entry, entry, position, around, places), ())
    if len(spec.log.problems) > before:
        return tuple(events)  # what is missing would be blamed on the others
    _check_order(events, places)
    _check_one_change(events, places)
    check_one_usage(events, places)
    return tuple(events)


def _read_entry(entry: Fields, position: int, around: Surroundings, places: dict[str, Fields]) -> Sequence[Event]:
    """The events that one entry stands for."""
    key, fields = only_key(entry, list_keys(), "event")
    common = read_common(fields, key, position)
    found = []
    for event in reader_of(key)(fields, common, around):
        if event.name in places or event.name == STABLE:
            fields.fail("name", f"is {printable(event.name)!r} again", remedy="Event names are unique")
        places[event.name] = fields
        found.append(with_chance(fields, replace(event, and_after=common.and_after, must=common.must)))
        _check(found[-1].problems(), fields)
    fields.finish_strictly("name", "max", "after", "must", *CHANCE_KEYS)
    return found


def read_timed_events(entry: Fields, position: int, around: Surroundings, others: tuple[str, ...]) -> tuple[Event, ...]:
    """The events of one entry of a timetable: one key that says what happens, beside those that say when."""
    keys = [key for key in entry.mapping.entries if key not in others]
    timed = [key for key, (_, manual) in manuals().items() if manual.is_timed]
    if len(keys) != 1 or keys[0] not in timed:
        known = (*timed, "trafficShift")
        unknown = next((key for key in keys if key not in timed), None)
        remedy = "Write one per entry" if unknown is None else suggestion(unknown, known)
        told = (
            f"has {len(keys)} things that happen"
            if unknown is None
            else f"cannot happen at a moment: {printable(unknown)}"
        )
        entry.log.fail(f"{entry.path} {told}", line=entry.mapping.line, remedy=remedy)
    key = keys[0]
    fields = entry.require_child(key)
    common = read_common(fields, key, position)
    if common.max is not None or common.after is not None:
        which = "max" if common.max is not None else "after"
        fields.fail(which, "has no meaning in a timetable", remedy="It happens once, at its moment")
    if common.must:
        fields.fail("must", "has no meaning in a timetable", remedy="It happens at its moment")
    if fields.has("eachOnce"):
        fields.fail("eachOnce", "has no meaning in a timetable", remedy="Write one entry per node")
    if not common.is_named:
        common = replace(common, name=f"{key}-at-{entry.text('at')}-{position}")
    events = reader_of(key)(fields, common, around)
    fields.finish_strictly("name")
    return tuple(events)


def _scale(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    """One event per scalable workload; `max` defaults to one use of each value."""
    replicas = _replica_choices(fields)
    return [
        Scale(
            name=name,
            max=common.max or len(replicas),
            after=common.after,
            source=fields.source,
            target=workload.ref,
            replicas=replicas,
        )
        for name, workload in each_target(fields, common, around, applies=resolve(Scale).unfit)
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


def _create(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    target = fields.require_text("target")
    if target.startswith(NODE):
        return [_create_node(fields, common, around, target.removeprefix(NODE))]
    if target.startswith(BUDGET):
        return [_budget_change(fields, common, around, target, CREATED)]
    chosen = read_targets(fields, around.workloads) or []
    return [
        Create(
            name=name_of(common, workload, len(chosen), fields),
            max=common.max or 1,
            after=common.after,
            source=fields.source,
            target=workload.ref,
        )
        for workload in chosen
    ]


def _budget_change(fields: Fields, common: Common, around: Surroundings, target: str, verb: str) -> BudgetChange:
    """A budget of the input that comes or goes."""
    from kubeproof.events.budget_change import name_of as name_of_budget

    parts = target.removeprefix(BUDGET).split("/")
    name = "/".join(["default", *parts] if len(parts) == 1 else parts)
    known = [name_of_budget(budget) for budget in around.budgets]
    if name not in known:
        remedy = suggestion(name, known)
        told = f"is {printable(target)!r}, not a PodDisruptionBudget of the input"
        fields.fail("target", told, remedy=remedy, is_missing=True)
    return BudgetChange(name=common.name, after=common.after, source=fields.source, budget=name, verb=verb)


def _create_node(fields: Fields, common: Common, around: Surroundings, name: str) -> CreateNode:
    """A node that joins; pods that name it would be orphans before, which is not modelled."""
    _check_known_node(fields, around, name)
    if any(name in (w.template.node_name, w.bound_to) for w in around.workloads):
        fields.fail("target", f"is {name}, which pods name", remedy="Let them find their node by labels")
    return CreateNode(name=common.name, max=1, after=common.after, source=fields.source, node=name)


def _check_known_node(fields: Fields, around: Surroundings, name: str) -> str:
    known = [node.name for node in around.nodes]
    if name not in known:
        told, remedy = f"is {printable(name)!r}, not a Node of the input", suggestion(name, known)
        fields.fail("target", told, remedy=remedy, is_missing=True)
    return name


def _delete(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    target = fields.text("target")
    if target is not None and target.startswith(BUDGET):
        return [_budget_change(fields, common, around, target, DELETED)]
    if target is not None and target.startswith(NODE):
        name = _check_known_node(fields, around, target.removeprefix(NODE))
        gone = NodeRemoval(
            name=common.name,
            after=common.after,
            source=fields.source,
            nodes=NodeChoice(names=(name,)),
            drain_first=False,
        )
        return [_settle(gone, fields, common, around)]
    return [
        Delete(name=name, max=common.max or 1, after=common.after, source=fields.source, target=workload.ref)
        for name, workload in each_target(fields, common, around)
    ]


def _completes(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    """How long pods of Jobs run: `after` so long, or between `after` and `within`."""
    refuse_moment(fields, "max")
    if common.after is None:
        fields.fail("after", "is required", remedy="Write how long the pods run, such as after: 60s")
    least_s, most_s = read_seconds(fields, "after") or 0, read_seconds(fields, "within")
    if most_s is not None and most_s < least_s:
        fields.fail("within", "is less than after", remedy="Pods end between the two")
    return [
        Completes(
            name=name,
            source=fields.source,
            target=workload.ref,
            least_s=least_s,
            most_s=least_s if most_s is None else most_s,
        )
        for name, workload in each_target(fields, common, around, applies=resolve(Completes).unfit)
    ]


def _apply(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    """An applied workload or budget; a workload of the input may change its replicas, a Deployment its pods, too."""
    read = around.read_applied(fields)
    if isinstance(read, PodDisruptionBudget):
        from kubeproof.events.budget_change import name_of as name_of_budget

        given = {"name": common.name, "after": common.after, "source": fields.source}
        return [BudgetChange(**given, budget=name_of_budget(read), verb=APPLIED, content=read)]  # type: ignore[arg-type]
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
        if (old.job, old.cron) != (new.job, new.cron):
            key = "file" if fields.has("file") else "manifest"
            fields.fail(key, f"changes the rules of {new.ref}", remedy="Of a Job only parallelism changes in a run")
        if old.template != new.template and old.kind not in ROLLED_OUT:
            key = "file" if fields.has("file") else "manifest"
            fields.fail(
                key,
                f"changes the pods of {new.ref}",
                remedy=f"Only a {' or '.join(ROLLED_OUT)} rolls a new pod template out; change replicas only",
            )


def _check_one_change(events: list[Event], places: dict[str, Fields]) -> None:
    """Of a budget one event may speak: what two make of it would depend on their order."""
    changed: set[str] = set()
    for event in events:
        if isinstance(event, BudgetChange):
            if event.budget in changed:
                key = "target" if event.content is None else "manifest"
                places[event.name].fail(key, f"changes {event.budget} again", remedy="One event per budget")
            changed.add(event.budget)


def _check_order(events: list[Event], places: dict[str, Fields]) -> None:
    """Every `after` names `stable` or another event, and following it never comes back."""
    follows = {event.name: event.awaited for event in events}
    lasting = {event.name for event in events if not event.footprint.is_moment}
    for event in events:
        for name in event.awaited:
            if name in lasting:
                remedy = "It holds from the start of the run; wait for another event"
                places[event.name].fail("after", f"is {printable(name)!r}, which never happens", remedy=remedy)
            if name not in follows:
                remedy = suggestion(name, {STABLE, *follows} - {event.name})
                places[event.name].fail("after", f"is {printable(name)!r}, not an event", remedy=remedy)
    for event in events:
        if event.name in _all_awaited(event.name, follows):
            places[event.name].fail("after", "waits for itself", remedy="Break the circle")


def _all_awaited(name: str, follows: dict[str, tuple[str, ...]]) -> set[str]:
    """What an event waits for, and what that waits for, and so on."""
    found: set[str] = set()
    ahead = list(follows[name])
    while ahead:
        current = ahead.pop()
        if current not in found:
            found.add(current)
            ahead += follows[current]
    return found


# -- readers by key ---------------------------------------------------------------------------------


def _read_plain(key: str, fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    """The events of a key all of whose fields are of a type that many events have."""
    kind, manual = find_manual(key)
    if not kind.footprint.is_moment:
        refuse_moment(fields)
    values: dict[str, Any] = dict(manual.settings)
    values |= {one.attribute: _READ[one.type](fields, one, around) for one in manual.fields if one.type in _READ}
    named = [(common.name, values)]
    if any(one.type is FieldType.TARGET for one in manual.fields):
        chosen = each_target(fields, common, around, applies=kind.unfit)
        named = [(name, {**values, "target": workload.ref}) for name, workload in chosen]
    return [
        _settle(kind(name=name, after=common.after, source=fields.source, **own), fields, common, around)
        for name, own in named
    ]


def _settle(event: Event, fields: Fields, common: Common, around: Surroundings) -> Event:
    """The event with the number of times that it may happen; refused if it contradicts itself or the cluster."""
    _check(event.problems(), fields)
    _check(event.refuse(around.nodes, around.workloads), fields)
    if not event.footprint.is_moment:
        return event
    most = None if common.max == ANY_NUMBER else common.max or event.default_times(around.nodes)
    return replace(event, max=most)  # type: ignore[arg-type]  # events without a limit say so


def _check(problems: Iterable[Problem], fields: Fields) -> None:
    """Refuses the event for the first of its problems."""
    for field, problem, remedy in problems:
        fields.fail(field, problem, remedy=remedy)


def _read_flag(fields: Fields, field: Field, _: Surroundings) -> bool:
    given = fields.boolean(field.key)
    return bool(field.default) if given is None else given


def _read_label_key(fields: Fields, field: Field, around: Surroundings) -> str:
    """A label that some node has."""
    key = check_label_key(fields, field.key, fields.text(field.key) or str(field.default))
    if not any(key in dict(node.labels) for node in around.nodes):
        remedy = f"Label the nodes, or write another {field.key}"
        fields.fail(field.key, f"is {printable(key)}, which no node has as a label", remedy=remedy)
    return key


_READ: dict[FieldType, Callable[[Fields, Field, Surroundings], object]] = {
    FieldType.FLAG: _read_flag,
    FieldType.COUNT: lambda fields, field, _: fields.integer(field.key, least=1) or field.default,
    FieldType.WORD: lambda fields, field, _: fields.word(field.key, field.words, str(field.default)),
    FieldType.LABEL_KEY: _read_label_key,
    FieldType.NODES: lambda fields, field, around: read_nodes(fields, around.nodes),
}
_OWN_READERS: dict[str, Reader] = {
    "scale": _scale,
    "create": _create,
    "apply": _apply,
    "delete": _delete,
    "completes": _completes,
    **USAGE_READERS,
}


def reader_of(key: str) -> Reader:
    """Who reads the fields of an event: a reader of its own, or the one of all whose fields are ordinary."""
    if key in _OWN_READERS:
        return _OWN_READERS[key]
    if not find_manual(key)[1].is_plain:
        raise InternalError(f"E700 nobody reads the fields of event {key}")
    return partial(_read_plain, key)
