"""What a scheduler profile leaves of the rules by which nodes refuse pods."""

from __future__ import annotations

from kubeproof.cluster.objects import PodTemplate, Setup

NODE_AFFINITY = "NodeAffinity"
NODE_UNSCHEDULABLE = "NodeUnschedulable"
TAINT_TOLERATION = "TaintToleration"


def is_switched_on(setup: Setup, template: PodTemplate, plugin: str) -> bool:
    """True unless the profile that places pods of this template has the plugin switched off.

    Pods whose scheduler has no profile are placed by nobody.
    """
    return not any(plugin in one.disabled for one in setup.profiles if one.name == template.scheduler_name)
