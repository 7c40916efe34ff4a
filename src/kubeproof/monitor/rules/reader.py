"""Reads rules from YAML, with the place of every mistake."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise

from kubeproof.errors import FormulaError, RuleError, UsageError
from kubeproof.logic.parser import names_in
from kubeproof.logic.parser import parse as parse_formula
from kubeproof.manifests.folders.files import read_file
from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.tree import Mapping, Scalar, ScalarKind, Value
from kubeproof.monitor.incidents.policy import MOST_NEEDED, QUIET_US, Policy
from kubeproof.monitor.rules.predicates import parse as parse_predicate
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
from kubeproof.monitor.times import parse_duration
from kubeproof.user_code import load_module

VERSION, KIND = "kubeproof.dev/v1alpha1", "MonitorRules"
SEVERITIES = ("info", "warning", "error")
MOST_COUNT = 2**31 - 1


def load_rules(path: str, *, bounds: Bounds = Bounds()) -> RuleSet:
    """The rules of a YAML file, or of FILE.py:NAME, which is executed."""
    file, _, name = path.rpartition(":")
    if file.endswith(".py"):
        return _from_python(file, name)
    if os.path.isdir(path):
        raise RuleError("is a directory", file=printable(path), line=0, remedy="Name one file of rules")
    return read_rules(read_file(path, bounds), printable(path), bounds=bounds)


def _from_python(file: str, name: str) -> RuleSet:
    found = getattr(load_module(file, "--rules"), name, None)
    if not isinstance(found, RuleSet):
        raise UsageError(f"--rules: {printable(file)} has no RuleSet {printable(name)!r}", "Define it there.")
    return found


def read_rules(content: bytes, file: str, *, bounds: Bounds = Bounds()) -> RuleSet:
    """The rules that the content of a file describes."""
    documents = list(read_documents(content, file=file, budget=Budget(bounds)))
    root = documents[0] if len(documents) == 1 else None
    if not isinstance(root, Mapping):
        problem = "not a mapping" if root is not None else f"{len(documents)} documents, not one"
        raise RuleError(problem, file=file, line=1, remedy=f"Write one object of kind {KIND}")
    fields = Fields(root, "", Log(file, KIND, RuleError))
    if fields.require_text("apiVersion") != VERSION:
        fields.fail("apiVersion", "is not one of rules", remedy=f"Write apiVersion: {VERSION}")
    if fields.require_text("kind") != KIND:
        fields.fail("kind", "is not that of rules", remedy=f"Write kind: {KIND}")
    metadata = fields.child("metadata")
    name = (metadata.text("name") if metadata else None) or "rules"
    if metadata:
        metadata.finish_strictly("name")
    spec = fields.require_child("spec")
    fields.finish_strictly("apiVersion", "kind", "metadata", "spec")
    return _rule_set(spec, name)


def _rule_set(spec: Fields, name: str) -> RuleSet:
    rules: dict[str, Rule] = {}
    for number, child in enumerate(spec.children("rules"), 1):
        rule = _rule(child, number)
        if rule.name in rules:
            child.fail("name", f"{printable(rule.name)!r} is taken", remedy="Give each rule a name of its own")
        rules[rule.name] = rule
    ends = tuple(_one_pattern(spec, "runEnds", item) for item in spec.items("runEnds"))
    incidents = _policy(spec.child("incidents"))
    spec.finish_strictly("rules", "runEnds", "incidents")
    return RuleSet(tuple(rules.values()), name, ends=ends, incidents=incidents)


def _policy(fields: Fields | None) -> Policy:
    if fields is None:
        return Policy()
    needed = fields.integer("failureAt", least=1, most=MOST_NEEDED)
    quiet_us = _duration(fields, "quiet") if fields.has("quiet") else QUIET_US
    fields.finish_strictly("failureAt", "quiet")
    return Policy(needed or 1, quiet_us)


def _rule(fields: Fields, number: int) -> Rule:
    name = fields.text("name")
    severity = fields.word("severity", SEVERITIES, "warning")
    evidence = tuple(_evidence(child) for child in fields.children("evidence"))
    kinds = [key for key in _BODIES if fields.has(key)]
    if len(kinds) != 1:
        fields.ignore(*kinds)
        fields.finish_strictly(*_BODIES)
        remedy = f"Write exactly one of {', '.join(_BODIES)}"
        fields.log.fail(f"{fields.path}: {len(kinds)} rules in one", line=fields.mapping.line, remedy=remedy)
    inner = fields.require_child(kinds[0])
    body = _BODIES[kinds[0]](inner)
    inner.finish_strictly()
    fields.finish_strictly("name", "severity", "evidence", *_BODIES)
    return Rule(name or f"{kinds[0]}-{number}", body, severity, evidence)


def _read_followed_by(fields: Fields) -> Body:
    first, then = _pattern(fields, "first"), _pattern(fields, "then")
    if first == then:
        fields.fail("then", "is the same event as first", remedy="Use heartbeat for an event that comes again")
    return FollowedBy(first, then, _duration(fields, "within"), _matching(fields))


def _chain(fields: Fields) -> Body:
    events = _patterns(fields, "events")
    for first, then in pairwise(events):
        if first == then:
            fields.fail("events", f"repeats {printable(str(first))}", remedy="Name each event once in a row")
    value = fields.value("within")
    if isinstance(value, Scalar):
        return Chain(events, (_duration(fields, "within"),) * (len(events) - 1), _matching(fields))
    within = tuple(_parse_duration(fields, "within", text) for text in fields.texts("within"))
    if len(within) != len(events) - 1:
        problem = f"has {len(within)} durations for {len(events) - 1} links"
        fields.fail("within", problem, remedy="Write one duration for all links, or one per link")
    return Chain(events, within, _matching(fields))


def _equal_counts(fields: Fields) -> Body:
    return EqualCounts(_patterns(fields, "events"), _per(fields), fields.integer("tolerance", most=MOST_COUNT) or 0)


def _at_most(fields: Fields) -> Body:
    count = fields.integer("count", most=MOST_COUNT)
    if count is None:
        fields.fail("count", "is required", remedy="Add count")
    return AtMost(_pattern(fields, "event"), count, _per(fields), fields.integer("tolerance", most=MOST_COUNT) or 0)


def _never(fields: Fields) -> Body:
    return Never(_pattern(fields, "event"))


def _heartbeat(fields: Fields) -> Body:
    return Heartbeat(_pattern(fields, "event"), _duration(fields, "every"))


def _ltl(fields: Fields) -> Body:
    formula, where = fields.require_text("formula"), fields.text_map("where")
    _try_parse(fields, "formula", lambda: parse_formula(formula))
    meanings = {}
    for proposition, _ in names_in(formula):
        predicate = where.get(proposition, proposition)  # a name in double quotes is its own predicate
        _try_parse(fields, "where" if proposition in where else "formula", lambda text=predicate: parse_predicate(text))  # type: ignore[misc]
        meanings[proposition] = predicate
    for proposition in where:
        if proposition not in meanings:
            remedy = suggestion(proposition, meanings)
            fields.fail("where", f"names {printable(proposition)!r}, which the formula does not have", remedy=remedy)
    return Ltl(formula, tuple(meanings.items()), fields.boolean("byKey") or False)


_BODIES: dict[str, Callable[[Fields], Body]] = {
    "followedBy": _read_followed_by,
    "chain": _chain,
    "equalCounts": _equal_counts,
    "atMost": _at_most,
    "never": _never,
    "heartbeat": _heartbeat,
    "ltl": _ltl,
}


def _evidence(fields: Fields) -> Evidence:
    found = Evidence(
        fields.integer("runs") or 0,
        fields.integer("occurrences", most=2**62) or 0,
        *(_delay(fields, name) for name in ("shortest", "median", "p99", "longest")),
    )
    fields.finish_strictly("runs", "occurrences", "shortest", "median", "p99", "longest")
    return found


def _delay(fields: Fields, key: str) -> int:
    text = fields.text(key)
    if text is None or text == "0s":
        return 0
    return _parse_duration(fields, key, text)


def _pattern(fields: Fields, key: str) -> Pattern:
    value = fields.value(key)
    if value is None:
        fields.fail(key, "is required", remedy=f"Add {key}: the name of an event")
    return _one_pattern(fields, key, value)


def _patterns(fields: Fields, key: str) -> tuple[Pattern, ...]:
    found = tuple(_one_pattern(fields, key, item) for item in fields.items(key))
    if len(found) < 2:
        fields.fail(key, f"has {len(found)} events", remedy="Name at least two")
    return found


def _one_pattern(fields: Fields, key: str, value: Value) -> Pattern:
    if isinstance(value, Scalar) and value.kind is ScalarKind.STRING and value.text:
        return Pattern(value.text)
    if not isinstance(value, Mapping):
        line, remedy = value.line, "Write a name, quoted if need be, or {name: …, where: …}"
        fields.log.fail(f"{fields.path_of(key)} is no event", line=line, remedy=remedy)
    inner = Fields(value, fields.path_of(key), fields.log)
    where = inner.text("where") or ""
    if where:
        _try_parse(inner, "where", lambda: parse_predicate(where))
    found = Pattern(inner.require_text("name"), where)
    inner.finish_strictly("name", "where")
    return found


def _try_parse(fields: Fields, key: str, parse: Callable[[], object]) -> None:
    """Parses what a field holds; a mistake is told with the field's place."""
    try:
        parse()
    except FormulaError as problem:
        fields.fail(key, f"column {problem.column}: {problem.problem}", remedy=problem.remedy)


def _matching(fields: Fields) -> Matching:
    return Matching(fields.word("match", [one.value for one in Matching], Matching.COUNT.value))


def _per(fields: Fields) -> int | None:
    text = fields.text("per")
    return None if text in (None, "run") else _parse_duration(fields, "per", text)


def _duration(fields: Fields, key: str) -> int:
    value = fields.value(key)
    if isinstance(value, Scalar) and value.kind is not ScalarKind.STRING:
        fields.fail(key, "has no unit", remedy="Write a duration such as 250ms, 40s or 1m30s")
    return _parse_duration(fields, key, fields.require_text(key))


def _parse_duration(fields: Fields, key: str, text: str) -> int:
    duration = parse_duration(text)
    if duration is None:
        fields.fail(key, f"is {printable(text)!r}", remedy="Write a duration such as 250ms, 40s or 1m30s")
    return duration
