"""The HTML report: one page that needs nothing else, without scripts; with a heat map for a sweep."""

from __future__ import annotations

from html import escape as escape_html

from kubeproof.report.escape import escape
from kubeproof.report.heatmap import svg
from kubeproof.report.style import Style
from kubeproof.report.text import render as render_text
from kubeproof.verify.result import IntentResult, VerifyResult

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = (
    "body{font:15px/1.4 sans-serif;margin:2em;max-width:70em;color:#222}"
    "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3em .6em;text-align:left}"
    "pre{background:#f6f6f6;padding:1em;overflow:auto}.VIOLATED,.ERROR{color:#c0392b;font-weight:bold}"
    ".HOLDS,.HOLDS-BOUNDED{color:#2e7d4f;font-weight:bold}"
)


def render(result: VerifyResult) -> str:
    """The report as one HTML document; everything from the input is escaped."""
    title = _safe(f"{result.verdict}: {result.scenario}")
    chart = ""
    if result.sweep is not None:
        bound = _safe(result.sweep.bound)
        chart = f"<h2>Verdicts over scales</h2><p>{bound}</p>{svg(result.sweep)}"
    rows = "".join(_row(one) for one in result.results)
    text = _safe_lines(render_text(result, Style(unicode=True, map=False)))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f"<table><tr><th>verdict</th><th>property</th><th>intent</th><th>target</th><th>what was found</th></tr>{rows}"
        f"</table>{chart}<h2>Report</h2><pre>{text}</pre></body></html>\n"
    )


def _row(one: IntentResult) -> str:
    cells = (f"{one.id} {one.key}", one.intent, one.target, one.detail)
    told = "".join(f"<td>{_safe(cell)}</td>" for cell in cells)
    return f'<tr><td class="{_safe(one.verdict)}">{_safe(one.verdict)}</td>{told}</tr>'


def _safe(text: str) -> str:
    return escape_html(escape(text))


def _safe_lines(text: str) -> str:
    """Lines of the text report, whose own line ends stay."""
    return "\n".join(_safe(line) for line in text.split("\n"))
