"""The text report of a verification: scope, one block per intent, what was left out, verdict last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kubeproof.cluster.objects import Source
from kubeproof.report.escape import escape
from kubeproof.report.sentences import audited, closing, suppressed_by
from kubeproof.report.sentences import count as _count
from kubeproof.report.style import Style
from kubeproof.report.trace import trace_lines
from kubeproof.verify.result import (
    IntentResult,
    ReplayReport,
    Statistics,
    Trace,
    VerifyResult,
)

if TYPE_CHECKING:
    from kubeproof.verify.scaling.result import Sweep

_WORKLOAD = re.compile(r"\bof ([A-Z][A-Za-z]+/\S+/[^\s,;:]+)", re.ASCII)


def render(result: VerifyResult, style: Style) -> str:
    """The report as text; the overall verdict is the last line."""
    return "".join(f"{line}\n" for line in _report(result, style))


def render_replay(report: ReplayReport, style: Style) -> str:
    """A replay step by step, with what each step changed; the verdict is the last line."""
    return "".join(f"{line}\n" for line in _replay(report, style))


def _report(result: VerifyResult, style: Style) -> Iterator[str]:
    if style.quiet:
        yield from (_title(one, style) for one in result.results)
    else:
        yield f"{style.heading('Scenario')} {escape(result.scenario)}"
        yield from _scope(result.scope, style)
        for one in result.results:
            yield from ("", *_block(one, style))
        if result.sweep is not None and style.map:
            yield from _heat_map(result.sweep, style)
        yield from _section(f"Not modelled ({len(result.not_modelled)})", result.not_modelled, style)
        yield from _section(f"Suppressions ({len(result.suppressions)})", map(audited, result.suppressions), style)
        yield from _section("Statistics", _statistics(result.statistics), style)
        yield ""
    yield _verdict(result, style)


def _heat_map(sweep: Sweep, style: Style) -> Iterator[str]:
    from kubeproof.report.heatmap import text_lines

    yield from ("", style.heading("Verdicts over scales"))
    yield from (f"  {line}".rstrip() for line in text_lines(sweep, style))


def _replay(report: ReplayReport, style: Style) -> Iterator[str]:
    yield f"{style.heading('Replay of')} {escape(report.intent)} in scenario {escape(report.scenario)}"
    yield ""
    yield from trace_lines(
        report.steps,
        report.loop_start,
        style,
        changes=True,
        deployed_steps=report.deployed_steps,
        propositions=report.propositions,
        begins_with=report.begins_with,
    )
    yield from _section("In the end", report.final, style)
    yield ""
    yield f"{style.verdict(report.verdict)}: {escape(report.detail)}"


def _section(title: str, lines: Iterable[str], style: Style) -> Iterator[str]:
    """A heading with indented lines; nothing at all without lines."""
    shown = tuple(lines)
    if shown:
        yield ""
        yield style.heading(title)
        for line in shown:
            yield from style.fold("  ", escape(line))


def _scope(pairs: tuple[tuple[str, str], ...], style: Style) -> Iterator[str]:
    """What the verdicts are about, values under each other."""
    if pairs:
        width = max(len(key) for key, _ in pairs)
        yield from ("", style.heading("Scope"))
        for key, value in pairs:
            yield from style.fold(f"  {escape(f'{key:<{width}}')}  ", escape(value))


def _pairs(pairs: tuple[tuple[str, str], ...]) -> Iterator[str]:
    width = max((len(key) for key, _ in pairs), default=0)
    return (f"{key:<{width}}  {value}" for key, value in pairs)


def _title(result: IntentResult, style: Style) -> str:
    name = "" if result.intent == result.key else f" ({escape(result.intent)})"
    target = f" {escape(result.target)}" if result.target else ""
    return f"{style.verdict(result.verdict)} {result.id} {style.heading(escape(result.key))}{name}{target}"


def _block(result: IntentResult, style: Style) -> Iterator[str]:
    yield _title(result, style)
    yield from style.fold("  ", escape(result.detail))
    yield f"  {style.faint('declared at')} {_place(result.location)}"
    if result.suppression is not None:
        yield from style.fold(f"  {style.heading('Accepted')}: ", escape(suppressed_by(result)))
    if result.trace is None:
        yield f"  {style.faint(f'{_numbers(result.states, result.transitions)}, {_size(result)}')}"
    else:
        yield from (f"  {line}".rstrip() for line in _counterexample(result, result.trace, style.indented(2)))


def _counterexample(result: IntentResult, trace: Trace, style: Style) -> Iterator[str]:
    if result.size:
        smallest = ", ".join(f"{count} x {name}" for name, count in result.size)
        yield f"{style.heading('Smallest cluster found')}: {escape(smallest)}"
    heading = "Shortest run" if trace.loop_start is None else "A run that never ends"
    yield f"{style.heading(heading)} ({_count(len(trace.steps), 'step')}, {_size(result)})"
    certainty, deployed = trace.loop_certainty, trace.deployed_steps
    yield from trace_lines(
        trace.steps,
        trace.loop_start,
        style,
        certainty=certainty,
        deployed_steps=deployed,
        propositions=tuple(name for name, _ in trace.propositions),
        begins_with=trace.begins_with,
        about=result.target or _first_named(trace),
    )
    if trace.final:
        yield style.heading("In the end")
        for line in trace.final:
            yield from style.fold("  ", escape(line))
    if result.sources:
        yield style.heading("Objects involved")
        yield from (f"  {escape(line)}" for line in _pairs(_places(result.sources)))
    if result.remedy:
        yield from style.fold(f"{style.heading('What to change')}: ", escape(result.remedy))
        yield f"{style.heading('More')}: kubeproof explain {result.id}"
    if style.replay_command:
        yield f"{style.heading('Replay')}: {escape(style.replay_command)}"


def _first_named(trace: Trace) -> str | None:
    """The workload that the end of a run speaks of first, where a property is about none: the one to look at."""
    found = _WORKLOAD.search(trace.final[0]) if trace.final else None
    return found[1] if found else None


def _places(sources: tuple[tuple[str, Source], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((ref, str(source)) for ref, source in sources)


def _place(source: Source) -> str:
    """`file:line`, or in words when the intent comes from the default scenario."""
    return escape(str(source)) if source.line else "the default scenario"


def _size(result: IntentResult) -> str:
    return f"{_count(result.nodes, 'node')}, {_count(result.pods, 'pod')}"


def _statistics(numbers: Statistics) -> Iterator[str]:
    yield f"{_numbers(numbers.states, numbers.transitions)}, depth {numbers.depth:,}"
    rate = f", {numbers.states / numbers.elapsed_s:,.0f} states/s" if numbers.elapsed_s > 0 else ""
    yield f"{numbers.elapsed_s:.2f} s{rate}" + (f", {numbers.engine} engine" if numbers.engine else "")
    if numbers.memo_calls:
        hits = 100 * (numbers.memo_calls - numbers.memo_misses) / numbers.memo_calls
        yield f"{_count(numbers.memo_calls, 'controller call')}, {hits:.1f} % answered from memory"
    if numbers.reductions:
        yield f"reductions: {', '.join(numbers.reductions)}"
    if numbers.stopped_by:
        yield f"stopped early: {numbers.stopped_by}. How to get further: kubeproof explain UNKNOWN"


def _verdict(result: VerifyResult, style: Style) -> str:
    told = closing(result)
    where = (" (listed without -q)" if style.quiet else ", see above") if told.endswith("not modelled") else ""
    return f"{style.verdict(result.verdict)}: {told}{where}"


def _numbers(states: int, transitions: int) -> str:
    if not states:
        return "no search needed"
    return f"{_count(states, 'state')}, {_count(transitions, 'transition')}"
