"""What was learned, watched and evaluated, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kubeproof.monitor.alarms import to_value as alarm_value
from kubeproof.monitor.rules.words import describe_learned
from kubeproof.monitor.rules.writer import to_value as rule_value
from kubeproof.monitor.times import show_duration, show_time
from kubeproof.report.escape import escape
from kubeproof.report.incidents import count_levels

if TYPE_CHECKING:
    from kubeproof.monitor.intake.stream import Numbered
    from kubeproof.monitor.mining.evaluate import Scores
    from kubeproof.monitor.mining.mine import Mined
    from kubeproof.monitor.rules.rules import RuleSet
    from kubeproof.monitor.run import Summary

CAVEATS = (
    "A run that stops at an API error breaks every long rule, so recall on whole runs flatters; silent failures, which "
    "no API error tells, are the harder test.",
    "False alarms on runs with a fault but without a failure are partly real deviations that did no visible harm.",
    "Alarms at the end of a run are known only because the run was over; early warnings are those that came while it "
    "went on, after the fault was first active, and before the first symptom.",
)
UNREADABLE = "records could not be read and count as lost"


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{escape(line)}\n" for line in lines)


def notes(mined: Mined) -> tuple[str, ...]:
    """What the miner did, line by line."""
    late, others = mined.late, mined.false_alarms - mined.late
    needed = mined.rules.incidents.failure_at
    learnt = (
        f"A failure takes {_events_wrong(needed, needed)}: learnt from "
        f"{mined.judged:,} runs with injected faults, F1 {mined.f1:.3f} on them.",
    )
    return (
        f"Learned from {mined.events:,} events of {mined.runs:,} fault-free runs: {len(mined.rules.rules)} rules.",
        f"Times allowed: the longest delay seen times {mined.margin:g} plus a second.",
        f"Cross-validation: rules learned without them raise false alarms on {mined.false_alarms} runs "
        f"({mined.false_alarms / mined.runs:.1%}): {late} too late, {others} out of order or missing.",
        f"Left out: {mined.redundant} rules that follow from others, {mined.unstable} that are not stable.",
        *(learnt if mined.judged else ()),
    )


def render_mined(mined: Mined) -> str:
    """The rules in words."""

    def lines() -> Iterator[str]:
        for rule in mined.rules.rules:
            yield from describe_learned(rule)
        yield ""
        yield from notes(mined)

    return _text(lines())


def render_mined_json(mined: Mined) -> str:
    """The rules and how well they held."""
    document = {
        "version": 1,
        "rules": [rule_value(rule) for rule in mined.rules.rules],
        "runs": mined.runs,
        "events": mined.events,
        "margin": mined.margin,
        "false_alarms": mined.false_alarms,
        "late": mined.late,
        "unstable": mined.unstable,
        "redundant": mined.redundant,
        "failure_at": mined.rules.incidents.failure_at,
        "judged": mined.judged,
    }
    return json.dumps(document, indent=2) + "\n"


def rules_text(rules: RuleSet) -> str:
    """Any rules in words."""
    return _text(line for rule in rules.rules for line in describe_learned(rule))


def rules_json(rules: RuleSet) -> str:
    """Any rules."""
    document = {"version": 1, "name": rules.name, "rules": [rule_value(rule) for rule in rules.rules]}
    return json.dumps(document, indent=2) + "\n"


def alarm_text(numbered: Numbered) -> str:
    """One alarm for people."""
    number, alarm = numbered
    run = f" run {alarm.run}" if alarm.run else ""
    incident = f"incident {alarm.incident} {alarm.level.value}"
    line = (
        f"{alarm.verdict} {show_time(alarm.detected_us)}{run} {alarm.kind.value} {alarm.about}: {alarm.text} "
        f"[{alarm.rule}; evidence from {show_time(alarm.start_us)}, detected after "
        f"{show_duration(max(0, alarm.time_to_detect_us))}, alarm {number}, {incident}]"
    )
    return f"{escape(line)}\n"


def alarm_ndjson(numbered: Numbered) -> str:
    """One alarm on one line."""
    return json.dumps(alarm_value(numbered[1], numbered[0])) + "\n"


def summary_text(summary: Summary) -> str:
    """How watching ended."""

    def lines() -> Iterator[str]:
        for count, what in (
            (summary.copies, "copies of events were passed over"),
            (summary.late, "events came later than the lateness bound and were not used"),
            (summary.gaps, "gaps: events were lost"),
            (summary.lost, UNREADABLE),
            (summary.outliers, "events are dated far from the rest of the stream and were set aside (--max-ahead)"),
            (summary.resumed, "runs went on after they had been taken for over (--run-idle)"),
            (summary.given_up, "runs were given up, too many at once (--max-runs)"),
            (summary.open, "obligations are still open"),
            (summary.undelivered, "alarms could not be delivered"),
        ):
            if count:
                yield f"note: {count:,} {what}"
            if count and what == UNREADABLE:
                yield from _places(summary)
        if summary.resting:
            yield f"note: {len(summary.resting)} rules about whole runs rest, the stream does not tell runs apart"
        if summary.is_interrupted:
            yield "note: interrupted, the stream went on"
        if summary.incidents:
            yield f"incidents: {count_levels(summary.incidents)}"
        if not summary.events:
            yield "note: there were no events, so nothing was checked"
        yield f"{summary.verdict}: {summary.violated:,} alarms, {summary.unknown:,} unknown, {summary.events:,} events"

    return _text(lines())


def _places(summary: Summary) -> Iterator[str]:
    """Where the first records that could not be read stand."""
    yield from (f"  {place}" for place in summary.places)
    if summary.lost > len(summary.places) > 0:
        yield f"  and {summary.lost - len(summary.places):,} more"


def scores_text(scores: Scores, how: str) -> str:
    """The figures of an evaluation with what they do not tell."""

    def lines() -> Iterator[str]:
        yield f"{how}; up to {scores.rules} rules; a failure takes {_needed(scores)}"
        yield _count("recall", scores.true_alarms, scores.failures, "failures")
        alarms = scores.true_alarms + scores.false_alarms
        yield _count("precision", scores.true_alarms, alarms, "runs called a failure")
        yield f"F1                 {scores.f1:.3f}"
        yield f"accuracy           {scores.accuracy:.3f}"
        yield _count("silent failures", scores.silent_found, scores.silent, "found")
        yield _count("clean runs", scores.clean_alarmed, scores.clean, "called a failure")
        yield _count("early warnings", scores.early, scores.failures, "failures warned of before the first symptom")
        yield _count(
            "early failures", scores.early_failures, scores.failures, "called failures before the first symptom"
        )
        if scores.early:
            yield f"lead               {scores.median_lead_us / 1_000_000:.1f} s median, where early"
        if scores.damaged:
            found = scores.damaged_found
            failed = f"{scores.damaged} runs that failed without a fault"
            yield f"not counted        {failed}, {found} of them called a failure"
        if scores.premature:
            yield f"not early          {scores.premature} failures with warnings only before the fault was active"
        yield from (f"caveat: {caveat}" for caveat in CAVEATS)

    return _text(lines())


def _needed(scores: Scores) -> str:
    """How many different events make a failure, in words."""
    few, many = min(scores.failure_at), max(scores.failure_at)
    return _events_wrong(few, many)


def _events_wrong(few: int, many: int) -> str:
    span = f"{few}" if few == many else f"{few} to {many}"
    return f"{span} different events that are wrong" if many > 1 else f"{span} event that is wrong"


def _count(what: str, part: int, whole: int, meaning: str) -> str:
    share = f"{part / whole:.3f}" if whole else "-    "  # a share of nothing is not zero
    return f"{what:<18} {share}  ({part} of {whole} {meaning})"


def scores_json(scores: Scores, how: str) -> str:
    """The figures."""
    names: tuple[str, ...] = (
        "true_alarms",
        "missed",
        "false_alarms",
        "quiet",
        "silent_found",
        "silent",
        "clean_alarmed",
        "clean",
    )
    names += (
        "early",
        "early_failures",
        "damaged_found",
        "damaged",
        "premature",
        "rules",
        "recall",
        "precision",
        "f1",
        "accuracy",
    )
    figures = {name: getattr(scores, name) for name in names}
    learned = {"failure_at": scores.failure_at}
    lead = {"median_lead_s": scores.median_lead_us / 1_000_000}
    return json.dumps({"version": 1, "how": how, **figures, **learned, **lead, "caveats": CAVEATS}, indent=2) + "\n"
