"""What the readers of all events share: their surroundings, common fields, names and targets."""

from __future__ import annotations

from collections.abc import Callable, Collection
from collections.abc import Sequence as Many

from kubeproof.cluster.objects import Node, Settings, Workload
from kubeproof.cluster.services import Service
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, PodDisruptionBudget
from kubeproof.events.declarations import STABLE, Event, find_manual, manuals
from kubeproof.manifests.kinds.workloads import ReadWorkload
from kubeproof.manifests.scenarios.intents.targets import read_targets
from kubeproof.manifests.yaml.fields import Fields, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Mapping, Scalar, ScalarKind, Sequence
from kubeproof.values import dataclass

ANY_NUMBER = -1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What events and intents may refer to."""

    nodes: Many[Node]
    workloads: Many[Workload]
    read_applied: Callable[[Fields], ReadWorkload | PodDisruptionBudget]  # what an `apply` event names or holds
    autoscalers: Many[HorizontalPodAutoscaler] = ()
    services: Many[Service] = ()
    budgets: Many[PodDisruptionBudget] = ()
    read_beside: Callable[[Fields, str], tuple[str, str]] = lambda fields, key: ("", "")  # file named, its text
    is_descheduled: bool = False
    events: Many[Event] = ()  # that intents may speak of
    kubernetes_version: tuple[int, int] = Settings().kubernetes_version


@dataclass(frozen=True, slots=True)
class Common:
    """Fields that every event has."""

    name: str
    is_named: bool
    max: int | None
    after: str | None
    and_after: tuple[str, ...] = ()
    must: bool = False


def only_key(entry: Fields, known: Collection[str], noun: str) -> tuple[str, Fields]:
    """The one key of an entry and its fields; `settles:` without a value counts as `settles: {}`."""
    keys = list(entry.mapping.entries)
    if len(keys) != 1:
        entry.log.fail(
            f"{entry.path} has {len(keys)} keys",
            line=entry.mapping.line,
            remedy=f"Write one {noun} per entry",
        )
    key = keys[0]
    if key not in known:
        entry.log.fail(f"unknown {noun} {printable(key)}", line=entry.line_of(key), remedy=suggestion(key, known))
    child = entry.child(key)
    return key, child if child is not None else Fields(_empty_at(entry, key), entry.path_of(key), entry.log)


def _empty_at(entry: Fields, key: str) -> Mapping:
    at = entry.mapping.entries[key]
    return Mapping({}, at.line, at.column)


def read_common(fields: Fields, key: str, position: int) -> Common:
    """Name, max and after; an event without a name is called by its key and position."""
    name = fields.text("name")
    conditions = (fields.number("after"),) if key == "completes" else _conditions(fields)  # there it is a duration
    return Common(
        name=name or f"{key}-{position}",
        is_named=bool(name),
        max=_times(fields, key),
        after=conditions[0] if conditions else None,
        and_after=tuple(str(one) for one in conditions[1:]),
        must=_must(fields, key),
    )


def _must(fields: Fields, key: str) -> bool:
    """Whether the event does not stay away for ever where it is possible."""
    must = fields.boolean("must") or False
    footprint = find_manual(key)[0].footprint
    if must and (footprint.is_consequence or not footprint.is_moment):
        fields.fail("must", "has no meaning here", remedy="It is nothing that may happen or not: remove the field")
    return must


def _conditions(fields: Fields) -> tuple[str, ...]:
    """What an event waits for: one name or `stable`, or a list of them that must all be so; `stable` comes last."""
    if not isinstance(fields.mapping.get("after"), Sequence):
        after = fields.text("after")
        return () if after is None else (after,)
    names = fields.texts("after")
    if not names:
        fields.fail("after", "is an empty list", remedy="Name what the event waits for, or remove the field")
    for name in names:
        if names.count(name) > 1:
            fields.fail("after", f"names {printable(name)!r} twice", remedy="Name each condition once")
    return tuple(sorted(names, key=lambda name: name == STABLE))


def _times(fields: Fields, key: str) -> int | None:
    """How often an event may happen, as far as it says so; `unlimited` where states do not count it."""
    value = fields.mapping.get("max")
    if not isinstance(value, Scalar) or value.kind is not ScalarKind.STRING or value.text != "unlimited":
        return fields.integer("max", least=1, most=1000)
    fields.ignore("max")
    if not find_manual(key)[1].is_unlimited:
        unlimited = [one for one, (_, manual) in manuals().items() if manual.is_unlimited]
        fields.fail("max", "is unlimited", remedy=f"Write a number; without a limit happen only {', '.join(unlimited)}")
    if fields.has("together"):
        fields.fail("max", "is unlimited, but so many nodes fail together", remedy="Write how many")
    return ANY_NUMBER


def most_times(common: Common) -> int | None:
    """How often an event may happen: once unless it says otherwise, None for any number."""
    return None if common.max == ANY_NUMBER else common.max or 1


def refuse_moment(fields: Fields, *keys: str) -> None:
    """Refuses `max` and `after` of what holds from the start of the run and never happens as such."""
    for key in keys or ("max", "after"):
        if fields.has(key):
            fields.fail(key, "has no meaning here", remedy="It holds from the start of the run: remove the field")


def each_target(
    fields: Fields,
    common: Common,
    around: Surroundings,
    *,
    applies: Callable[[Workload], str] = lambda workload: "",
) -> list[tuple[str, Workload]]:
    """The workloads an event stands for, each with the event's name.

    `applies` says why a workload cannot be meant ("" if it can): named ones are then refused, others left out.
    """
    chosen = read_targets(fields, around.workloads)
    for workload in chosen or ():
        if applies(workload):
            fields.fail("target", f"{workload.ref} {applies(workload)}", remedy="Name another target")
    found = [w for w in (around.workloads if chosen is None else chosen) if not applies(w)]
    if not found:
        told, remedy = "is absent, and no workload of the input can be meant", _why_none(around, applies)
        fields.fail("target", told, remedy=remedy, is_missing=True)
    return [(name_of(common, workload, len(found), fields), workload) for workload in found]


def _why_none(around: Surroundings, applies: Callable[[Workload], str]) -> str:
    reasons = [f"{workload.ref} {applies(workload)}" for workload in around.workloads]
    return "; ".join(reasons[:3]) or "There is no workload"


def name_of(common: Common, workload: Workload, count: int, fields: Fields) -> str:
    """The event's name; made unique when one entry stands for several workloads."""
    if count == 1:
        return common.name
    if common.is_named:
        fields.fail("name", f"would name {count} events", remedy="Name one target, or leave the name out")
    return f"{common.name} {workload.ref}"
