"""Annotations for GitHub Actions: one workflow command for each result that wants attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.objects import Source
from kubeproof.errors import KubeproofError
from kubeproof.report.escape import escape
from kubeproof.report.frame import Frame, physical, place_of
from kubeproof.report.matrix.causes import finding_of, matrix_findings
from kubeproof.report.matrix.words import depth_of, list_names, names_of, when_of
from kubeproof.report.sentences import explain_suppressed, summary, title, write_audit_line
from kubeproof.report.style import Style
from kubeproof.report.verification.brief import brief_lines
from kubeproof.report.verification.causes import findings
from kubeproof.report.verification.checks import Group, check_groups
from kubeproof.report.verification.explained import told
from kubeproof.report.verification.trace import trace_lines
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Grade, Matrix
from kubeproof.verify.result import IntentResult, Trace, VerifyResult

LEVELS = {"error": "error", "warning": "warning", "info": "notice"}  # by the intent's severity
OTHERS = {Verdict.ERROR: "error", Verdict.UNKNOWN: "warning", Verdict.VACUOUS: "notice", Verdict.SUPPRESSED: "notice"}
MOST_LINES = 40  # of a trace; an annotation holds 64 KB at most


def render(result: VerifyResult, frame: Frame) -> str:
    """Workflow commands, one a line, the overall verdict last."""
    lines = [*_annotations(result, frame)] if result.matrix is None else [*_of_matrix(result, result.matrix, frame)]
    late = [note for note in result.suppressions if note.status in ("expired", "no reason")]
    lines += [command("warning", write_audit_line(note), title="Kubeproof exemption") for note in late]
    lines += [_check(group, frame) for group in check_groups(result.checks) if group.first.severity != "info"]
    lines.append(command("notice", summary(result), title="Kubeproof"))
    return "".join(f"{line}\n" for line in lines)


def _annotations(result: VerifyResult, frame: Frame) -> Iterator[str]:
    """One for each cause."""
    for finding in findings(result.results):
        one = result.results[finding.example]
        if one.verdict == Verdict.VIOLATED or one.verdict in OTHERS:
            yield _annotation(one, frame, [result.results[n] for n in finding.numbers if n != finding.example])


def _of_matrix(result: VerifyResult, matrix: Matrix, frame: Frame) -> Iterator[str]:
    """One for each cause: errors for what may never recover, notices for what dips."""
    names = names_of(matrix)
    for finding in matrix_findings(result, matrix):
        one = finding_of(result, finding.example)
        if one is None:
            continue
        whom = list_names([names.get(target, target) for target in finding.targets])
        place = next((row.source for row in matrix.rows if row.target == one.target), one.location)
        message = "\n".join(_message(one, frame, is_short=finding.grade == Grade.DIPS))
        heading = f"{finding.grade} {whom}{depth_of(finding.cells)} {when_of(matrix, finding.cells)}"
        yield command(LEVELS[one.severity], message, **_where(physical(place), frame), title=heading)
    unknown = sum(cell.grade == Grade.UNKNOWN for cell in matrix.cells)
    if unknown:
        yield command("warning", f"{unknown} of {len(matrix.cells)} cells are not decided", title="Kubeproof")


def _where(place: Source | None, frame: Frame) -> dict[str, str]:
    return {} if place is None else {"file": frame.path(place.file), "line": str(place.line)}


def render_problem(problem: KubeproofError, frame: Frame) -> str:
    """An annotation for input that could not be verified, where it is wrong."""
    file, line = str(getattr(problem, "file", "")), int(getattr(problem, "line", 0))
    place = physical(Source(file, line)) if file else None
    where = {} if place is None else {"file": frame.path(place.file), "line": str(place.line)}
    message = "\n".join(escape(said) for said in str(problem).split("\n"))
    return command("error", message, **where, title=f"Kubeproof {problem.code}") + "\n"


def _annotation(one: IntentResult, frame: Frame, others: Sequence[IntentResult] = ()) -> str:
    where = _where(place_of(one), frame)
    level = LEVELS[one.severity] if one.verdict == Verdict.VIOLATED else OTHERS[one.verdict]
    lines = [*_message(one, frame), *(f"The same cause: {escape(title(other))}" for other in others)]
    return command(level, "\n".join(lines), **where, title=f"{one.verdict} {title(one)}")


def _check(group: Group, frame: Frame) -> str:
    """An annotation where the first finding of a check is; notes (info) are left to the other formats."""
    one, place = group.first, physical(group.first.source)
    where = {} if place is None else {"file": frame.path(place.file), "line": str(place.line)}
    more = f" (and {len(group.findings) - 1} more)" if group.is_many else ""
    said = f"{escape(one.message)}{more}\nWhat to change: {escape(one.remedy)}"
    return command(LEVELS[one.severity], said, **where, title=f"{one.id} {one.key} {one.target}")


def _message(one: IntentResult, frame: Frame, *, is_short: bool = False) -> list[str]:
    lines = [escape(one.detail)]
    if one.verdict == Verdict.SUPPRESSED:
        return [*lines, escape(explain_suppressed(one))]
    if one.trace is not None and not is_short:
        steps = [*_steps(one, one.trace)]
        left_out = len(steps) - MOST_LINES
        lines += steps if left_out <= 0 else [f"({left_out} lines before)", *steps[-MOST_LINES:]]
        lines += [escape(line) for line in one.trace.final]
    lines += [f"{head}: {escape(said)}" for head, said in told(one)]
    if one.verdict == Verdict.VIOLATED and frame.replay_command:
        lines.append(f"Replay: {escape(frame.replay_command)}")
    return lines


def _steps(one: IntentResult, trace: Trace) -> Iterator[str]:
    if one.faults:
        return brief_lines(trace, one.target, Style(), f"{one.pods} pods on {one.nodes} nodes")
    return trace_lines(trace.steps, trace.loop_start, Style(), certainty=trace.loop_certainty)


def command(name: str, message: str, **properties: str) -> str:
    """A workflow command whose parts cannot end it or begin another one.

    The runner reads a command from a whole line and undoes exactly these escapes: `%`, CR and LF everywhere, `:`
    and `,` in properties too.
    """
    said = ",".join(f"{key}={_property(escape(value))}" for key, value in properties.items())
    return f"::{name} {said}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
