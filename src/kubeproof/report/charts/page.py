"""One offline page of tables and charts, for numbers that no player plays."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof import __version__
from kubeproof.report.charts.scene import Chart, chart_values
from kubeproof.report.html.offline import offline_page
from kubeproof.values import dataclass

SCRIPTS = ("dom.js", "theme.js", "frame.js", "charts.js", "numbers_page.js")
STYLES = ("base.css", "plot.css", "charts.css")
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below a head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What stands on the page."""

    headline: str
    subject: str
    how: str
    verdict: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    closing: str = "Point at a curve, a dot or a box to read it; -o svg has the charts alone."


def write_page(page: Page, text: str) -> str:
    """The page as one HTML document; `text` is the same for readers without scripts."""
    values = {
        "program": __version__,
        "headline": page.headline,
        "subject": page.subject,
        "how": page.how,
        "verdict": page.verdict,
        "facts": list(page.facts),
        "tables": [{"title": one.title, "head": one.head, "rows": one.rows} for one in page.tables],
        "charts": [chart_values(chart) for chart in page.charts],
        "notes": list(page.notes),
        "closing": page.closing,
    }
    return offline_page(f"{page.headline}: {page.subject}", values, scripts=SCRIPTS, styles=STYLES, text=text)
