"""The answer in one sentence: yes or no first, then whom it hits, then how long."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.what_if.answer import Answer, Effect
from kubeproof.verify.what_if.questions import CORDON, Question

MOST_NAMES = 3


def tell(question: Question, answer: Answer) -> str:
    """The sentence."""
    stuck, dips = (_with(answer, grade) for grade in (Grade.STUCK, Grade.DIPS))
    unknown = _with(answer, Grade.UNKNOWN)
    if question.key == CORDON and answer.effects:
        return _tell_cordon(question, stuck, unknown)
    if not answer.effects:
        return f"Safe: if {question.clause}, no workload is concerned."
    if stuck:
        told = f"Not safe: if {question.clause}, {_names(stuck)} may get stuck for good"
        return f"{told}{_more(dips, unknown)}."
    if unknown and answer.verdict == Verdict.HOLDS:
        told = f"Safe in the end: if {question.clause}, everything is complete again in every run"
        said = f"whether {_names(unknown)} may be below {'its' if len(unknown) == 1 else 'their'} minimum meanwhile"
        return f"{told}; {said} is not decided{_more(dips, ())}."
    if unknown:
        told = f"Not decided: if {question.clause}, of {_names(unknown)} it is not known whether all goes well"
        return f"{told}{_more(dips, ())}."
    if dips:
        told = f"Safe in the end: if {question.clause}, {_names(dips)} {_fall(dips)} meanwhile"
        return f"{told}; everything is complete again in every run."
    return f"Safe: if {question.clause}, {_all(answer)} below its minimum, and all are complete again in every run."


def _tell_cordon(question: Question, stuck: Sequence[Effect], unknown: Sequence[Effect]) -> str:
    """What a cordon does shows later."""
    if stuck:
        return (
            f"Not safe: if {question.clause}, no pod moves, but {_names(stuck)} may get stuck if rolled out meanwhile."
        )
    if unknown:
        return f"Not decided: if {question.clause}, no pod moves; whether {_names(unknown)} can be rolled out is open."
    return f"Safe: if {question.clause}, no pod moves, and all that has pods there can be rolled out meanwhile."


def _with(answer: Answer, grade: Grade) -> list[Effect]:
    return [one for one in answer.effects if one.grade == grade]


def _all(answer: Answer) -> str:
    number = len(answer.effects)
    return (
        f"{answer.effects[0].target} is never" if number == 1 else f"none of the {number} workloads concerned is ever"
    )


def _names(effects: Sequence[Effect]) -> str:
    names = [one.target for one in effects[:MOST_NAMES]]
    more = len(effects) - len(names)
    if more:
        return f"{', '.join(names)} and {more} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _fall(effects: Sequence[Effect]) -> str:
    """How deep, and for how long at most."""
    verb = "is" if len(effects) == 1 else "are"
    lowest = [one.lowest for one in effects if one.lowest is not None]
    times = [one.longest_s for one in effects if one.longest_s is not None]
    is_known = len(times) == len(effects)
    lasting = f" for up to {max(times)} s" if is_known else ""
    if lowest and max(lowest) == 0 and len(lowest) == len(effects):
        return f"{verb} without a ready pod{lasting}"
    return f"{verb} below {'its' if len(effects) == 1 else 'their'} minimum{lasting}"


def _more(dips: Sequence[Effect], unknown: Sequence[Effect]) -> str:
    parts = []
    if dips:
        parts.append(f"{len(dips)} {'more ' if not unknown else ''}{_fall(dips)} meanwhile")
    if unknown:
        parts.append(f"{len(unknown)} {'is' if len(unknown) == 1 else 'are'} not decided")
    return f"; {', and '.join(parts)}" if parts else ""
