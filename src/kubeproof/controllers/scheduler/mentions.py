"""What the scheduler's plugins read of nodes: of their labels, names and resources."""

from __future__ import annotations

from kubeproof.cluster.loops.mentions import BASIC, Mentions, mention_terms
from kubeproof.cluster.objects import HOSTNAME, ZONE, PodTemplate, Setup, Workload
from kubeproof.controllers.scheduler.plugins.volumes import ZONE_LABELS


def mention_scheduling(found: Mentions, setup: Setup) -> None:
    """Adds what rules of pods, volumes and profiles read."""
    for workload in setup.workloads:
        _mention_template(found, workload.template)
        if not workload.template.spread and (workload.rules.is_spread_by_owner or _is_served(setup, workload)):
            found.topology |= {HOSTNAME, ZONE}  # the scheduler's default constraints
    mention_volumes(found, setup)
    found.taints = True
    found.resources |= BASIC | resources_read(setup)
    for profile in setup.profiles:
        mention_terms(found, profile.added_affinity or ())
        found.topology |= {constraint.topology_key for constraint in profile.default_spread or ()}


def _is_served(setup: Setup, workload: Workload) -> bool:
    return any(service.selects(workload.namespace, workload.template.labels) for service in setup.services)


def _mention_template(found: Mentions, template: PodTemplate) -> None:
    found.values |= set(template.node_selector)
    mention_terms(found, template.required_terms or ())
    mention_terms(found, (preferred.term for preferred in template.preferred_terms))
    found.topology |= {constraint.topology_key for constraint in template.spread}
    found.topology |= template.pod_affinity.topology_keys | template.pod_anti_affinity.topology_keys
    if template.node_name:
        found.names.add(template.node_name)


def mention_volumes(found: Mentions, setup: Setup) -> None:
    """What volumes read of nodes; of labels that bind provisioned volumes every value counts."""
    if not any(workload.template.claims for workload in setup.workloads):
        return
    for volume in setup.volumes:
        mention_terms(found, volume.terms or ())
        found.numeric_keys |= {name for key, _ in volume.labels if key in ZONE_LABELS for name in ZONE_LABELS}
    for storage_class in setup.storage_classes:
        found.numeric_keys |= storage_class.labels_read


def resources_read(setup: Setup) -> frozenset[str]:
    """Resources beyond CPU and memory that some pod requests or some score weighs."""
    found: set[str] = set()
    for workload in setup.workloads:
        template = workload.template
        found |= {name for name, _ in (*template.overhead, *template.own_requests)}
        found |= {n for container in (*template.containers, *template.init_containers) for n, _ in container.others}
    for profile in setup.profiles:
        found |= {name for name, _ in profile.fit_resources} | set(profile.balanced_resources)
    return frozenset(found)
