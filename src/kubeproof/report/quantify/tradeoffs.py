"""Fronts, functions of constants, regions and policies of probabilistic models, as text and plain values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kubeproof.quantify.prism.strategies import list_variables
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.quantify.prism.fronts import Front
    from kubeproof.quantify.prism.parametric import Region, Varied
    from kubeproof.quantify.prism.strategies import Strategy

MOST_SHOWN = 40  # rows of a table for people


def tell_front(front: Front) -> Iterator[str]:
    """The corners of what can be had together."""
    yield f"  {front.name}" if front.name == front.text else f"  {front.name}: {front.text}"
    many = "corner" if len(front.points) == 1 else "corners"
    told = f"what is possible goes at most {front.gap:.2g} beyond, {front.elapsed_s:.2f} s"
    yield f"    front of {len(front.points)} {many}, {told}"
    rows = [[one.text for one in front.objectives]]
    rows += [[f"{value:.9g}" for value in point] for point in front.points[:MOST_SHOWN]]
    yield from _align(rows)
    if len(front.points) > MOST_SHOWN:
        yield f"    {len(front.points) - MOST_SHOWN} more are in the other formats"


def tell_varied(one: Varied) -> Iterator[str]:
    """A value over the ranges of constants."""
    verdict = f"{one.verdict} " if one.verdict else ""
    yield f"  {verdict}{one.text}" if one.name == one.text else f"  {verdict}{one.name}: {one.text}"
    if one.function:
        yield f"    = {one.function}"
    if one.least is not None and one.greatest is not None:
        yield f"    from {one.least:.9g} to {one.greatest:.9g} over {', '.join(one.parameters)}"
    for each in one.sensitivities:
        percent = "" if each.elasticity is None else f"; 1 % more changes it by {each.elasticity:+.4g} %"
        yield f"    in the middle {each.name} + 1 would change it by {each.slope:+.6g}{percent}"
    if one.regions:
        shares = ((word, one.share(word)) for word in (Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNKNOWN))
        yield f"    {', '.join(f'{word} in {100 * share:.4g} %' for word, share in shares if share)} of the ranges"
        yield from _tell_borders(one)
    yield f"    {one.elapsed_s:.2f} s"


def _tell_borders(one: Varied) -> Iterator[str]:
    """Of one parameter, from where to where it is met."""
    if len(one.parameters) != 1:
        yield "    regions are in the other formats"
        return
    for verdict, low, high in join_regions(one.regions):
        yield f"    {verdict} for {one.parameters[0]} from {low:.6g} to {high:.6g}"


def join_regions(regions: Sequence[Region]) -> list[tuple[Verdict, float, float]]:
    """Intervals with one verdict, neighbours as one."""
    found: list[tuple[Verdict, float, float]] = []
    for region in regions:
        ((low, high),) = region.box
        if found and found[-1][0] == region.verdict:
            found[-1] = (region.verdict, found[-1][1], float(high))
        else:
            found.append((region.verdict, float(low), float(high)))
    return found


def tell_strategy(one: Strategy) -> Iterator[str]:
    """The best decision in every situation."""
    yield f"Best decisions for {one.property}, in {one.states:,} states that runs come to"
    if not one.choices:
        yield "  There is nothing to choose in any of them."
        return
    names = list(list_variables(one))
    rows = [[*names, "best", "possible"]]
    rows += strategy_rows(one, names)[:MOST_SHOWN]
    yield from (line[2:] for line in _align(rows, first_left=True))
    left = len(one.choices) - MOST_SHOWN + one.left_out
    if left > 0:
        yield f"  {left:,} more rows are in the other formats"


def strategy_rows(one: Strategy, names: Sequence[str]) -> list[list[str]]:
    """A row per situation."""
    return [
        [*(str(dict(choice.state)[name]).lower() for name in names), choice.best, "; ".join(choice.possible)]
        for choice in one.choices
    ]


def _align(rows: Sequence[Sequence[str]], *, first_left: bool = False) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            f"{cell:<{width}}" if first_left else f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)
        )
        yield f"    {'  '.join(cells)}"


# -- plain values -------------------------------------------------------------------------------


def front_json(front: Front) -> dict[str, Any]:
    """A front as plain values."""
    return {
        "name": front.name,
        "property": front.text,
        "objectives": [
            {"property": one.text, "best": "max" if one.is_greatest_best else "min"} for one in front.objectives
        ],
        "points": [list(map(_plain, point)) for point in front.points],
        "limit": [list(map(_plain, point)) for point in front.limit],
        "elapsed_s": front.elapsed_s,
    }


def varied_json(one: Varied) -> dict[str, Any]:
    """A function of constants as plain values."""
    return {
        "name": one.name,
        "property": one.text,
        "verdict": one.verdict,
        "parameters": list(one.parameters),
        "function": one.function or None,
        "least": _plain(one.least),
        "greatest": _plain(one.greatest),
        "curves": [{"parameter": c.name, "points": [list(map(_plain, p)) for p in c.points]} for c in one.curves],
        "sensitivities": [
            {"parameter": s.name, "slope": _plain(s.slope), "elasticity": _plain(s.elasticity)}
            for s in one.sensitivities
        ],
        "regions": [
            {"from": [float(low) for low, _ in r.box], "to": [float(high) for _, high in r.box], "verdict": r.verdict}
            for r in one.regions
        ],
        "elapsed_s": one.elapsed_s,
    }


def strategy_json(one: Strategy) -> dict[str, Any]:
    """Decisions as plain values."""
    rows = [{"state": dict(c.state), "best": c.best, "possible": list(c.possible)} for c in one.choices]
    return {"property": one.property, "states": one.states, "rows": rows, "left_out": one.left_out}


def _plain(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return "infinity" if value > 0 else "-infinity"
