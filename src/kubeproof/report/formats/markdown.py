"""The report for a pull request: verdict and table first, counterexamples folded, nothing from the input acts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.objects import Source
from kubeproof.report.escape import escape
from kubeproof.report.formats.mermaid import diagram
from kubeproof.report.formats.safe_markdown import code, fence, html, plain
from kubeproof.report.frame import Frame, is_file, place_of
from kubeproof.report.sentences import closing, count, explain_suppressed, list_omitted, title, write_audit_line
from kubeproof.report.style import Style
from kubeproof.report.verification.causes import findings
from kubeproof.report.verification.checks import check_counts, check_groups, place
from kubeproof.report.verification.explained import told
from kubeproof.report.verification.trace import trace_lines
from kubeproof.values import complete
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import IntentResult, Trace, VerifyResult

MARKS = complete(
    Verdict,
    {
        Verdict.HOLDS: "✅",
        Verdict.HOLDS_BOUNDED: "✅",
        Verdict.SAMPLED_OK: "✅",
        Verdict.VIOLATED: "❌",
        Verdict.ERROR: "💥",
        Verdict.UNKNOWN: "❔",
        Verdict.VACUOUS: "⚪",
        Verdict.SUPPRESSED: "🔕",
    },
)
MOST_CHARACTERS = 60_000  # a comment on GitHub holds 65,536
MOST_ROWS = 40  # of the table of checks
CHECK_MARKS = {"error": "❌", "warning": "⚠️", "info": "💡"}
MOST_DRAWN = 40  # steps of a diagram in a comment


def render(result: VerifyResult, frame: Frame) -> str:
    """GitHub-flavoured Markdown, at most as long as a comment may be; counterexamples that do not fit are named."""
    head = "\n".join(_head(result, frame)) + "\n"
    tail = "\n".join(_tail(result)) + "\n"
    parts, left_out, room = [], 0, MOST_CHARACTERS - len(head) - len(tail)
    for part in _parts(result, frame):
        if len(part) > room:
            left_out += 1
            continue
        parts.append(part)
        room -= len(part)
    if left_out:
        parts.append(f"\n{count(left_out, 'counterexample')} left out: the comment would be too long.\n")
    return head + "".join(parts) + tail


def _parts(result: VerifyResult, frame: Frame) -> Iterator[str]:
    """The counterexamples, one for each cause."""
    if result.matrix is not None:
        from kubeproof.report.matrix.markdown import matrix_parts

        yield from matrix_parts(result, result.matrix, frame)
        return
    for finding in findings(result.results):
        own = [result.results[number] for number in finding.numbers]
        shown = result.results[finding.example]
        if shown.trace is not None:
            others = [title(one) for one in own if one is not shown]
            yield "\n".join(_counterexample(shown, shown.trace, frame, others)) + "\n"


def _head(result: VerifyResult, frame: Frame) -> Iterator[str]:
    yield f"## {MARKS[result.verdict]} Kubeproof: {result.verdict}"
    yield ""
    if result.matrix is not None:
        from kubeproof.report.matrix.markdown import matrix_head

        yield from (plain(closing(result)), "", *matrix_head(result, result.matrix), *_checks(result, frame))
        return
    yield f"Scenario {code(result.scenario)}: {plain(closing(result))}"
    yield ""
    yield "| | property | target | what was found | where |"
    yield "|---|---|---|---|---|"
    for one in result.results:
        yield _row(one, frame)
    yield from _checks(result, frame)


def _checks(result: VerifyResult, frame: Frame) -> Iterator[str]:
    """What was found without a search, as a table."""
    groups = check_groups(result.checks)
    if not groups:
        return
    yield from ("", f"### Checks: {check_counts(result.checks)}", "")
    yield from ("| | check | object | what was found | where |", "|---|---|---|---|---|")
    for group in groups[:MOST_ROWS]:
        one = group.first
        more = f" and {len(group.findings) - 1} more" if group.is_many else ""
        cells = (
            f"{CHECK_MARKS[one.severity]} {one.severity}",
            f"{one.id} {code(one.key)}",
            f"{code(one.target)}{more}" if one.target else "",
            f"{plain(one.message)}. {plain(one.remedy)}",
            code(place(one, frame)),
        )
        yield f"| {' | '.join(cells)} |"
    if len(groups) > MOST_ROWS:
        yield f"\n{count(len(groups) - MOST_ROWS, 'further finding')} left out: the comment would be too long."


def _row(one: IntentResult, frame: Frame) -> str:
    place = place_of(one)
    cells = (
        f"{MARKS[one.verdict]} {one.verdict}",
        f"{one.id} {code(one.intent)}",
        code(one.target) if one.target else "",
        plain(explain_suppressed(one) or one.detail),
        "" if place is None else code(f"{frame.path(place.file)}:{place.line}"),
    )
    return f"| {' | '.join(cells)} |"


def _counterexample(one: IntentResult, trace: Trace, frame: Frame, others: Sequence[str] = ()) -> Iterator[str]:
    found = "shortest run" if trace.is_shortest else "a run"
    what = found if trace.loop_start is None else "a run that never ends"
    steps = count(len(trace.steps), "step")
    yield ""
    more = f" and {len(others)} more" if others else ""
    yield f"<details><summary>{one.verdict} {html(title(one))}{more}: {what}, {steps}</summary>"
    yield ""
    yield from [f"The same cause: {', '.join(code(other) for other in others)}", ""] if others else []
    lines = [*trace_lines(trace.steps, trace.loop_start, Style(), certainty=trace.loop_certainty)]
    lines += ["", "In the end", *(f"  {escape(line)}" for line in trace.final)] if trace.final else []
    yield fence("\n".join(lines), "text")
    if len(trace.steps) <= MOST_DRAWN:
        drawn = diagram(f"{one.verdict} {title(one)}", trace.steps, trace.loop_start, trace.loop_certainty)
        yield ""
        yield fence(drawn.rstrip("\n"), "mermaid")
    yield ""
    places = ", ".join(_place(ref, source, frame) for ref, source in one.sources)
    yield from (f"- {line}" for line in _advice(one, places, frame))
    yield ""
    yield "</details>"


def _place(ref: str, source: Source, frame: Frame) -> str:
    return f"{code(ref)} ({code(f'{frame.path(source.file)}:{source.line}')})" if is_file(source) else code(ref)


def _advice(one: IntentResult, places: str, frame: Frame) -> Iterator[str]:
    yield from (f"**{head}:** {plain(said)}" for head, said in told(one))
    if places:
        yield f"**Objects involved:** {places}"
    if frame.replay_command:
        yield f"**Replay:** {code(frame.replay_command)}"


def _tail(result: VerifyResult) -> Iterator[str]:
    omitted = list(list_omitted(result.omitted)) or list(result.not_modelled)
    folded = (
        ("Scope", [f"{key}: {value}" for key, value in result.scope]),
        (f"Not modelled ({len(result.not_modelled)})", omitted),
        (f"Suppressions ({len(result.suppressions)})", [write_audit_line(note) for note in result.suppressions]),
    )
    for heading, lines in folded:
        if lines:
            yield f"\n<details><summary>{heading}</summary>\n"
            yield fence("\n".join(escape(line) for line in lines)[: MOST_CHARACTERS // 4], "text")
            yield "\n</details>"
