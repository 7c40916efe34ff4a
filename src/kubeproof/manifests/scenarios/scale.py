"""`spec.scale` of a Scenario: which nodes and workloads grow, how far, and which numbers follow them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kubeproof.cluster.scale import ACTUAL, DECLARED, ESC, Following, Limit, NodeScale, Scale, Term, WorkloadScale
from kubeproof.events.declarations import Apply, Event
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.scenarios.events.fields import Surroundings
from kubeproof.manifests.scenarios.intents.targets import resolve
from kubeproof.manifests.yaml.fields import Fields, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Mapping

MOST = 100_000
_TERM = re.compile(r"(?:([0-9]{0,6})([PN]))?(?:([+-]?)([0-9]{1,6}))?", re.ASCII)
_LEAST_OF = re.compile(r"min\((.*)\)", re.ASCII)
_HOW = 'Write a number, P (the pods of the workload), N (all nodes), "P-1", "2P" or "min(2P, 7N)"'


def read_scale(spec: Fields, around: Surroundings, events: Sequence[Event], intents: Sequence[Intent]) -> Scale | None:
    """The scale, every name in it resolved; None if the Scenario has none."""
    fields = spec.child("scale")
    if fields is None:
        return None
    scale = Scale(
        nodes=tuple(_nodes(entry, around) for entry in fields.children("nodes")),
        workloads=tuple(_workload(entry, around, events, intents) for entry in fields.children("workloads")),
        limit=_limit(fields),
        source=fields.source,
    )
    _refuse_twice(fields, "nodes", [node.like for node in scale.nodes])
    _refuse_twice(fields, "workloads", [workload.target for workload in scale.workloads])
    if not scale.nodes and not scale.workloads and scale.limit != ACTUAL:
        fields.log.fail(
            f"{fields.path} lets nothing grow", line=fields.mapping.line, remedy="List nodes, workloads or both"
        )
    fields.finish_strictly("nodes", "workloads", "limit")
    return scale


def _refuse_twice(fields: Fields, key: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            fields.fail(key, f"lists {printable(name)} twice", remedy="Write one entry for it")


def _nodes(entry: Fields, around: Surroundings) -> NodeScale:
    like = entry.require_text("like")
    names = [node.name for node in around.nodes]
    if like not in names:
        told = f"is {printable(like)!r}, which is not a node of the input"
        entry.fail("like", told, remedy=suggestion(like, names), is_missing=True)
    least, most = _range(entry, "count", 0)
    entry.finish_strictly("like", "count")
    return NodeScale(like, least, most)


def _workload(entry: Fields, around: Surroundings, events: Sequence[Event], intents: Sequence[Intent]) -> WorkloadScale:
    found = resolve(entry, "target", entry.require_text("target"), around.workloads)
    if len(found) > 1:
        entry.fail("target", "names several workloads", remedy="Write the kind")
    if found[0].rules.is_pod:
        entry.fail("target", "is one pod", remedy="Only Deployments and ReplicaSets grow")
    least, most = _range(entry, "replicas", 1)
    lowest, highest = _autoscaler(entry, found[0].ref, around)
    counted = [i.name for i in intents if i.count is not None and i.target in (None, found[0].ref)]
    applied = [e.name for e in events if isinstance(e, Apply) and e.workload.ref == found[0].ref and e.replicas_given]
    scale = WorkloadScale(
        target=found[0].ref,
        least=least,
        most=most,
        autoscaler_min=lowest,
        autoscaler_max=highest,
        intents=_read_named(entry, "intents", counted, "an intent with a count for this workload"),
        events=_read_named(entry, "events", applied, "an apply event that sets replicas of this workload"),
    )
    entry.finish_strictly("target", "replicas", "autoscaler", "intents", "events")
    return scale


def _range(entry: Fields, key: str, least: int) -> tuple[int, int | None]:
    """Least and most, both included; without `max` only a limit bounds it."""
    child = entry.require_child(key)
    lowest = child.integer("min", most=MOST)
    most = child.integer("max", most=MOST)
    child.finish_strictly("min", "max")
    lowest = least if lowest is None else lowest
    if most is not None and most < max(1, lowest):
        child.fail("max", f"is {most}", remedy=f"It is at least {max(1, lowest)}")
    return lowest, most


def _autoscaler(entry: Fields, ref: str, around: Surroundings) -> tuple[Following | None, Following | None]:
    child = entry.child("autoscaler")
    if child is None:
        return None, None
    if all(autoscaler.target != ref for autoscaler in around.autoscalers):
        entry.fail("autoscaler", f"is given, and no autoscaler targets {ref}", remedy="Remove it")
    lowest, highest = _following(child, "min"), _following(child, "max")
    child.finish_strictly("min", "max")
    return lowest, highest


def _read_named(entry: Fields, key: str, known: list[str], what: str) -> tuple[tuple[str, Following], ...]:
    """Rules by name of what they are for."""
    child = entry.child(key)
    if child is None:
        return ()
    found = []
    for name in child.keys():  # noqa: SIM118 - not a mapping
        if name not in known:
            child.fail(name, f"is not {what}", remedy=suggestion(name, known) if known else "There is none")
        following = _following(child, name)
        if following is not None:
            found.append((name, following))
    return tuple(found)


def _following(fields: Fields, key: str) -> Following | None:
    text = fields.number(key)
    if text is None:
        return None
    packed = text.replace(" ", "")
    inside = _LEAST_OF.fullmatch(packed)
    parts = inside[1].split(",") if inside else [packed]
    return Following(tuple(_term(fields, key, part, text) for part in parts))


def _term(fields: Fields, key: str, part: str, text: str) -> Term:
    found = _TERM.fullmatch(part)
    if found is None or not part or (found[2] and found[4] and not found[3]):
        fields.fail(key, f"is {printable(text)!r}", remedy=_HOW)
    times = int(found[1] or 1) if found[2] else 0
    plus = int(f"{found[3]}{found[4]}") if found[4] else 0
    return Term(times if found[2] == "P" else 0, times if found[2] == "N" else 0, plus)


def _limit(fields: Fields) -> Limit | str:
    if not fields.has("limit"):
        return DECLARED
    if not isinstance(fields.value("limit"), Mapping):
        return fields.word("limit", (ESC, ACTUAL), DECLARED)
    child = fields.require_child("limit")
    nodes = child.integer("nodes", least=1, most=MOST)
    pods = child.integer("podsPerNode", least=1, most=MOST)
    child.finish_strictly("nodes", "podsPerNode")
    if nodes is None or pods is None:
        child.fail("podsPerNode" if nodes else "nodes", "is required", remedy="Give nodes and podsPerNode")
    return Limit(nodes, pods)
