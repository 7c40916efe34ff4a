"""The survival matrix as a table of plain HTML, for notebooks: no scripts, colours in the cells."""

from __future__ import annotations

from html import escape as escape_html

from kubeproof.report.escape import escape
from kubeproof.report.matrix.words import lines_of, names_of, word
from kubeproof.values import complete
from kubeproof.verify.matrix.result import Cell, Grade, Matrix

_CELL = "text-align:left;padding:.2em .6em"
_COLOURS = complete(
    Grade,
    {
        Grade.STEADY: "background:#e3f5ea;color:#13693c",
        Grade.DIPS: "background:#fdf2dc;color:#855300",
        Grade.STUCK: "background:#b3261e;color:#ffffff",
        Grade.UNKNOWN: "background:#f1f3f7;color:#566072",
    },
)


def matrix_table(matrix: Matrix) -> str:
    """A row for each workload, the worst first, a column for each fault."""
    names = names_of(matrix)
    heads = "".join(f'<th title="{_safe(one.title)}">{_safe(one.head)}</th>' for one in matrix.columns)
    rows = "".join(
        f'<tr><th style="{_CELL}">{_safe(names[row.target])}</th>{"".join(map(_cell, line.cells))}</tr>'
        for line in lines_of(matrix)
        for row in line.rows
    )
    return f"<table><tr><th></th>{heads}</tr>{rows}</table>"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "<td></td>"
    return f'<td style="{_CELL};{_COLOURS[cell.grade]}" title="{_safe(cell.detail)}">{_safe(word(cell))}</td>'


def _safe(text: str) -> str:
    return escape_html(escape(text))
