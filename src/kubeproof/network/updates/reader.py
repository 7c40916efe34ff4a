"""Reads a stream of updates: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kubeproof.cluster.objects import Source
from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.manifests.yaml.fields import Fields, Log
from kubeproof.manifests.yaml.tree import Entry, Mapping, Scalar, Sequence, Value
from kubeproof.network.files.rules import RuleReader
from kubeproof.network.model import Network
from kubeproof.network.updates.incremental import Update

VERBS = ("add", "remove", "down", "up")
MOST_CHARACTERS = 100_000  # of a line
MOST_DEPTH = 20


def read_updates(lines: Iterable[str], file: str, network: Network) -> Iterator[Update]:
    """The updates; a line that is none raises an error with its place."""
    log = Log(file, "update")
    rules = RuleReader(network.addresses, log)
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _read(_parse(line, file, number), number, log, rules, network)


def _parse(line: str, file: str, number: int) -> Mapping:
    if len(line) > MOST_CHARACTERS:
        problem = f"a line of more than {MOST_CHARACTERS:,} characters"
        raise HostileInputError(problem, file=file, line=number, remedy="Write one update a line")
    try:
        value = json.loads(line, parse_constant=str)
    except (ValueError, RecursionError):
        raise ManifestError("no JSON", file=file, line=number, remedy="Write one JSON object a line") from None
    tree = _tree(value, number, MOST_DEPTH)
    if not isinstance(tree, Mapping):
        raise ManifestError("no update", file=file, line=number, remedy=f"Write one of {', '.join(VERBS)}")
    return tree


def _tree(value: Any, line: int, depth: int) -> Value | None:
    """The value as the tree that manifests are read into; None beyond the depth."""
    if depth == 0:
        return None
    if isinstance(value, dict):
        items = {str(key): _tree(inner, line, depth - 1) for key, inner in value.items()}
        return Mapping({key: Entry(inner, line, 1) for key, inner in items.items() if inner is not None}, line, 1)
    if isinstance(value, list):
        inner = (_tree(one, line, depth - 1) for one in value)
        return Sequence(tuple(one for one in inner if one is not None), line, 1)
    if value is None or isinstance(value, bool):
        return Scalar(json.dumps(value), True, line, 1)
    return Scalar(str(value), not isinstance(value, str), line, 1)


def _read(tree: Mapping, number: int, log: Log, rules: RuleReader, network: Network) -> Update:
    fields = Fields(tree, "", log)
    verbs = [verb for verb in VERBS if fields.has(verb)]
    if len(verbs) != 1:
        log.fail(f"{len(verbs)} verbs", line=number, remedy=f"Write one of {', '.join(VERBS)}")
    verb, source = verbs[0], Source(log.file, number)
    if verb in ("down", "up"):
        value = fields.value(verb)
        assert value is not None
        fields.finish_strictly(*VERBS)
        link = rules.read_link(fields, verb, value)
        if link not in network.links:
            fields.fail(verb, "is no link", remedy="Name the two ends of a link of the network")
        return Update(verb, link=link, source=source)
    inner = fields.require_child(verb)
    fields.finish_strictly(*VERBS)
    node = rules.check_known(inner.require_text("node"), number)
    rule = rules.read_rule(inner.require_child("rule"), node, network.links)
    inner.finish_strictly("node", "rule")
    return Update(verb, node, replace(rule, source=source), source=source)
