"""Which violations of one intent differ: by who does what in the loop, or in the last step before it is broken."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from kubeproof.cluster.loops.actions import NodeChange
from kubeproof.cluster.loops.control import Decision
from kubeproof.engine.search import Finding, Search
from kubeproof.engine.system import Check, Step
from kubeproof.model.grouped import GroupedSystem

MOST = 50  # violations of one intent that are told


def distinct(system: GroupedSystem, search: Search, check: Check) -> Iterator[Finding]:
    """The violations of a check, one of each kind, in the order of the search."""
    seen: set[Hashable] = set()
    for finding in search.every_finding(check, lambda actor: system.actors[actor].name):
        kind = _kind(system, search, finding)
        if kind not in seen:
            seen.add(kind)
            yield finding
        if len(seen) >= MOST:
            return


def _kind(system: GroupedSystem, search: Search, finding: Finding) -> Hashable:
    if finding.lasso is not None:
        return frozenset(_deed(system, step) for step in finding.lasso.steps)
    if finding.last is not None:
        return _deed(system, finding.last)
    path = search.way_of(finding)
    return _deed(system, path[-1][1]) if path else None


def _deed(system: GroupedSystem, step: Step) -> tuple[str, tuple[str, ...]]:
    """Who acts, and with which kinds of action."""
    decision = step.effect.label
    actions = decision.actions if isinstance(decision, Decision) else ()
    verbs = tuple(a.verb if isinstance(a, NodeChange) else type(a).__name__ for a in actions)
    return system.actors[step.actor].name, verbs
