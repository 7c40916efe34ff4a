"""Writes a network as YAML, JSON or XML, as the readers read it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import quoteattr

from kubeproof.manifests.yaml.tree import ScalarKind, kind_of
from kubeproof.network.model import ANY, Event, Match, Network, Rule, Snapshot, Traffic

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_-]+)*", re.ASCII)
_MATCH = {"source": "source", "destination": "destination", "in_port": "inPort", "protocol": "protocol"}


def to_json(network: Network, properties: tuple[dict[str, Any], ...] = ()) -> str:
    """The network as JSON, one rule a line."""
    return "".join(_json(_document(network, properties), 0)) + "\n"


def to_yaml(network: Network, properties: tuple[dict[str, Any], ...] = ()) -> str:
    """The network as YAML: block style outside, every rule on a line of its own."""
    return "".join(_yaml(_document(network, properties), 0))


def _document(network: Network, properties: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "nodes": [{"name": n.name, "address": n.address} if n.address else n.name for n in network.nodes],
        "links": sorted(sorted(link) for link in network.links),
        "traffic": [_traffic(traffic) for traffic in network.traffic],
        "snapshots": list(_snapshots(network)),
    }
    if properties:
        spec["properties"] = list(properties)
    return {
        "apiVersion": "kubeproof.dev/v1alpha1",
        "kind": "Network",
        "metadata": {"name": network.name},
        "spec": spec,
    }


def _traffic(traffic: Traffic) -> dict[str, Any]:
    optional = {
        "name": traffic.name,
        "protocol": traffic.protocol,
        "priorityGroup": traffic.group,
        "process": traffic.process,
    }
    found: dict[str, Any] = {key: value for key, value in optional.items() if value}
    return {**found, "sources": list(traffic.sources), "destinations": list(traffic.destinations)}


def _snapshots(network: Network) -> Iterator[dict[str, Any]]:
    """Snapshots after the first give only the tables that differ from the one before."""
    before: Snapshot | None = None
    for snapshot in network.snapshots:
        found: dict[str, Any] = {"name": snapshot.name}
        tables = snapshot.tables
        if before is not None and set(before.tables) <= set(tables):
            found["basedOn"] = "previous"
            tables = {node: table for node, table in tables.items() if before.tables.get(node) != table}
        found["tables"] = {node: [_rule(rule) for rule in table] for node, table in tables.items()}
        if snapshot.down:
            found["down"] = sorted(sorted(link) for link in snapshot.down)
        if snapshot.events:
            found["events"] = [_event(event) for event in snapshot.events]
        yield found
        before = snapshot


def _event(event: Event) -> dict[str, str]:
    found = {"process": event.process, "event": event.kind}
    return {**found, "resource": event.resource} if event.resource else found


def _rule(rule: Rule) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if rule.match != Match():
        found["match"] = _match(rule.match)
    found |= _action(rule)
    for key, value, default in (("priority", rule.priority, 0), ("metric", rule.metric, 1), ("queue", rule.queue, "")):
        if value != default:
            found[key] = value
    return found


def _action(rule: Rule) -> dict[str, Any]:
    if rule.is_drop:
        return {"drop": True}
    return {"forward": rule.to[0]} if len(rule.to) == 1 else {"multipath": list(rule.to)}


def _match(match: Match) -> dict[str, str]:
    found = {key: getattr(match, name) for name, key in _MATCH.items()} | {"priorityGroup": match.group}
    return {key: value for key, value in found.items() if value != ANY}


def _is_flat(value: Any) -> bool:
    """True for what is written on one line: a rule, a link, a list of names."""
    if isinstance(value, dict):
        return all(_is_flat(inner) for inner in value.values())
    return not isinstance(value, list) or all(isinstance(inner, str) for inner in value)


def _json(value: Any, depth: int) -> Iterator[str]:
    if _is_flat(value):
        yield json.dumps(value, ensure_ascii=False)
        return
    pad = " " * (2 * depth + 2)
    items = list(value.items()) if isinstance(value, dict) else [(None, inner) for inner in value]
    yield "{" if isinstance(value, dict) else "["
    for place, (key, inner) in enumerate(items):
        yield f"{',' if place else ''}\n{pad}"
        if key is not None:
            yield f"{json.dumps(key)}: "
        yield from _json(inner, depth + 1)
    yield "\n" + " " * (2 * depth) + ("}" if isinstance(value, dict) else "]")


def _yaml(value: Any, depth: int) -> Iterator[str]:
    pad = "  " * depth
    pairs = value.items() if isinstance(value, dict) else ((None, inner) for inner in value)
    for key, inner in pairs:
        head = f"{pad}{_word(key)}:" if key is not None else f"{pad}-"
        if _is_flat(inner):
            yield f"{head} {_flow(inner)}\n"
        else:
            yield f"{head}\n"
            yield from _yaml(inner, depth + 1)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_word(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(inner) for inner in value) + "]"
    return _word(value) if isinstance(value, str) else json.dumps(value)


def _word(text: str) -> str:
    """Plain where every reader takes it for text, otherwise as in JSON, which YAML includes."""
    is_plain = _PLAIN.fullmatch(text) is not None and kind_of(text) is ScalarKind.STRING
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def to_xml(network: Network, properties: tuple[dict[str, Any], ...] = ()) -> str:
    """The network as XML."""
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *_xml(network, properties), ""])


def _xml(network: Network, properties: tuple[dict[str, Any], ...]) -> Iterator[str]:
    document = _document(network, properties)["spec"]
    yield f"<network{_attributes({'name': network.name})}>"
    for node in network.nodes:
        yield f"  <node{_attributes({'name': node.name, 'address': node.address})}/>"
    for one, other in document["links"]:
        yield f"  <link{_attributes({'from': one, 'to': other})}/>"
    for traffic in document["traffic"]:
        yield f"  <traffic{_attributes(traffic)}/>"
    for snapshot in document["snapshots"]:
        yield from _xml_snapshot(snapshot)
    for entry in document.get("properties", ()):
        for key, fields in entry.items():
            yield f"  <property{_attributes({'name': key, **fields})}/>"
    yield "</network>"


def _xml_snapshot(snapshot: dict[str, Any]) -> Iterator[str]:
    yield f"  <snapshot{_attributes({key: snapshot.get(key, '') for key in ('name', 'basedOn')})}>"
    for node, table in snapshot["tables"].items():
        yield f"    <table{_attributes({'node': node})}>"
        for rule in table:
            yield from _xml_rule(rule)
        yield "    </table>"
    for one, other in snapshot.get("down", ()):
        yield f"    <down{_attributes({'from': one, 'to': other})}/>"
    for event in snapshot.get("events", ()):
        yield f"    <event{_attributes(event)}/>"
    yield "  </snapshot>"


def _xml_rule(rule: dict[str, Any]) -> Iterator[str]:
    yield f"      <rule{_attributes({key: rule[key] for key in ('priority', 'metric', 'queue') if key in rule})}>"
    if "match" in rule:
        yield f"        <match{_attributes(rule['match'])}/>"
    if "drop" in rule:
        yield "        <drop/>"
    for key in ("forward", "multipath"):
        if key in rule:
            yield f"        <{key}{_attributes({'to': rule[key]})}/>"
    yield "      </rule>"


def _attributes(values: dict[str, Any]) -> str:
    texts = {key: " ".join(value) if isinstance(value, list) else str(value) for key, value in values.items()}
    return "".join(f" {key}={quoteattr(text)}" for key, text in texts.items() if text != "")
