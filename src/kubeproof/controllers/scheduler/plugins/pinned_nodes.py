"""PreFilter results: the nodes that a pod names are the only ones that any filter looks at.

Mirrors the PreFilter of `plugins/nodeaffinity` (terms over `metadata.name`), since 1.37 also that of
`plugins/nodename`, and how `framework/runtime` joins their results.
"""

from __future__ import annotations

from kubeproof.cluster.api import versions
from kubeproof.cluster.labels import NodeTerm
from kubeproof.cluster.steering.profiles import NODE_AFFINITY
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import NodeView, Rejection, of_nodes
from kubeproof.named_tuples import NamedTuple

NODE_NAME = "NodeName"
CONFLICT = Rejection("pod affinity terms conflict", unresolvable=True)

NAMES_LEFT_OUT_SINCE = versions.NAMES_LEFT_OUT.since
NO_PREEMPTION_THERE_SINCE = versions.NO_PREEMPTION_THERE.since
ONE_TERM_MAY_CONFLICT_SINCE = versions.ONE_TERM_MAY_CONFLICT.since
MAY_NAME_MISSING_NODES_SINCE = versions.MAY_NAME_MISSING_NODES.since
NODE_NAME_PINS_SINCE = versions.NODE_NAME_PINS.since


class Pinned(NamedTuple):
    """What PreFilter leaves: the filter that says so under a plugin's name, and the nodes that must exist."""

    plugin: str
    filter: PinnedNodes
    must_exist: frozenset[str]  # nothing is scheduled if one of them is not there


class PinnedNodes:
    """Refuses every node but the named ones, before any filter looks at it."""

    def __init__(self, names: frozenset[str], rejection: Rejection) -> None:
        self._names = names
        self._rejection = rejection

    def reject(self, view: NodeView) -> Rejection | None:
        return None if view.node.name in self._names else self._rejection


def pin(pod: IncomingPod) -> Pinned | None:
    """The nodes that the pod names, or None if it names none."""
    by_plugin = _names_by_plugin(pod)
    if not by_plugin:
        return None
    plugin = next(iter(by_plugin))
    names = frozenset.intersection(*by_plugin.values())
    if not by_plugin.get(NODE_AFFINITY, names):
        return Pinned(NODE_AFFINITY, PinnedNodes(frozenset(), CONFLICT), frozenset())
    must_exist = names if pod.version < MAY_NAME_MISSING_NODES_SINCE else frozenset()
    return Pinned(plugin, PinnedNodes(names, _reject_left_out(pod, sorted(by_plugin), names)), must_exist)


def _names_by_plugin(pod: IncomingPod) -> dict[str, frozenset[str]]:
    found = {}
    terms = pod.template.required_terms
    if terms and NODE_AFFINITY not in pod.profile.disabled:
        names = _find_named_by_terms(terms, every_term=pod.version < ONE_TERM_MAY_CONFLICT_SINCE)
        if names is not None:
            found[NODE_AFFINITY] = names
    node_name = pod.template.node_name
    if node_name and NODE_NAME not in pod.profile.disabled and pod.version >= NODE_NAME_PINS_SINCE:
        found[NODE_NAME] = frozenset({node_name})
    return found


def _reject_left_out(pod: IncomingPod, plugins: list[str], names: frozenset[str]) -> Rejection:
    """The framework's words about nodes that no filter looked at."""
    if pod.version < NAMES_LEFT_OUT_SINCE:
        return Rejection("", unresolvable=pod.version >= NO_PREEMPTION_THERE_SINCE)
    contradiction = "" if names else " simultaneously"
    return of_nodes(f"didn't satisfy plugin(s) [{' '.join(plugins)}]{contradiction}", unresolvable=True)


def _find_named_by_terms(terms: tuple[NodeTerm, ...], *, every_term: bool) -> frozenset[str] | None:
    """The names that the terms pin together, none if they contradict; None unless every term pins some.

    `every_term`: one contradictory term makes the names empty.
    """
    names: frozenset[str] = frozenset()
    for term in terms:
        pinned = _find_named(term)
        if pinned is None:
            return None
        if every_term and not pinned:
            return frozenset()
        names |= pinned
    return names


def _find_named(term: NodeTerm) -> frozenset[str] | None:
    """The names that all `metadata.name In` fields of a term share, or None if it has no such field."""
    pinned: frozenset[str] | None = None
    for field in term.fields:
        if field.key == "metadata.name" and field.operator == "In":
            values = frozenset(field.values)
            pinned = values if pinned is None else pinned & values
    return pinned
