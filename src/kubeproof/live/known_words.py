"""Words of the Kubernetes API: all that an anonymised snapshot may hold beside made-up names, numbers and amounts.

What is not here is renamed. A word that a reader takes only as it is has to be here: a test compares.
"""

from __future__ import annotations

from kubeproof.cluster.volumes import NEVER_ATTACHED, NO_PROVISIONER, REACH
from kubeproof.live.resources import RESOURCES
from kubeproof.manifests.kinds.applications import REPLICAS, RESPECTS, SCALER
from kubeproof.manifests.kinds.catalogue import ALONE


def _split(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


WORDS = _split(
    # of fields with a few words to choose from
    "Always OnFailure Never NoSchedule PreferNoSchedule NoExecute Exists Equal In NotIn DoesNotExist Gt Lt",
    "DoNotSchedule ScheduleAnyway Honor Ignore TCP UDP SCTP PreemptLowerPriority OrderedReady Parallel",
    "RollingUpdate OnDelete Recreate Allow Forbid Replace NonIndexed Indexed TerminatingOrFailed Failed",
    "Immediate WaitForFirstConsumer Filesystem Block ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod",
    "Max Min Disabled Pods Percent IfHealthyBudget AlwaysAllow ClusterIP NodePort LoadBalancer ExternalName",
    "Cluster Local Ingress Egress Off Initial Auto InPlaceOrRecreate InPlace Memory None",
    "Resource ContainerResource Object External Utilization Value AverageValue",
    "Container Pod PersistentVolumeClaim BestEffort NotBestEffort Terminating NotTerminating PriorityClass",
    "CrossNamespacePodAffinity True False Unknown Pending Running Succeeded Bound Available Released",
    # conditions
    "Ready MemoryPressure DiskPressure PIDPressure NetworkUnavailable KernelDeadlock KernelPanic Complete",
    "SuccessCriteriaMet FailureTarget Suspended PodScheduled Initialized ContainersReady DisruptionTarget",
    "PodReadyToStartContainers PodResizePending PodResizeInProgress",
    # names that every cluster has
    "default kube-system kube-public kube-node-lease default-scheduler metadata.name system-cluster-critical",
    "system-node-critical linux windows amd64 arm64 arm s390x ppc64le riscv64 true false * v1",
    *(resource.kind for resource in RESOURCES),
    *(resource.version for resource in RESOURCES),
) | {"", *REPLICAS, RESPECTS, SCALER}

# Keys of labels, annotations and taints that control loops or readers know by name.
KEYS = _split(
    "kubernetes.io/hostname kubernetes.io/arch kubernetes.io/os kubernetes.io/metadata.name",
    "beta.kubernetes.io/arch beta.kubernetes.io/os beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone failure-domain.beta.kubernetes.io/region",
    "node.kubernetes.io/instance-type node.kubernetes.io/unschedulable node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable node.kubernetes.io/memory-pressure node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure node.kubernetes.io/network-unavailable node.kubernetes.io/out-of-service",
    "node.kubernetes.io/exclude-disruption node.kubernetes.io/exclude-from-external-load-balancers",
    "node.cloudprovider.kubernetes.io/uninitialized node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master statefulset.kubernetes.io/pod-name apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-name batch.kubernetes.io/controller-uid batch.kubernetes.io/job-completion-index",
    "job-name controller-uid pod-template-hash controller-revision-hash pod-template-generation",
    "cluster-autoscaler.kubernetes.io/scale-down-disabled cluster-autoscaler.kubernetes.io/safe-to-evict",
    "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes descheduler.alpha.kubernetes.io/evict",
    "descheduler.alpha.kubernetes.io/prefer-no-eviction controller.kubernetes.io/pod-deletion-cost",
    "storageclass.kubernetes.io/is-default-class storageclass.beta.kubernetes.io/is-default-class",
    "volume.beta.kubernetes.io/storage-class endpointslice.kubernetes.io/managed-by metadata.name",
    *(key for keys in REACH.values() for key in keys),
) | {ALONE}

PROVISIONERS = frozenset((NO_PROVISIONER, *REACH, *NEVER_ATTACHED))
RESOURCE_NAMES = _split(
    "cpu memory pods storage ephemeral-storage services persistentvolumeclaims replicationcontrollers secrets",
    "configmaps resourcequotas services.loadbalancers services.nodeports count/pods",
)
