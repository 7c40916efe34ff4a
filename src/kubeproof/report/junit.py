"""The JUnit report: a test suite per Scenario, a test case per property."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape as escape_markup

from kubeproof.report.escape import escape
from kubeproof.report.frame import Frame, place_of
from kubeproof.report.sentences import audited, suppressed_by, title
from kubeproof.report.style import Style
from kubeproof.report.trace import trace_lines
from kubeproof.verify.result import ERROR, SUPPRESSED, UNKNOWN, VACUOUS, VIOLATED, IntentResult, VerifyResult

# A limit that was reached is an error, not a success: whoever reads only the counts must not take it for one.
ELEMENTS = {VIOLATED: "failure", ERROR: "error", UNKNOWN: "error", VACUOUS: "skipped", SUPPRESSED: "skipped"}


def render(result: VerifyResult, frame: Frame) -> str:
    """The report as XML that holds nothing but printable characters of the input."""
    numbers = {kind: _number(result, kind) for kind in ("failure", "error", "skipped")}
    counts = _attributes(
        name=result.scenario,
        tests=len(result.results),
        failures=numbers["failure"],
        errors=numbers["error"],
        skipped=numbers["skipped"],
        time=f"{result.statistics.elapsed_s:.3f}",
    )
    cases = "".join(_case(one, frame) for one in result.results)
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites{counts}>\n<testsuite{counts}>\n'
        f"{_properties(result)}{cases}{_trail(result)}</testsuite>\n</testsuites>\n"
    )


def _number(result: VerifyResult, element: str) -> int:
    return sum(ELEMENTS.get(one.verdict) == element for one in result.results)


def _properties(result: VerifyResult) -> str:
    pairs = [("verdict", result.verdict), *result.scope, *(("not modelled", one) for one in result.not_modelled)]
    lines = "".join(f"<property{_attributes(name=name, value=value)}/>\n" for name, value in pairs)
    return f"<properties>\n{lines}</properties>\n"


def _case(one: IntentResult, frame: Frame) -> str:
    place = place_of(one)
    where = {} if place is None else {"file": frame.path(place.file), "line": place.line}
    head = _attributes(classname=f"{one.id}.{one.key}", name=_name(one), **where)
    inner = _outcome(one, frame)
    return f"<testcase{head}>{inner}</testcase>\n" if inner else f"<testcase{head}/>\n"


def _name(one: IntentResult) -> str:
    return one.intent if not one.target or one.target in one.intent else f"{one.intent} {one.target}"


def _outcome(one: IntentResult, frame: Frame) -> str:
    element = ELEMENTS.get(one.verdict)
    if element is None:
        return ""
    message = suppressed_by(one) or one.detail
    body = "\n".join(_safe(line) for line in _body(one, frame))
    kind = {} if element == "skipped" else {"type": one.verdict}
    return f"<{element}{_attributes(message=f'{one.verdict}: {message}', **kind)}>{body}</{element}>"


def _body(one: IntentResult, frame: Frame) -> Iterator[str]:
    yield f"{one.verdict} {title(one)}"
    yield one.detail
    if one.trace is not None:
        yield from trace_lines(
            one.trace.steps, one.trace.loop_start, Style(verbose=False), certainty=one.trace.loop_certainty
        )
        yield from one.trace.final
    if one.remedy:
        yield f"What to change: {one.remedy}"
    if one.verdict == VIOLATED and frame.replay_command:
        yield f"Replay: {frame.replay_command}"


def _trail(result: VerifyResult) -> str:
    if not result.suppressions:
        return ""
    lines = "\n".join(_safe(audited(note)) for note in result.suppressions)
    return f"<system-out>{lines}</system-out>\n"


def _attributes(**values: object) -> str:
    return "".join(f' {name}="{_safe(str(value))}"' for name, value in values.items())


def _safe(text: str) -> str:
    """Without control characters, which XML cannot hold, and with its markup escaped."""
    return escape_markup(escape(text))
