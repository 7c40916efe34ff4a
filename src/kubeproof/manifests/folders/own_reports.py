"""Files that we wrote ourselves: reports and baselines that lie among manifests, as `-o json=FILE` puts them there."""

from __future__ import annotations

import re
from collections.abc import Iterator

WHAT, WHY = "a report of kubeproof", "left out, it holds no manifests"
# Keys that documents of ours have at their root, and no object of Kubernetes has.
_ROOTS = (
    {"version", "verdict", "results"},  # verify, quantify cluster, network
    {"version", "verdict", "intents", "series"},  # simulate
    {"version", "variants"},  # simulate --vary, quantify compare
    {"version", "verdict", "models"},  # quantify
    {"version", "verdict", "trace"},  # replay
    {"version", "counts", "changes"},  # diff
    {"version", "findings"},  # a baseline
    {"experiment", "interval_s", "services"},  # simulate --experiment
    {"$schema", "version", "runs"},  # SARIF
    {"#meta", "vars", "states"},  # ITF
)
_OF_OBJECTS = {"apiVersion", "kind"}
# A string, a bracket, or all that stands between those. Nothing is tried twice, so that no text takes long.
_TOKEN = rb'("(?:[^"\\]++|\\.)*+")|([{\[])|([}\]])|(?:[-+.eE0-9,:\s]++|true|false|null)++'


def is_report(content: bytes, most_tokens: int) -> bool:
    """True for a document of ours. Never for one that a cluster would take: that must not be hidden from us."""
    try:
        keys = set(_root_keys(content, most_tokens))
    except ValueError:
        return False
    return not keys & _OF_OBJECTS and any(root <= keys for root in _ROOTS)


def _root_keys(content: bytes, most_tokens: int) -> Iterator[str]:
    """The keys of the one object that is the whole content; ValueError if it is something else than one of JSON.

    Nothing is built from what is inside, however much that is.
    """
    import json

    tokens, is_key = re.compile(_TOKEN, re.DOTALL), re.compile(rb"\s*+:")  # compiled when there is such a file
    depth = at = 0
    for _ in range(most_tokens):
        token = tokens.match(content, at)
        if token is None or (depth == 0 and at > 0 and token[0].strip()):
            raise ValueError("not JSON, or more than one document")
        at = token.end()
        depth += bool(token[2]) - bool(token[3])
        if token[1] and depth == 1 and is_key.match(content, at):
            yield json.loads(token[1])
        if at == len(content):
            break
    if depth or at < len(content):
        raise ValueError("it does not end")
