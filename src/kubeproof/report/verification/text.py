"""The text report of a verification: scope, one block per intent, what was left out, verdict last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kubeproof.cluster.objects import Source
from kubeproof.report.escape import escape
from kubeproof.report.sentences import closing, explain_suppressed, list_omitted, write_audit_line
from kubeproof.report.sentences import count as _count
from kubeproof.report.style import Style
from kubeproof.report.verification.any_size import sizes_lines
from kubeproof.report.verification.causes import Finding, findings, gather
from kubeproof.report.verification.checks import check_lines
from kubeproof.report.verification.depends import depends_lines
from kubeproof.report.verification.explained import cause_lines, explanation_lines, inaction_lines
from kubeproof.report.verification.strategies import strategy_lines
from kubeproof.report.verification.trace import trace_lines
from kubeproof.verify.result import (
    IntentResult,
    ReplayReport,
    Statistics,
    Trace,
    VerifyResult,
)

if TYPE_CHECKING:
    from kubeproof.verify.matrix.result import Matrix
    from kubeproof.verify.scaling.result import Sweep

SAID = 3  # reasons that the sentences have room for
MOST_NAMES = 12  # of workloads that share a finding
MOST_OF_A_LIST = 400  # characters; large inputs have hundreds of objects
LISTS = ("workloads", "autoscalers", "vertical autoscalers", "priorities", "budgets")  # of the scope


def render(result: VerifyResult, style: Style) -> str:
    """The report as text; the overall verdict is the last line."""
    return "".join(f"{line}\n" for line in _report(result, style))


def render_replay(report: ReplayReport, style: Style) -> str:
    """A replay step by step, with what each step changed; the verdict is the last line."""
    return "".join(f"{line}\n" for line in _replay(report, style))


def _report(result: VerifyResult, style: Style) -> Iterator[str]:
    if result.matrix is not None:
        yield from _matrix_report(result, result.matrix, style)
    elif style.quiet:
        yield from (_title(one, style) for one in result.results)
    else:
        yield f"{style.heading('Scenario')} {escape(result.scenario)}"
        yield from _scope(result.scope, style)
        for finding in findings(result.results):
            yield from _finding([result.results[number] for number in finding.numbers], finding, result, style)
        if result.sweep is not None and style.map:
            yield from _heat_map(result.sweep, style)
        if result.checks:
            yield from ("", *check_lines(result, style))
        yield from _list_left_out(result, style)
        yield from _section(
            f"Suppressions ({len(result.suppressions)})", map(write_audit_line, result.suppressions), style
        )
        yield from _section("Statistics", _statistics(result.statistics), style)
        yield ""
    yield _verdict(result, style)


def _matrix_report(result: VerifyResult, matrix: Matrix, style: Style) -> Iterator[str]:
    from kubeproof.report.matrix.text import first_line, matrix_lines, quiet_lines

    if style.quiet:
        yield from quiet_lines(matrix, style)
        return
    yield from matrix_lines(result, matrix, style)
    if result.checks:
        yield from ("", *check_lines(result, style))
    yield from _list_left_out(result, style)
    yield from _section(f"Suppressions ({len(result.suppressions)})", map(write_audit_line, result.suppressions), style)
    if style.verbose:
        yield from _scope(result.scope, style)
        yield from _section("Statistics", _statistics(result.statistics), style)
    yield ""
    yield from first_line(result, matrix, style)


def _list_left_out(result: VerifyResult, style: Style) -> Iterator[str]:
    """What is not modelled: all of it where that is asked for or short, otherwise by kind."""
    if result.omitted and not style.verbose:
        told = list_omitted(result.omitted)
        yield from _section(f"Not modelled ({len(result.not_modelled)}, -v lists them)", told, style)
        return
    yield from _section(f"Not modelled ({len(result.not_modelled)})", result.not_modelled, style)


def _heat_map(sweep: Sweep, style: Style) -> Iterator[str]:
    from kubeproof.report.html.heatmap import text_lines

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
            told = _cut(value, style) if key in LISTS and not style.verbose else escape(value)
            yield from style.fold(f"  {escape(f'{key:<{width}}')}  ", told)


def _cut(value: str, style: Style) -> str:
    """The beginning of a long list, up to the end of one of its entries."""
    if len(value) <= MOST_OF_A_LIST:
        return escape(value)
    end = value.rfind(", ", 0, MOST_OF_A_LIST)
    return f"{escape(value[:end])}, {style.ellipsis} -v shows all" if end > 0 else escape(value)


def _pairs(pairs: tuple[tuple[str, str], ...]) -> Iterator[str]:
    width = max((len(key) for key, _ in pairs), default=0)
    return (f"{key:<{width}}  {value}" for key, value in pairs)


def _title(result: IntentResult, style: Style) -> str:
    name = "" if result.intent == result.key else f" ({escape(result.intent)})"
    target = f" {escape(result.target)}" if result.target else ""
    return f"{style.verdict(result.verdict)} {result.id} {style.heading(escape(result.key))}{name}{target}"


def _finding(own: list[IntentResult], finding: Finding, whole: VerifyResult, style: Style) -> Iterator[str]:
    """A block for all that has one cause; one for each result where everything is asked for."""
    if len(own) == 1 or style.verbose:
        for one in own:
            yield from ("", *_block(one, style))
        return
    yield ""
    shown = whole.results[finding.example]
    for alike in gather(own, lambda one: (one.id, one.key)).values():
        yield from _common_title(alike, style)
        yield from style.fold("  ", escape(_of_each(alike)))
        yield from [f"  {style.faint('declared at')} {_place(alike[0].location)}"] if len(alike) == 1 else []
    if shown.trace is None:
        yield f"  {style.faint(f'{_numbers(shown.states, shown.transitions)}, {_size(shown)}')}"
        return
    is_many = len({one.target for one in own if one.key == shown.key}) > 1
    lines = _counterexample(shown, shown.trace, style.indent(2), is_one_of_many=is_many)
    yield from (f"  {line}".rstrip() for line in lines)


def _common_title(alike: list[IntentResult], style: Style) -> Iterator[str]:
    """The title of one result, or of the same property of several workloads."""
    if len(alike) == 1:
        yield _title(alike[0], style)
        return
    from kubeproof.report.matrix.words import list_names, short_names

    first, names = alike[0], short_names([one.target for one in alike])
    told = list_names([names[one.target] for one in alike], MOST_NAMES)
    head = f"{style.verdict(first.verdict)} {first.id} {style.heading(escape(first.key))}"
    yield from style.fold(f"{head} ", escape(f"of {len(alike)} workloads: {told}"))


def _of_each(alike: list[IntentResult]) -> str:
    first = alike[0]
    return first.detail.replace(first.target, "each of them") if len(alike) > 1 and first.target else first.detail


def _block(result: IntentResult, style: Style) -> Iterator[str]:
    yield _title(result, style)
    yield from style.fold("  ", escape(result.detail))
    yield f"  {style.faint('declared at')} {_place(result.location)}"
    if result.suppression is not None:
        yield from style.fold(f"  {style.heading('Accepted')}: ", escape(explain_suppressed(result)))
    if style.verbose and result.strategy is not None:
        yield from (f"  {line}" for line in strategy_lines(result.strategy, style.indent(2)))
    if style.verbose and result.depends_on is not None:
        yield from (f"  {line}" for line in depends_lines(result.depends_on, style.indent(2)))
    if style.verbose and result.holds_for is not None:
        yield from (f"  {line}" for line in sizes_lines(result.holds_for, style.indent(2)))
    if result.trace is None:
        yield f"  {style.faint(f'{_numbers(result.states, result.transitions)}, {_size(result)}')}"
    else:
        yield from (f"  {line}".rstrip() for line in _counterexample(result, result.trace, style.indent(2)))


def _counterexample(result: IntentResult, trace: Trace, style: Style, *, is_one_of_many: bool = False) -> Iterator[str]:
    if result.size:
        smallest = ", ".join(f"{count} x {name}" for name, count in result.size)
        yield f"{style.heading('Smallest cluster found')}: {escape(smallest)}"
    if result.explanation is not None:
        yield from explanation_lines(result.explanation, style)
    if result.causes is not None:
        yield from cause_lines(result.causes, style)
    if result.repairs:
        from kubeproof.report.verification.repairs import repair_lines

        yield from repair_lines(result.repairs, style)
    found = "Shortest run" if trace.is_shortest else "A run"
    heading = found if trace.loop_start is None else "A run that never ends"
    whose = f"{result.target}: " if is_one_of_many else ""
    yield f"{style.heading(heading)} ({escape(whose)}{_count(len(trace.steps), 'step')}, {_size(result)})"
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
        inaction=trace.inaction,
    )
    if style.verbose or len(trace.inaction) > SAID:
        yield from inaction_lines(trace.inaction, style)
    if trace.final:
        yield style.heading("In the end")
        for line in trace.final:
            yield from style.fold("  ", escape(line))
    if result.sources:
        yield style.heading("Objects involved")
        yield from (f"  {escape(line)}" for line in _pairs(_places(result.sources)))
    if result.remedy and result.explanation is None:
        yield from style.fold(f"{style.heading('What to change')}: ", escape(result.remedy))
    rules = list(dict.fromkeys(one.rule for one in trace.inaction))[:SAID]
    more = f"{style.heading('More')}: kubeproof explain {' '.join((result.id, *rules))}"
    yield f"{more}; {escape(style.fix_command)}" if style.fix_command else more
    if style.replay_command:
        yield f"{style.heading('Replay')}: {escape(style.replay_command)}"


def _first_named(trace: Trace) -> str | None:
    """The workload that the end of a run speaks of first, where a property is about none: the one to look at."""
    return trace.final[0].about or None if trace.final else None


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
    where = " (listed without -q)" if style.quiet else ", see above"
    return f"{style.verdict(result.verdict)}: {closing(result, where)}"


def _numbers(states: int, transitions: int) -> str:
    if not states:
        return "no search needed"
    return f"{_count(states, 'state')}, {_count(transitions, 'transition')}"
