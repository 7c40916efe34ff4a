"""RemovePodsViolatingNodeAffinity: pods whose node no longer suits their node affinity, one pass per type."""

from __future__ import annotations

from kubeproof.cluster.api import versions
from kubeproof.controllers.descheduler.plugins.rules import RulePlugin, Verdict
from kubeproof.controllers.descheduler.protocol import Context
from kubeproof.controllers.descheduler.scene import Scene
from kubeproof.controllers.descheduler.values import PodGroup

NAME = "RemovePodsViolatingNodeAffinity"
ARGUMENTS = frozenset({"namespaces", "labelSelector", "nodeAffinityType"})
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

SINCE_28 = versions.PREFERRED_AFFINITY.since


def build(context: Context) -> RulePlugin:
    """The plugin for the configured affinity types; upstream only logs a type it does not know."""
    verdicts = {REQUIRED: _judge_required(context.scene)}
    if context.scene.version >= SINCE_28:
        verdicts[PREFERRED] = _judge_preferred(context.scene)
    types = context.arguments.texts("nodeAffinityType")
    return RulePlugin(NAME, context, tuple(verdicts[name] for name in types if name in verdicts))


def _judge_required(scene: Scene) -> Verdict:
    """The pod has required affinity, its node fails it, and some ready node fits."""

    def verdict(group: PodGroup, entry: int) -> str:
        if scene.template(group.workload).required_terms is None:
            return ""
        suits = scene.matches_node if scene.version >= SINCE_28 else scene.lets_in
        if suits(group.workload, entry) or not scene.fits_any(group.workload, entry, scene.ready):
            return ""
        return "the node no longer satisfies the required node affinity, and some node does"

    return verdict


def _judge_preferred(scene: Scene) -> Verdict:
    """Some ready node has more preferred weight, and any node, the own one included, fits the pod."""

    def weight(group: PodGroup, entry: int) -> int:
        node = scene.entries[entry].node
        terms = scene.template(group.workload).preferred_terms
        return sum(term.weight for term in terms if term.term.matches(node.label_map, node.name))

    def verdict(group: PodGroup, entry: int) -> str:
        if not scene.template(group.workload).preferred_terms:
            return ""
        here = weight(group, entry)
        best, where = max((weight(group, other), -other) for other in scene.ready)
        if best <= max(here, 0) or not scene.fits_any(group.workload, entry, scene.ready):
            return ""
        better = scene.entries[-where].node.name
        full = "" if scene.fits(group.workload, -where) else ", although the pod does not fit there"
        return f"preferred weight is {here} here and {best} on {better}{full}"

    return verdict
