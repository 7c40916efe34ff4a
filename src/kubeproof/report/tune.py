"""What tuning found, as text, JSON, a diff, or a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from kubeproof.report.amounts import amounts
from kubeproof.report.escape import escape
from kubeproof.report.fix import diff_of
from kubeproof.report.frame import Frame
from kubeproof.report.simulate.variants import Table, align, duration
from kubeproof.simulate.outcome import IntentOutcome
from kubeproof.tune.result import Ranked, TuneResult
from kubeproof.tune.subject import is_moot
from kubeproof.verdicts import Verdict

MOST_ROWS = 20  # in text
NO_PRICES = "the input has no prices: a node-hour counts 1, a pod-hour 0.01"


def as_text(found: TuneResult, frame: Frame) -> str:
    """The ranking, what is promised with which confidence, and what to change."""
    return "".join(f"{escape(line).rstrip()}\n" for line in _lines(found, frame))


def _lines(found: TuneResult, frame: Frame) -> Iterator[str]:
    yield headline(found)
    yield ""
    shown = found.ranking[:MOST_ROWS]
    yield from align(ranking_table(found, shown))
    if len(found.ranking) > len(shown):
        yield f"{len(found.ranking) - len(shown)} more are in the other formats"
    for words, why in (*found.passed_over, *found.refused):
        yield f"Passed over: {words}: {why}"
    yield ""
    if found.best is not None:
        yield from _best(found, found.best, frame)
    else:
        yield from _nearest(found)
    for note in notes(found):
        yield f"Note: {note}"
    yield summary(found)


def headline(found: TuneResult) -> str:
    """How much was looked at."""
    return (
        f"{found.scenario}: {found.size:,} settings, {len(found.ranking)} looked at in {found.runs:,} runs of "
        f"{duration(found.duration_s)}, seed {found.seed}; {found.ended_by}"
    )


def ranking_table(found: TuneResult, shown: Sequence[Ranked]) -> Table:
    """One row per setting, the best first."""
    short = _shorten([knob.key for knob in found.knobs])
    costs = amounts([one.cost for one in shown])
    rows = tuple(
        (
            mark(one), *(value for _, value in one.settings), cost, str(one.runs), str(one.verdict),
            *(_show_promise(promise) for promise in one.promises),
        )
        for one, cost in zip(shown, costs, strict=True)
    )  # fmt: skip
    promises = [f"{one.key or one.intent} {one.target.rpartition('/')[2]}".rstrip() for one in _promises(shown)]
    return Table(("", *short, "cost/h", "runs", "verdict", *promises), rows)


def mark(one: Ranked) -> str:
    """What is special about a setting."""
    return "best" if one.is_best else "now" if one.is_current else ""


def _promises(shown: Sequence[Ranked]) -> tuple[IntentOutcome, ...]:
    return shown[0].promises if shown else ()


def _shorten(keys: Sequence[str]) -> list[str]:
    """The keys without what all names repeat, as far as they stay apart."""
    short = ["/".join(key.split("/")[-1:]) for key in keys]
    return [own if short.count(own) == 1 else key for own, key in zip(short, keys, strict=True)]


def _show_promise(promise: IntentOutcome) -> str:
    if promise.measured is None:
        return {Verdict.SAMPLED_OK: "ok", Verdict.VIOLATED: "violated"}.get(promise.verdict, "nothing to say")
    return promise.detail.partition(" (")[0].partition(" in one run")[0].partition(",")[0]


def _best(found: TuneResult, best: Ranked, frame: Frame) -> Iterator[str]:
    yield f"Best: {', '.join(f'{key}={value}' for key, value in best.settings)}"
    cost, own = amounts([best.cost, found.current.cost if found.current else None])
    yield f"  costs {cost} an hour" + (f", the input {own}" if own and not best.is_current else "")
    if found.confirmed is not None:
        yield f"  in {found.confirmed.runs} fresh runs, which had no part in choosing it:"
        yield from (f"    {one.verdict} {one.title}: {_detail(one)}" for one in found.confirmed.promises)
    yield from (f"  verify: {one.verdict} {one.title}" for one in found.verified)
    if not found.does:
        yield "  nothing to change: the input has it"
    for does in found.does:
        yield f"  {does}"
    if found.written is not None:
        for changed in found.written.files:
            yield from (f"    {line}" for line in diff_of(changed, frame).splitlines())
        for file, why in found.written.patch_only:
            yield f"  {frame.path(file)} cannot be changed in place ({why}): take the patch for kustomize"
        if found.written.patch_only:
            yield from (f"    {line}" for line in found.written.patch.splitlines())


def _detail(promise: IntentOutcome) -> str:
    return promise.detail or ("nothing of the kind happened" if promise.verdict == Verdict.VACUOUS else "in every run")


def _nearest(found: TuneResult) -> Iterator[str]:
    """Of settings that do not keep all promises the one that comes next to it."""
    if found.ranking:
        nearest = found.ranking[0]
        yield f"Nearest: {', '.join(f'{key}={value}' for key, value in nearest.settings)}"
        yield from (
            f"  {one.verdict} {one.title}: {one.detail}"
            for one in nearest.promises
            if one.verdict != Verdict.SAMPLED_OK and not is_moot(one)
        )


def notes(found: TuneResult) -> Iterator[str]:
    """What a reader should know."""
    if not found.has_prices:
        yield NO_PRICES
    yield from found.notes


def summary(found: TuneResult) -> str:
    """The answer in a line."""
    if found.best is None:
        return f"{found.verdict}: no setting that was looked at is known to keep all promises"
    saved = ""
    if found.current is not None and found.current.cost > 0 and not found.best.is_current:
        percent = 100 * (found.best.cost / found.current.cost - 1)
        kept = "" if found.current.verdict == Verdict.SAMPLED_OK else ", which does not keep them"
        saved = f", {percent:+.2g} % against the input{kept}"
    return f"{found.verdict}: the cheapest setting that keeps all promises, of {len(found.ranking)}{saved}"


# -- other formats ------------------------------------------------------------------------------------


def as_diff(found: TuneResult, frame: Frame) -> str:
    """What to change, for `git apply`; empty if there is nothing."""
    return "" if found.written is None else "".join(diff_of(changed, frame) for changed in found.written.files)


def as_json(found: TuneResult, frame: Frame) -> str:
    """Everything, for programs."""
    written = found.written
    told = {
        "apiVersion": "kubeproof.dev/v1alpha1",
        "kind": "TuneResult",
        "scenario": found.scenario,
        "verdict": found.verdict,
        "summary": summary(found),
        "knobs": [{"key": one.key, "values": list(one.values), "now": one.values[one.now]} for one in found.knobs],
        "settings": found.size,
        "runs": found.runs,
        "duration_s": found.duration_s,
        "seed": found.seed,
        "ended_by": found.ended_by,
        "best": None if found.best is None else _ranked_value(found.best),
        "confirmed": None if found.confirmed is None else _ranked_value(found.confirmed),
        "verified": [{"intent": one.title, "verdict": one.verdict} for one in found.verified],
        "ranking": [_ranked_value(one) for one in found.ranking],
        "passed_over": [{"setting": words, "why": why} for words, why in found.passed_over],
        "refused": [{"setting": words, "why": why} for words, why in found.refused],
        "does": list(found.does),
        "files": [] if written is None else [
            {"file": frame.path(changed.file), "diff": diff_of(changed, frame)} for changed in written.files
        ],
        "patch_only": [] if written is None else [
            {"file": frame.path(file), "why": why} for file, why in written.patch_only
        ],
        "kustomize_patch": "" if written is None else written.patch,
        "notes": list(notes(found)),
    }  # fmt: skip
    return f"{json.dumps(told, indent=2)}\n"


def _ranked_value(one: Ranked) -> dict[str, object]:
    return {
        "settings": dict(one.settings),
        "cost_per_hour": one.cost,
        "runs": one.runs,
        "verdict": one.verdict,
        "is_current": one.is_current,
        "promises": [_promise_value(promise) for promise in one.promises],
    }


def _promise_value(one: IntentOutcome) -> dict[str, object]:
    told: dict[str, object] = {"id": one.id, "intent": one.intent, "target": one.target, "verdict": one.verdict}
    if one.measured is not None:
        told |= {"value": one.measured.value, "lower": one.measured.lower, "upper": one.measured.upper}
        told |= {"limit": one.limit}
    return told | {"detail": one.detail}


def as_html(found: TuneResult, frame: Frame) -> str:
    """One page that needs no network."""
    from kubeproof.report.html.tune import page

    return page(found, frame, as_text(found, frame))


RENDERERS: dict[str, Callable[[TuneResult, Frame], str]] = {
    "text": as_text,
    "json": as_json,
    "diff": as_diff,
    "html": as_html,
}
