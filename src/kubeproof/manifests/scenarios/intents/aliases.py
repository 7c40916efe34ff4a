"""Kivi's names for intents (USENIX ATC'24), read into ours.

no_feasible_node is schedulable, kernel_panic is noEviction by kernelPanic, checkOscillationReplicaNum is noOscillation
of replicas, checkMinReplicas and checkExpReplicas are minReplicas, checkEvictionCycle is noEvictionLoop, and
checkBalanceNode is maxSkew over nodes. Kivi's own parameter names are taken, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kubeproof.cluster.objects import HOSTNAME
from kubeproof.intents.declarations import BY_KERNEL_PANIC, Amount, Intent
from kubeproof.manifests.scenarios.events.fields import Surroundings
from kubeproof.manifests.yaml.fields import Fields

_DEFAULT_SKEW = 2  # Kivi's own default


def _min_replicas(fields: Fields, intent: Intent) -> Intent:
    """The count comes from the workload unless it is given."""
    count = fields.integer("count")
    return replace(intent, count=None if count is None else Amount(count))


def _fill_expected_replicas(fields: Fields, intent: Intent) -> Intent:
    count = fields.integer("expReplicas")
    count = fields.integer("count") if count is None else count
    if count is None:
        fields.fail("expReplicas", "is required", remedy="Write a number of pods")
    return replace(intent, count=Amount(count))


def _balance(fields: Fields, intent: Intent) -> Intent:
    skew = fields.integer("maxSkew")
    return replace(intent, topology_key=HOSTNAME, skew=_DEFAULT_SKEW if skew is None else skew)


def _panic(fields: Fields, intent: Intent) -> Intent:
    return replace(intent, by=BY_KERNEL_PANIC)


def _oscillation(fields: Fields, intent: Intent) -> Intent:
    return replace(intent, of="replicas")


ALIAS_READERS: dict[str, Callable[[Fields, Intent], Intent]] = {
    "checkMinReplicas": _min_replicas,
    "checkExpReplicas": _fill_expected_replicas,
    "checkBalanceNode": _balance,
    "kernel_panic": _panic,
    "checkOscillationReplicaNum": _oscillation,
    "checkOscillation": _oscillation,
}


def fill(fields: Fields, name: str, intent: Intent, around: Surroundings) -> Intent:
    """The intent of one workload with what its alias leaves to the input: the autoscaler's minimum, or replicas."""
    if name != "checkMinReplicas" or intent.count is not None:
        return intent
    for autoscaler in around.autoscalers:
        if autoscaler.target == intent.target:
            return replace(intent, count=Amount(autoscaler.min_replicas))
    workload = next(workload for workload in around.workloads if workload.ref == intent.target)
    return replace(intent, count=Amount(workload.replicas))
