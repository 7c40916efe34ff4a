"""Ends in unison: terminating pods that nobody looks at end together, on all nodes in one step.

A terminating pod may end at any instant of its grace period, and holds its requests until then. Only who places pods
asks for that; as long as no pod waits for a node, sets of pods that have ended already differ in nothing but in
whether a clock still runs. Whether a pod waits meanwhile cannot be known from the plan, so it is watched during
the search: if one does, `EndMatters` ends it, and it begins again without this reduction for the workloads that
were ending. `docs/explanation/reductions.md` has the proof.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from kubeproof.cluster.loops.footprint import NOBODY, Workloads
from kubeproof.cluster.objects import family
from kubeproof.errors import KubeproofError
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.starts_in_unison import only_replicasets_delete


class EndMatters(KubeproofError):
    """A pod waits for a node while others still end."""

    def __init__(self, workloads: frozenset[int]) -> None:
        super().__init__(f"the end of pods of {sorted(workloads)} matters")
        self.workloads = workloads


def ending_unseen(plan: Plan) -> frozenset[int]:
    """The workloads whose terminating pods may end in unison, as far as the plan tells.

    None where somebody else reads terminating pods: a drain, a StatefulSet, a DaemonSet or a rollout by recreation
    waits for them, a descheduler or a quota counts them, admission of pods that name their node adds them up, an
    autoscaler lists them with those of others: it asks even these for their requests, and whether another autoscaler
    selects them. Where all are pods of its target they cannot be the only ones without a request.
    """
    if not only_replicasets_delete(plan) or plan.setup.quotas or any(one.tells_ends for one in plan.monitors):
        return frozenset()
    told = find_watched_ends(plan)
    everybody = range(len(plan.setup.workloads))
    return frozenset(w for w in everybody if w not in told and len(family(plan.setup, w)) == 1)


def find_watched_ends(plan: Plan) -> Workloads:
    """The workloads whose terminating pods a loop or event sees."""
    return reduce(or_, (one.tells_ends for one in plan.footprints), NOBODY)
