"""Files that a Scenario names: objects that its events apply, and texts beside it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.errors import ManifestError
from kubeproof.manifests.folders import fence
from kubeproof.manifests.folders.collected import (
    Collected,
    documents_of,
)
from kubeproof.manifests.folders.files import InputFile, read_file
from kubeproof.manifests.kinds.catalogue import WORKLOAD_READERS
from kubeproof.manifests.kinds.priorities import with_priority
from kubeproof.manifests.kinds.workloads import ReadWorkload
from kubeproof.manifests.late import (
    read_budget,
)
from kubeproof.manifests.objects import (
    Document,
    Objects,
    check_version,
    fields_of,
    is_modelled_kind,
    unpack,
)
from kubeproof.manifests.yaml import tree
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.guard import Budget
from kubeproof.manifests.yaml.printable import printable

if TYPE_CHECKING:
    pass


def leave_out_applied(collected: Collected, scenario: Document | None) -> None:
    """Drops documents of files that an `apply` event names: they come with the event, not before it."""
    if scenario is None:
        return
    applied = {os.path.realpath(path) for path in _list_applied(scenario, collected)}
    shown = {s for s, path in collected.paths.items() if path is not None and os.path.realpath(path) in applied}
    collected.documents = [d for d in collected.documents if d.file not in shown]


def _list_applied(scenario: Document, collected: Collected) -> list[str]:
    """The files that apply events name; a malformed event is left for the reader to refuse."""
    spec = scenario.mapping.get("spec")
    events = spec.get("events") if isinstance(spec, tree.Mapping) else None
    workload = spec.get("workload") if isinstance(spec, tree.Mapping) else None
    faults = workload.get("faults") if isinstance(workload, tree.Mapping) else None
    found = []
    for entry in (*_items(events), *_items(faults)):
        event = entry.get("apply") if isinstance(entry, tree.Mapping) else None
        file = event.get("file") if isinstance(event, tree.Mapping) else None
        if isinstance(file, tree.Scalar) and "\0" not in file.text:
            found.append(_beside(scenario, collected, file.text))
    return found


def _items(value: tree.Value | None) -> tuple[tree.Value, ...]:
    return value.items if isinstance(value, tree.Sequence) else ()


def _beside(scenario: Document, collected: Collected, name: str) -> str:
    """A path relative to the Scenario's file, or to the working directory for standard input."""
    path = collected.paths.get(scenario.file)
    return os.path.join(os.path.dirname(path), name) if path is not None else name


def read_applied_object(
    event: Fields, scenario: Document, collected: Collected, budget: Budget, objects: Objects
) -> ReadWorkload | PodDisruptionBudget:
    """The workload or budget that an apply event names by file or holds inline."""
    if event.has("file") == event.has("manifest"):
        event.log.fail(
            f"{event.path} needs either file or manifest", line=event.mapping.line, remedy="Give exactly one"
        )
    if event.has("manifest"):
        found = list(unpack(event.require_child("manifest").mapping, scenario.file, collected.reads))
    else:
        path = _read_path_inside(event, "file", scenario, collected)
        content = _read_applied(collected, path, budget)
        found = documents_of(InputFile(path, printable(path), content), collected, budget)
    key = "file" if event.has("file") else "manifest"
    known = (*WORKLOAD_READERS, "PodDisruptionBudget")
    if len(found) != 1 or found[0].kind not in known or not is_modelled_kind(found[0]):
        remedy = f"Apply one of {', '.join(known)} at a time"
        event.fail(key, "does not hold exactly one workload or budget", remedy=remedy)
    check_version(found[0])
    fields = fields_of(found[0])
    if found[0].kind not in WORKLOAD_READERS:
        declared = read_budget(fields)
        objects.omissions += fields.log.omissions
        return declared
    read = WORKLOAD_READERS[found[0].kind](fields)
    objects.omissions += fields.log.omissions
    return replace(read, workload=with_priority(read.workload, tuple(objects.priority_classes)))


def read_text_beside(
    fields: Fields, key: str, scenario: Document, collected: Collected, budget: Budget
) -> tuple[str, str]:
    """A file that the Scenario names, which holds something else than manifests, and its text."""
    path = _read_path_inside(fields, key, scenario, collected)
    if "\0" in path:
        fields.fail(key, "is no name of a file", remedy="Write a path relative to the Scenario's file")
    if collected.only_given:
        return printable(path), ""  # of a saved result: only `simulate` looks into it, and that starts from files
    try:
        return printable(path), read_file(path, budget.bounds, collected.inside).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ManifestError("not UTF-8", file=printable(path), line=1, remedy="Save it as UTF-8") from None


def _read_path_inside(fields: Fields, key: str, scenario: Document, collected: Collected) -> str:
    """The path of a file that the Scenario names, which must lie where the user allows it."""
    named = fields.require_text(key)
    path = _beside(scenario, collected, named)
    if not collected.only_given and "\0" not in path and not collected.inside.admits(path):
        raise ManifestError(
            f"{fields.log.owner}: {fields.path_of(key)} is {printable(named)!r}, which leads out of the input",
            file=fields.log.file,
            line=fields.line_of(key),
            remedy=fence.REMEDY,
        )
    return path


def _read_applied(collected: Collected, path: str, budget: Budget) -> bytes:
    known = collected.contents.get(os.path.normpath(path))
    if known is None:
        if collected.only_given:
            raise ManifestError(
                "not among the saved files", file=printable(path), line=1, remedy="Save the result again"
            )
        known = collected.contents[os.path.normpath(path)] = read_file(path, budget.bounds, collected.inside)
    return known
