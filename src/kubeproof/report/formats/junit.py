"""The JUnit report: a test suite per Scenario, a test case per property."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape as escape_markup

from kubeproof.report.escape import escape
from kubeproof.report.frame import Frame, physical, place_of
from kubeproof.report.sentences import explain_suppressed, title, write_audit_line
from kubeproof.report.style import Style
from kubeproof.report.verification.brief import brief_lines
from kubeproof.report.verification.checks import explain_accepted
from kubeproof.report.verification.explained import told
from kubeproof.report.verification.trace import trace_lines
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import CheckFinding, IntentResult, VerifyResult

# A limit that was reached is an error, not a success: whoever reads only the counts must not take it for one.
ELEMENTS = {
    Verdict.VIOLATED: "failure",
    Verdict.ERROR: "error",
    Verdict.UNKNOWN: "error",
    Verdict.VACUOUS: "skipped",
    Verdict.SUPPRESSED: "skipped",
}


def render(result: VerifyResult, frame: Frame) -> str:
    """The report as XML that holds nothing but printable characters of the input."""
    if result.matrix is not None:
        from kubeproof.report.matrix.junit import render_matrix

        return render_matrix(result, result.matrix, frame)
    numbers = {kind: _number(result, kind) for kind in ("failure", "error", "skipped")}
    counts = attributes(
        name=result.scenario,
        tests=len(result.results) + len(result.checks),
        failures=numbers["failure"],
        errors=numbers["error"],
        skipped=numbers["skipped"],
        time=f"{result.statistics.elapsed_s:.3f}",
    )
    cases = "".join(_case(one, frame) for one in result.results)
    cases += "".join(check_case(one, frame) for one in result.checks)
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites{counts}>\n<testsuite{counts}>\n'
        f"{properties(result)}{cases}{trail(result)}</testsuite>\n</testsuites>\n"
    )


def _number(result: VerifyResult, element: str) -> int:
    of_checks = sum(check_element(one) == element for one in result.checks)
    return sum(ELEMENTS.get(one.verdict) == element for one in result.results) + of_checks


def check_element(one: CheckFinding) -> str:
    """What a finding of a check counts as: only errors that nobody accepted make a suite fail."""
    return "failure" if one.severity == "error" and one.suppression is None else "skipped"


def check_case(one: CheckFinding, frame: Frame) -> str:
    """A finding of a check as a test case."""
    place, element = physical(one.source), check_element(one)
    where = {} if place is None else {"file": frame.path(place.file), "line": place.line}
    head = attributes(classname=f"{one.id}.{one.key}", name=one.target or one.key, **where)
    told = one.message if one.suppression is None else explain_accepted(one.suppression)
    kind = {} if element == "skipped" else {"type": one.severity}
    outcome = attributes(message=f"{one.severity}: {told}", **kind)
    body = "\n".join(safe(line) for line in (one.message, f"What to change: {one.remedy}"))
    return f"<testcase{head}><{element}{outcome}>{body}</{element}></testcase>\n"


def properties(result: VerifyResult) -> str:
    """Verdict and scope of a suite."""
    pairs = [("verdict", result.verdict), *result.scope, *(("not modelled", one) for one in result.not_modelled)]
    lines = "".join(f"<property{attributes(name=name, value=value)}/>\n" for name, value in pairs)
    return f"<properties>\n{lines}</properties>\n"


def _case(one: IntentResult, frame: Frame) -> str:
    place = place_of(one)
    where = {} if place is None else {"file": frame.path(place.file), "line": place.line}
    head = attributes(classname=f"{one.id}.{one.key}", name=_name(one), **where)
    inner = _outcome(one, frame)
    return f"<testcase{head}>{inner}</testcase>\n" if inner else f"<testcase{head}/>\n"


def _name(one: IntentResult) -> str:
    return one.intent if not one.target or one.target in one.intent else f"{one.intent} {one.target}"


def _outcome(one: IntentResult, frame: Frame) -> str:
    element = ELEMENTS.get(one.verdict)
    if element is None:
        return ""
    message = explain_suppressed(one) or one.detail
    body = "\n".join(safe(line) for line in body_lines(one, frame))
    kind = {} if element == "skipped" else {"type": one.verdict}
    return f"<{element}{attributes(message=f'{one.verdict}: {message}', **kind)}>{body}</{element}>"


def body_lines(one: IntentResult, frame: Frame) -> Iterator[str]:
    """What was found, its run, what to change."""
    yield f"{one.verdict} {title(one)}"
    yield one.detail
    if one.trace is not None and one.faults:
        yield from brief_lines(one.trace, one.target, Style(), f"{one.pods} pods on {one.nodes} nodes")
        yield from one.trace.final
    elif one.trace is not None:
        yield from trace_lines(
            one.trace.steps, one.trace.loop_start, Style(verbose=False), certainty=one.trace.loop_certainty
        )
        yield from one.trace.final
    yield from (f"{head}: {said}" for head, said in told(one))
    if one.verdict == Verdict.VIOLATED and frame.replay_command:
        yield f"Replay: {frame.replay_command}"


def trail(result: VerifyResult) -> str:
    """Every reason that somebody gave."""
    if not result.suppressions:
        return ""
    lines = "\n".join(safe(write_audit_line(note)) for note in result.suppressions)
    return f"<system-out>{lines}</system-out>\n"


def attributes(**values: object) -> str:
    """Attributes of an element, each with a space before it."""
    return "".join(f' {name}="{safe(str(value))}"' for name, value in values.items())


def safe(text: str) -> str:
    """Without control characters, which XML cannot hold, and with its markup escaped."""
    return escape_markup(escape(text))
