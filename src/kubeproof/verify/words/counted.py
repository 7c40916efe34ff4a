"""What is said of autoscalers: their targets, and pods of others that they count."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.objects import Setup
from kubeproof.cluster.steering.counted import foreign_to
from kubeproof.cluster.steering.policies import SAMPLED_METRICS, HorizontalPodAutoscaler
from kubeproof.cluster.usage import DEFAULT_PERCENT
from kubeproof.model.plan import Plan


def autoscaler_words(setup: Setup) -> Iterator[str]:
    """Each autoscaler with its target, its bounds, and whose pods it counts beside those of its target."""
    for one in setup.autoscalers:
        bounds = f"{one.min_replicas} to {one.max_replicas}"
        yield f"{one.namespace}/{one.name}: {one.target} {bounds}{_beside(setup, one)}"


def list_untargeted(setup: Setup) -> Iterator[str]:
    """The autoscalers that have nothing to scale."""
    rules = {workload.ref: workload.rules for workload in setup.workloads}
    for one in setup.autoscalers:
        if one.target not in rules:
            reason = "is not in the input"
        elif rules[one.target].runs_to_completion:
            reason = "has no scale"
        else:
            continue
        yield f"HorizontalPodAutoscaler {one.namespace}/{one.name}: its target {one.target} {reason} ({one.source})"


def _beside(setup: Setup, autoscaler: HorizontalPodAutoscaler) -> str:
    """Whose pods an autoscaler counts beside those of its target; "" if nobody's."""
    if all(workload.ref != autoscaler.target for workload in setup.workloads):
        return ""
    others = [setup.workloads[number] for number in foreign_to(setup, autoscaler)]
    refs = dict.fromkeys(workload.owner or workload.ref for workload in others)
    return f" (its selector also matches pods of {', '.join(refs)})" if refs else ""


def list_unsaid_uses(plan: Plan) -> list[str]:
    """Whose use no event tells, of the pods of others that autoscalers count: what is assumed there decides, too."""
    told = {(resource, event.subject) for event in plan.declared for resource in event.decides_use_of}
    found: dict[str, None] = {}
    for one in plan.setup.autoscalers:
        if any(workload.ref == one.target for workload in plan.setup.workloads):
            others = [plan.setup.workloads[number] for number in foreign_to(plan.setup, one)]
            names = [metric.name for metric in one.metrics if metric.type in SAMPLED_METRICS]
            pairs = [(name, other.owner or other.ref) for name in names for other in others]
            found |= {f"{name} of {ref}": None for name, ref in pairs if (name, ref) not in told}
    if not found:
        return []
    return [f"use: no event speaks of {', '.join(found)}, so that it stays at {DEFAULT_PERCENT} % of the request"]


def list_finished_under_selectors(plan: Plan) -> list[str]:
    """Finished pods of Jobs that autoscalers count, where somebody might delete them before their Job goes."""
    setup = plan.setup
    if setup.cluster_autoscaler is None and not any(event.empties_nodes for event in plan.declared):
        return []
    jobs = [setup.workloads[number] for number in sorted(plan.mechanics.kept)]
    sources = {job.owner or job.ref: job.source for job in jobs}
    return [
        f"finished pods of {ref}: an autoscaler counts them until the Job is deleted; that a drain, a taint or the "
        f"deletion of their node takes them earlier is not modelled ({source})"
        for ref, source in sources.items()
    ]
