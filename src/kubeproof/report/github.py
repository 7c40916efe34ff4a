"""Annotations for GitHub Actions: one workflow command for each result that wants attention."""

from __future__ import annotations

from kubeproof.cluster.objects import Source
from kubeproof.errors import KubeproofError
from kubeproof.report.escape import escape
from kubeproof.report.frame import Frame, physical, place_of
from kubeproof.report.sentences import audited, summary, suppressed_by, title
from kubeproof.report.style import Style
from kubeproof.report.trace import trace_lines
from kubeproof.verify.result import ERROR, SUPPRESSED, UNKNOWN, VACUOUS, VIOLATED, IntentResult, VerifyResult

LEVELS = {"error": "error", "warning": "warning", "info": "notice"}  # by the intent's severity
OTHERS = {ERROR: "error", UNKNOWN: "warning", VACUOUS: "notice", SUPPRESSED: "notice"}
MOST_LINES = 40  # of a trace; an annotation holds 64 KB at most


def render(result: VerifyResult, frame: Frame) -> str:
    """Workflow commands, one a line, the overall verdict last."""
    lines = [_annotation(one, frame) for one in result.results if one.verdict == VIOLATED or one.verdict in OTHERS]
    late = [note for note in result.suppressions if note.status in ("expired", "no reason")]
    lines += [command("warning", audited(note), title="Kubeproof exemption") for note in late]
    lines.append(command("notice", summary(result), title="Kubeproof"))
    return "".join(f"{line}\n" for line in lines)


def render_problem(problem: KubeproofError, frame: Frame) -> str:
    """An annotation for input that could not be verified, where it is wrong."""
    file, line = str(getattr(problem, "file", "")), int(getattr(problem, "line", 0))
    place = physical(Source(file, line)) if file else None
    where = {} if place is None else {"file": frame.path(place.file), "line": str(place.line)}
    message = "\n".join(escape(said) for said in str(problem).split("\n"))
    return command("error", message, **where, title=f"Kubeproof {problem.code}") + "\n"


def _annotation(one: IntentResult, frame: Frame) -> str:
    place = place_of(one)
    where = {} if place is None else {"file": frame.path(place.file), "line": str(place.line)}
    level = LEVELS[one.severity] if one.verdict == VIOLATED else OTHERS[one.verdict]
    return command(level, "\n".join(_message(one, frame)), **where, title=f"{one.verdict} {title(one)}")


def _message(one: IntentResult, frame: Frame) -> list[str]:
    lines = [escape(one.detail)]
    if one.verdict == SUPPRESSED:
        return [*lines, escape(suppressed_by(one))]
    if one.trace is not None:
        steps = [*trace_lines(one.trace.steps, one.trace.loop_start, Style(), certainty=one.trace.loop_certainty)]
        left_out = len(steps) - MOST_LINES
        lines += steps if left_out <= 0 else [f"({left_out} lines before)", *steps[-MOST_LINES:]]
        lines += [escape(line) for line in one.trace.final]
    if one.remedy:
        lines.append(f"What to change: {escape(one.remedy)}")
    if one.verdict == VIOLATED and frame.replay_command:
        lines.append(f"Replay: {escape(frame.replay_command)}")
    return lines


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
