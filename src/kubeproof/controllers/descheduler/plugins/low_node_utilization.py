"""LowNodeUtilization: moves pods from overutilized to underutilized nodes, both judged by requests."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kubeproof.controllers.descheduler.ledger import Ledger
from kubeproof.controllers.descheduler.plugins.utilization import (
    BASIC,
    PERCENT_SINCE,
    EvictionRun,
    Sources,
    Thresholds,
    amount_of,
    capacity,
    percentages,
    resource_names,
    usage,
)
from kubeproof.controllers.descheduler.protocol import Context

NAME = "LowNodeUtilization"
ARGUMENTS = frozenset(
    {
        "thresholds",
        "targetThresholds",
        "numberOfNodes",
        "useDeviationThresholds",
        "evictableNamespaces",
        "evictionLimits",
    }
)


class LowNodeUtilization:
    """Classifies nodes and hands the overutilized ones to the run."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._scene = context.scene
        self._low = context.arguments.percentages("thresholds")
        self._high = context.arguments.percentages("targetThresholds")
        self._deviation = context.arguments.flag("useDeviationThresholds")
        self._names = resource_names(self._low)
        self._by_percent = self._scene.version >= PERCENT_SINCE

    def run(self, ledger: Ledger) -> frozenset[Ledger]:
        """All ledgers after the plugin."""
        under, over, reason = self._classify()
        if reason:
            return frozenset({ledger})
        down_to = {entry: self._target(entry) for entry in (*under, *over)}
        budget = dict.fromkeys(self._names, 0)
        for entry in under:
            used = usage(self._scene, entry, self._names)
            for name in self._names:
                budget[name] += (down_to[entry][name] - used[name]) * self._scene.entries[entry].count
        per_node = self._context.arguments.open_nested("evictionLimits").number("node") if self._by_percent else None
        sources = Sources(
            entries=over,
            destinations=under,
            emptiest_first=False,
            down_to=down_to,
            budget=budget,
            per_node=per_node,
            only_requesting=(),
        )
        return EvictionRun(self._context, sources, self._names).run(ledger)

    def _classify(self) -> tuple[tuple[int, ...], tuple[int, ...], str]:
        """Underutilized and overutilized entries, and why nothing is done with them, if so."""
        scene = self._scene
        under = tuple(e for e in scene.ready if not scene.entries[e].unschedulable and self._is_under(e))
        over = tuple(e for e in scene.ready if e not in under and self._is_over(e))
        number = scene.node_count(under)
        if number == 0:
            return under, over, "no node is underutilized"
        if number <= (self._context.arguments.number("numberOfNodes") or 0):
            return under, over, f"only {number} nodes are underutilized"
        if number == scene.node_count(scene.ready):
            return under, over, "all nodes are underutilized"
        return under, over, "" if over else "no node is overutilized"

    def _is_under(self, entry: int) -> bool:
        """Every resource is at or below its lower threshold."""
        if self._by_percent:
            used = percentages(self._scene, entry, tuple(self._low))
            return all(used[name] <= limit for name, limit in self._limits(self._low, -1).items())
        amounts = usage(self._scene, entry, self._names)
        limits = self._amounts(entry, self._low, -1)
        return all(amounts[name] <= limits[name] for name in self._names)

    def _is_over(self, entry: int) -> bool:
        """Some resource is above its target threshold."""
        if self._by_percent:
            used = percentages(self._scene, entry, tuple(self._high))
            return any(used[name] > limit for name, limit in self._limits(self._high, 1).items())
        amounts = usage(self._scene, entry, self._names)
        target = self._target(entry)
        return any(amounts[name] > target[name] for name in self._names)

    def _target(self, entry: int) -> dict[str, int]:
        """The amounts down to which a node is relieved, and up to which one is filled."""
        return self._amounts(entry, self._high, 1)

    def _amounts(self, entry: int, thresholds: Thresholds, sign: int) -> dict[str, int]:
        """Thresholds as amounts; a resource without one counts with all there is."""
        offered = capacity(self._scene, entry)
        limits = self._limits(thresholds, sign)
        return {
            name: amount_of(limits[name], offered.get(name, 0)) if name in limits else offered.get(name, 0)
            for name in self._names
        }

    def _limits(self, thresholds: Thresholds, sign: int) -> dict[str, float]:
        """Thresholds in percent: as given, or as deviations from the average, within 0 and 100."""
        if not self._deviation:
            return dict(thresholds)
        if not self._by_percent:  # a lower threshold of 0 stands for "not given"
            thresholds = {name: percent for name, percent in thresholds.items() if self._low.get(name)}
        return {n: _clamp(self._average(n) + sign * percent) for n, percent in thresholds.items()}

    def _average(self, name: str) -> float:
        """Usage in percent over the ready nodes.

        Since 0.33 nodes that do not know the resource are left out; before, one of them makes the average "not a
        number", so that no node is underutilized.
        """
        total, nodes = 0.0, 0
        for entry in self._scene.ready:
            offered = capacity(self._scene, entry)
            if name in offered or not self._by_percent:
                count = self._scene.entries[entry].count
                total += self._percentage(entry, name) * count
                nodes += count
        return total / nodes if nodes else 0.0

    def _percentage(self, entry: int, name: str) -> float:
        if self._by_percent or capacity(self._scene, entry).get(name):
            return percentages(self._scene, entry, (name,))[name]
        return math.inf if usage(self._scene, entry, (name,))[name] else math.nan

    def explain(self, ledger: Ledger) -> Iterator[str]:
        """Usage and class of every node."""
        under, over, reason = self._classify()
        for entry in self._scene.ready:
            kind = "underutilized" if entry in under else "overutilized" if entry in over else "in between"
            used = percentages(self._scene, entry, BASIC)
            text = ", ".join(f"{name} {used[name]:.4g} %" for name in BASIC)
            yield f"{NAME}: node {self._scene.entries[entry].node.name} is {kind}: {text}"
        if reason:
            yield f"{NAME}: nothing to do: {reason}"


def build(context: Context) -> LowNodeUtilization:
    """The plugin with its arguments."""
    return LowNodeUtilization(context)


def _clamp(percent: float) -> float:
    """Within 0 and 100; "not a number" stays."""
    return 100.0 if percent > 100 else 0.0 if percent < 0 else percent
