"""Answers to updates, as lines of text or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kubeproof.network.rollouts.changes import show_rule
from kubeproof.network.updates.incremental import Delta, Update, Watch
from kubeproof.report.escape import escape

MOST_SHOWN = 5  # pairs of one update
_WORDS = {"unsafe": "violates the safety part", "unmet": "is lost", "endless": "goes round for ever"}


def show_update(update: Update) -> str:
    """An update for people."""
    if update.rule is None:
        return f"link {' - '.join(sorted(update.link))} {'fails' if update.verb == 'down' else 'works'}"
    return f"{update.node}: {'+' if update.verb == 'add' else '-'} {show_rule(update.rule)}"


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """Milliseconds that half of the updates took at most, and so on."""
    ordered = sorted(times)
    places = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
    return {name: 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)] for name, share in places.items()}


class _Text:
    """Lines for people."""

    def begin(self, watch: Watch, notes: Sequence[str]) -> str:
        lines = [*(f"note: {note}" for note in notes), *(_state(watch, place) for place in range(len(watch.answers)))]
        return _lines("before the first update", *(f"  {line}" for line in lines))

    def answer(self, watch: Watch, number: int, update: Update, deltas: Sequence[Delta]) -> str:
        place = f"  ({update.source.file}:{update.source.line})" if update.source.line else ""
        return _lines(
            f"update {number}  {show_update(update)}{place}", *(line for one in deltas for line in _delta(one))
        )

    def end(self, watch: Watch, number: int, times: Sequence[float]) -> str:
        lines = [_state(watch, place) for place in range(len(watch.answers))]
        if times:
            shown = ", ".join(f"{name} {value:.3f} ms" for name, value in percentiles(times).items())
            lines.append(f"{number / max(sum(times), 1e-9):,.0f} updates/s of processor time: {shown}")
        return _lines(f"after {number:,} update{'' if number == 1 else 's'}", *(f"  {line}" for line in lines))


def _lines(*lines: str) -> str:
    return "".join(f"{escape(line)}\n" for line in lines)


def _state(watch: Watch, place: int) -> str:
    answer = watch.answers[place]
    bad = sum(answer.counts().values())
    return f"{watch.verdict(answer)} {answer.prepared.property.name}: {bad:,} bad pair{'' if bad == 1 else 's'}"


def _delta(delta: Delta) -> list[str]:
    found = [f"  {delta.verdict} {delta.property}: {delta.bad:,} bad pair{'' if delta.bad == 1 else 's'}"]
    found += [f"    worse: {pair[1]} to {pair[2]} {_WORDS[how]}" for pair, how in delta.worse[:MOST_SHOWN]]
    found += [f"    better: {pair[1]} to {pair[2]}" for pair in delta.better[:MOST_SHOWN]]
    more = max(len(delta.worse) - MOST_SHOWN, 0) + max(len(delta.better) - MOST_SHOWN, 0)
    return [*found, *([f"    and {more:,} more pairs"] if more else [])]


class _Ndjson:
    """One JSON object a line."""

    def begin(self, watch: Watch, notes: Sequence[str]) -> str:
        return _object({"kind": "begin", "version": 1, "notes": list(notes), "properties": _states(watch)})

    def answer(self, watch: Watch, number: int, update: Update, deltas: Sequence[Delta]) -> str:
        location = {"file": update.source.file, "line": update.source.line}
        head = {"kind": "update", "number": number, "verb": update.verb, "text": show_update(update)}
        return _object({**head, "location": location, "changed": [_delta_json(delta) for delta in deltas]})

    def end(self, watch: Watch, number: int, times: Sequence[float]) -> str:
        timing = {"milliseconds": percentiles(times)} if times else {}
        return _object({"kind": "end", "updates": number, "properties": _states(watch), **timing})


def _object(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False) + "\n"


def _states(watch: Watch) -> list[dict[str, Any]]:
    return [
        {"property": one.prepared.property.name, "verdict": watch.verdict(one), **one.counts()} for one in watch.answers
    ]


def _delta_json(delta: Delta) -> dict[str, Any]:
    return {
        "property": delta.property,
        "verdict": delta.verdict,
        "bad": delta.bad,
        "worse": [{"source": one, "destination": to, "how": how} for (_, one, to), how in delta.worse],
        "better": [{"source": one, "destination": to} for _, one, to in delta.better],
    }


text, ndjson = _Text(), _Ndjson()
