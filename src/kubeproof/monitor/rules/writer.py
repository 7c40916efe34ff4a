"""Writes rules as YAML that `rule_file.py` reads back to the same rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kubeproof.monitor.incidents.policy import Policy
from kubeproof.monitor.rules.reader import KIND, VERSION
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
    Pattern,
    Rule,
    RuleSet,
)
from kubeproof.monitor.times import show_duration


def to_yaml(rules: RuleSet) -> str:
    """The rules as a file; what was learned along with them as comments at its head."""
    lines = [f"# {line}" for note in rules.notes for line in note.splitlines()]
    lines += [f"apiVersion: {VERSION}", f"kind: {KIND}", f"metadata: {{name: {_scalar(rules.name)}}}", "spec:"]
    lines += [f"  runEnds: {_flow(_patterns(rules.ends))}"] if rules.ends else []
    lines += [f"  incidents: {_flow(_policy(rules.incidents))}"] if rules.incidents != Policy() else []
    lines.append("  rules:" if rules.rules else "  rules: []")
    for rule in rules.rules:
        lines += _rule(rule)
    return "".join(f"{line}\n" for line in lines)


def _policy(policy: Policy) -> dict[str, Any]:
    return {"failureAt": policy.failure_at, "quiet": show_duration(policy.quiet_us)}


def to_value(rule: Rule) -> dict[str, Any]:
    """The rule as JSON can hold it, with the names that the file has."""
    kind, fields = body_value(rule.body)
    found: dict[str, Any] = {"name": rule.name, "severity": rule.severity, kind: fields}
    return found | ({"evidence": [_evidence(one) for one in rule.evidence]} if rule.evidence else {})


def _rule(rule: Rule) -> Iterator[str]:
    value = to_value(rule)
    if rule.severity == "warning":
        del value["severity"]
    for number, (key, content) in enumerate(value.items()):
        yield f"  {'-' if not number else ' '} {key}: {_flow(content)}"


def _flow(value: Any) -> str:
    """The value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(one) for one in value) + "]"
    return _scalar(value) if isinstance(value, str) else json.dumps(value)


def _scalar(text: str) -> str:
    """The text, in double quotes unless it is a plain word that every YAML reader takes for a text."""
    plain = text[:1].isalpha() and text.isascii() and all(c.isalnum() or c in "_-./@" for c in text)
    reserved = text.lower() in ("true", "false", "yes", "no", "on", "off", "y", "n", "null")
    if plain and not reserved:
        return text
    return json.dumps(text)


def body_value(body: Body) -> tuple[str, dict[str, Any]]:
    """The kind of the rule and its fields."""
    match body:
        case FollowedBy(first, then, within, matching):
            fields: dict[str, Any] = {"first": _pattern(first), "then": _pattern(then)}
            return "followedBy", fields | {"within": show_duration(within)} | _match(matching)
        case Chain(events, within, matching):
            fields = {"events": _patterns(events), "within": [show_duration(time) for time in within]}
            return "chain", fields | _match(matching)
        case EqualCounts(events, per, tolerance):
            return "equalCounts", {"events": _patterns(events), "per": _period(per), "tolerance": tolerance}
        case AtMost(event, count, per, tolerance):
            slack = {"tolerance": tolerance} if tolerance else {}
            return "atMost", {"event": _pattern(event), "count": count, "per": _period(per)} | slack
        case Never(event):
            return "never", {"event": _pattern(event)}
        case Heartbeat(event, every):
            return "heartbeat", {"event": _pattern(event), "every": show_duration(every)}
        case Ltl(formula, where, by_key):
            return "ltl", {"formula": formula, "where": dict(where), "byKey": by_key}


def _match(matching: Matching) -> dict[str, str]:
    return {"match": matching.value} if matching is not Matching.COUNT else {}


def _period(per_us: int | None) -> str:
    return "run" if per_us is None else show_duration(per_us)


def _pattern(pattern: Pattern) -> Any:
    return {"name": pattern.name, "where": pattern.where} if pattern.where else pattern.name


def _patterns(patterns: tuple[Pattern, ...]) -> list[Any]:
    return [_pattern(pattern) for pattern in patterns]


def _evidence(evidence: Evidence) -> dict[str, Any]:
    found: dict[str, Any] = {"runs": evidence.runs, "occurrences": evidence.occurrences}
    if evidence.longest_us:
        for name in ("shortest", "median", "p99", "longest"):
            found[name] = show_duration(getattr(evidence, f"{name}_us"))
    return found
