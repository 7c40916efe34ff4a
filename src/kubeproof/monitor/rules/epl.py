"""Rules as statements of Esper's Event Processing Language, for users of that engine.

Time there is in milliseconds unless configured otherwise, and `timer:interval` ends just before an event at the very
same moment. Counting needs the property `number`, which the sender sets: how many events of that name there were.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.monitor.event import SECOND_US
from kubeproof.monitor.rules.rules import (
    AtMost,
    Chain,
    EqualCounts,
    FollowedBy,
    Heartbeat,
    Ltl,
    Matching,
    Never,
    Pattern,
    Rule,
    RuleSet,
)

SCHEMA = "create schema Event(name string, source string, target string, key string, run string, number long);"
_SAME = {Matching.COUNT: ", number=a.number", Matching.KEY: ", key=a.key", Matching.ANY: ""}


def to_epl(rules: RuleSet) -> str:
    """All rules that the language can say; the others as comments."""
    lines = ["// number: how many events of the same name there have been, set by the sender", SCHEMA]
    for rule in rules.rules:
        lines += _statements(rule)
    return "".join(f"{line}\n" for line in lines)


def _statements(rule: Rule) -> Iterator[str]:
    if isinstance(rule.body, Ltl) or any(pattern.where for pattern in _patterns(rule)):
        yield f"// {_comment(rule.name)}: formulas and conditions are not exported"
        return
    match rule.body:
        case FollowedBy() as pair:
            yield _name(rule.name, _pair(pair))
        case Chain() as chain:
            for number, link in enumerate(chain.links, 1):
                yield _name(f"{rule.name} ({number})", _pair(link))
        case AtMost(event, _, per) as limit:
            window = "#keepall" if per is None else f"#time({_seconds(per)} sec)"
            yield _name(rule.name, f"select count(*) from {_event(event)}{window} having count(*) > {limit.most}")
        case EqualCounts(events, per, tolerance):
            yield from _equal(rule.name, events, per, tolerance)
        case Never(event):
            yield _name(rule.name, f"select * from {_event(event)}")
        case Heartbeat(event, every):
            silence = f"(timer:interval({_seconds(every)} sec) and not {_event(event)})"
            yield _name(rule.name, f"select * from pattern [every a={_event(event)} -> {silence}]")


def _pair(pair: FollowedBy) -> str:
    answer = f"Event(name={_text(pair.then.name)}{_SAME[pair.matching]})"
    wait = f"(timer:interval({_seconds(pair.within_us)} sec) and not {answer})"
    return f"select * from pattern [every a={_event(pair.first)} -> {wait}]"


def _equal(name: str, events: tuple[Pattern, ...], per: int | None, tolerance: int) -> Iterator[str]:
    if per is None:
        yield f"// {_comment(name)}: equal counts of a whole run are not exported"
        return
    names = ", ".join(_text(event.name) for event in events)
    sums = [f"sum(case when name={_text(event.name)} then 1 else 0 end)" for event in events]
    window = f"Event(name in ({names}))#time_batch({_seconds(per)} sec)"
    for number, other in enumerate(sums[1:], 1):
        label = name if len(sums) == 2 else f"{name} ({number})"
        difference = f"Math.abs({sums[0]} - {other})"
        yield _name(label, f"select count(*) from {window} having {difference} > {tolerance}")


def _patterns(rule: Rule) -> tuple[Pattern, ...]:
    match rule.body:
        case FollowedBy(first, then):
            return first, then
        case Chain(events) | EqualCounts(events):
            return events
        case AtMost(event) | Never(event) | Heartbeat(event):
            return (event,)
        case _:
            return ()


def _name(name: str, statement: str) -> str:
    return f"@Name({_text(name)}) {statement};"


def _event(pattern: Pattern) -> str:
    return f"Event(name={_text(pattern.name)})"


def _seconds(duration_us: int) -> str:
    return f"{duration_us / SECOND_US:.6f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{_visible(escaped)}'"


def _comment(text: str) -> str:
    return _visible(text.replace("\n", " ").replace("\r", " "))


def _visible(text: str) -> str:
    """The text with characters that a terminal obeys or hides as `\\uXXXX`, which Esper reads as Java does."""
    return "".join(one if one.isprintable() else _units(one) for one in text)


def _units(character: str) -> str:
    """The UTF-16 code units of a character, spelled out."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
