"""Rates from CSV: two columns, the seconds since the start and the requests per second from then on.

time_s,rate
0,10
60,25.5
"""

from __future__ import annotations

import csv
from math import isfinite
from typing import NoReturn

from kubeproof.errors import ManifestError
from kubeproof.events.workload import TraceFile
from kubeproof.manifests.yaml.printable import printable
from kubeproof.simulate.serving.rates import Pieces

HEADER = ("time_s", "rate")
MOST_ROWS, MOST_RATE = 1_000_000, 1e9
_REMEDY = "Write the columns time_s,rate: seconds since the start, requests per second from then on"


def pieces_of(trace: TraceFile) -> Pieces:
    """The rates of a trace; none before its first row, the last one holds on."""
    times, rates = [0.0], [0.0]
    reader = csv.reader(trace.text.splitlines(), strict=True)
    try:
        for row in reader:
            if not row or (reader.line_num == 1 and tuple(cell.strip() for cell in row) == HEADER):
                continue
            time_s, rate = _numbers(trace, row, reader.line_num)
            if time_s < times[-1] or (time_s == times[-1] and len(times) > 1):
                _refuse(trace, reader.line_num, "times that do not grow")
            times.append(time_s)
            rates.append(rate)
            if len(times) > MOST_ROWS:
                _refuse(trace, reader.line_num, f"more than {MOST_ROWS:,} rows")
    except csv.Error as problem:
        _refuse(trace, reader.line_num, f"no CSV: {printable(str(problem))}")
    if len(times) == 1:
        _refuse(trace, 0, "no rows")
    return Pieces(times, rates)


def _numbers(trace: TraceFile, row: list[str], line: int) -> tuple[float, float]:
    if len(row) != len(HEADER):
        _refuse(trace, line, f"{len(row)} columns")
    time_s, rate = (_number(trace, cell, line) for cell in row)
    if rate > MOST_RATE:
        _refuse(trace, line, f"a rate above {MOST_RATE:g}")
    return time_s, rate


def _number(trace: TraceFile, cell: str, line: int) -> float:
    try:
        number = float(cell) if len(cell) <= 64 else -1.0
    except ValueError:
        number = -1.0
    if not isfinite(number) or number < 0 or "_" in cell:
        _refuse(trace, line, f"{printable(cell[:40])!r} is no number from 0 on")
    return number


def _refuse(trace: TraceFile, line: int, problem: str) -> NoReturn:
    raise ManifestError(problem, file=trace.file, line=line, remedy=_REMEDY)
