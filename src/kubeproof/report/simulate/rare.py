"""How likely rare violations are, as text, JSON and a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from kubeproof import __version__
from kubeproof.report.escape import escape
from kubeproof.report.html.offline import offline_page
from kubeproof.report.simulate.page import SCRIPTS, STYLES, empty_page
from kubeproof.report.simulate.variants import duration
from kubeproof.simulate.rare import RareIntent, RareResult
from kubeproof.verdicts import Verdict


def as_text(found: RareResult) -> str:
    """A line for each intent, and what it rests on."""
    return "".join(f"{escape(line).rstrip()}\n" for line in _lines(found))


def _lines(found: RareResult) -> Iterator[str]:
    yield f"{found.scenario}: {_how(found)}"
    yield ""
    for one in found.intents:
        yield f"P({one.intent} is violated within {duration(found.duration_s)})  {_chance(one)}"
        yield f"  {_rests_on(one, found)}"
    for note in found.notes:
        yield f"Note: {note}"


def _how(found: RareResult) -> str:
    return (
        f"{found.runs:,} runs of {duration(found.duration_s)}, seed {found.seed}, failures {found.boost:.4g} times as "
        f"often as they are, and weighed ({found.pilots:,} pilot runs chose that); {100 * found.level:g} % confidence"
    )


def _chance(one: RareIntent) -> str:
    p = one.probability
    if not one.hits:
        return f"at most {p.upper:.3g}: no run violates it"
    return f"{p.value:.4g} ({p.lower:.4g} to {p.upper:.4g})"


def _rests_on(one: RareIntent, found: RareResult) -> str:
    plain = one.plain_runs(found.level)
    if plain is None:
        return "other failures than those that were drawn may violate it; more runs tell more"
    return f"{one.hits:,} of {found.runs:,} runs violate it; without weights {plain:,.0f} runs would be as precise"


def as_json(found: RareResult) -> str:
    """Everything, for programs."""
    told = {
        "scenario": found.scenario,
        "duration_s": found.duration_s,
        "seed": found.seed,
        "runs": found.runs,
        "boost": found.boost,
        "pilots": found.pilots,
        "level": found.level,
        "intents": [_value(one, found) for one in found.intents],
        "notes": list(found.notes),
    }
    return f"{json.dumps(told, indent=2)}\n"


def _value(one: RareIntent, found: RareResult) -> dict[str, Any]:
    p = one.probability
    return {
        "id": one.id, "intent": one.intent, "target": one.target, "probability": p.value, "lower": p.lower,
        "upper": p.upper, "runs_that_violate": one.hits, "plain_runs": one.plain_runs(found.level),
    }  # fmt: skip


def as_html(found: RareResult) -> str:
    """One page that needs no network."""
    values = empty_page() | {
        "program": __version__,
        "verdict": "RUN",
        "headline": "How likely violations are",
        "scenario": found.scenario,
        "how": _how(found),
        "facts": [(f"{one.probability.value:.3g}", one.intent) for one in found.intents[:4]],
        "intents": [
            {
                "id": one.id, "intent": one.key, "target": one.target, "place": "", "when": _rests_on(one, found),
                "verdict": Verdict.VIOLATED if one.hits else Verdict.SAMPLED_OK,
                "detail": f"{_chance(one)} within {duration(found.duration_s)}",
            }
            for one in found.intents
        ],
        "notes": list(found.notes),
    }  # fmt: skip
    title = f"How likely: {found.scenario}"
    return offline_page(title, values, scripts=SCRIPTS, styles=STYLES, text=as_text(found))


RENDERERS: dict[str, Callable[[RareResult], str]] = {"text": as_text, "json": as_json, "html": as_html}
