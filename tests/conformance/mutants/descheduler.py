"""Wrong rules of the descheduler that the corpora must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

OLD, NEWEST = "descheduler-0.27", "descheduler-0.36"
FOLDER = "controllers/descheduler"
PLUGINS = f"{FOLDER}/plugins"
TAINTS = "descheduler-RemovePodsViolatingNodeTaints"
AFFINITY = "descheduler-RemovePodsViolatingNodeAffinity"
RESTARTS = "descheduler-RemovePodsHavingTooManyRestarts"
SPREAD = "descheduler-RemovePodsViolatingTopologySpreadConstraint"
DUPLICATES, LIFE_TIME, CYCLE = "descheduler-RemoveDuplicates", "descheduler-PodLifeTime", "descheduler-cycle"
LOW, HIGH = "descheduler-LowNodeUtilization", "descheduler-HighNodeUtilization"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="the average of duplicates rounds down",
        module=f"{PLUGINS}/duplicates.py",
        before="-(-occurrences // nodes))",
        after="max(1, occurrences // nodes))",
        corpus=DUPLICATES,
        upstream=NEWEST,
    ),
    Mutant(
        name="tainted nodes are targets for duplicates",
        module=f"{PLUGINS}/duplicates.py",
        before="if scene.tolerates(workload, e) and scene.matches_node(workload, e))",
        after="if scene.matches_node(workload, e))",
        corpus=DUPLICATES,
        upstream=OLD,
    ),
    Mutant(
        name="NoExecute taints count for the taints plugin",
        module=f"{PLUGINS}/node_taints.py",
        before="else (NO_SCHEDULE,)",
        after='else (NO_SCHEDULE, "NoExecute")',
        corpus=TAINTS,
        upstream=NEWEST,
    ),
    Mutant(
        name="taints are excluded by key only",
        module=f"{PLUGINS}/node_taints.py",
        before='return taint.key in names or bool(taint.value and f"{taint.key}={taint.value}" in names)',
        after="return taint.key in names",
        corpus=TAINTS,
        upstream=OLD,
    ),
    Mutant(
        name="a cordon or a taint violates node affinity in the newest version, too",
        module=f"{PLUGINS}/node_affinity.py",
        before="scene.matches_node if scene.version >= SINCE_28 else scene.lets_in",
        after="scene.lets_in",
        corpus=AFFINITY,
        upstream=NEWEST,
    ),
    Mutant(
        name="an equally preferred node is better",
        module=f"{PLUGINS}/node_affinity.py",
        before="best <= max(here, 0)",
        after="best < max(here, 1)",
        corpus=AFFINITY,
        upstream=NEWEST,
    ),
    Mutant(
        name="NodeFit ignores anti-affinity",
        module=f"{FOLDER}/scene.py",
        before="ANTI_AFFINITY_SINCE = versions.ANTI_AFFINITY.since",
        after="ANTI_AFFINITY_SINCE = (0, 99)",
        corpus=AFFINITY,
        upstream=NEWEST,
    ),
    Mutant(
        name="as many restarts as the threshold are too few",
        module=f"{PLUGINS}/restarts.py",
        before="group.restarts >= threshold",
        after="group.restarts > threshold",
        corpus=RESTARTS,
        upstream=OLD,
    ),
    Mutant(
        name="fewest restarts go first",
        module=f"{PLUGINS}/restarts.py",
        before="return -group.restarts",
        after="return group.restarts",
        corpus=RESTARTS,
        upstream=NEWEST,
    ),
    Mutant(
        name="a pod as old as the limit is too old",
        module=f"{PLUGINS}/life_time.py",
        before="group.age_s <= limit",
        after="group.age_s < limit",
        corpus=LIFE_TIME,
        upstream=NEWEST,
    ),
    Mutant(
        name="the youngest pods go first",
        module=f"{PLUGINS}/life_time.py",
        before="return -(group.age_s or 0)",
        after="return group.age_s or 0",
        corpus=LIFE_TIME,
        upstream=OLD,
    ),
    Mutant(
        name="half of the skew rounds down",
        module=f"{PLUGINS}/spread_constraints.py",
        before="math.ceil((skew - max_skew) / 2)",
        after="(skew - max_skew) // 2",
        corpus=SPREAD,
        upstream=OLD,
    ),
    Mutant(
        name="pods that may not be evicted count for the spread in the newest version, too",
        module=f"{PLUGINS}/topology_spread.py",
        before="strict = self._scene.version >= COUNTS_EVICTABLE_SINCE",
        after="strict = False",
        corpus=SPREAD,
        upstream=NEWEST,
    ),
    Mutant(
        name="pods that fit a small domain are not preferred",
        module=f"{PLUGINS}/topology_spread.py",
        before="PREFERS_FITTING_SINCE = versions.PREFERS_FITTING.since",
        after="PREFERS_FITTING_SINCE = (0, 99)",
        corpus=SPREAD,
        upstream=NEWEST,
    ),
    Mutant(
        name="a node exactly at the lower threshold is not underutilized",
        module=f"{PLUGINS}/low_node_utilization.py",
        before="used[name] <= limit for name, limit in self._limits(self._low, -1)",
        after="used[name] < limit for name, limit in self._limits(self._low, -1)",
        corpus=LOW,
        upstream=NEWEST,
    ),
    Mutant(
        name="one toleration for two taints is enough",
        module=f"{PLUGINS}/utilization.py",
        before="len(tolerations) >= len(own) and ",
        after="",
        corpus=HIGH,
        upstream=NEWEST,
    ),
    Mutant(
        name="the room that destinations offer ignores their pods",
        module=f"{PLUGINS}/high_node_utilization.py",
        before="(offered.get(name, 0) - used[name])",
        after="offered.get(name, 0)",
        corpus=HIGH,
        upstream=OLD,
    ),
    Mutant(
        name="sidecars add to the requests before 0.35",
        module=f"{FOLDER}/scene.py",
        before="SIDECARS_SINCE = versions.COUNTED_SIDECARS.since",
        after="SIDECARS_SINCE = (0, 27)",
        corpus=LOW,
        upstream=OLD,
    ),
    Mutant(
        name="minReplicas must be exceeded",
        module=f"{FOLDER}/evictor.py",
        before="self._replicas[group.workload] >= self._min_replicas",
        after="self._replicas[group.workload] > self._min_replicas",
        corpus=DUPLICATES,
        upstream=NEWEST,
    ),
    Mutant(
        name="a full node takes one more pod",
        module=f"{FOLDER}/scene.py",
        before="if usage.pods >= node.pods:",
        after="if usage.pods > node.pods:",
        corpus=AFFINITY,
        upstream=OLD,
    ),
    Mutant(
        name="the total limit does not exist",
        module=f"{FOLDER}/ledger.py",
        before="TOTAL_LIMIT_SINCE = versions.TOTAL_LIMIT.since",
        after="TOTAL_LIMIT_SINCE = (0, 99)",
        corpus=RESTARTS,
        upstream=NEWEST,
    ),
    Mutant(
        name="the newest version runs profile by profile",
        module=f"{FOLDER}/cycle.py",
        before="BALANCE_LAST_SINCE = versions.BALANCE_LAST.since",
        after="BALANCE_LAST_SINCE = (0, 99)",
        corpus=CYCLE,
        upstream=NEWEST,
    ),
)
