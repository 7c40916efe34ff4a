"""Events of a Scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kubeproof.cluster.objects import DAEMON_SET, JOBS, POD, ROLLED_OUT, ZONE, Workload
from kubeproof.cluster.policies import PodDisruptionBudget
from kubeproof.events.budget_change import name_of as name_of_budget
from kubeproof.events.declarations import (
    APPLIED,
    CREATED,
    DELETED,
    EVERY_REVISION,
    INITIAL_REVISION,
    NEW_REVISION,
    STABLE,
    Apply,
    BudgetChange,
    Completes,
    Cordon,
    Create,
    CreateNode,
    Delete,
    Drain,
    Event,
    Maintenance,
    NeverReady,
    NodeChoice,
    NodeFailure,
    NodeRemoval,
    PodCrash,
    Rollout,
    Scale,
    UsagePattern,
    ZoneFailure,
)
from kubeproof.manifests.scenarios.chances import with_chance
from kubeproof.manifests.scenarios.event_fields import (
    Common,
    Surroundings,
    each_target,
    most_times,
    name_of,
    only_key,
    read_common,
    refuse_moment,
)
from kubeproof.manifests.scenarios.targets import read_nodes, read_targets
from kubeproof.manifests.scenarios.usage_events import USAGE_READERS, Reader, check_one_usage
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
    key, fields = only_key(entry, set(_READERS), "event")
    common = read_common(fields, key, position)
    found = []
    for event in _READERS[key](fields, common, around):
        if event.name in places or event.name == STABLE:
            fields.fail("name", f"is {printable(event.name)!r} again", remedy="Event names are unique")
        places[event.name] = fields
        found.append(with_chance(fields, replace(event, and_after=common.and_after, must=common.must)))
    fields.finish_strictly("name", "max", "after", "must", "probability", "ratePerHour")
    return found


def read_timed_events(entry: Fields, position: int, around: Surroundings, others: tuple[str, ...]) -> tuple[Event, ...]:
    """The events of one entry of a timetable: one key that says what happens, beside those that say when."""
    keys = [key for key in entry.mapping.entries if key not in others]
    if len(keys) != 1 or keys[0] not in _AT_MOMENTS:
        known = (*_AT_MOMENTS, "trafficShift")
        unknown = next((key for key in keys if key not in _AT_MOMENTS), None)
        remedy = "Write one per entry" if unknown is None else suggestion(unknown, known)
        told = (
            f"has {len(keys)} things that happen"
            if unknown is None
            else f"cannot happen at a moment: {printable(unknown)}"
        )
        entry.log.fail(f"{entry.path} {told}", line=entry.mapping.line, remedy=remedy)
    key = keys[0]
    fields = entry.required_child(key)
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
    events = _READERS[key](fields, common, around)
    fields.finish_strictly("name")
    return tuple(events)


def _node_failure(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    recovers, together = fields.boolean("recovers"), fields.boolean("together") or False
    comes_back = fields.boolean("comesBack") or False
    if comes_back and recovers is False:
        fields.fail("comesBack", "is given, but recovers is false", remedy="Remove one of the two")
    event = NodeFailure(
        name=common.name,
        max=most_times(common),
        after=common.after,
        source=fields.source,
        nodes=read_nodes(fields, around.nodes),
        recovers=True if recovers is None else recovers,
        together=together,
        or_fewer=_or_fewer(fields, together=together),
        comes_back=comes_back,
    )
    return [event]


def _or_fewer(fields: Fields, *, together: bool) -> bool:
    or_fewer = fields.boolean("orFewer") or False
    if or_fewer and not together:
        fields.fail("orFewer", "is set, but nodes fail one by one", remedy="Write together: true beside it")
    if or_fewer and (fields.has("probability") or fields.has("ratePerHour")):
        fields.fail("orFewer", "leaves open how many fail", remedy="A chance is that of a number: take one of them out")
    return or_fewer


def _zone_failure(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    recovers = fields.boolean("recovers")
    key = check_label_key(fields, "topologyKey", fields.text("topologyKey") or ZONE)
    if not any(key in dict(node.labels) for node in around.nodes):
        remedy = "Label the nodes, or write another topologyKey"
        fields.fail("topologyKey", f"is {printable(key)}, which no node has as a label", remedy=remedy)
    event = ZoneFailure(
        name=common.name,
        max=common.max or 1,
        after=common.after,
        source=fields.source,
        topology_key=key,
        recovers=True if recovers is None else recovers,
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


def _drain(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    chosen, each_once = read_nodes(fields, around.nodes), fields.boolean("eachOnce") or False
    event = Drain(
        name=common.name,
        max=_most_nodes(common, around, chosen, each_once=each_once),
        after=common.after,
        source=fields.source,
        nodes=chosen,
        concurrent=fields.integer("concurrent", least=1) or 1,
        each_once=each_once,
        uncordon=fields.boolean("uncordon") or False,
    )
    return [event]


def _most_nodes(common: Common, around: Surroundings, chosen: NodeChoice, *, each_once: bool) -> int:
    """How many nodes are worked on: one unless the event says otherwise, all of them if each has its turn."""
    every = sum(chosen.admits(node) for node in around.nodes) if each_once else 1
    return common.max or max(1, every)


def _maintenance(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    chosen, each_once = read_nodes(fields, around.nodes), fields.boolean("eachOnce") or False
    event = Maintenance(
        name=common.name,
        max=_most_nodes(common, around, chosen, each_once=each_once),
        after=common.after,
        source=fields.source,
        nodes=chosen,
        concurrent=fields.integer("concurrent", least=1) or 1,
        each_once=each_once,
    )
    return [event]


def _node_removal(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    chosen, drain_first = read_nodes(fields, around.nodes), fields.boolean("drainFirst")
    return [_removal(fields, common, around, chosen, drain_first=drain_first is not False)]


def _removal(
    fields: Fields, common: Common, around: Surroundings, chosen: NodeChoice, *, drain_first: bool
) -> NodeRemoval:
    """A removal of nodes that no pod names: what becomes of pods that do is not modelled."""
    named = {w.template.node_name: w.ref for w in around.workloads if w.template.node_name and not w.bound_to}
    for node in around.nodes:
        if node.name in named and chosen.admits(node):
            problem = f"lets {node.name} go, which pods of {named[node.name]} name"
            fields.fail("nodes", problem, remedy="Let them find their node by labels, or choose other nodes")
    return NodeRemoval(
        name=common.name,
        max=common.max or 1,
        after=common.after,
        source=fields.source,
        nodes=chosen,
        drain_first=drain_first,
    )


def _no_replicas(workload: Workload) -> str:
    return "has no replicas" if workload.kind in (POD, DAEMON_SET, *JOBS) else ""


def _no_job(workload: Workload) -> str:
    return "" if workload.kind in JOBS else "is not a Job or CronJob, so its pods do not end by themselves"


def _is_job(workload: Workload) -> str:
    return "is a Job, whose pods end whether they are ready or not" if workload.kind in JOBS else ""


def _no_rollout(workload: Workload) -> str:
    return "" if workload.kind in ROLLED_OUT else f"is not a {' or '.join(ROLLED_OUT)}, so it has no revisions"


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
        for name, workload in each_target(fields, common, around, applies=_no_replicas)
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
    target = fields.required_text("target")
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
    parts = target.removeprefix(BUDGET).split("/")
    name = "/".join(["default", *parts] if len(parts) == 1 else parts)
    known = [name_of_budget(budget) for budget in around.budgets]
    if name not in known:
        remedy = suggestion(name, known)
        fields.fail("target", f"is {printable(target)!r}, not a PodDisruptionBudget of the input", remedy=remedy)
    return BudgetChange(name=common.name, after=common.after, source=fields.source, budget=name, verb=verb)


def _create_node(fields: Fields, common: Common, around: Surroundings, name: str) -> CreateNode:
    """A node that joins; pods that name it would be orphans before, which is not modelled."""
    _known_node(fields, around, name)
    if any(name in (w.template.node_name, w.bound_to) for w in around.workloads):
        fields.fail("target", f"is {name}, which pods name", remedy="Let them find their node by labels")
    return CreateNode(name=common.name, max=1, after=common.after, source=fields.source, node=name)


def _known_node(fields: Fields, around: Surroundings, name: str) -> str:
    known = [node.name for node in around.nodes]
    if name not in known:
        fields.fail("target", f"is {printable(name)!r}, not a Node of the input", remedy=suggestion(name, known))
    return name


def _pod_crash(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    return [
        PodCrash(name=name, max=most_times(common), after=common.after, source=fields.source, target=workload.ref)
        for name, workload in each_target(fields, common, around)
    ]


def _delete(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    target = fields.text("target")
    if target is not None and target.startswith(BUDGET):
        return [_budget_change(fields, common, around, target, DELETED)]
    if target is not None and target.startswith(NODE):
        name = _known_node(fields, around, target.removeprefix(NODE))
        return [_removal(fields, common, around, NodeChoice(names=(name,)), drain_first=False)]
    return [
        Delete(name=name, max=common.max or 1, after=common.after, source=fields.source, target=workload.ref)
        for name, workload in each_target(fields, common, around)
    ]


def _rollout(back: bool, fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    return [
        Rollout(
            name=name,
            max=common.max or 1,
            after=common.after,
            source=fields.source,
            target=workload.ref,
            back=back,
        )
        for name, workload in each_target(fields, common, around, applies=_no_rollout)
    ]


def _never_ready(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    refuse_moment(fields)
    revisions = (EVERY_REVISION, INITIAL_REVISION, NEW_REVISION)
    revision = fields.word("revision", revisions, EVERY_REVISION)
    return [
        NeverReady(name=name, source=fields.source, target=workload.ref, revision=revision)
        for name, workload in each_target(fields, common, around, applies=_is_job)
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
        for name, workload in each_target(fields, common, around, applies=_no_job)
    ]


def _apply(fields: Fields, common: Common, around: Surroundings) -> list[Event]:
    """An applied workload or budget; a workload of the input may change its replicas, a Deployment its pods, too."""
    read = around.read_applied(fields)
    if isinstance(read, PodDisruptionBudget):
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
    lasting = {event.name for event in events if isinstance(event, UsagePattern | NeverReady | Completes)}
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


_AT_MOMENTS = (
    "nodeFailure", "zoneFailure", "cordon", "drain", "maintenance", "scale", "create", "apply", "delete", "rollout",
    "rollback", "podCrash", "unreachable",
)  # fmt: skip
_READERS: dict[str, Reader] = {
    "nodeFailure": _node_failure,
    "zoneFailure": _zone_failure,
    "cordon": _cordon,
    "drain": _drain,
    "maintenance": _maintenance,
    "nodeRemoval": _node_removal,
    "scale": _scale,
    "create": _create,
    "apply": _apply,
    "delete": _delete,
    "rollout": partial(_rollout, False),
    "rollback": partial(_rollout, True),
    "podCrash": _pod_crash,
    "neverReady": _never_ready,
    "completes": _completes,
    **USAGE_READERS,
}
