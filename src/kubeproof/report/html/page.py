"""The HTML report: one offline page with verdicts, a player for every counterexample, and what the verdicts rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof import __version__
from kubeproof.cluster.objects import Source
from kubeproof.report.frame import Frame
from kubeproof.report.html.heatmap import SIGNS, WORDS
from kubeproof.report.html.offline import offline_page
from kubeproof.report.html.run import run_values
from kubeproof.report.matrix.page import OTHER_RUN, choose_drawn, matrix_values, run_words
from kubeproof.report.matrix.words import list_names
from kubeproof.report.sentences import closing
from kubeproof.report.style import Style
from kubeproof.report.verification.causes import findings
from kubeproof.report.verification.checks import check_counts, check_values
from kubeproof.report.verification.excerpts import excerpt
from kubeproof.report.verification.explained import cause_lines, told
from kubeproof.report.verification.text import render as render_text
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import IntentResult, Statistics, Suppression, Trace, VerifyResult
from kubeproof.verify.scaling.heatmap import heat_map
from kubeproof.verify.scaling.result import Skipped, Sweep
from kubeproof.verify.words.pictures import NOT_ASKED, Film

SCRIPTS = (
    *("dom.js", "film.js", "shapes.js", "floor.js", "cluster.js", "steps.js", "numbers.js", "details.js", "ring.js"),
    *("player.js", "heat.js", "matrix.js", "checks.js", "sections.js", "theme.js", "main.js"),
)
STYLES = ("base.css", "player.css", "cluster.css", "matrix.css")
Plain = dict[str, object]


def render(result: VerifyResult, films: Sequence[Film | str] = (), frame: Frame = Frame()) -> str:
    """The report as one HTML document.

    `films` has one entry per result: the run by pictures, or why there is none.
    """
    films = films or (NOT_ASKED,) * len(result.results)
    text = render_text(result, Style(unicode=True, map=False, replay_command=frame.replay_command))
    title = f"{result.verdict}: {result.scenario}"
    return offline_page(title, document(result, films, frame), scripts=SCRIPTS, styles=STYLES, text=text)


def document(result: VerifyResult, films: Sequence[Film | str], frame: Frame) -> Plain:
    """What the page's scripts read."""
    scope = [pair for pair in result.scope if pair[0] != "abstraction"]
    chosen = choose_drawn(result)
    shown = None if chosen is None else [result.results[number] for number in sorted(chosen)]
    return {
        "program": __version__,
        "verdict": result.verdict,
        "scenario": result.scenario,
        "counts": _counts(result.results) if result.matrix is None else f"{closing(result)}.",
        "about": "; ".join(_about(result)),
        "left": _count_left(result),
        "facts": _facts(result),
        "properties": [
            _property(result, *pair, frame, shown) | run_words(result, number)
            for number, pair in enumerate(zip(result.results, films, strict=True))
        ],
        "matrix": None if result.matrix is None else matrix_values(result, result.matrix, frame),
        "checks": check_values(result.checks, frame),
        "checkCounts": check_counts(result.checks) or "nothing that nobody accepted",
        "unchecked": list(_list_unchecked(result)),
        "assumptions": list(_assumptions(result)),
        "coverage": _coverage(result.statistics),
        "scope": scope,
        "statistics": list(_statistics(result.statistics)),
        "sweep": None if result.sweep is None else _sweep(result.sweep),
        "command": frame.replay_command,
    }


def _counts(results: Sequence[IntentResult]) -> str:
    counts = Counter(one.verdict for one in results)
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    return (
        f"{_count(len(results), 'property', 'properties')} checked: {told}." if results else "No property was checked."
    )


def _about(result: VerifyResult) -> Iterator[str]:
    """The scope in one line."""
    scope = dict(result.scope)
    told = {"kubernetes": "Kubernetes", "nodes": "nodes:", "bound": "sizes:", "start": "start:", "events": "events:"}
    yield from (f"{words} {scope[key]}" for key, words in told.items() if key in scope)
    if "explored" in scope:
        yield f"explored {scope['explored']}"


def _count_left(result: VerifyResult) -> str:
    """How much is behind the link to what was not checked."""
    left = len(tuple(_list_unchecked(result)))
    return (
        f"{_count(left, 'thing')} not checked or not modelled"
        if left
        else "every property decided, nothing in the input left out"
    )


def _facts(result: VerifyResult) -> list[tuple[str, str]]:
    nodes = max((one.nodes for one in result.results), default=0)
    pods = max((one.pods for one in result.results), default=0)
    numbers = result.statistics
    return [
        (f"{nodes:,}", "nodes"),
        (f"{pods:,}", "pods"),
        (f"{numbers.states:,}", "states explored"),
        (f"{numbers.elapsed_s:.2f} s", "search time"),
    ]


def _property(
    result: VerifyResult, one: IntentResult, film: Film | str, frame: Frame, shown: Sequence[IntentResult] | None
) -> Plain:
    """A result; of a matrix only `shown` ones have lines of manifests and all details of their runs."""
    is_short = shown is not None and not any(one is other for other in shown)
    film = OTHER_RUN if is_short else film
    texts = dict(result.inputs)
    sources = [
        {"object": ref, "place": _place(source, frame), "first": source.line, "lines": excerpt(texts, source)}
        for ref, source in (() if is_short else one.sources)
    ]
    return {
        "id": one.id,
        "key": one.key,
        "target": one.target,
        "verdict": one.verdict,
        "detail": one.detail,
        "place": _place(one.location, frame),
        "accepted": "" if one.suppression is None else _explain_accepted(one.suppression, frame),
        "remedy": one.remedy,
        "explained": [] if is_short else list(told(one)),
        "needed": [] if one.causes is None else list(cause_lines(one.causes, Style())),
        "repairs": repair_values(one),
        "size": f"{_count(one.nodes, 'node')}, {_count(one.pods, 'pod')}",
        "smallest": ", ".join(f"{count} x {name}" for name, count in one.size) if one.trace else "",
        "sources": sources,
        "run": None if one.trace is None else run_values(_essence(one.trace) if is_short else one.trace, film),
    }


def repair_values(one: IntentResult) -> list[dict[str, object]]:
    """What is proved to help, for the page."""
    if not one.repairs:
        return []
    from kubeproof.report.verification.repairs import repair_document

    return [repair_document(repair) for repair in one.repairs]


def _essence(trace: Trace) -> Trace:
    """A run without what deploys the workloads, and without the numbers behind its steps."""
    steps = tuple(replace(step, changes=(), why=()) for step in trace.steps[trace.deployed_steps :])
    loop_start = None if trace.loop_start is None else max(0, trace.loop_start - trace.deployed_steps)
    return replace(trace, steps=steps, loop_start=loop_start, deployed_steps=0)


def _place(source: Source, frame: Frame) -> str:
    """`file:line`, the file from the base of the report on; empty if the object comes from nowhere."""
    return f"{frame.path(source.file)}:{source.line}" if source.line else ""


def _explain_accepted(given: Suppression, frame: Frame) -> str:
    until = f", until {given.expires}" if given.expires else ""
    where = _place(given.source, frame) or given.source.file
    return f"{given.reason} ({given.kind}, {where}{until})"


def _list_unchecked(result: VerifyResult) -> Iterator[str]:
    yield from _open(result)
    if result.statistics.stopped_by:
        yield f"the search ended early: {result.statistics.stopped_by}"
    if result.sweep is not None:
        rest = result.sweep.count(Skipped.NOT_TRIED)
        if rest:
            yield f"{_count(rest, 'larger size')} not tried"
        if result.sweep.is_thinned:
            yield "fast-find: only some of many sizes were looked at"
    yield from result.not_modelled


def _open(result: VerifyResult) -> Iterator[str]:
    """The results without an answer, those with one reason together."""
    for finding in findings(result.results):
        own = [result.results[number] for number in finding.numbers]
        if own[0].verdict not in (Verdict.UNKNOWN, Verdict.VACUOUS, Verdict.ERROR, Verdict.SUPPRESSED):
            continue
        if len(own) == 1:
            yield f"{own[0].verdict} {own[0].id} {own[0].intent}: {own[0].detail}"
        else:
            whom = list_names(list(dict.fromkeys(one.target for one in own)))
            yield f"{own[0].verdict} {own[0].id} {own[0].key}, {len(own)} times ({whom}): {own[0].detail}"


def _assumptions(result: VerifyResult) -> Iterator[str]:
    scope = dict(result.scope)
    if "kubernetes" in scope:
        yield f"control loops behave as those of Kubernetes {scope['kubernetes']}"
    if "events" in scope:
        yield f"events from outside: {scope['events']}"
    if "pod start-up" in scope:
        yield f"a pod needs {scope['pod start-up']} to start"
    yield from (value for key, value in result.scope if key == "abstraction")


def _coverage(numbers: Statistics) -> Plain:
    words = "Over all runs that were explored, not only the one that is shown."
    if not numbers.acted and not numbers.idle:
        words = "Who acted was not counted: nothing had to be searched, or the engine does not count."
    return {
        "acted": [(name, ", ".join(did)) for name, did in numbers.acted],
        "idle": numbers.idle,
        "unused": numbers.unused,
        "words": words,
    }


def _statistics(numbers: Statistics) -> Iterator[tuple[str, str]]:
    yield "states", f"{numbers.states:,}"
    yield "transitions", f"{numbers.transitions:,}"
    yield "depth", f"{numbers.depth:,}"
    yield "time", f"{numbers.elapsed_s:.2f} s"
    if numbers.engine:
        yield "engine", numbers.engine
    if numbers.memo_calls:
        yield "controller calls", f"{numbers.memo_calls:,}, {numbers.memo_misses:,} of them not answered from memory"
    if numbers.reductions:
        yield "reductions", "; ".join(numbers.reductions)
    if numbers.stopped_by:
        yield "stopped early", str(numbers.stopped_by)


def _sweep(sweep: Sweep) -> Plain:
    chart = heat_map(sweep)
    cells = [
        {
            "nodes": cell.nodes,
            "pods": cell.pods,
            "verdict": cell.verdict,
            "words": WORDS[cell.verdict],
            "sign": SIGNS[cell.verdict].strip(),
            "sizes": cell.sizes,
            "violated": cell.violated,
        }
        for cell in chart.cells
    ]
    counted = Counter(cell.verdict for cell in chart.cells)
    return {
        "bound": sweep.bound,
        "cells": cells,
        "words": ", ".join(f"{counted[verdict]} {WORDS[verdict]}" for verdict in chart.verdicts),
        "legend": [(verdict, SIGNS[verdict].strip(), WORDS[verdict]) for verdict in chart.verdicts],
    }


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
