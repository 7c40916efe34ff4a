"""Wrong rules of the evictions that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

TAINTS, BUDGETS = "controllers/evictions/taint_eviction.py", "controllers/evictions/disruption.py"
TIMES, ALLOWED = "taint-eviction", "disruption-allowed"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "tolerationSeconds are ignored",
        TAINTS,
        "for toleration in used if toleration.seconds is not None]",
        "for toleration in used if toleration.seconds is not None and False]",
        TIMES,
    ),
    Mutant(
        "the longest toleration decides",
        TAINTS,
        "return _as_duration_s(min(limits, default=NEVER))",
        "return _as_duration_s(max(limits, default=NEVER))",
        TIMES,
    ),
    Mutant(
        "taints of every effect evict",
        TAINTS,
        "        if taint.effect != NO_EXECUTE:\n",
        "        if not taint.effect:\n",
        TIMES,
    ),
    Mutant(
        "a taint that is not tolerated waits for a running clock",
        TAINTS,
        "    if _tolerations_in_use(tolerations, taints) is None:\n        return 0\n",
        "",
        TIMES,
    ),
    Mutant(
        "a further taint shortens a running clock",
        TAINTS,
        "return seconds if NEVER in (seconds, running_s) else running_s",
        "return seconds if NEVER in (seconds, running_s) else min(seconds, running_s)",
        TIMES,
    ),
    Mutant(
        "removed taints do not stop a clock",
        TAINTS,
        "return seconds if NEVER in (seconds, running_s) else running_s",
        "return seconds if running_s == NEVER else running_s",
        TIMES,
    ),
    Mutant(
        "percentages of a budget round down",
        BUDGETS,
        "return -(-self.value * expected // 100)",
        "return (self.value * expected // 100)",
        ALLOWED,
    ),
    Mutant(
        "terminating pods count as healthy",
        BUDGETS,
        "pod.ready and not pod.terminating and not pod.disrupted",
        "pod.ready and not pod.disrupted",
        ALLOWED,
    ),
    Mutant(
        "pods about to be evicted count as healthy",
        BUDGETS,
        "pod.ready and not pod.terminating and not pod.disrupted",
        "pod.ready and not pod.terminating",
        ALLOWED,
    ),
    Mutant(
        "a number for minAvailable needs the controllers' scale",
        BUDGETS,
        "(self.min_available is not None and self.min_available.percent)",
        "self.min_available is not None",
        ALLOWED,
    ),
    Mutant(
        "pods of a controller without scale are left out",
        BUDGETS,
        "    if None in scales.values():\n        return None\n",
        "",
        ALLOWED,
    ),
    Mutant(
        "a budget that expects no pods allows evictions",
        BUDGETS,
        "allowed = max(0, healthy - desired) if expected > 0 else 0",
        "allowed = max(0, healthy - desired)",
        ALLOWED,
    ),
)
