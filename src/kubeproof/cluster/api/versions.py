"""Every rule that depends on a version: from which one on it holds, by which feature gate, for which fields.

The one table that is asked wherever a version decides something; a test finds comparisons with versions that are not
declared here, and walks every row across its boundary. Versions are those in which a gate is on *by default*
(`pkg/features/kube_features.go` of the releases 1.26 to 1.37), or those in which upstream's code changed. A field
whose gate is off is dropped by the API server when the object is written: the model ignores it, and the report says so.
"""

from __future__ import annotations

from types import MappingProxyType

from kubeproof.values import dataclass

Version = tuple[int, int]
OLDEST: Version = (1, 26)
NEWEST: Version = (1, 37)
OLDEST_DESCHEDULER: Version = (0, 27)
NEWEST_DESCHEDULER: Version = (0, 36)
NOT_YET: Version = (1, 999)  # off by default in every version that is modelled


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that holds from one version on."""

    since: Version
    says: str  # what is so from then on, and what was before where that is not the opposite
    gate: str = ""  # upstream's feature gate; empty: the code changed
    fields: tuple[tuple[str, str], ...] = ()  # (type, field) that the API server drops before
    refuses: bool = False  # without the field the object is not valid: the API server refuses it instead

    def holds_in(self, version: Version) -> bool:
        """True from the rule's version on."""
        return version >= self.since

    @property
    def newest_without(self) -> Version:
        """The last version before it."""
        return self.since[0], self.since[1] - 1

    @property
    def component(self) -> str:
        return "Kubernetes" if self.since >= (1, 0) else "descheduler"


def in_words(version: Version) -> str:
    """1.27 for (1, 27)."""
    return f"{version[0]}.{version[1]}"


def _of(kind: str, names: str) -> tuple[tuple[str, str], ...]:
    return tuple((kind, name) for name in names.split())


# -- fields that the API server drops while their gate is off -------------------------------------------------------

UNHEALTHY_EVICTION = Rule(
    (1, 27),
    "a budget's policy for unhealthy pods is kept",
    "PDBUnhealthyPodEvictionPolicy",
    _of("PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy"),
)
MIN_DOMAINS = Rule(
    (1, 27),
    "a spread constraint may ask for a number of domains",
    "MinDomainsInPodTopologySpread",
    _of("TopologySpreadConstraint", "minDomains"),
)
INCLUSION_POLICIES = Rule(
    (1, 26),
    "a spread constraint says which nodes count",
    "NodeInclusionPolicyInPodTopologySpread",
    _of("TopologySpreadConstraint", "nodeAffinityPolicy nodeTaintsPolicy"),
)
MATCH_LABEL_KEYS = Rule(
    (1, 27),
    "a spread constraint tells revisions apart",
    "MatchLabelKeysInPodTopologySpread",
    _of("TopologySpreadConstraint", "matchLabelKeys"),
)
LABEL_KEYS = Rule(
    (1, 31),
    "a term of pod affinity tells revisions apart",
    "MatchLabelKeysInPodAffinity",
    _of("PodAffinityTerm", "matchLabelKeys mismatchLabelKeys"),
)
CONTAINER_METRICS = Rule(
    (1, 27),
    "an autoscaler may ask for one container's use",
    "HPAContainerMetrics",
    _of("MetricSpec", "containerResource"),
    refuses=True,
)
TOLERANCE_PER_DIRECTION = Rule(
    (1, 35), "an autoscaler's behavior has tolerances", "HPAConfigurableTolerance", _of("ScalingRules", "tolerance")
)
SIDECARS = Rule(
    (1, 29),
    "an init container with restartPolicy Always is a sidecar",
    "SidecarContainers",
    _of("InitContainer", "restartPolicy"),
)
PRE_STOP_SLEEP = Rule(
    (1, 30),
    "a hook may sleep without a command",
    "PodLifecycleSleepAction",
    _of("LifecycleHandler", "sleep"),
    refuses=True,
)
VOLUME_IMAGES = Rule((1, 35), "images may be mounted as volumes", "ImageVolume", _of("Volume", "image"))
START_ORDINAL = Rule(
    (1, 27), "ordinals may start above 0", "StatefulSetStartOrdinal", _of("StatefulSetSpec", "ordinals")
)
MAX_UNAVAILABLE = Rule(
    (1, 37),
    "an update may take several ordinals at once; earlier one by one",
    "MaxUnavailableStatefulSet",
    _of("StatefulSetRollingUpdate", "maxUnavailable"),
)
CLAIM_RETENTION = Rule(
    (1, 27),
    "claims may go with their ordinals",
    "StatefulSetAutoDeletePVC",
    _of("StatefulSetSpec", "persistentVolumeClaimRetentionPolicy"),
)
REPLACEMENT_POLICY = Rule(
    (1, 29),
    "a Job may wait for pods to have failed",
    "JobPodReplacementPolicy",
    _of("JobSpec", "podReplacementPolicy"),
)
POD_FAILURE_POLICY = Rule(
    (1, 26), "a Job may tell failures apart", "JobPodFailurePolicy", _of("JobSpec", "podFailurePolicy")
)
BACK_OFF_PER_INDEX = Rule(
    (1, 29),
    "a Job may count failures by index",
    "JobBackoffLimitPerIndex",
    _of("JobSpec", "backoffLimitPerIndex maxFailedIndexes"),
)
SUCCESS_POLICY = Rule((1, 31), "a Job may succeed early", "JobSuccessPolicy", _of("JobSpec", "successPolicy"))
MANAGED_BY = Rule((1, 32), "somebody else may tend a Job", "JobManagedBy", _of("JobSpec", "managedBy"))
JOB_SCHEDULING = Rule(NOT_YET, "a Job's pods are placed together", "WorkloadWithJob", _of("JobSpec", "scheduling"))
TIME_ZONE = Rule((1, 26), "a CronJob has a time zone", "CronJobTimeZone", _of("CronJobSpec", "timeZone"))
SCHEDULING_GATES = Rule(
    (1, 27), "gates keep pods from being scheduled", "PodSchedulingReadiness", _of("PodSpec", "schedulingGates")
)
POD_RESOURCES = Rule((1, 34), "a pod has resources of its own", "PodLevelResources", _of("PodSpec", "resources"))
RESOURCE_CLAIMS = Rule(
    (1, 34), "a pod may claim devices", "DynamicResourceAllocation", _of("PodSpec", "resourceClaims")
)
SCHEDULING_GROUP = Rule(
    NOT_YET, "pods are placed as a group", "GenericWorkload", _of("PodSpec", "schedulingGroup workloadRef")
)
RESTART_RULES = Rule(
    (1, 35), "exit codes decide about restarts", "ContainerRestartRules", _of("Container", "restartPolicyRules")
)
STOP_SIGNAL = Rule(NOT_YET, "a container says how to stop it", "ContainerStopSignals", _of("Lifecycle", "stopSignal"))
TRAFFIC_DISTRIBUTION = Rule(
    (1, 31), "a Service prefers near endpoints", "ServiceTrafficDistribution", _of("ServiceSpec", "trafficDistribution")
)

# -- gates without a field, and changes of upstream's code ---------------------------------------------------------

POD_INDEX = Rule((1, 28), "pods of StatefulSets have a label with their index", "PodIndexLabel")
ONCE_PER_POD = Rule((1, 27), "ReadWriteOncePod volumes are held by one pod", "ReadWriteOncePod")
STORAGE_SCORES = Rule((1, 37), "volumes that fit tightly score", "StorageCapacityScoring")

GRACE_OF_50_S = Rule((1, 32), "the node controller waits 50 s; earlier 40 s")
LEAST_WASTE_DEFAULT = Rule((1, 33), "least-waste is the cluster autoscaler's default expander; earlier random")
INIT_IMAGES = Rule((1, 30), "images of init containers attract pods")
VOLUMES_RAISE_MOST = Rule((1, 37), "images mounted as volumes raise the bound of the score")
BACK_OFF = Rule((1, 27), "pods of Jobs wait after failures; earlier the Job is looked at again after a while")
PATIENT = Rule((1, 31), "a Job is finished when no pod is terminating; earlier when none is active")
AVAILABILITY = Rule((1, 27), "an update and a scale-down wait for availability; earlier for readiness alone")
LATER_REPLACEMENT = Rule(
    (1, 27), "a finished pod is replaced in a later sync; earlier a failed one at once, a succeeded one never"
)
BATCHES = Rule((1, 28), "a Parallel StatefulSet creates 1, 2, 4 … pods together; earlier one after the other")
OLD_UNAVAILABLE_COUNT = Rule((1, 27), "unavailable old pods count in an update with surge")
SUMS_OF_ANY = Rule((1, 28), "a pod's sum exists for resources that any container names; earlier that all name")
LIMITS_WITH_GIVEN_OVERHEAD = Rule((1, 27), "overhead counts towards limits that are given; earlier towards any")
CONTAINER_MISSED = Rule((1, 33), "a pod without the metric's container has no metric; earlier none has")
CONTAINER_REQUIRED = Rule((1, 35), "a pod without the metric's container is an error; earlier a request of zero")
DIRECTED_TOLERANCE = Rule((1, 33), "tolerances of both directions differ")
ABOVE_TARGET_ONLY = Rule((1, 28), "a missing pod is idle above target only; earlier also exactly on target")
ONLY_PREEMPTED = Rule((1, 27), "a pod waits for those it preempted; earlier for any of lower priority that terminates")
MILLI_OVERHEAD = Rule((1, 27), "overhead is added in millicores")
SORTED_AGAIN = Rule((1, 29), "victims are sorted once more; earlier those that break budgets come first")
ONE_BUDGET_PER_POD = Rule((1, 36), "a victim is charged to its first broken budget; earlier to all")
AFFINITY_SKIPS_SCORE = Rule((1, 30), "NodeAffinity without preferences gives no score")
SPREAD_SKIPS_SCORE = Rule((1, 28), "PodTopologySpread without constraints gives no score; earlier the most")
SKIPS_SCORE = Rule((1, 28), "InterPodAffinity without terms gives no score")
NODE_NAME_FIRST = Rule((1, 37), "NodeName runs before NodeUnschedulable")
NAMES_LEFT_OUT = Rule((1, 32), "nodes that PreFilter leaves out get a status")
NO_PREEMPTION_THERE = Rule((1, 27), "preemption passes over them; earlier it considers them")
ONE_TERM_MAY_CONFLICT = Rule((1, 27), "a contradictory term is one alternative less; earlier it refuses all")
MAY_NAME_MISSING_NODES = Rule((1, 27), "a name without a node is passed over; earlier it fails the whole attempt")
NODE_NAME_PINS = Rule((1, 37), "spec.nodeName narrows the nodes that are looked at")
BETA_IS_STABLE = Rule((1, 28), "a volume's beta label is compared with the node's stable one")
NEW_WORDS = Rule((1, 37), "volume messages have new words")
SKIPS_BEST_EFFORT = Rule((1, 33), "balanced allocation skips pods without requests")
RELATIVE = Rule((1, 36), "balanced allocation compares with the node before")
UNRESOLVABLE = Rule((1, 34), "a request larger than the node cannot be resolved")
ZERO_REQUEST_FITS = Rule((1, 28), "0 fits into an over-committed resource")
EMPTY_SELECTOR_COUNTS_NOTHING = Rule((1, 27), "an empty selector of a constraint counts no pod")
SIDECAR_PORTS = Rule((1, 33), "host ports of sidecars count")
TAINT_NOT_NAMED = Rule((1, 35), "the message does not name the taint")

# -- the descheduler ------------------------------------------------------------------------------------------------

BALANCE_LAST = Rule((0, 28), "all profiles deschedule, then all balance; earlier profile by profile")
TOTAL_LIMIT = Rule((0, 31), "a cycle has a limit", fields=_of("DeschedulerPolicy", "maxNoOfPodsToEvictTotal"))
ANTI_AFFINITY = Rule((0, 30), "node fit asks for anti-affinity")
COUNTED_SIDECARS = Rule((0, 35), "a sidecar's requests count; earlier like those of any init container")
MIN_REPLICAS = Rule((0, 30), "small workloads are left alone", fields=_of("DefaultEvictor", "minReplicas"))
DAEMON_SETS = Rule((0, 30), "daemon pods may be evicted", fields=_of("DefaultEvictor", "evictDaemonSetPods"))
MIN_POD_AGE = Rule((0, 31), "young pods are left alone", fields=_of("DefaultEvictor", "minPodAge"))
WITHOUT_BUDGET = Rule(
    (0, 32), "pods without a budget may be left alone", fields=_of("DefaultEvictor", "ignorePodsWithoutPDB")
)
PROTECTIONS = Rule((0, 34), "protections are listed", fields=_of("DefaultEvictor", "podProtections noEvictionPolicy"))
PERCENT = Rule((0, 33), "compares percentages of the given resources; earlier truncated amounts of all")
OVERHEAD_ALWAYS = Rule((0, 35), "an evicted pod frees its overhead; earlier only of resources that it requests")
COUNTS_EVICTABLE = Rule((0, 28), "evictable pods count; earlier all of the namespace")
PREFERS_FITTING = Rule((0, 34), "pods that fit elsewhere go first")
SORTED_BY_PRIORITY = Rule((0, 33), "pods of low priority go first; earlier the comparison was worked out and dropped")
LISTED_BY_NODE = Rule((0, 28), "pods are listed node by node")
EQUALS_SHUFFLED = Rule((0, 33), "equal pods are shuffled")
READS_INCLUSION_POLICIES = Rule((0, 29), "inclusion policies and matchLabelKeys are read")
CONSTRAINTS_ARGUMENT = Rule(
    (0, 28),
    "a list says which constraints count; earlier a flag",
    fields=_of("RemovePodsViolatingTopologySpreadConstraint", "constraints"),
)
ONLY_HONOURED_FIELDS = Rule((0, 34), "affinity and tolerations tell constraints apart only if a policy reads them")
INCLUDED_TAINTS = Rule((0, 30), "taints may be picked", fields=_of("RemovePodsViolatingNodeTaints", "includedTaints"))
SKIPS_FAILED = Rule((0, 34), "failed pods on tainted nodes stay")
PREFERRED_AFFINITY = Rule(
    (0, 28), "preferred affinity is read, and required looks at labels only; earlier at all of node fit"
)
MOST_RESTARTS_FIRST = Rule((0, 34), "pods with most restarts go first")

RULES = MappingProxyType({name: value for name, value in globals().items() if isinstance(value, Rule)})
GATED = MappingProxyType({field: rule for rule in RULES.values() for field in rule.fields})  # (type, field) -> rule
