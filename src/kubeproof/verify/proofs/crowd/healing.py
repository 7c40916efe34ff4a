"""What a GitOps reconciler may do to workloads that are proved one by one: it undoes what events did, and nothing else.

It writes a workload's object where that is not what its manifest says. So it never acts where nobody changes objects,
and each rollout or change of size by hand is followed by at most one that puts things back.
"""

from __future__ import annotations

from kubeproof.cluster.loops.footprint import RESIZING, Writes
from kubeproof.cluster.objects import Setup, Workload
from kubeproof.events.declarations import find_writes_of
from kubeproof.manifests.loaded import Loaded

LASTING = Writes.OBJECTS | Writes.REMOVALS  # what a reconciler does not undo once and for all, as it does other drift


def is_healed(loaded: Loaded, workload: Workload) -> bool:
    """True if a reconciler puts the workload's object back to its manifest."""
    return any(one.ref == workload.ref for one in _list_healed(loaded.setup))


def drifts(loaded: Loaded) -> bool:
    """True if an event changes the object of a workload."""
    return bool(find_writes_of(loaded.scenario.events) & RESIZING)


def heals_without_end(loaded: Loaded) -> bool:
    """True if a reconciler may write more often than events happen, or bring back what was deleted.

    Autoscalers and reconcilers write the same field in turn, and a Job that is deleted when it is over starts anew.
    """
    setup = loaded.setup
    healed = _list_healed(setup)
    targets = {autoscaler.target for autoscaler in setup.autoscalers}
    if find_writes_of(loaded.scenario.events) & LASTING:
        return bool(healed)
    return any(
        (one.ref in targets and (one.replicas_given or drifts(loaded)))
        or (one.rules.counts_completions and one.job.ttl_s is not None)
        for one in healed
    )


def _list_healed(setup: Setup) -> list[Workload]:
    """The workloads that a reconciler keeps up."""
    if setup.settings.gitops_interval_s is None:
        return []
    from kubeproof.controllers.gitops import find_reconciled  # few clusters have one

    return [setup.workloads[number] for number in find_reconciled(setup, frozenset())]
