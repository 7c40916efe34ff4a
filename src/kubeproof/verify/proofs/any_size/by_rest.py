"""Evictions that nobody makes, however large the cluster is."""

from __future__ import annotations

from kubeproof.controllers.late import DeschedulerController
from kubeproof.intents.declarations import BY_DESCHEDULER
from kubeproof.intents.monitor import CYCLE, STEP, Monitor
from kubeproof.values import replace
from kubeproof.verify.proofs.any_size.by_sizes import Ties
from kubeproof.verify.proofs.any_size.evenly import find_ties_of_evenness
from kubeproof.verify.proofs.any_size.family import Family


def find_ties_of_rest(family: Family, monitor: Monitor) -> Ties | None:
    """Nothing if the descheduler has no reason ever to evict a pod, which is what is asked; None: not proved.

    Whoever else evicts does not count: the steps that the intent speaks of are the descheduler's.
    """
    if monitor.kind not in (CYCLE, STEP) or monitor.fact is not None or monitor.intent.by != BY_DESCHEDULER:
        return None
    return () if all(loop.never_evicts for loop in _find_deschedulers(family)) else None


def find_ties_of_even_rest(family: Family, monitor: Monitor) -> Ties | None:
    """What sizes must keep to for the descheduler never to evict, since pods are always spread evenly; None: it may.

    As long as it has evicted nothing they are, and as long as they are it evicts nothing.
    """
    if monitor.kind not in (CYCLE, STEP) or monitor.fact is not None or monitor.intent.by != BY_DESCHEDULER:
        return None
    if not all(loop.keeps_even for loop in _find_deschedulers(family)):
        return None
    setup = replace(family.loaded.setup, descheduler=None)
    return find_ties_of_evenness(family.of(replace(family.loaded, setup=setup)))


def _find_deschedulers(family: Family) -> list[DeschedulerController]:
    return [loop for loop in family.plan.controllers if isinstance(loop, DeschedulerController)]
