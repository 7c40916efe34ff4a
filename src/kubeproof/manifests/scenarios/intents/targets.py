"""Targets of events and intents: `Kind/name`, `Kind/namespace/name`, `*/namespace/name`."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.kinds import KINDS
from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import (
    Node,
    Source,
    Workload,
)
from kubeproof.events.declarations import NodeChoice
from kubeproof.manifests.loaded import NAMESPACE, ReadingNote
from kubeproof.manifests.pods.selectors import selector_of
from kubeproof.manifests.validation.deciding import DEFAULT_NAMESPACE
from kubeproof.manifests.yaml.fields import Fields, suggestion
from kubeproof.manifests.yaml.printable import printable

_NOBODY = ", where nobody is selected"
_UNKNOWN = ", which is not a workload of the input"


def read_targets(fields: Fields, workloads: Sequence[Workload]) -> list[Workload] | None:
    """The workloads that `target` names, in input order; None if it is absent."""
    target = fields.text("target")
    return None if target is None else resolve(fields, "target", target, workloads)


def resolve(fields: Fields, key: str, target: str, workloads: Sequence[Workload]) -> list[Workload]:
    """The workloads a target names; refused if there is none."""
    parts = target.split("/")
    is_bare = len(parts) == 2
    if is_bare:
        parts = [parts[0], DEFAULT_NAMESPACE, parts[1]]
    if len(parts) != 3 or not all(parts):
        fields.fail(
            key,
            f"is {printable(target)!r}",
            remedy="Write Kind/name, Kind/namespace/name or */namespace/name",
        )
    kind, namespace, name = parts
    found = [w for w in workloads if (w.namespace, w.name) == (namespace, name) and kind in ("*", w.kind)]
    if not found:
        remedy = _remedy(kind, "/".join(parts), workloads)
        told = ", which means namespace default and is not a workload of the input" if is_bare else _UNKNOWN
        fields.fail(key, f"is {printable(target)!r}{told}", remedy=remedy, is_missing=True)
    if is_bare:
        note_namespace(fields, key, workloads)
    return found


def note_namespace(
    fields: Fields, key: str, workloads: Sequence[Workload], selector: LabelSelector | None = None
) -> None:
    """Tells that a target or selector without a namespace means `default`, if it might mean another one.

    A selector that selects nobody there but somebody elsewhere is hardly meant so.
    """
    others = sorted({workload.namespace for workload in workloads} - {DEFAULT_NAMESPACE})
    if not others:
        return
    here = [w for w in workloads if w.namespace == DEFAULT_NAMESPACE and _selects(selector, w)]
    shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    fields.log.notes.append(
        ReadingNote(
            NAMESPACE,
            "note" if here else "warning",
            f"{fields.log.owner}: {fields.path_of(key)} has no namespace",
            f"it means default{_NOBODY if not here else ''}; the input also has {shown}",
            Source(fields.log.file, fields.line_of(key)),
        )
    )


def _selects(selector: LabelSelector | None, workload: Workload) -> bool:
    return selector is None or selector.matches(dict(workload.template.labels))


def _remedy(kind: str, target: str, workloads: Sequence[Workload]) -> str:
    if kind in KINDS and workloads:
        return suggestion(target, [w.ref for w in workloads])
    return f"Modelled workloads are {', '.join(KINDS)}; other kinds are not modelled yet"


def read_nodes(fields: Fields, nodes: Sequence[Node]) -> NodeChoice:
    """Which nodes an event may hit: a label selector, or `names`, or all."""
    child = fields.child("nodes")
    if child is None:
        return NodeChoice()
    names = child.texts("names") if child.has("names") else None
    for name in names or ():
        if name not in {node.name for node in nodes}:
            remedy = suggestion(name, [node.name for node in nodes])
            told = f"holds {printable(name)!r}, which is not a node of the input"
            child.fail("names", told, remedy=remedy, is_missing=True)
    return NodeChoice(_node_selector(child), names)


def _node_selector(fields: Fields) -> LabelSelector | None:
    """The selector part; a misspelt key is refused before the lenient selector reader sees it."""
    known = ("matchLabels", "matchExpressions")
    has_selector = any(fields.has(key) for key in known)
    fields.ignore(*known)
    fields.finish_strictly(*known, "names")
    return selector_of(fields) if has_selector else None
