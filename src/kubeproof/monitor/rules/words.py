"""Rules in words."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.monitor.rules.rules import (
    AtMost,
    Body,
    Chain,
    EqualCounts,
    Evidence,
    FollowedBy,
    Heartbeat,
    Ltl,
    Matching,
    Never,
    Rule,
)
from kubeproof.monitor.times import show_duration

DOUBT = 0.05
_ANSWERS = {
    Matching.COUNT: "the i-th by the i-th",
    Matching.ANY: "by any later one",
    Matching.KEY: "by one with the same key",
}


def describe(body: Body) -> str:
    """What the rule demands, in one sentence."""
    match body:
        case FollowedBy(first, then, within, matching):
            return f"every {first} is followed by {then} within {show_duration(within)}, {_ANSWERS[matching]}"
        case Chain(events, within, matching):
            links = zip(events[1:], within, strict=False)
            steps = ", then ".join(f"{event} within {show_duration(time)}" for event, time in links)
            return f"every {events[0]} is followed by {steps}, {_ANSWERS[matching]}"
        case EqualCounts(events, per, tolerance):
            slack = f", up to {tolerance}" if tolerance else ""
            return f"{' and '.join(map(str, events))} occur equally often {_period(per)}{slack}"
        case AtMost(event, count, per, tolerance):
            slack = f"; up to {tolerance} more are tolerated" if tolerance else ""
            return f"{event} occurs at most {count} times {_period(per)}{slack}"
        case Never(event):
            return f"{event} never occurs"
        case Heartbeat(event, every):
            return f"{event} comes again within {show_duration(every)}"
        case Ltl(formula, _, by_key):
            return f"{formula}{', for each key' if by_key else ''}"


def _period(per_us: int | None) -> str:
    return "in a run" if per_us is None else f"in any {show_duration(per_us)}"


def describe_learned(rule: Rule) -> Iterator[str]:
    """The rule and what it rests on, line by line."""
    yield f"{rule.name}: {describe(rule.body)}"
    for number, evidence in enumerate(rule.evidence):
        link = f"{rule.body.events[number + 1].name}: " if isinstance(rule.body, Chain) else ""
        yield f"  {link}{support(evidence)}"


def support(evidence: Evidence) -> str:
    """What a rule was seen to do."""
    runs = f"{evidence.runs:,} runs, so in at least {least_share(evidence.runs):.1%} of them (95 %)"
    seen = f"{evidence.occurrences:,} times in {runs}"
    if not evidence.longest_us:
        return seen
    delays = ", ".join(
        f"{word} {_round(delay)}"
        for word, delay in (
            ("shortest", evidence.shortest_us),
            ("median", evidence.median_us),
            ("99 %", evidence.p99_us),
            ("longest", evidence.longest_us),
        )
    )
    return f"{seen}; delay {delays}"


def least_share(runs: int) -> float:
    """The share of runs that obey a rule which so many obeyed without exception, at least, with 95 % confidence.

    The exact one-sided bound of Clopper and Pearson: were the share smaller, so many runs would rarely all obey.
    """
    return DOUBT ** (1 / runs) if runs else 0.0


def _round(duration_us: int) -> str:
    return f"{duration_us / 1_000_000:.3f} s"
