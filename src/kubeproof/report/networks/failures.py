"""What a network survives, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kubeproof.network.failures.search import Breaking, FailureResult, Survival, show_element
from kubeproof.report.escape import escape
from kubeproof.report.network import example_json, example_text
from kubeproof.verdicts import Verdict

MOST_SHOWN = 20  # breaking sets of one property
_WHAT = {"links": ("link", "links"), "nodes": ("node", "nodes"), "both": ("link or node", "links or nodes")}


def failures_text(result: FailureResult) -> str:
    """The smallest breaking sets of each property, and what single failures break."""
    lines = [line for one in result.survivals for line in (*_survival(one, result), "")]
    lines += _matrix(result)
    lines += [f"note: {note}" for note in result.notes]
    if result.reason:
        lines.append(f"note: not all sets were looked at: {result.reason}")
    how = "nodes reroute" if result.reroutes else "nodes do not reroute"
    lines.append(
        f"{result.verdict}: failures of up to {_count(result.most, result)} among {result.elements:,}, {how}; "
        f"{result.sets:,} sets checked, {result.skipped:,} like one of these, all others use nothing that packets use"
    )
    return "".join(f"{escape(line)}\n" for line in lines)


def _count(number: int, result: FailureResult) -> str:
    return f"{number} {_WHAT[result.what][number != 1]}"


def _survival(one: Survival, result: FailureResult) -> Iterator[str]:
    yield f"{one.verdict} {one.property}"
    if one.verdict is Verdict.VACUOUS:
        yield "  there is nothing to check: no traffic"
        return
    if one.already:
        yield f"  {one.already:,} pairs are bad without any failure; told is what makes more of them bad"
    yield (
        f"  survives any failure of {_count(one.survives, result)}"
        if one.survives
        else "  survives no failure for certain"
    )
    for breaking in one.breaking[:MOST_SHOWN]:
        yield f"  broken by {_show(breaking)}"
    rest = one.breaking[MOST_SHOWN:]
    if rest:
        yield f"  and by {sum(each.alike for each in rest):,} more sets"
    if one.counterexample is not None:
        yield from example_text(one.counterexample)


def _show(breaking: Breaking) -> str:
    alike = f" (and {breaking.alike - 1:,} sets like it)" if breaking.alike > 1 else ""
    source, destination = breaking.example
    pairs = f"{breaking.pairs:,} pair{'' if breaking.pairs == 1 else 's'}, {source} to {destination}"
    return f"{' and '.join(map(show_element, breaking.failed))}{alike}: {pairs}"


def _matrix(result: FailureResult) -> Iterator[str]:
    """Each failure that alone breaks something, by property."""
    columns = [
        {show_element(each.failed[0]): each for each in one.breaking if len(each.failed) == 1}
        for one in result.survivals
    ]
    rows = list(dict.fromkeys(name for column in columns for name in column))[:MOST_SHOWN]
    if len(columns) < 2 or not rows:
        return
    heads = [str(number) for number in range(1, len(columns) + 1)]
    yield "Pairs that one failure costs, by property"
    yield from (f"  {number}  {one.property}" for number, one in zip(heads, result.survivals, strict=True))
    width = max(map(len, rows))
    yield f"  {'':<{width}}" + "".join(f"{head:>8}" for head in heads)
    for name in rows:
        cells = (f"{column[name].pairs:,}" if name in column else "-" for column in columns)
        yield f"  {name:<{width}}" + "".join(f"{cell:>8}" for cell in cells)
    yield ""


def failures_json(result: FailureResult) -> str:
    """All of it as one document."""
    content = {
        "version": 1,
        "network": result.network,
        "snapshot": result.snapshot,
        "verdict": result.verdict,
        "failures": {"most": result.most, "of": result.what, "reroute": result.reroutes, "elements": result.elements},
        "checked": result.sets,
        "skipped": result.skipped,
        "complete": not result.reason,
        "reason": result.reason,
        "results": [_survival_json(one) for one in result.survivals],
        "notes": list(result.notes),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _survival_json(one: Survival) -> dict[str, Any]:
    return {
        "property": one.property,
        "verdict": one.verdict,
        "survives": one.survives,
        "already_bad": one.already,
        "breaking": [
            {
                "failed": [
                    {"node": each} if isinstance(each, str) else {"link": sorted(each)} for each in breaking.failed
                ],
                "pairs": breaking.pairs,
                "alike": breaking.alike,
                "example": list(breaking.example),
            }
            for breaking in one.breaking
        ],
        "counterexample": None if one.counterexample is None else example_json(one.counterexample),
    }
