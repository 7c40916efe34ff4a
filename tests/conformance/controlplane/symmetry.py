"""Renamings of nodes that leave a case as it is: a real run may use any of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import yaml

from kubeproof.cases.library import load_case

Renaming = tuple[tuple[str, str], ...]  # name in the real run -> name in the case


@cache
def renamings(case: str) -> tuple[Renaming, ...]:
    """Every renaming of nodes under which the manifests mean the same, the identity first."""
    documents = [document for path in load_case(case) for document in _documents(path)]
    nodes = [document for document in documents if document["kind"] == "Node"]
    others = [document for document in documents if document["kind"] not in ("Node", "Scenario")]
    names = [node["metadata"]["name"] for node in nodes]
    return tuple(
        tuple(zip(names, image, strict=True))
        for image in permutations(names)
        if _means_the_same(dict(zip(names, image, strict=True)), nodes, others)
    )


def _documents(path: str) -> Iterator[dict[str, Any]]:
    for document in yaml.safe_load_all(Path(path).read_text(encoding="utf-8")):
        if document:
            yield document


def _means_the_same(image: dict[str, str], nodes: list[dict[str, Any]], others: list[dict[str, Any]]) -> bool:
    by_name = {node["metadata"]["name"]: node for node in nodes}
    named = {text for other in others if other["kind"] != "Pod" for text in _texts(other)}
    values: dict[tuple[str, str], str] = {}
    for name, other in image.items():
        if name != other and name in named:
            return False
        if _bare(by_name[name]) != _bare(by_name[other]) or _load(name, others) != _load(other, others):
            return False
        for key, value in by_name[name]["metadata"]["labels"].items():
            renamed = by_name[other]["metadata"]["labels"].get(key)
            if values.setdefault((key, value), renamed) != renamed or (value in named and value != renamed):
                return False
    return len(set(values.values())) == len(values)


def _bare(node: dict[str, Any]) -> dict[str, Any]:
    """The node without its names: labels by key alone."""
    return {"keys": sorted(node["metadata"]["labels"]), "spec": node.get("spec"), "status": node["status"]}


def _load(name: str, others: list[dict[str, Any]]) -> list[Any]:
    """What runs on the node from the start."""
    return [
        other["spec"]["containers"] for other in others if other["kind"] == "Pod" and other["spec"]["nodeName"] == name
    ]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    else:
        yield str(value)
