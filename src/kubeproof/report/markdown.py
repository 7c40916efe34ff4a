"""The report for a pull request: verdict and table first, counterexamples folded, nothing from the input acts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubeproof.cluster.objects import Source
from kubeproof.report.escape import escape
from kubeproof.report.frame import Frame, is_file, place_of
from kubeproof.report.mermaid import diagram
from kubeproof.report.sentences import audited, closing, count, suppressed_by, title
from kubeproof.report.style import Style
from kubeproof.report.trace import trace_lines
from kubeproof.verify.result import (
    ERROR,
    HOLDS,
    HOLDS_BOUNDED,
    SUPPRESSED,
    UNKNOWN,
    VACUOUS,
    VIOLATED,
    IntentResult,
    Trace,
    VerifyResult,
)

MARKS = {HOLDS: "✅", HOLDS_BOUNDED: "✅", VIOLATED: "❌", ERROR: "💥", UNKNOWN: "❔", VACUOUS: "⚪", SUPPRESSED: "🔕"}
MOST_CHARACTERS = 60_000  # a comment on GitHub holds 65,536
MOST_DRAWN = 40  # steps of a diagram in a comment
_ACTIVE = re.compile(r"([\\`*_\[\]<>&~|$]|:(?=\w))")  # inside a line; nothing from the input begins one
_BACKTICKS = re.compile(r"`+")
_LINKED = re.compile(r"(@|(?<!&)#|:(?=//)|www(?=\.))")
_SPLIT = "<!-- -->"  # keeps apart what GitHub would make a mention, a reference or a link


def render(result: VerifyResult, frame: Frame) -> str:
    """GitHub-flavoured Markdown, at most as long as a comment may be; counterexamples that do not fit are named."""
    head = "\n".join(_head(result, frame)) + "\n"
    tail = "\n".join(_tail(result)) + "\n"
    parts, left_out, room = [], 0, MOST_CHARACTERS - len(head) - len(tail)
    for one in result.results:
        if one.trace is None:
            continue
        part = "\n".join(_counterexample(one, one.trace, frame)) + "\n"
        if len(part) > room:
            left_out += 1
            continue
        parts.append(part)
        room -= len(part)
    if left_out:
        parts.append(f"\n{count(left_out, 'counterexample')} left out: the comment would be too long.\n")
    return head + "".join(parts) + tail


def _head(result: VerifyResult, frame: Frame) -> Iterator[str]:
    yield f"## {MARKS.get(result.verdict, '✅')} Kubeproof: {result.verdict}"
    yield ""
    yield f"Scenario {code(result.scenario)}: {plain(closing(result))}"
    yield ""
    yield "| | property | target | what was found | where |"
    yield "|---|---|---|---|---|"
    for one in result.results:
        yield _row(one, frame)


def _row(one: IntentResult, frame: Frame) -> str:
    place = place_of(one)
    cells = (
        f"{MARKS.get(one.verdict, '')} {one.verdict}",
        f"{one.id} {code(one.intent)}",
        code(one.target) if one.target else "",
        plain(suppressed_by(one) or one.detail),
        "" if place is None else code(f"{frame.path(place.file)}:{place.line}"),
    )
    return f"| {' | '.join(cells)} |"


def _counterexample(one: IntentResult, trace: Trace, frame: Frame) -> Iterator[str]:
    what = "shortest run" if trace.loop_start is None else "a run that never ends"
    steps = count(len(trace.steps), "step")
    yield ""
    yield f"<details><summary>{one.verdict} {html(title(one))}: {what}, {steps}</summary>"
    yield ""
    lines = [*trace_lines(trace.steps, trace.loop_start, Style(), certainty=trace.loop_certainty)]
    lines += ["", "In the end", *(f"  {escape(line)}" for line in trace.final)] if trace.final else []
    yield fenced("\n".join(lines), "text")
    if len(trace.steps) <= MOST_DRAWN:
        drawn = diagram(f"{one.verdict} {title(one)}", trace.steps, trace.loop_start, trace.loop_certainty)
        yield ""
        yield fenced(drawn.rstrip("\n"), "mermaid")
    yield ""
    places = ", ".join(_place(ref, source, frame) for ref, source in one.sources)
    yield from (f"- {line}" for line in _advice(one, places, frame))
    yield ""
    yield "</details>"


def _place(ref: str, source: Source, frame: Frame) -> str:
    return f"{code(ref)} ({code(f'{frame.path(source.file)}:{source.line}')})" if is_file(source) else code(ref)


def _advice(one: IntentResult, places: str, frame: Frame) -> Iterator[str]:
    if one.remedy:
        yield f"**What to change:** {plain(one.remedy)}"
    if places:
        yield f"**Objects involved:** {places}"
    if frame.replay_command:
        yield f"**Replay:** {code(frame.replay_command)}"


def _tail(result: VerifyResult) -> Iterator[str]:
    folded = (
        ("Scope", [f"{key}: {value}" for key, value in result.scope]),
        (f"Not modelled ({len(result.not_modelled)})", list(result.not_modelled)),
        (f"Suppressions ({len(result.suppressions)})", [audited(note) for note in result.suppressions]),
    )
    for heading, lines in folded:
        if lines:
            yield f"\n<details><summary>{heading}</summary>\n"
            yield fenced("\n".join(escape(line) for line in lines)[: MOST_CHARACTERS // 4], "text")
            yield "\n</details>"


def plain(text: str) -> str:
    """A sentence in which no character means anything to Markdown, HTML or GitHub."""
    return _split(_ACTIVE.sub(r"\\\1", escape(text)))


def code(text: str) -> str:
    """A code span, also inside a table: as many backticks around as it takes, bars escaped."""
    shown = escape(text).replace("|", "\\|")
    fence = "`" * (_longest(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{pad}{shown or ' '}{pad}{fence}"


def fenced(text: str, language: str) -> str:
    """A block that its text cannot end."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def html(text: str) -> str:
    """Text between tags, where GitHub still looks for mentions and references."""
    from html import escape as escape_html

    return _split(escape_html(escape(text)))


def _split(text: str) -> str:
    """The text without mentions, references and links, which GitHub looks for after Markdown has had its turn."""
    return _LINKED.sub(rf"\1{_SPLIT}", text)


def _longest(text: str) -> int:
    return max((len(found) for found in _BACKTICKS.findall(text)), default=0)
