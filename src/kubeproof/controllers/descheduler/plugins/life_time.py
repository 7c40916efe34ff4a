"""PodLifeTime: pods older than a limit, the oldest first, over all nodes."""

from __future__ import annotations

from kubeproof.controllers.descheduler.plugins.rules import RulePlugin
from kubeproof.controllers.descheduler.protocol import Context
from kubeproof.controllers.descheduler.values import PodGroup

NAME = "PodLifeTime"
ARGUMENTS = frozenset({"namespaces", "labelSelector", "maxPodLifeTimeSeconds", "states"})
PHASES = frozenset({"Running", "Pending", "Failed", "Succeeded", "Unknown"})


def _phase(group: PodGroup) -> str:
    return "Failed" if group.failed else "Pending" if group.pending else "Running"


def build(context: Context) -> RulePlugin:
    """The plugin; of `states` phases of pods are known, reasons and states of containers are not modelled."""
    limit = context.arguments.number("maxPodLifeTimeSeconds")
    states = context.arguments.texts("states")

    def verdict(group: PodGroup, entry: int) -> str:
        if states and _phase(group) not in states:
            return ""
        if limit is None:
            return f"state is one of {', '.join(states)}" if states else ""
        if group.age_s is None or group.age_s <= limit:
            return ""
        return f"age {group.age_s} s is over {limit} s"

    def oldest_first(group: PodGroup) -> int:
        return -(group.age_s or 0)

    return RulePlugin(NAME, context, (verdict,), order=oldest_first, everywhere=True, keeps_failed=False)
