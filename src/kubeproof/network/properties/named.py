"""The properties that a network file or the command line asks for, by name."""

from __future__ import annotations

import re
from collections.abc import Callable

from kubeproof.errors import FormulaError, ScenarioError, UsageError
from kubeproof.logic.parser import names_in
from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Entry, Mapping, Scalar, Sequence, Value
from kubeproof.network.model import Network
from kubeproof.network.properties import library
from kubeproof.network.properties.automata import PathProperty, ltl_property, rename
from kubeproof.network.properties.patterns import is_exact, matches
from kubeproof.network.properties.predicates import MOST_HOPS, OneOf, leaves
from kubeproof.network.properties.processes import ProcessProperty, isolated_updates, resource_allocation
from kubeproof.user_code import load_module
from kubeproof.values import dataclass

Wanted = PathProperty | ProcessProperty


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """A library entry: its fields and what it says."""

    key: str
    fields: tuple[str, ...]
    text: str
    read: Callable[[Fields, Network], Wanted]


def read_property(fields: Fields, network: Network) -> Wanted:
    """The property that a mapping with one key describes."""
    keys = list(fields.mapping.entries)  # also those without fields
    if len(keys) != 1:
        fields.log.fail(f"{fields.path}: {len(keys)} keys", line=fields.mapping.line, remedy="Give one property each")
    if keys[0] not in LIBRARY:
        fields.fail(keys[0], "is no property", remedy=suggestion(keys[0], LIBRARY))
    entry = LIBRARY[keys[0]]
    inner = fields.child(keys[0]) or Fields(
        Mapping({}, fields.line_of(keys[0]), 1), fields.path_of(keys[0]), fields.log
    )
    name = inner.text("name")
    try:
        one = entry.read(inner, network)
    except FormulaError as problem:
        text = f"{inner.path} column {problem.column}: {problem.problem}, in {printable(problem.text[:80])}"
        inner.log.fail(text, line=inner.mapping.line, remedy=problem.remedy)
    inner.finish_strictly("name", *entry.fields)
    if isinstance(one, PathProperty):
        check_names(one, network, inner)
        return rename(one, name) if name else one
    return one


def check_names(one: PathProperty, network: Network, fields: Fields) -> None:
    """Refuses names of nodes that do not exist: such a property would hold, or fail, for no reason."""
    for condition in one.conditions:
        for leaf in leaves(condition) if not callable(getattr(condition, "function", None)) else ():  # type: ignore[arg-type]
            if isinstance(leaf, OneOf) and leaf.parameter != "PROCESS_ID":
                for pattern in leaf.patterns:
                    _check_pattern(pattern, network, fields)


def _check_pattern(pattern: str, network: Network, fields: Fields) -> None:
    if is_exact(pattern):
        known = pattern in network.addresses
    else:
        known = any(matches(pattern, name, address) for name, address in network.addresses.items())
    if not known:
        remedy = suggestion(pattern, network.addresses)
        where = f"{fields.path}: " if fields.path else ""
        fields.log.fail(f"{where}no node {printable(pattern)!r}", line=fields.mapping.line, remedy=remedy)


def _waypoint(fields: Fields, _: Network) -> Wanted:
    through = fields.texts("through")
    if not through:
        fields.fail("through", "is required", remedy="Name the waypoints")
    return library.waypoint(through, fields.text("destination") or "")


def _resilience(fields: Fields, _: Network) -> Wanted:
    return library.resilience(fields.text("destination") or "")


def _load_balance(fields: Fields, _: Network) -> Wanted:
    text = fields.number("tolerance") or "0.1"
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", text):
        fields.fail("tolerance", f"is {printable(text)!r}", remedy="Write a share of the mean such as 0.1")
    over = fields.texts("over")
    return library.load_balance(over, float(text), fields.text("destination") or "")


def _reach(fields: Fields, _: Network) -> Wanted:
    return library.reach(fields.text("destination") or "")


def _avoid(fields: Fields, _: Network) -> Wanted:
    nodes = fields.texts("nodes")
    if not nodes:
        fields.fail("nodes", "is required", remedy="Name the nodes to avoid")
    return library.avoid(nodes)


def _hops(fields: Fields, _: Network) -> Wanted:
    most = fields.integer("most", least=0, most=MOST_HOPS - 1)
    if most is None:
        fields.fail("most", "is required", remedy="Give the largest number of hops")
    return library.bounded_hops(most)


def _ltl(fields: Fields, _: Network) -> Wanted:
    formula, where = fields.require_text("formula"), fields.text_map("where")
    named = {name for name, _ in names_in(formula)}
    for name in where:
        if name not in named:
            fields.fail("where", f"has {printable(name)!r}, which the formula does not", remedy=suggestion(name, named))
    return ltl_property(formula, where)


LIBRARY = {
    entry.key: entry
    for entry in (
        LibraryEntry(
            "waypoint", ("through", "destination"), "packets pass a waypoint before the destination", _waypoint
        ),
        LibraryEntry("resilience", ("destination",), "paths of one class share no node in between", _resilience),
        LibraryEntry(
            "loadBalance", ("over", "tolerance", "destination"), "loads differ little from their mean", _load_balance
        ),
        LibraryEntry(
            "isolatedUpdates", (), "updates do not overlap, and are carried out", lambda *_: isolated_updates()
        ),
        LibraryEntry("resourceAllocation", (), "grants do not overlap, and come", lambda *_: resource_allocation()),
        LibraryEntry("trafficIsolation", (), "processes do not share queues", lambda *_: library.traffic_isolation()),
        LibraryEntry("reach", ("destination",), "packets arrive", _reach),
        LibraryEntry("avoid", ("nodes",), "packets never pass these nodes", _avoid),
        LibraryEntry("noDrop", (), "packets are never dropped", lambda *_: library.no_drop()),
        LibraryEntry("boundedHops", ("most",), "packets end after so many hops", _hops),
        LibraryEntry("ltl", ("formula", "where"), "a formula over predicates", _ltl),
    )
}


def parse_property(text: str, network: Network) -> Wanted:
    """A property from the command line: `NAME`, or `NAME:key=value;key=value`, lists separated by commas."""
    name, _, rest = text.partition(":")
    entries: dict[str, Entry] = {}
    for piece in filter(None, rest.split(";")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise UsageError(f"--property {text!r}: {piece!r} is not key=value", "Write waypoint:through=ap,ap2")
        entries[key] = Entry(_argument(key, value), 1, 1)
    whole = Mapping({name: Entry(Mapping(entries, 1, 1), 1, 1)}, 1, 1)
    return read_property(usage_fields(whole), network)


def usage_fields(mapping: Mapping = Mapping({}, 1, 1)) -> Fields:
    """A cursor over what the command line says; mistakes there are wrong usage."""
    return Fields(mapping, "", Log("<command line>", "property", ScenarioError))


def _argument(key: str, value: str) -> Value:
    if key in ("through", "over", "nodes"):
        return Sequence(tuple(Scalar(word, False, 1, 1) for word in value.split(",")), 1, 1)
    return Scalar(value, key in ("most", "tolerance"), 1, 1)


def own_properties(reference: str) -> tuple[Wanted, ...]:
    """The properties of a Python file: all of them, or with `path.py:NAME` one."""
    path, separator, name = reference.partition(".py:")
    path = f"{path}.py" if separator else reference
    module = load_module(path, "--automaton")
    found = {key: value for key, value in vars(module).items() if isinstance(value, PathProperty | ProcessProperty)}
    if name and name not in found:
        raise UsageError(f"--automaton: {path!r} has no property {name!r}", suggestion(name, found))
    if not found:
        raise UsageError(f"--automaton: {path!r} has no property", "Assign the result of path_automaton(...) to a name")
    chosen = {name: found[name]} if name else found
    return tuple(
        rename(one, key) if isinstance(one, PathProperty) and one.name == "automaton" else one
        for key, one in chosen.items()
    )
