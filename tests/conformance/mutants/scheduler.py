"""Wrong rules of the scheduler that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

DECISIONS = "scheduler-decisions"
PLUGINS = "controllers/scheduler/plugins"
REQUESTS = "controllers/scheduler/requests.py"
FIT = f"{PLUGINS}/node_resources_fit.py"
BALANCED = f"{PLUGINS}/balanced_allocation.py"
TAINTS = f"{PLUGINS}/taint_toleration.py"
NODE_AFFINITY = f"{PLUGINS}/node_affinity.py"
SPREAD = f"{PLUGINS}/pod_topology_spread.py"
CONSTRAINTS = f"{PLUGINS}/spread_constraints.py"
POD_AFFINITY = f"{PLUGINS}/inter_pod_affinity.py"
POD_TERMS = f"{PLUGINS}/pod_terms.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "a pod that fills a node to the brim does not fit",
        FIT,
        "if request > capacity - view.usage.requested.get(name, 0):",
        "if request >= capacity - view.usage.requested.get(name, 0):",
        DECISIONS,
    ),
    Mutant(
        "one pod too many fits on a node",
        FIT,
        'reasons = ["Too many pods"] if view.usage.pods + 1 > view.node.pods else []',
        'reasons = ["Too many pods"] if view.usage.pods > view.node.pods else []',
        DECISIONS,
    ),
    Mutant(
        "the free share of a node is rounded up",
        FIT,
        "(max(0, s.capacity - s.requested) * MAX_NODE_SCORE // s.capacity)",
        "-(-max(0, s.capacity - s.requested) * MAX_NODE_SCORE // s.capacity)",
        DECISIONS,
    ),
    Mutant(
        "RequestedToCapacityRatio cuts off instead of rounding",
        FIT,
        "return round_half_away(total / weights) if weights else 0",
        "return total // weights if weights else 0",
        DECISIONS,
    ),
    Mutant(
        "RequestedToCapacityRatio counts resources that score 0",
        FIT,
        "        if score > 0:\n",
        "        if score >= 0:\n",
        DECISIONS,
    ),
    Mutant(
        "init containers add up",
        REQUESTS,
        "peak = _maximum(peak, step)",
        "peak = _sum((peak, step))",
        DECISIONS,
    ),
    Mutant(
        "sidecars end before the app starts",
        REQUESTS,
        "if container.restartable_init and version >= SIDECARS_SINCE:",
        "if container.restartable_init and version < SIDECARS_SINCE:",
        DECISIONS,
    ),
    Mutant(
        "containers without a memory request weigh nothing in scores",
        REQUESTS,
        "DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024",
        "DEFAULT_MEMORY_BYTES = 0",
        DECISIONS,
    ),
    Mutant(
        "1.26 adds a cpu overhead in millicores to the incoming pod",
        REQUESTS,
        "overhead[CPU] = -(-overhead[CPU] // 1000)",
        "overhead[CPU] = overhead[CPU]",
        DECISIONS,
        "kubernetes-1.26",
    ),
    Mutant(
        "the balance is taken with the pod only, not against without it",
        BALANCED,
        "return HALF + (HALF + with_pod - without_pod) // 2",
        "return with_pod",
        DECISIONS,
    ),
    Mutant(
        "NoExecute taints do not keep pods off",
        TAINTS,
        "for taint in untolerated_taints(view.taints, self._tolerations, (NO_SCHEDULE, NO_EXECUTE)):",
        "for taint in untolerated_taints(view.taints, self._tolerations, (NO_SCHEDULE,)):",
        DECISIONS,
    ),
    Mutant(
        "more PreferNoSchedule taints score higher",
        TAINTS,
        "return normalise_by_maximum(scores, reverse=True)",
        "return normalise_by_maximum(scores, reverse=False)",
        DECISIONS,
    ),
    Mutant(
        "no toleration opens a cordoned node",
        f"{PLUGINS}/node_unschedulable.py",
        "return None if tolerates_all(pod.template.tolerations, (UNSCHEDULABLE_TAINT,)) else NodeUnschedulable()",
        "return NodeUnschedulable()",
        DECISIONS,
    ),
    Mutant(
        "required node affinity terms must all match",
        NODE_AFFINITY,
        "return any(term.matches(labels, name) for term in terms)",
        "return all(term.matches(labels, name) for term in terms)",
        DECISIONS,
    ),
    Mutant(
        "preferred node affinity terms weigh the same",
        NODE_AFFINITY,
        "return sum(p.weight for p in self._preferred",
        "return sum(1 for p in self._preferred",
        DECISIONS,
    ),
    Mutant(
        "one contradictory term does not conflict in 1.26",
        f"{PLUGINS}/pinned_nodes.py",
        "if every_term and not pinned:",
        "if every_term and not terms:",
        DECISIONS,
        "kubernetes-1.26",
    ),
    Mutant(
        "the incoming pod does not count towards the skew",
        SPREAD,
        "return Limit(constraint.max_skew + smallest - constraint.matches_self, matches)",
        "return Limit(constraint.max_skew + smallest, matches)",
        DECISIONS,
    ),
    Mutant(
        "exactly minDomains domains are too few",
        SPREAD,
        "if number < constraint.min_domains:",
        "if number <= constraint.min_domains:",
        DECISIONS,
    ),
    Mutant(
        "nodes that lack one of the topology keys are counted",
        SPREAD,
        "may_count=has_all_keys",
        "may_count=True",
        DECISIONS,
    ),
    Mutant(
        "the weight of a soft constraint grows with one domain less",
        SPREAD,
        "math.log(size + 2)",
        "math.log(size + 1)",
        DECISIONS,
    ),
    Mutant(
        "terminating pods count for the spread",
        CONSTRAINTS,
        "return sum(pod.alive for pod in pods",
        "return sum(pod.alive + pod.terminating for pod in pods",
        DECISIONS,
    ),
    Mutant(
        "nodeTaintsPolicy is always Ignore",
        CONSTRAINTS,
        "honor_taints=constraint.honor_taints,",
        "honor_taints=False,",
        DECISIONS,
    ),
    Mutant(
        "an empty selector counts every pod",
        CONSTRAINTS,
        "EMPTY_SELECTOR_COUNTS_NOTHING_SINCE = (1, 27)",
        "EMPTY_SELECTOR_COUNTS_NOTHING_SINCE = (9, 0)",
        DECISIONS,
    ),
    Mutant(
        "anti-affinity of pods that are there is one-sided",
        POD_AFFINITY,
        "            return UNWELCOME\n",
        "            return None\n",
        DECISIONS,
    ),
    Mutant(
        "a pod with affinity to its own kind can never be the first",
        POD_AFFINITY,
        "return state.is_first and self._matches_itself",
        "return False",
        DECISIONS,
    ),
    Mutant(
        "hardPodAffinityWeight is ignored",
        POD_AFFINITY,
        "hard = pod.profile.hard_pod_affinity_weight",
        "hard = 0",
        DECISIONS,
    ),
    Mutant(
        "a term with a namespaceSelector means the pod's own namespace too",
        POD_TERMS,
        "if not term.namespaces and term.namespace_selector is None:",
        "if not term.namespaces:",
        DECISIONS,
    ),
    Mutant(
        "TaintToleration weighs 2",
        "controllers/scheduler/registry.py",
        "TAINT_TOLERATION: 3,",
        "TAINT_TOLERATION: 2,",
        DECISIONS,
    ),
    Mutant(
        "of several best nodes only the first can be chosen",
        "controllers/scheduler/framework.py",
        "return tuple(index for index, total in zip(feasible, totals, strict=True) if total == best)",
        "return tuple(index for index, total in zip(feasible, totals, strict=True) if total == best)[:1]",
        "scheduler-sequences",
    ),
    Mutant(
        "extended resources that the pod does not request take part in the score",
        f"{PLUGINS}/resource_shares.py",
        "if capacity == 0 or (request == 0 and name not in NATIVE):",
        "if capacity == 0:",
        DECISIONS,
    ),
    Mutant(
        "nodeAffinityPolicy is always Ignore",
        CONSTRAINTS,
        "honor_affinity=constraint.honor_affinity,",
        "honor_affinity=False,",
        DECISIONS,
    ),
    Mutant(
        "matchLabelKeys of a spread constraint are ignored",
        CONSTRAINTS,
        "for k in constraint.match_label_keys if k in labels)",
        "for k in () if k in labels)",
        DECISIONS,
    ),
    Mutant(
        "mismatchLabelKeys of a pod affinity term are ignored",
        POD_TERMS,
        "for key in term.mismatch_label_keys if key in labels",
        "for key in () if key in labels",
        DECISIONS,
    ),
    Mutant(
        "terminating pods neither attract nor repel",
        POD_AFFINITY,
        "self.points[p.workload] * (p.alive + p.terminating) for p",
        "self.points[p.workload] * p.alive for p",
        DECISIONS,
    ),
    Mutant(
        "soft constraints on hosts heed inclusion policies",
        SPREAD,
        "float(constraint.max_skew - 1), matches, constraint.key == HOSTNAME)",
        "float(constraint.max_skew - 1), matches, False)",
        DECISIONS,
    ),
    Mutant(
        "the default constraints leave out nodes without a zone",
        CONSTRAINTS,
        "return bool(pod.template.spread) or pod.profile.default_spread is not None",
        "return True",
        DECISIONS,
    ),
    Mutant(
        "the profile's default constraints are ignored",
        CONSTRAINTS,
        "SYSTEM_DEFAULTS if pod.profile.default_spread is None else pod.profile.default_spread",
        "SYSTEM_DEFAULTS",
        DECISIONS,
    ),
    Mutant(
        "the balance of three resources divides by one less",
        BALANCED,
        "return math.sqrt(squares / len(fractions))",
        "return math.sqrt(squares / (len(fractions) - 1))",
        DECISIONS,
    ),
    Mutant(
        "a request of 0 fits into an over-committed resource in 1.26",
        FIT,
        "ZERO_REQUEST_FITS_SINCE = (1, 28)",
        "ZERO_REQUEST_FITS_SINCE = (1, 20)",
        DECISIONS,
        "kubernetes-1.26",
    ),
    Mutant(
        "terms of a required affinity may be met by different pods",
        POD_AFFINITY,
        "meant = frozenset.intersection(",
        "meant = frozenset.union(",
        DECISIONS,
    ),
)
