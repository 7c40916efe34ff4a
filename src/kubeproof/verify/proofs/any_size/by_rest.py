"""Evictions that nobody makes, however large the cluster is."""

from __future__ import annotations

from kubeproof.controllers.late import DeschedulerController
from kubeproof.intents.declarations import BY_DESCHEDULER
from kubeproof.intents.monitor import CYCLE, STEP, Monitor
from kubeproof.verify.proofs.any_size.by_sizes import Ties
from kubeproof.verify.proofs.any_size.family import Family


def find_ties_of_rest(family: Family, monitor: Monitor) -> Ties | None:
    """Nothing if the descheduler has no reason ever to evict a pod, which is what is asked; None: not proved.

    Whoever else evicts does not count: the steps that the intent speaks of are the descheduler's.
    """
    if monitor.kind not in (CYCLE, STEP) or monitor.fact is not None or monitor.intent.by != BY_DESCHEDULER:
        return None
    loops = [loop for loop in family.plan.controllers if isinstance(loop, DeschedulerController)]
    return () if all(loop.never_evicts for loop in loops) else None
