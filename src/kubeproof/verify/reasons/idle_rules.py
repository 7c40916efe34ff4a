"""All rules by which loops leave things as they are, each declared beside its loop."""

from __future__ import annotations

from kubeproof.cluster.loops.inaction import Rule
from kubeproof.controllers import silent_nodes, traffic_inaction
from kubeproof.controllers.admission import inaction as admission
from kubeproof.controllers.cluster_autoscaler import inaction as cluster_autoscaler
from kubeproof.controllers.evictions import inaction as evictions
from kubeproof.controllers.hpa import inaction as hpa
from kubeproof.controllers.rollout import inaction as rollout
from kubeproof.controllers.scheduler import inaction as scheduler
from kubeproof.controllers.workloads import inaction as workloads

MODULES = (
    rollout, workloads, admission, scheduler, hpa, cluster_autoscaler, evictions, silent_nodes, traffic_inaction,
)  # fmt: skip


def list_rules() -> tuple[Rule, ...]:
    """Every rule, in the order in which `kubeproof explain` lists them."""
    return tuple(rule for module in MODULES for rule in module.RULES)
