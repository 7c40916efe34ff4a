"""The readers of what only some inputs hold, by name: their modules are imported when the first such object is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.late import LateFunction

if TYPE_CHECKING:
    from kubeproof.manifests.components.descheduler_policy import read_descheduler_policy
    from kubeproof.manifests.components.scheduler_config import read_scheduler_profiles
    from kubeproof.manifests.folders.rendering import render_recipe
    from kubeproof.manifests.kinds.autoscalers import read_autoscaler
    from kubeproof.manifests.kinds.budgets import read_budget
    from kubeproof.manifests.kinds.daemon_sets import read_daemon_set
    from kubeproof.manifests.kinds.jobs import read_cron_job, read_job
    from kubeproof.manifests.kinds.quotas import read_limit_range, read_quota
    from kubeproof.manifests.kinds.services import read_ingress, read_service, with_ingresses
    from kubeproof.manifests.kinds.stateful_sets import read_stateful_set
    from kubeproof.manifests.kinds.storage import (
        claims_from_elsewhere,
        read_claim,
        read_storage_class,
        read_volume,
        settle_claims,
    )
    from kubeproof.manifests.pods.hooks import read_pre_stop
    from kubeproof.manifests.scenarios.intents.ltl import read_ltl
    from kubeproof.manifests.scenarios.requests.events import read_requests
    from kubeproof.manifests.scenarios.requests.traffic import read_workload
    from kubeproof.manifests.validation.idle_autoscalers import with_idle_autoscalers
else:
    read_autoscaler = LateFunction("kubeproof.manifests.kinds.autoscalers", "read_autoscaler")
    read_budget = LateFunction("kubeproof.manifests.kinds.budgets", "read_budget")
    read_daemon_set = LateFunction("kubeproof.manifests.kinds.daemon_sets", "read_daemon_set")
    read_descheduler_policy = LateFunction(
        "kubeproof.manifests.components.descheduler_policy", "read_descheduler_policy"
    )
    read_cron_job = LateFunction("kubeproof.manifests.kinds.jobs", "read_cron_job")
    read_job = LateFunction("kubeproof.manifests.kinds.jobs", "read_job")
    read_pre_stop = LateFunction("kubeproof.manifests.pods.hooks", "read_pre_stop")
    with_idle_autoscalers = LateFunction("kubeproof.manifests.validation.idle_autoscalers", "with_idle_autoscalers")
    read_ltl = LateFunction("kubeproof.manifests.scenarios.intents.ltl", "read_ltl")
    read_limit_range = LateFunction("kubeproof.manifests.kinds.quotas", "read_limit_range")
    read_quota = LateFunction("kubeproof.manifests.kinds.quotas", "read_quota")
    render_recipe = LateFunction("kubeproof.manifests.folders.rendering", "render_recipe")
    read_requests = LateFunction("kubeproof.manifests.scenarios.requests.events", "read_requests")
    read_scheduler_profiles = LateFunction("kubeproof.manifests.components.scheduler_config", "read_scheduler_profiles")
    read_ingress = LateFunction("kubeproof.manifests.kinds.services", "read_ingress")
    with_ingresses = LateFunction("kubeproof.manifests.kinds.services", "with_ingresses")
    read_service = LateFunction("kubeproof.manifests.kinds.services", "read_service")
    read_stateful_set = LateFunction("kubeproof.manifests.kinds.stateful_sets", "read_stateful_set")
    claims_from_elsewhere = LateFunction("kubeproof.manifests.kinds.storage", "claims_from_elsewhere")
    read_claim = LateFunction("kubeproof.manifests.kinds.storage", "read_claim")
    read_storage_class = LateFunction("kubeproof.manifests.kinds.storage", "read_storage_class")
    read_volume = LateFunction("kubeproof.manifests.kinds.storage", "read_volume")
    settle_claims = LateFunction("kubeproof.manifests.kinds.storage", "settle_claims")
    read_workload = LateFunction("kubeproof.manifests.scenarios.requests.traffic", "read_workload")

__all__ = [
    "claims_from_elsewhere",
    "read_autoscaler",
    "read_budget",
    "read_claim",
    "read_cron_job",
    "read_daemon_set",
    "read_descheduler_policy",
    "read_ingress",
    "read_job",
    "read_limit_range",
    "read_ltl",
    "read_pre_stop",
    "read_quota",
    "read_requests",
    "read_scheduler_profiles",
    "read_service",
    "read_stateful_set",
    "read_storage_class",
    "read_volume",
    "read_workload",
    "render_recipe",
    "settle_claims",
    "with_idle_autoscalers",
    "with_ingresses",
]
