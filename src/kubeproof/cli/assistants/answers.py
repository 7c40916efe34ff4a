"""What a tool answers: the report as text, and the parts of the result that a program wants, bounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubeproof.cli.assistants.calls import Ended

MOST_TEXT = 48_000  # characters of a report
MOST_ROWS = 400
_OF_RESULT = ("id", "intent", "target", "verdict", "severity", "detail", "remedy", "location", "fingerprint")
_OF_CELL = ("target", "fault", "grade", "lowest", "longest_s", "detail")
_OF_CHECK = ("id", "severity", "target", "detail", "remedy", "location")
_OF_WORKLOAD = ("target", "grade", "lowest", "longest_s", "detail")
_WORTH_TELLING = ("steady", "absent")


def text_of(ended: Ended) -> str:
    """The report, shortened in the middle if it is long, and what was left out of the input."""
    text = ended.report.strip()
    if len(text) > MOST_TEXT:
        half = MOST_TEXT // 2
        text = f"{text[:half]}\n… {len(text) - MOST_TEXT} characters left out …\n{text[-half:]}"
    if ended.left_out:
        text += f"\n\nLinks that were not followed: {', '.join(ended.left_out[:20])}"
    return text


def structure(ended: Ended) -> dict[str, Any]:
    """Verdict, exit code and, of long lists, what is not well first."""
    result = ended.result
    told: dict[str, Any] = {"exit_code": ended.code, "verdict": result.get("verdict")}
    for key, fields in (
        ("results", _OF_RESULT),
        ("matrix", _OF_CELL),
        ("checks", _OF_CHECK),
        ("workloads", _OF_WORKLOAD),
    ):
        rows = [_take(row, fields) for row in _rows(result.get(key))]
        rows.sort(key=_is_well)
        if rows:
            told[key] = rows[:MOST_ROWS]
        if len(rows) > MOST_ROWS:
            told[f"{key}_left_out"] = len(rows) - MOST_ROWS
    for key in ("scope", "not_modelled", "sentence"):
        if result.get(key) and not (key == "scope" and isinstance(result[key], list)):
            told[key] = result[key]
    return told


def _rows(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (row for row in value if isinstance(row, dict))


def _take(row: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {field: row[field] for field in fields if row.get(field) is not None}


def _is_well(row: Mapping[str, Any]) -> bool:
    return row.get("verdict") == "HOLDS" or row.get("grade") in _WORTH_TELLING
