"""Who may talk to whom, as text, JSON and a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from kubeproof.network.kubernetes.matrix import Cell, Change, Matrix
from kubeproof.report.escape import escape
from kubeproof.report.networks.page import network_page

LEGEND = "# any port, + some ports, ? not decided, . none"
MOST_CHANGES = 50  # in text


def matrix_text(matrix: Matrix) -> str:
    """The matrix for people."""
    lines = [*_grid(matrix), LEGEND, ""]
    partial = [cell for cell in matrix.cells.values() if cell.mark in "+?"]
    lines += [
        f"{cell.mark} {cell.source} -> {cell.target}: {cell.why}{_place(cell)}" for cell in partial[:MOST_CHANGES]
    ]
    if len(partial) > MOST_CHANGES:
        lines.append(f"  and {len(partial) - MOST_CHANGES:,} more pairs; see -o json or -o html")
    if matrix.changes is not None:
        lines += ["", *_changes(matrix.changes)]
    lines += [f"note: {note}" for note in matrix.notes]
    lines.append(_summary(matrix))
    return "".join(f"{escape(line)}\n" for line in lines)


def _summary(matrix: Matrix) -> str:
    marks = Counter(cell.mark for cell in matrix.cells.values())
    words = (("#", "any port"), ("+", "some ports"), ("?", "not decided"), (".", "no port"))
    counts = ", ".join(f"{marks[mark]:,} {word}" for mark, word in words if marks[mark])
    ending = " (interrupted)" if matrix.is_interrupted else ""
    return f"{len(matrix.names):,} parties, {len(matrix.cells):,} pairs: {counts}{ending}"


def _grid(matrix: Matrix) -> Iterator[str]:
    width = max(map(len, matrix.names))
    digits = len(str(len(matrix.names)))
    yield " " * (width + digits + 2) + "".join(f" {number:>{digits}}" for number in range(1, len(matrix.names) + 1))
    for number, source in enumerate(matrix.names, 1):
        marks = (_mark(matrix, source, target) for target in matrix.names)
        yield f"{number:>{digits}} {source:<{width}} " + "".join(f" {mark:>{digits}}" for mark in marks)


def _mark(matrix: Matrix, source: str, target: str) -> str:
    cell = matrix.cells.get((source, target))
    return " " if cell is None else cell.mark


def _place(cell: Cell) -> str:
    return f"  ({cell.place.file}:{cell.place.line})" if cell.place.line else ""


def _changes(changes: tuple[Change, ...]) -> Iterator[str]:
    yield f"{len(changes):,} pair{'' if len(changes) == 1 else 's'} changed"
    for change in changes[:MOST_CHANGES]:
        yield f"  {change.source} -> {change.target}: {_side(change.before)}; now {_side(change.after)}"
        if change.after is not None:
            yield f"    {change.after.why}{_place(change.after)}"
    if len(changes) > MOST_CHANGES:
        yield f"  and {len(changes) - MOST_CHANGES:,} more; see -o json or -o html"


def _side(cell: Cell | None) -> str:
    return "not there" if cell is None else cell.ports


def matrix_json(matrix: Matrix) -> str:
    """All of it as one document."""
    content: dict[str, Any] = {
        "version": 1,
        "parties": [
            {"name": name, "namespace": space} for name, space in zip(matrix.names, matrix.namespaces, strict=True)
        ],
        "pairs": [_cell(cell) for cell in matrix.cells.values()],
        "notes": list(matrix.notes),
    }
    if matrix.changes is not None:
        content["changes"] = [
            {"source": one.source, "target": one.target, "before": _side(one.before), "after": _side(one.after)}
            for one in matrix.changes
        ]
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _cell(cell: Cell) -> dict[str, Any]:
    place = {"file": cell.place.file, "line": cell.place.line} if cell.place.line else None
    found = {"source": cell.source, "target": cell.target, "mark": cell.mark, "ports": cell.ports}
    return {**found, "why": cell.why, "location": place}


def matrix_page(matrix: Matrix) -> str:
    """One offline page: the matrix, the graph and what changed."""
    changed = {(one.source, one.target) for one in matrix.changes or ()}
    values = {
        "verdict": "TOLD",
        "headline": "Who may talk to whom",
        "what": _summary(matrix),
        "properties": [],
        "drawing": _drawing(matrix, changed),
        "matrix": {
            "names": list(matrix.names),
            "rows": [[_cell_values(matrix, one, other, changed) for other in matrix.names] for one in matrix.names],
        },
        "changes": [
            {"pair": f"{one.source} → {one.target}", "before": _side(one.before), "after": _side(one.after)}
            for one in matrix.changes or ()
        ],
        "compared": matrix.changes is not None,
        "notes": list(matrix.notes),
    }
    return network_page(values, matrix_text(matrix))


def _cell_values(matrix: Matrix, source: str, target: str, changed: set[tuple[str, str]]) -> dict[str, Any]:
    cell = matrix.cells.get((source, target))
    if cell is None:
        return {"mark": "", "title": ""}
    return {"mark": cell.mark, "title": f"{source} to {target}: {cell.why}", "changed": (source, target) in changed}


def _drawing(matrix: Matrix, changed: set[tuple[str, str]]) -> dict[str, Any]:
    """Workloads in a circle, namespace by namespace, and an arrow for whatever may be opened."""
    place = {name: number for number, name in enumerate(matrix.names)}
    arrows = [
        {"from": place[cell.source], "to": place[cell.target], "kind": _KINDS[cell.mark], "changed": pair in changed}
        for pair, cell in matrix.cells.items()
        if cell.most
    ]
    nodes = [{"name": name, "group": space} for name, space in zip(matrix.names, matrix.namespaces, strict=True)]
    return {"form": "circle", "nodes": nodes, "arrows": arrows, "paths": []}


_KINDS = {"#": "all", "+": "some", "?": "open"}
