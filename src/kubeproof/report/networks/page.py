"""The page of a network: it is drawn, with paths and where they break, and who may talk to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubeproof import __version__
from kubeproof.report.html.offline import offline_page
from kubeproof.report.network import as_text, example_text, meaning_of

if TYPE_CHECKING:
    from kubeproof.network.result import Counterexample, NetworkResult

SCRIPTS = ("dom.js", "theme.js", "frame.js", "network.js")
STYLES = ("base.css", "network.css")
MOST_DRAWN = 600  # nodes; of larger networks only what is on paths and beside them


def network_page(values: dict[str, Any], text: str) -> str:
    """The page of some values; `text` is the same for readers without scripts."""
    title = f"{values['headline']}: {values['what']}"
    return offline_page(title, {"program": __version__} | values, scripts=SCRIPTS, styles=STYLES, text=text)


def verify_page(result: NetworkResult) -> str:
    """The answers about a network file or manifests, with the network drawn."""
    shown = [(one.name, example) for one in result.results for example in one.counterexamples]
    shown += [("goes round", loop) for loop in result.loops]
    values = {
        "verdict": result.verdict,
        "headline": result.verdict,
        "what": result.network,
        "properties": [
            {
                "name": one.name,
                "verdict": one.verdict,
                "meaning": meaning_of(one),
                "lines": [f"{step.process} {step.event.kind}: {step.part}" for step in one.steps],
                "reasons": list(one.reasons),
            }
            for one in result.results
        ],
        "drawing": _drawing(result, [(name, example) for name, example in shown]),
        "matrix": None,
        "changes": [],
        "compared": False,
        "notes": list(result.notes),
    }
    return network_page(values, as_text(result))


def _drawing(result: NetworkResult, shown: list[tuple[str, Counterexample]]) -> dict[str, Any]:
    names, links = result.nodes, result.links
    on_paths = {node for _, example in shown for node in example.nodes}
    if len(names) > MOST_DRAWN:
        beside = {end for link in links if on_paths & set(link) for end in link}
        names = tuple(name for name in names if name in on_paths | beside)[:MOST_DRAWN]
    place = {name: number for number, name in enumerate(names)}
    layers = _layers(names, links, result.ends)
    return {
        "form": "layers",
        "nodes": [{"name": name, "layer": layers[name], "group": ""} for name in names],
        "links": [[place[one], place[other]] for one, other in links if one in place and other in place],
        "arrows": [],
        "paths": [_path(name, example, place) for name, example in shown],
        "left": len(result.nodes) - len(names),
    }


def _path(name: str, example: Counterexample, place: dict[str, int]) -> dict[str, Any]:
    where = f", {example.snapshot_name}" if example.snapshot_name else ""
    return {
        "name": f"{name}: {example.source} to {example.destination}{where}",
        "nodes": [place[node] for node in example.nodes if node in place],
        "loop": example.loop_start,
        "ending": "is possible" if example.part == "witness" else example.how,
        "isGood": example.part == "witness",
        "lines": list(example_text(example)),
    }


def _layers(names: tuple[str, ...], links: tuple[tuple[str, str], ...], ends: frozenset[str]) -> dict[str, int]:
    """How far each node is from the nearest end of traffic; nodes that no link leads to come last."""
    beside: dict[str, list[str]] = {name: [] for name in names}
    for one, other in links:
        if one in beside and other in beside:
            beside[one].append(other)
            beside[other].append(one)
    found = {name: 0 for name in names if name in ends} or {names[0]: 0} if names else {}
    queue = list(found)
    for name in queue:
        for other in beside[name]:
            if other not in found:
                found[other] = found[name] + 1
                queue.append(other)
    last = max(found.values(), default=0) + 1
    return {name: found.get(name, last) for name in names}
