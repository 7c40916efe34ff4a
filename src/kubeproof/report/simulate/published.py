"""Curves of published experiments in all formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kubeproof.report.escape import escape

if TYPE_CHECKING:
    from kubeproof.simulate.published.result import Curves, Reading, Responses

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 70  # characters of a sparkline
PERCENTILES = (50, 95, 99)
COLUMNS = ("interval", "service", "pods", "cpu", "util_percent")


def as_text(curves: Curves) -> str:
    """A summary for people: pods and CPU of every service, drawn and in numbers."""
    last = max(reading.interval for reading in curves.readings)
    lines = [f"{curves.name}: {last + 1} intervals of {curves.interval_s:g} s"]
    responses = {one.service: one for one in curves.responses}
    for service in curves.services:
        lines += ["", *_service(curves, service), *_responses(responses[service], curves.interval_s)]
    return "".join(f"{escape(line).rstrip()}\n" for line in lines)


def _service(curves: Curves, service: str) -> Iterator[str]:
    readings = curves.of(service)
    pods, cpu = [reading.pods for reading in readings], [reading.cpu for reading in readings]
    changes = ", ".join(f"{pods} from {interval}" for interval, pods in curves.changes(service))
    yield service
    yield f"  pods  {sparkline(pods)}  most {max(pods)}"
    yield f"  cpu   {sparkline(cpu)}  most {max(cpu):g} per interval"
    yield f"  pods by interval: {changes}"


def _responses(responses: Responses, interval_s: float) -> Iterator[str]:
    unfinished = f", {responses.unfinished:,} not finished" if responses.unfinished else ""
    yield f"  requests: {responses.finished:,} finished{unfinished}"
    if responses.finished:
        times = [responses.percentile(percent) or 0 for percent in PERCENTILES]
        shown = ", ".join(
            f"p{percent} {time * interval_s:g} s" for percent, time in zip(PERCENTILES, times, strict=True)
        )
        yield f"  response time: {shown}"


def sparkline(values: Sequence[float], width: int = WIDTH) -> str:
    """The largest values of equal parts of the run, as bars."""
    width = min(width, len(values))
    parts = [values[len(values) * n // width : len(values) * (n + 1) // width] for n in range(width)]
    most = max(values, default=0) or 1
    return "".join(BARS[round(max(part) / most * (len(BARS) - 1))] for part in parts)


def as_csv(curves: Curves) -> str:
    """One line per service and interval; `cpu` is what was used in the interval before."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(reading) for reading in curves.readings)
    return text.getvalue()


def _row(reading: Reading) -> tuple[Any, ...]:
    return reading.interval, reading.service, reading.pods, reading.cpu, round(100 * reading.ratio, 3)


def as_json(curves: Curves) -> str:
    """Everything, for machines."""
    document = {
        "experiment": curves.name,
        "interval_s": curves.interval_s,
        "services": [_document(curves, one) for one in curves.responses],
    }
    return json.dumps(document, indent=2) + "\n"


def _document(curves: Curves, responses: Responses) -> dict[str, Any]:
    readings = curves.of(responses.service)
    return {
        "service": responses.service,
        "pods": [reading.pods for reading in readings],
        "cpu": [reading.cpu for reading in readings],
        "util_percent": [round(100 * reading.ratio, 3) for reading in readings],
        "finished": responses.finished,
        "unfinished": responses.unfinished,
        "response_s": {f"p{p}": _seconds(responses, p, curves.interval_s) for p in PERCENTILES},
    }


def _seconds(responses: Responses, percent: int, interval_s: float) -> float | None:
    intervals = responses.percentile(percent)
    return None if intervals is None else intervals * interval_s


def as_html(curves: Curves) -> str:
    """A page with plots to look into."""
    from kubeproof.report.simulate.page import page

    return page(curves, as_text(curves))


def as_svg(curves: Curves) -> str:
    """A picture of all plots."""
    from kubeproof.report.simulate.picture import svg

    return svg(curves)


RENDERERS: dict[str, Callable[[Curves], str]] = {
    "text": as_text, "csv": as_csv, "json": as_json, "html": as_html, "svg": as_svg,
}  # fmt: skip
