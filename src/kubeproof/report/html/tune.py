"""The page of tuning: the best setting, the ranking, cost against promises, and what to change."""

from __future__ import annotations

from kubeproof import __version__
from kubeproof.report import tune as words
from kubeproof.report.amounts import amounts
from kubeproof.report.fix import diff_of
from kubeproof.report.frame import Frame
from kubeproof.report.html.offline import offline_page
from kubeproof.tune.margins import margin_of
from kubeproof.tune.result import Ranked, TuneResult
from kubeproof.verdicts import Verdict

SCRIPTS = ("dom.js", "theme.js", "frame.js", "tune.js")
STYLES = ("base.css", "plot.css", "tune.css")
Plain = dict[str, object]


def page(found: TuneResult, frame: Frame, text: str) -> str:
    """The result as one HTML document; `text` is the same for readers without scripts."""
    title = f"{found.verdict}: settings of {found.scenario}"
    return offline_page(title, _values(found, frame), scripts=SCRIPTS, styles=STYLES, text=text)


def _values(found: TuneResult, frame: Frame) -> Plain:
    table = words.ranking_table(found, found.ranking)
    files = () if found.written is None else found.written.files
    return {
        "program": __version__,
        "verdict": found.verdict,
        "headline": "Best setting found" if found.best else "No setting keeps all promises",
        "scenario": found.scenario,
        "how": words.headline(found).partition(": ")[2],
        "facts": _facts(found),
        "best": [] if found.best is None else list(found.best.settings),
        "does": list(found.does),
        "promises": [
            {"verdict": one.verdict, "title": one.title, "detail": one.detail or "in every run"}
            for one in (found.confirmed.promises if found.confirmed else ())
        ],
        "confirmedRuns": found.confirmed.runs if found.confirmed else 0,
        "verified": [{"verdict": one.verdict, "title": one.title} for one in found.verified],
        "ranking": {"head": list(table.head), "rows": [list(row) for row in table.rows]},
        "points": [_point(one, label) for one, label in zip(found.ranking, _labels(found), strict=True)],
        "diffs": [{"file": frame.path(one.file), "lines": diff_of(one, frame).splitlines()} for one in files],
        "passed": [f"{setting}: {why}" for setting, why in (*found.passed_over, *found.refused)],
        "notes": list(words.notes(found)),
        "summary": words.summary(found),
    }  # fmt: skip


def _facts(found: TuneResult) -> list[tuple[str, str]]:
    costs = amounts([found.best.cost if found.best else None, found.current.cost if found.current else None])
    told = zip(costs, ("an hour, best", "an hour, as it is"), strict=True)
    return [
        *((cost, what) for cost, what in told if cost),
        (f"{len(found.ranking)} of {found.size:,}", "settings looked at"),
        (f"{found.runs:,}", "runs"),
    ]


def _labels(found: TuneResult) -> list[str]:
    return [", ".join(f"{key}={value}" for key, value in one.settings) for one in found.ranking]


def _point(one: Ranked, label: str) -> Plain:
    kind = {Verdict.SAMPLED_OK: "good", Verdict.VIOLATED: "bad"}.get(one.verdict, "fair")
    return {"cost": one.cost, "margin": margin_of(one.promises), "kind": kind, "mark": words.mark(one), "label": label}
