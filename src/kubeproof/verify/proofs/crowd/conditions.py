"""Where workloads can be proved one by one: what the others may do must be room, scores, drains that wait, and time.

`find_obstacle` looks at the whole input: pods that may do endlessly many steps within one instant, in which no clock
of another runs out, or that end without end. `find_own_obstacle` looks at the workloads to be proved, whose own steps
must not depend on how long things take. What ties workloads to each other is in `kubeproof.verify.proofs.slicing`.
"""

from __future__ import annotations

from collections.abc import Mapping

from kubeproof.cluster.labels import NO_EXECUTE, NO_SCHEDULE, Taint
from kubeproof.cluster.nodes.places import UNSCHEDULABLE
from kubeproof.cluster.objects import Node, Setup, Workload
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.steering.priorities import priority_of
from kubeproof.cluster.steering.profiles import NODE_AFFINITY, NODE_UNSCHEDULABLE, TAINT_TOLERATION
from kubeproof.controllers.admission.quota import is_meant
from kubeproof.controllers.evictions.taint_eviction import seconds_tolerated
from kubeproof.controllers.scheduler.plugins.taint_toleration import keeps_pods_off
from kubeproof.controllers.scheduler.registry import find_unproven
from kubeproof.events.declarations import Event, is_drain
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.proofs.crowd.room import is_counted
from kubeproof.verify.proofs.slicing import Slice

RULES = frozenset({NODE_AFFINITY, NODE_UNSCHEDULABLE, TAINT_TOLERATION})  # by which room is counted
CORDONED = Taint(UNSCHEDULABLE, "", NO_SCHEDULE)


def find_obstacle(loaded: Loaded) -> str:
    """Why nothing can be proved of single workloads of an input; "" if something can."""
    setup, events = loaded.setup, loaded.scenario.events
    if unproven := find_unproven(setup.profiles):
        return f"it is not known by what the scheduler's filter {unproven} judges"
    if any(profile.disabled & RULES for profile in setup.profiles):
        return "a scheduler profile does not ask which nodes are admitted"
    if not all(map(is_counted, events)):
        return "an event may happen to all workloads"
    if any(_may_loop_at_once(workload, events) for workload in setup.workloads):
        return "pods may come back again and again to a node that refuses them"
    if any(_is_evicted(workload, node) for workload in setup.workloads for node in setup.nodes):
        return "a declared taint evicts pods that come to the node"
    return ""


def _may_loop_at_once(workload: Workload, events: tuple[Event, ...]) -> bool:
    """True if pods may come, and be refused or evicted, again and again without time going on."""
    template = workload.template
    if workload.rules.is_pod:
        return False
    if template.node_name is not None:
        return True
    if workload.rules.runs_per_node:
        return False  # drains leave them alone, and their owner looks at the node first
    return any(map(is_drain, events)) and not keeps_pods_off((CORDONED,), template.tolerations)


def _is_evicted(workload: Workload, node: Node) -> bool:
    """True if a pod may come to the node and its NoExecute taints are not tolerated for ever."""
    evicting = tuple(taint for taint in node.taints if taint.effect == NO_EXECUTE)
    tolerations = workload.template.tolerations
    return seconds_tolerated(tolerations, evicting) != NEVER and not keeps_pods_off(node.taints, tolerations)


def find_own_obstacle(loaded: Loaded, part: Slice) -> str:
    """Why nothing can be proved of these workloads; "" if something can."""
    workloads = part.loaded.setup.workloads
    if any(workload.rules.starts_jobs for workload in workloads):
        return "a CronJob starts Jobs without end"
    if any(one.rules.counts_completions and one.job.deadline_s is not None for one in workloads):
        return "a Job has a deadline"
    if any(workload.template.node_name for workload in workloads):
        return "pods name their node"
    if any(is_meant(quota, workload) for quota in loaded.setup.quotas for workload in workloads):
        return "a quota counts the pods"
    if _may_preempt_each_other(part.loaded.setup):
        return "pods may take the place of others of lower priority"
    return ""


def _may_preempt_each_other(setup: Setup) -> bool:
    """True if a rule other than room keeps pods of higher priority from a node with pods of lower priority."""
    differs = len({priority_of(workload.template) for workload in setup.workloads}) > 1
    return differs and has_rules_beside_room(setup)


def has_rules_beside_room(setup: Setup) -> bool:
    """True if ports, volumes, spread or affinity may keep a pod from a node because of pods that are there."""
    return any(
        workload.template.spread
        or workload.template.pod_affinity.required
        or workload.template.pod_anti_affinity.required
        or workload.template.claims
        or workload.claim_templates
        or any(container.host_ports for container in workload.template.containers)
        or any(container.host_ports for container in workload.template.init_containers)
        for workload in setup.workloads
    )


def find_guarded(loaded: Loaded) -> frozenset[str]:
    """The workloads that a budget may keep on a node which is drained; all others leave it."""
    applied = (event.form for event in loaded.scenario.events if event.form is not None)
    staying = [workload for workload in loaded.setup.workloads if not workload.rules.runs_per_node]
    return frozenset(
        workload.owner or workload.ref
        for workload in (*staying, *applied)
        if any(_is_guarded(workload, budget, dict(workload.template.labels)) for budget in loaded.setup.budgets)
    )


def _is_guarded(workload: Workload, budget: PodDisruptionBudget, labels: Mapping[str, str]) -> bool:
    is_near = budget.namespace == workload.namespace
    return is_near and budget.selector is not None and budget.selector.matches(labels)
