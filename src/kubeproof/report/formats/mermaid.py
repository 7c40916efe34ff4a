"""The counterexample as a Mermaid sequence diagram: who acts on what, loops as loops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.report.escape import escape
from kubeproof.report.frame import Frame
from kubeproof.report.sentences import summary, title, worst_run
from kubeproof.verify.result import ReplayReport, TraceStep, VerifyResult

MOST_STEPS = 200  # more is no picture; the middle is left out
_PLAIN = re.compile(r"[A-Za-z0-9 _.,/=()\-]")
_END = re.compile(r"\b(e)(nd)\b", re.IGNORECASE)  # ends a loop, wherever it stands
_NUMBERED = re.compile(r"-\d+\Z")


def render(result: VerifyResult, frame: Frame) -> str:
    """The diagram of the first result with a trace; a note with the verdict if none has."""
    traced = worst_run(result.results)
    if traced is None or traced.trace is None:
        return f"sequenceDiagram\n  participant k as kubeproof\n  Note over k: {text(summary(result))}\n"
    heading = f"{traced.verdict} {title(traced)}"
    return diagram(heading, traced.trace.steps, traced.trace.loop_start, traced.trace.loop_certainty)


def render_replay(report: ReplayReport) -> str:
    """The diagram of a replay."""
    return diagram(f"{report.verdict} {report.intent}", report.steps, report.loop_start)


def diagram(heading: str, steps: Sequence[TraceStep], loop_start: int | None, certainty: str = "") -> str:
    """A sequence diagram; text that comes from manifests can neither end a line nor a block."""
    names = _participants(steps)
    head = ["sequenceDiagram", f"  accTitle: {text(heading)}"]
    head += [f"  participant {key} as {text(name)}" for name, key in names.items()]
    return "\n".join([*head, *_messages(steps, loop_start, certainty, names)]) + "\n"


def _participants(steps: Sequence[TraceStep]) -> dict[str, str]:
    """Everybody who acts or is acted on, with a key, in the order of their first step; the clock is none of them."""
    found: dict[str, str] = {}
    for step in _show(steps):
        for name in (step.actor, find_object(step)) if step.actor.kind != ActorKind.TIME else ():
            if name:
                found.setdefault(name, f"p{len(found) + 1}")
    return found or {"kubeproof": "p1"}


def find_object(step: TraceStep) -> str:
    """The object of a step; pods of one workload are one, or there would be a line for each."""
    kind, _, name = step.object.partition("/")
    return f"pods of {_NUMBERED.sub('', name)}" if kind == "Pod" else step.object


def _show(steps: Sequence[TraceStep]) -> Sequence[TraceStep]:
    half = MOST_STEPS // 2
    return steps if len(steps) <= MOST_STEPS else [*steps[:half], *steps[-half:]]


def _messages(
    steps: Sequence[TraceStep], loop_start: int | None, certainty: str, names: dict[str, str]
) -> Iterator[str]:
    everybody = ",".join(dict.fromkeys((next(iter(names.values())), list(names.values())[-1])))
    hidden = range(MOST_STEPS // 2, len(steps) - MOST_STEPS // 2) if len(steps) > MOST_STEPS else range(0)
    for index, step in enumerate(steps):
        if index == loop_start:
            yield f"  loop for ever{f' ({certainty})' if certainty else ''}"
        if index in hidden:
            if index == hidden[0]:
                yield f"  Note over {everybody}: {len(hidden)} steps left out"
            continue
        yield _message(index, step, names, everybody)
    if loop_start is not None:
        yield "  end"


def _message(index: int, step: TraceStep, names: dict[str, str], everybody: str) -> str:
    said = text(f"{index + 1}. {step.action}")
    if step.actor.kind == ActorKind.TIME:
        return f"  Note over {everybody}: {said} ({step.time_s} s)"
    sender = names[step.actor]
    return f"  {sender}->>{names.get(find_object(step), sender)}: {said}"


def text(said: str) -> str:
    """The text with everything that could mean something to Mermaid as a character entity."""
    plain = "".join(char if _PLAIN.match(char) else f"#{ord(char)};" for char in escape(said))
    return _END.sub(lambda found: f"#{ord(found[1])};{found[2]}", plain)
