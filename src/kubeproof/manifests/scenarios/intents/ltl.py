"""`ltl` intents of a Scenario: a formula, and what its propositions mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NoReturn

from kubeproof.cluster.api.selector_text import selector_from
from kubeproof.cluster.loops.footprint import footprint_of
from kubeproof.errors import FormulaError, PredicateError
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates.asked import find_targeted
from kubeproof.intents.predicates.expressions import Call, calls, parse_predicate
from kubeproof.logic.alphabet import MOST_PROPOSITIONS
from kubeproof.logic.formula import is_plain_name
from kubeproof.logic.parser import names_in, parse
from kubeproof.manifests.scenarios.events.fields import Surroundings
from kubeproof.manifests.yaml.fields import Fields, suggestion
from kubeproof.manifests.yaml.printable import printable

_EITHER = ("ready", "replicas", "pending", "starting", "running", "terminating", "failed", "missing", "desired")


def read_ltl(fields: Fields, intent: Intent, around: Surroundings) -> Intent:
    """The intent with its formula and predicates, every name in them checked."""
    formula = fields.require_text("formula")
    where = fields.child("where")
    given = {} if where is None else {name: where.require_text(name) for name in where.keys()}  # noqa: SIM118
    _check_formula(fields, formula, given)
    for name, text in given.items():
        assert where is not None
        _check_predicate(where, name, text, around)
    return replace(intent, formula=formula, where=tuple(given.items()))


def _check_formula(fields: Fields, text: str, given: Iterable[str]) -> None:
    try:
        parse(text)
    except FormulaError as mistake:
        _fail(fields, "formula", mistake.problem, text, mistake.column, mistake.remedy)
    known = list(given)
    used = names_in(text)
    for name, column in used:
        if name not in known:
            remedy = f"Say what it means in where; {suggestion(name, known)}"
            _fail(fields, "formula", f"names {printable(name)!r}, which where does not have", text, column, remedy)
    for name in known:
        if name not in {one for one, _ in used}:
            remedy = suggestion(name, {one for one, _ in used})
            fields.fail("where", f"has {printable(name)!r}, which the formula does not name", remedy=remedy)
        if not is_plain_name(name):
            remedy = "Names are letters, digits and _, and none of the operators X F G U R W M V"
            fields.fail("where", f"has {printable(name)!r}, which cannot be a name", remedy=remedy)
    if len(known) > MOST_PROPOSITIONS:
        remedy = f"At most {MOST_PROPOSITIONS} are possible: combine some into one predicate"
        fields.fail("where", f"has {len(known)} predicates", remedy=remedy)


def _check_predicate(where: Fields, name: str, text: str, around: Surroundings) -> None:
    try:
        expression = parse_predicate(text)
    except PredicateError as mistake:
        _fail(where, name, mistake.problem, text, mistake.column, mistake.remedy)
    for call in calls(expression):
        _check_call(where, name, text, call, around)


def _check_call(where: Fields, name: str, text: str, call: Call, around: Surroundings) -> None:
    def fail(problem: str, remedy: str, is_missing: bool = False) -> NoReturn:
        _fail(where, name, f"calls {call.name} with {problem}", text, call.column, remedy, is_missing)

    target, selector = call.text("target"), call.text("selector")
    if target is not None and not find_targeted(around.workloads, target):
        fail(
            f"target {printable(target)!r}, which is not a workload of the input",
            suggestion(target, [workload.ref for workload in around.workloads]),
            is_missing=True,
        )
    if selector is not None:
        try:
            selector_from(selector)
        except ValueError as mistake:
            fail(f"a selector whose part {printable(str(mistake))!r} is none", "Write app=web,tier!=db,env in (a,b)")
    if call.name in _EITHER and target is not None and selector is not None:
        fail("both target and selector", "Keep one of them")
    _check_event(call, around, fail)
    node = call.text("node") if call.name == "on" else call.text("name")
    known = [one.name for one in around.nodes]
    if node is not None and node not in known:
        told = f"node {printable(node)!r}, which is not a node of the input"
        fail(told, suggestion(node, known), is_missing=True)


def _check_event(call: Call, around: Surroundings, fail: Callable[[str, str], NoReturn]) -> None:
    """An event that is named must be there; a level only some of them have."""
    name = call.text("event")
    if name is None:
        return
    moments = [event for event in around.events if footprint_of(event).is_moment]
    levelled = [event for event in moments if event.level_count]
    known = [event.name for event in (levelled if call.name == "level" else moments)]
    if name not in known:
        what = "has levels" if call.name == "level" else "happens"
        fail(f"event {printable(name)!r}, which is none of the Scenario that {what}", suggestion(name, known))


def _fail(
    fields: Fields, key: str, problem: str, text: str, column: int, remedy: str, is_missing: bool = False
) -> NoReturn:
    """Refuses a text at one of its columns, with what stands there."""
    shown = printable(text[max(0, column - 21) : column + 20])
    cut = ("..." if column > 21 else "", "..." if column + 20 < len(text) else "")
    fields.fail(key, f"column {column}: {problem}, in {cut[0]}{shown}{cut[1]}", remedy=remedy, is_missing=is_missing)
