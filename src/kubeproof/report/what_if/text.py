"""The answer to a what-if question for a terminal: the sentence first, then who is hit, then how it goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.report.escape import escape
from kubeproof.report.matrix.words import list_names, short_names, span
from kubeproof.report.sentences import count
from kubeproof.report.style import Style
from kubeproof.report.verification.brief import brief_lines, ending_lines
from kubeproof.report.verification.trace import trace_lines
from kubeproof.report.what_if.words import fate_of, group_effects, list_targets, ordinary_items
from kubeproof.values import complete
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.what_if.answer import Answer, Effect, OrdinaryRun

VERDICTS = complete(
    Grade,
    {
        Grade.STEADY: Verdict.HOLDS,
        Grade.DIPS: Verdict.SUPPRESSED,
        Grade.STUCK: Verdict.VIOLATED,
        Grade.UNKNOWN: Verdict.UNKNOWN,
    },
)
MOST_ROWS = 15  # of workloads, and of pods
MOST_NAMES = 6  # of workloads that fare alike
MOST_ITEMS = 20  # of a timeline


def as_text(answer: Answer, style: Style) -> str:
    """All of it."""
    return "".join(f"{line}\n".replace(" \n", "\n") for line in _lines(answer, style))


def _lines(answer: Answer, style: Style) -> Iterator[str]:
    names = short_names(list_targets(answer))
    yield from style.fold("", style.in_colour_of(answer.verdict, escape(answer.sentence)))
    if style.quiet:
        return
    yield from _workloads(answer, names, style)
    yield from _advice(answer, names, style)
    if answer.ordinary is not None and answer.ordinary.moves:
        yield from _pods(answer.ordinary, names, style)
    if answer.worst is not None:
        yield from _worst(answer.worst, names, style)
    if answer.ordinary is not None:
        yield from _usual(answer.ordinary, style)
    yield from _about(answer, style)


def _workloads(answer: Answer, names: dict[str, str], style: Style) -> Iterator[str]:
    groups = group_effects(answer)
    if not groups:
        return
    yield ""
    yield style.heading("Workloads")
    most = len(groups) if style.verbose else MOST_ROWS
    few = len(answer.effects) if style.verbose else MOST_NAMES
    width = max(len(group.state) for group in groups[:most])
    for group in groups[:most]:
        whom = list_names([names[target] for target in group.targets], few)
        number = f"{len(group.targets)} workloads: " if len(group.targets) > 1 else ""
        sign = style.in_colour_of(VERDICTS[group.grade], f"{group.state:<{width}}")
        yield from style.fold(f"  {sign}  ", escape(f"{number}{whom}: {group.said}"))
    if len(groups) > most:
        rest = sum(len(group.targets) for group in groups[most:])
        yield f"  and {count(rest, 'more workload')}, no worse; -v shows all"


def _advice(answer: Answer, names: dict[str, str], style: Style) -> Iterator[str]:
    """What to change about what is stuck; of dips about the first."""
    stuck = [one for one in answer.effects if one.grade == Grade.STUCK]
    told: dict[str, list[str]] = {}
    for effect in stuck or ([answer.worst] if answer.worst is not None else []):
        if effect.result.remedy:
            told.setdefault(effect.result.remedy, []).append(names[effect.target])
    if told:
        yield ""
    for remedy, whom in list(told.items())[:3]:
        place = f" ({', '.join(whom[:3])}{' and others' if len(whom) > 3 else ''})"
        yield from style.fold(f"{style.heading('What to change')}: ", escape(remedy + place))


def _pods(run: OrdinaryRun, names: dict[str, str], style: Style) -> Iterator[str]:
    moves = [one for one in run.moves if not one.stays]
    staying = len(run.moves) - len(moves)
    yield ""
    yield style.heading(f"Pods there, in the order in which they usually go ({len(moves)})")
    most = len(moves) if style.verbose else MOST_ROWS
    width = max((len(one.pod) for one in moves[:most]), default=0)
    whom = max((len(names[one.target]) for one in moves[:most]), default=0)
    for one in moves[:most]:
        yield f"  {escape(one.pod):<{width}}  {escape(names[one.target]):<{whom}}  {fate_of(one, run)}".rstrip()
    if len(moves) > most:
        yield f"  and {count(len(moves) - most, 'more pod')}; -v shows all"
    if staying:
        yield f"  {count(staying, 'pod')} of DaemonSets {'stays' if staying == 1 else 'stay'}"


def _worst(effect: Effect, names: dict[str, str], style: Style) -> Iterator[str]:
    trace = effect.result.trace
    assert trace is not None
    steps = len(trace.steps) - trace.deployed_steps
    yield ""
    yield style.heading(escape(f"The worst run ({names[effect.target]}; {count(steps, 'step')})"))
    if style.verbose:
        certainty, deployed = trace.loop_certainty, trace.deployed_steps
        yield from trace_lines(trace.steps, trace.loop_start, style, certainty=certainty, deployed_steps=deployed)
    else:
        yield from brief_lines(trace, effect.target, style)
    yield from [style.heading("In the end")] if trace.final else []
    yield from ending_lines(trace.final, style)


def _usual(run: OrdinaryRun, style: Style) -> Iterator[str]:
    items = ordinary_items(run)
    yield ""
    ends = f"at rest after {span(run.lasts_s)}" if run.is_whole else f"it goes on after {span(run.lasts_s)}"
    yield style.heading(f"An ordinary run ({count(len(run.steps), 'step')}, {ends})")
    most = len(items) if style.verbose else MOST_ITEMS
    shown = items[:most]
    width = max((len(item.actor) for item in shown), default=0)
    for item in shown:
        yield from style.fold(f"  {item.time_s:>5}s  {escape(item.actor):<{width}}  ", escape(item.said))
    if len(items) > most:
        yield f"  and {count(len(items) - most, 'more line')}; -v shows all"
    if not items:
        yield "  nothing happens"


def _about(answer: Answer, style: Style) -> Iterator[str]:
    yield ""
    if answer.untouched:
        said = f"{count(answer.untouched, 'other workload')} not touched: nothing moves their pods."
        yield from style.fold("", said)
    for note in answer.notes:
        yield from style.fold("Taken to be so: ", escape(note))
    yield from _left_out(answer.not_modelled, style)
    if style.verbose:
        yield style.heading("Scope")
        for name, value in answer.scope:
            yield from style.fold(f"  {name:<13} ", escape(value))
    spent = answer.statistics
    yield f"{count(len(answer.effects), 'workload')} asked, {spent.states:,} states, {answer.elapsed_s:.1f} s"


def _left_out(found: Sequence[str], style: Style) -> Iterator[str]:
    if found and not style.verbose:
        yield f"Not modelled: {count(len(found), 'thing')} of the input, -v lists them"
    elif found:
        yield style.heading(f"Not modelled ({len(found)})")
        for one in found:
            yield from style.fold("  ", escape(one))
