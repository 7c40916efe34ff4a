"""HighNodeUtilization: empties underutilized nodes, meant for bin packing together with a cluster autoscaler."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.controllers.descheduler.ledger import Ledger
from kubeproof.controllers.descheduler.plugins.utilization import (
    BASIC,
    PERCENT_SINCE,
    EvictionRun,
    Sources,
    amount_of,
    capacity,
    percentages,
    resource_names,
    usage,
)
from kubeproof.controllers.descheduler.protocol import Context

NAME = "HighNodeUtilization"
ARGUMENTS = frozenset({"thresholds", "numberOfNodes", "evictableNamespaces", "evictionModes"})
ONLY_THRESHOLDING = "OnlyThresholdingResources"


class HighNodeUtilization:
    """Empties the emptiest nodes first, while the other schedulable nodes have room in all."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._scene = context.scene
        self._thresholds = context.arguments.percentages("thresholds")
        self._names = resource_names(self._thresholds)
        self._by_percent = self._scene.version >= PERCENT_SINCE

    def run(self, ledger: Ledger) -> frozenset[Ledger]:
        """All ledgers after the plugin."""
        sources, others, reason = self._classify()
        if reason:
            return frozenset({ledger})
        budget = dict.fromkeys(self._names, 0)
        for entry in others:
            offered, used = capacity(self._scene, entry), usage(self._scene, entry, self._names)
            for name in self._names:
                budget[name] += (offered.get(name, 0) - used[name]) * self._scene.entries[entry].count
        modes = self._context.arguments.texts("evictionModes") if self._by_percent else ()
        chosen = Sources(
            entries=sources,
            destinations=others,
            emptiest_first=True,
            down_to=None,
            budget=budget,
            per_node=None,
            only_requesting=tuple(self._thresholds) if ONLY_THRESHOLDING in modes else (),
        )
        return EvictionRun(self._context, chosen, self._names).run(ledger)

    def _classify(self) -> tuple[tuple[int, ...], tuple[int, ...], str]:
        """Underutilized entries, the other schedulable ones, and why nothing is done with them, if so."""
        scene = self._scene
        low = tuple(entry for entry in scene.ready if self._is_under(entry))
        others = tuple(e for e in scene.ready if e not in low and not scene.entries[e].unschedulable)
        number = scene.node_count(low)
        if number == 0:
            return low, others, "no node is underutilized"
        if number <= (self._context.arguments.number("numberOfNodes") or 0):
            return low, others, f"only {number} nodes are underutilized"
        if number == scene.node_count(scene.ready):
            return low, others, "all nodes are underutilized"
        return low, others, "" if others else "no node is left to take the pods"

    def _is_under(self, entry: int) -> bool:
        """Every resource is at or below its threshold; before 0.33 none may exceed what is allocatable either."""
        if self._by_percent:
            used = percentages(self._scene, entry, tuple(self._thresholds))
            return all(used[name] <= limit for name, limit in self._thresholds.items())
        offered, amounts = capacity(self._scene, entry), usage(self._scene, entry, self._names)
        return all(
            amounts[name] <= amount_of(self._thresholds.get(name, 100.0), offered.get(name, 0)) for name in self._names
        )

    def explain(self, ledger: Ledger) -> Iterator[str]:
        """Usage and class of every node."""
        low, others, reason = self._classify()
        for entry in self._scene.ready:
            kind = "underutilized" if entry in low else "a destination" if entry in others else "cordoned"
            used = percentages(self._scene, entry, BASIC)
            text = ", ".join(f"{name} {used[name]:.4g} %" for name in BASIC)
            yield f"{NAME}: node {self._scene.entries[entry].node.name} is {kind}: {text}"
        if reason:
            yield f"{NAME}: nothing to do: {reason}"


def build(context: Context) -> HighNodeUtilization:
    """The plugin with its arguments."""
    return HighNodeUtilization(context)
