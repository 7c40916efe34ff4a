"""Control loops that make themselves: the one list of them.

A new loop is a module with its class, and beside it its footprint, the kind of its memory if it has one, and
`make_loops`, which makes those that a cluster has; and a line here, with which clusters have one at all, and whether
each keeps to one workload.
"""

from __future__ import annotations

from kubeproof.cluster.loops.making import LoopKind
from kubeproof.cluster.objects import Setup
from kubeproof.late import LateFunction


def _has_gitops(setup: Setup) -> bool:
    return setup.settings.gitops_interval_s is not None


def _has_jobs(setup: Setup) -> bool:
    return any(workload.rules.counts_completions for workload in setup.workloads)


def _has_cron_jobs(setup: Setup) -> bool:
    return any(workload.rules.starts_jobs for workload in setup.workloads)


# In the order in which they stand in a plan: a loop finds the memories of those before it.
LOOPS = (
    LoopKind(_has_gitops, LateFunction("kubeproof.controllers.gitops", "make_loops"), is_apart=True),
    LoopKind(_has_jobs, LateFunction("kubeproof.controllers.workloads.job", "make_loops"), is_apart=True),
    LoopKind(_has_cron_jobs, LateFunction("kubeproof.controllers.workloads.cronjob", "make_loops"), is_apart=True),
)


def may_reach_all(setup: Setup) -> bool:
    """True if the cluster has a loop of the list that does not say that it keeps to one workload."""
    return any(kind.exists_in(setup) and not kind.is_apart for kind in LOOPS)
