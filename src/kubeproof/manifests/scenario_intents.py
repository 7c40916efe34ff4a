"""Intents of a Scenario."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.objects import Workload
from kubeproof.intents.declarations import ALWAYS, WHENS, Amount, Intent
from kubeproof.manifests.fields import Fields
from kubeproof.manifests.names import check_label_key
from kubeproof.manifests.printable import printable
from kubeproof.manifests.scenario_events import only_key
from kubeproof.manifests.selectors import selector_of
from kubeproof.manifests.targets import read_targets
from kubeproof.manifests.tree import Scalar, ScalarKind

COUNTED = ("minReady", "minReplicas", "maxReplicas")
GLOBAL = ("settles", "noOscillation")  # without a target they speak of the whole cluster
MODELLED = (*COUNTED, "maxSkew", "schedulable", "noPendingForever", *GLOBAL)
LATER = frozenset(
    {
        "maxNodes",
        "maxPodObjects",
        "spread",
        "notColocated",
        "onlyOn",
        "noEviction",
        "rolloutCompletes",
        "runsOnEveryNode",
        "drainCompletes",
        "noEvictionLoop",
        "noCreateFailLoop",
        "ltl",
    }
)
SEVERITIES = ("error", "warning", "info")
_PERCENT = re.compile(r"[0-9]{1,4}%", re.ASCII)


def read_intents(spec: Fields, workloads: Sequence[Workload]) -> tuple[Intent, ...]:
    """The intents, one per workload where the entry names several or none, with unique names."""
    found: list[Intent] = []
    given: set[str] = set()
    for entry in spec.children("intents"):
        key, fields = only_key(entry, set(MODELLED), LATER, "intent")
        name = fields.text("name")
        if name in given:
            fields.fail("name", f"is {printable(name)!r} again", remedy="Intent names are unique")
        given |= {name} if name else set()
        intent = _intent(fields, key)
        found += _per_workload(fields, intent, name, workloads)
        fields.finish_strictly("name", "target", "severity", "when")
    return with_unique_names(found)


def _intent(fields: Fields, key: str) -> Intent:
    """The intent without its target."""
    intent = Intent(
        key=key,
        name=key,
        when=_when(fields, key),
        severity=fields.word("severity", SEVERITIES, "error"),
        source=fields.source,
    )
    if key in COUNTED:
        return replace(intent, count=_count(fields))
    if key == "maxSkew":
        return _max_skew(fields, intent)
    if key == "noOscillation":
        return replace(intent, of=fields.word("of", ("replicas", "placement", "any"), "any"))
    return intent


def _when(fields: Fields, key: str) -> str:
    when = fields.word("when", WHENS, ALWAYS)
    if fields.has("when") and key not in (*COUNTED, "maxSkew"):
        fields.omit("when", f"{key} fixes its own moment")
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


def _max_skew(fields: Fields, intent: Intent) -> Intent:
    skew = fields.integer("skew")
    selector = fields.child("selector")
    namespace = fields.text("namespace")
    if selector is not None:
        selector.ignore("matchLabels", "matchExpressions")
        selector.finish_strictly()
    return replace(
        intent,
        topology_key=check_label_key(fields, "topologyKey", fields.required_text("topologyKey")),
        skew=1 if skew is None else skew,
        selector=None if selector is None else selector_of(selector),
        namespace=namespace or ("default" if selector is not None else None),
    )


def _per_workload(fields: Fields, intent: Intent, name: str | None, workloads: Sequence[Workload]) -> list[Intent]:
    """One intent per target; global ones, and a maxSkew by selector, stay one without a target."""
    chosen = read_targets(fields, workloads)
    if chosen is None and (intent.key in GLOBAL or intent.selector is not None):
        return [replace(intent, name=name or intent.key)]
    targets = list(workloads) if chosen is None else chosen
    if name and len(targets) == 1:
        return [replace(intent, name=name, target=targets[0].ref)]
    return [replace(intent, name=f"{name or intent.key} {w.ref}", target=w.ref) for w in targets]


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
