"""The answer to a what-if question as one offline page."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof import __version__
from kubeproof.report.html.offline import offline_page
from kubeproof.report.matrix.words import short_names, span
from kubeproof.report.sentences import count
from kubeproof.report.style import Style
from kubeproof.report.what_if.text import as_text
from kubeproof.report.what_if.words import fate_of, group_effects, list_targets, ordinary_items
from kubeproof.values import complete
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.what_if.answer import Answer

SCRIPTS, STYLES = ("dom.js", "theme.js", "frame.js", "answer.js"), ("base.css", "plot.css")
KINDS = complete(Grade, {Grade.STEADY: "good", Grade.DIPS: "fair", Grade.STUCK: "bad", Grade.UNKNOWN: "fair"})
MOST_STEPS = 400
Plain = dict[str, object]


def as_page(answer: Answer) -> str:
    """The page; readers without scripts get the text."""
    title = f"what-if {answer.question}"
    return offline_page(title, values_of(answer), scripts=SCRIPTS, styles=STYLES, text=as_text(answer, Style()))


def values_of(answer: Answer) -> Plain:
    """What the page's script reads."""
    run, worst = answer.ordinary, answer.worst
    names = short_names(list_targets(answer))
    trace = None if worst is None else worst.result.trace
    return {
        "program": __version__,
        "kind": {Verdict.HOLDS: "good", Verdict.VIOLATED: "bad"}.get(answer.verdict, "fair"),
        "question": f"what if: {answer.question}",
        "sentence": answer.sentence,
        "facts": list(_facts(answer)),
        "workloads": [
            {
                "kind": KINDS[group.grade],
                "state": group.state,
                "names": ", ".join(names[target] for target in group.targets),
                "said": group.said,
                "remedy": group.remedy,
            }
            for group in group_effects(answer)
        ],
        "pods": [] if run is None else [(m.pod, names[m.target], m.node, fate_of(m, run)) for m in run.moves],
        "worst": [] if trace is None else [
            (step.time_s, str(step.actor), step.action) for step in trace.steps[trace.deployed_steps :][:MOST_STEPS]
        ],
        "worstNote": "" if worst is None or trace is None else "; ".join((names[worst.target], *map(str, trace.final))),
        "ordinary": [] if run is None else [(i.time_s, i.actor, i.said) for i in ordinary_items(run)[:MOST_STEPS]],
        "ordinaryNote": "" if run is None else f"At rest after {span(run.lasts_s)}" if run.is_whole else "It goes on",
        "notes": [*answer.notes, *(f"{name}: {value}" for name, value in answer.scope), *_left_out(answer)],
    }  # fmt: skip


def _facts(answer: Answer) -> Iterator[tuple[str, str]]:
    for grade, words in (
        (Grade.STUCK, "may get stuck"), (Grade.DIPS, "fall below their minimum"), (Grade.UNKNOWN, "not decided"),
        (Grade.STEADY, "never below their minimum"),
    ):  # fmt: skip
        if number := answer.count(grade):
            yield f"{number:,}", words
    if answer.untouched:
        yield f"{answer.untouched:,}", "not touched"


def _left_out(answer: Answer) -> Iterator[str]:
    if answer.not_modelled:
        yield f"{count(len(answer.not_modelled), 'thing')} of the input not modelled, such as {answer.not_modelled[0]}"
