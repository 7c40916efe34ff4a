"""Intents of a Scenario."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import HOSTNAME, Workload
from kubeproof.errors import InternalError
from kubeproof.intents.catalogue import catalogue, entry
from kubeproof.intents.declarations import (
    ALWAYS,
    ANY_EVICTOR,
    EVICTORS,
    POD_PHASES,
    WHENS,
    Amount,
    Intent,
)
from kubeproof.intents.kind import IntentField, IntentKind, Targets
from kubeproof.intents.library.service_levels import LEVEL_KEYS
from kubeproof.manifests.late import read_ltl
from kubeproof.manifests.pods.selectors import selector_of
from kubeproof.manifests.scenarios.events.fields import Surroundings, only_key
from kubeproof.manifests.scenarios.intents.aliases import ALIAS_READERS, fill
from kubeproof.manifests.scenarios.intents.targets import note_namespace, read_nodes, read_targets
from kubeproof.manifests.validation.names import check_label_key
from kubeproof.manifests.yaml.fields import Fields, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Scalar, ScalarKind

CHANGES = ("replicas", "placement", "any")
SEVERITIES = ("error", "warning", "info")
_PERCENT = re.compile(r"[0-9]{1,4}%", re.ASCII)


def read_intents(spec: Fields, around: Surroundings) -> tuple[Intent, ...]:
    """The intents, one per workload where the entry names several or none, with unique names."""
    found: list[Intent] = []
    given: set[str] = set()
    known = {name for one in catalogue() for name in (one.key, *one.aliases)} | LEVEL_KEYS
    for one in spec.children("intents"):
        if set(one.mapping.entries) & LEVEL_KEYS:
            continue  # service levels: read by a reader of their own
        found += spec.log.gather(partial(_read_entry, one, known, given, around), [])
    return with_unique_names(found)


def _read_entry(one: Fields, known: set[str], given: set[str], around: Surroundings) -> list[Intent]:
    """The intents that one entry stands for."""
    key, fields = only_key(one, known, "intent")
    name = fields.text("name")
    if name in given:
        fields.fail("name", f"is {printable(name)!r} again", remedy="Intent names are unique")
    given |= {name} if name else set()
    intents = _per_workload(fields, _intent(fields, key, around), name, around)
    found = [fill(fields, key, intent, around) for intent in intents]
    fields.finish_strictly("name", "target", "severity", "when")
    return found


def _intent(fields: Fields, name: str, around: Surroundings) -> Intent:
    """The intent without its target; `name` is a key or an alias."""
    kind = entry(name)
    intent = Intent(
        key=kind.key,
        name=kind.key,
        when=_when(fields, kind),
        severity=fields.word("severity", SEVERITIES, "error"),
        source=fields.source,
    )
    if name in ALIAS_READERS:
        return ALIAS_READERS[name](fields, intent)
    for field in kind.typed_fields:
        if field in _READ:
            intent = _READ[field](fields, intent, around)
    return own_reader(kind)(fields, intent, around) if kind.own_fields else intent


def _when(fields: Fields, kind: IntentKind) -> str:
    when = fields.word("when", WHENS, kind.default_when if kind.is_timed else ALWAYS)
    if fields.has("when") and not kind.is_timed:
        fields.omit("when", f"{kind.key} fixes its own moment")
        return ALWAYS
    return when


def _count(fields: Fields) -> Amount:
    """A number of pods, or a percentage of the desired replicas."""
    value = fields.value("count")
    if value is None:
        fields.fail("count", "is required", remedy='Write a number, or a percentage such as "50%"')
    if isinstance(value, Scalar) and value.kind is ScalarKind.INTEGER:
        return Amount(fields.integer("count") or 0)
    text = fields.text("count") or ""
    if not _PERCENT.fullmatch(text):
        fields.fail("count", f"is {printable(text)!r}", remedy='Write a number, or a percentage such as "50%"')
    return Amount(int(text[:-1]), percent=True)


def _number(fields: Fields) -> Amount:
    """A plain number of objects."""
    count = fields.integer("count")
    if count is None:
        fields.fail("count", "is required", remedy="Write a number")
    return Amount(count)


def _read_nodes(fields: Fields, intent: Intent, around: Surroundings) -> Intent:
    chosen = read_nodes(fields, around.nodes)
    return replace(intent, nodes=chosen.selector, node_names=chosen.names)


def _read_phases(fields: Fields, intent: Intent, _: Surroundings) -> Intent:
    phases = fields.texts("phases")
    for phase in phases:
        if phase not in POD_PHASES:
            fields.fail("phases", f"holds {printable(phase)!r}", remedy=suggestion(phase, POD_PHASES))
    return replace(intent, phases=tuple(p for p in POD_PHASES if p in phases))


def _read_skew(fields: Fields, intent: Intent, _: Surroundings) -> Intent:
    skew = fields.integer("skew", least=1)
    return replace(intent, skew=1 if skew is None else skew)


def _max_skew(fields: Fields, intent: Intent, around: Surroundings) -> Intent:
    skew = fields.integer("skew")
    selector = _selector(fields)
    namespace = fields.text("namespace")
    if selector is not None and not namespace:
        note_namespace(fields, "selector", around.workloads, selector)
    return replace(
        intent,
        topology_key=check_label_key(fields, "topologyKey", fields.require_text("topologyKey")),
        skew=1 if skew is None else skew,
        selector=selector,
        namespace=namespace or ("default" if selector is not None else None),
    )


def _spread(fields: Fields, intent: Intent, _: Surroundings) -> Intent:
    """At least `domains` domains; `count` says the same."""
    if fields.has("domains") and fields.has("count"):
        fields.fail("count", "and domains say the same", remedy="Keep one of them")
    domains = fields.integer("domains", least=1) or fields.integer("count", least=1)
    key = check_label_key(fields, "topologyKey", fields.require_text("topologyKey"))
    return replace(intent, topology_key=key, domains=domains or intent.domains)


def _not_colocated(fields: Fields, intent: Intent, _: Surroundings) -> Intent:
    key = fields.text("topologyKey") or HOSTNAME
    selector = _selector(fields)
    if selector is None:
        fields.fail("selector", "is required", remedy="Select the pods to keep apart from")
    return replace(
        intent,
        topology_key=check_label_key(fields, "topologyKey", key),
        selector=selector,
        namespace=fields.text("namespace"),
    )


def _only_on(fields: Fields, intent: Intent, around: Surroundings) -> Intent:
    """The allowed nodes: `selector` over their labels, or `nodes` as in events."""
    if fields.has("selector") == fields.has("nodes"):
        fields.log.fail(
            f"{fields.path} needs either selector or nodes", line=fields.mapping.line, remedy="Say which nodes"
        )
    if fields.has("selector"):
        return replace(intent, nodes=_selector(fields))
    chosen = read_nodes(fields, around.nodes)
    return replace(intent, nodes=chosen.selector, node_names=chosen.names)


def _selector(fields: Fields) -> LabelSelector | None:
    """A label selector; a misspelt key is refused before the lenient selector reader sees it."""
    child = fields.child("selector")
    if child is None:
        return None
    child.ignore("matchLabels", "matchExpressions")
    child.finish_strictly()
    return selector_of(child)


FieldReader = Callable[[Fields, Intent, Surroundings], Intent]
_READ: dict[object, FieldReader] = {
    IntentField.AMOUNT: lambda fields, intent, _: replace(intent, count=_count(fields)),
    IntentField.NUMBER: lambda fields, intent, _: replace(intent, count=_number(fields)),
    IntentField.NODES: _read_nodes,
    IntentField.PHASES: _read_phases,
    IntentField.SKEW: _read_skew,
    IntentField.EVICTOR: lambda fields, intent, _: replace(intent, by=fields.word("by", EVICTORS, ANY_EVICTOR)),
    IntentField.CHANGES: lambda fields, intent, _: replace(intent, of=fields.word("of", CHANGES, "any")),
}
_OWN_READERS: dict[str, FieldReader] = {
    "maxSkew": _max_skew,
    "spread": _spread,
    "notColocated": _not_colocated,
    "onlyOn": _only_on,
    "ltl": read_ltl,
}


def own_reader(kind: IntentKind) -> FieldReader:
    """Who reads the fields that no other intent has."""
    if kind.key not in _OWN_READERS:
        raise InternalError(f"E700 nobody reads {', '.join(kind.own_fields)} of intent {kind.key}")
    return _OWN_READERS[kind.key]


def _per_workload(fields: Fields, intent: Intent, name: str | None, around: Surroundings) -> list[Intent]:
    """One intent per target; global ones, and a maxSkew by selector, stay one without a target."""
    kind = entry(intent.key)
    if kind.targets is Targets.NONE:
        return [replace(intent, name=name or intent.key)]
    workloads = around.workloads
    chosen = read_targets(fields, workloads)
    if chosen is None and (kind.targets is Targets.WHOLE or (intent.key == "maxSkew" and intent.selector is not None)):
        return [replace(intent, name=name or intent.key)]
    for workload in chosen or ():
        if not kind.fits(workload):
            fields.fail("target", f"is {workload.ref}", remedy=f"{intent.key} does not apply to a {workload.kind}")
    targets = [w for w in workloads if kind.fits(w)] if chosen is None else chosen
    if kind.follows_traffic:
        targets = _find_reached(fields, targets, around, is_named=chosen is not None)
    if name and len(targets) == 1:
        return [replace(intent, name=name, target=targets[0].ref)]
    return [replace(intent, name=f"{name or intent.key} {w.ref}", target=w.ref) for w in targets]


def _find_reached(fields: Fields, targets: list[Workload], around: Surroundings, *, is_named: bool) -> list[Workload]:
    """The workloads that a Service sends traffic to; refused if there is none, or if a named one is not among them."""
    found = [w for w in targets if any(s.selects(w.namespace, w.template.labels) for s in around.services)]
    if not found or (is_named and len(found) < len(targets)):
        missing = next((w.ref for w in targets if w not in found), "the input")
        remedy = "Add the Service that sends traffic to it, or leave the intent out"
        fields.log.fail(f"no Service selects pods of {missing}", line=fields.mapping.line, remedy=remedy)
    return found


def with_unique_names(intents: Sequence[Intent]) -> tuple[Intent, ...]:
    """The intents, repeated names told apart by a number."""
    taken: set[str] = set()
    result = []
    for intent in intents:
        name, number = intent.name, 2
        while name in taken:
            name, number = f"{intent.name} #{number}", number + 1
        taken.add(name)
        result.append(replace(intent, name=name))
    return tuple(result)
