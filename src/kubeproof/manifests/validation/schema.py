"""Fields of the Kubernetes API that the readers do not use: harmless ones with the reason, others with None.

One table per API type. A field that is read does not have to be here. A field that is neither read nor here
does not exist in the API as far as we know and is reported with a suggestion.
"""

from __future__ import annotations

_NOT_MODELLED = None

# Why ignoring a field cannot change a verdict.
_RECORD = "record"  # written by the system, or read by people only
_INSIDE = "inside"  # concerns what happens inside a container
_IDENTITY = "identity"  # who the pod is, not where it runs
_NETWORK = "network"  # how traffic reaches it; no control loop here decides on it
_STORAGE = "storage"  # volumes without a say in placement
_FLAGS = "flags"  # how a component talks to the API server
_ROLLOUT = "rollout"  # only matters when the pod template changes, which is refused


def _all(reason: str | None, names: str) -> dict[str, str | None]:
    return dict.fromkeys(names.split(), reason)


FIELDS: dict[str, dict[str, str | None]] = {
    "Object": _all(_RECORD, "apiVersion kind metadata status"),
    "ObjectMeta": {
        **_all(
            _RECORD,
            "name namespace labels annotations ownerReferences uid resourceVersion "
            "generation creationTimestamp "
            "managedFields selfLink generateName clusterName deletionGracePeriodSeconds",
        ),
        **_all(_NOT_MODELLED, "finalizers deletionTimestamp"),
    },
    "NodeSpec": _all(_RECORD, "podCIDR podCIDRs providerID externalID configSource"),
    "NodeStatus": {
        **_all(
            _RECORD,
            "addresses nodeInfo daemonEndpoints volumesAttached volumesInUse phase config "
            "runtimeHandlers features "
            "declaredFeatures capacity",
        ),
    },
    "ContainerImage": {},
    "Taint": _all(_RECORD, "timeAdded"),
    "DeploymentSpec": _all(_ROLLOUT, "revisionHistoryLimit progressDeadlineSeconds"),
    "RollingUpdate": {},
    "DeploymentStrategy": {},
    "ReplicaSetSpec": {},
    "DaemonSetSpec": _all(_ROLLOUT, "revisionHistoryLimit"),
    "DaemonSetUpdateStrategy": {},
    "StatefulSetSpec": {
        **_all(_ROLLOUT, "revisionHistoryLimit"),
        **_all(_NETWORK, "serviceName"),
        **_all(_NOT_MODELLED, "persistentVolumeClaimRetentionPolicy"),
    },
    "StatefulSetUpdateStrategy": {},
    "StatefulSetRollingUpdate": {},
    "StatefulSetOrdinals": {},
    "JobSpec": {
        **_all(_RECORD, "manualSelector"),
        **_all(
            _NOT_MODELLED, "backoffLimitPerIndex maxFailedIndexes successPolicy podFailurePolicy managedBy scheduling"
        ),
    },
    "JobTemplate": {},
    "CronJobSpec": {
        **_all(_RECORD, "successfulJobsHistoryLimit failedJobsHistoryLimit"),
        **_all(_NOT_MODELLED, "timeZone"),
    },
    "PodTemplate": {},
    "PodSpec": {
        **_all(
            _INSIDE,
            "securityContext shareProcessNamespace hostPID hostIPC hostUsers os",
        ),
        **_all(_IDENTITY, "serviceAccount serviceAccountName automountServiceAccountToken imagePullSecrets"),
        **_all(_IDENTITY, "hostname subdomain setHostnameAsFQDN hostnameOverride"),
        **_all(_NETWORK, "dnsPolicy dnsConfig hostAliases enableServiceLinks"),
        **_all(
            _NOT_MODELLED,
            "schedulingGates readinessGates "
            "runtimeClassName "
            "resourceClaims ephemeralContainers schedulingGroup workloadRef",
        ),
    },
    "Container": {
        **_all(
            _INSIDE,
            "imagePullPolicy command args env envFrom workingDir securityContext stdin stdinOnce tty "
            "terminationMessagePath terminationMessagePolicy volumeMounts volumeDevices livenessProbe",
        ),
        **_all(_NOT_MODELLED, "startupProbe restartPolicyRules"),
    },
    "Lifecycle": _all(_NOT_MODELLED, "postStart stopSignal"),
    "LifecycleHandler": _all(_NOT_MODELLED, "httpGet tcpSocket"),
    "SleepAction": {},
    "ExecAction": {},
    "ContainerPort": _all(_NETWORK, "name"),
    "Resources": {},
    "Probe": {
        **_all(
            _INSIDE,
            "exec httpGet tcpSocket grpc timeoutSeconds failureThreshold terminationGracePeriodSeconds",
        )
    },
    "Volume": {
        **_all(_STORAGE, "configMap secret downwardAPI projected nfs gitRepo"),
        **_all(
            _NOT_MODELLED,
            "ephemeral csi awsElasticBlockStore gcePersistentDisk "
            "azureDisk azureFile iscsi rbd "
            "cinder fc glusterfs cephfs flexVolume flocker quobyte vsphereVolume "
            "photonPersistentDisk portworxVolume "
            "scaleIO storageos",
        ),
    },
    "ImageVolume": _all(_INSIDE, "pullPolicy"),
    "ClaimVolume": _all(_STORAGE, "readOnly"),
    "PersistentVolumeSpec": _all(
        _STORAGE,
        "persistentVolumeReclaimPolicy mountOptions csi local hostPath nfs awsElasticBlockStore gcePersistentDisk "
        "azureDisk azureFile iscsi rbd cinder fc glusterfs cephfs flexVolume flocker quobyte vsphereVolume "
        "photonPersistentDisk portworxVolume scaleIO storageos volumeAttributesClassName",
    ),
    "VolumeNodeAffinity": {},
    "ClaimReference": _all(_RECORD, "apiVersion kind uid resourceVersion fieldPath"),
    "PersistentVolumeClaimSpec": _all(_STORAGE, "dataSource dataSourceRef volumeAttributesClassName"),
    "VolumeResources": {},
    "StorageClass": {
        **_all(_RECORD, "apiVersion kind metadata"),
        **_all(_STORAGE, "parameters reclaimPolicy mountOptions allowVolumeExpansion"),
    },
    "TopologySelectorLabelRequirement": {},
    "Affinity": {},
    "PodAffinity": {},
    "PodAffinityTerm": {},
    "WeightedPodAffinityTerm": {},
    "NodeAffinity": {},
    "NodeSelector": {},
    "NodeSelectorTerm": {},
    "PreferredSchedulingTerm": {},
    "Requirement": {},
    "LabelSelector": {},
    "Toleration": {},
    "TopologySpreadConstraint": {},
    "PodStatus": {
        **_all(
            _RECORD,
            "conditions hostIP hostIPs podIP podIPs startTime containerStatuses "
            "initContainerStatuses qosClass message "
            "reason ephemeralContainerStatuses resize resourceClaimStatuses "
            "observedGeneration allocatedResources "
            "resources extendedResourceClaimStatus",
        ),
        **_all(_NOT_MODELLED, "nominatedNodeName"),
    },
    "OwnerReference": _all(_RECORD, "apiVersion uid blockOwnerDeletion"),
    "HorizontalPodAutoscalerSpec": {},
    "VerticalPodAutoscalerSpec": _all(_NOT_MODELLED, "recommenders startupBoost"),
    "VerticalUpdatePolicy": _all(_NOT_MODELLED, "evictionRequirements evictAfterOOMSeconds"),
    "VerticalResourcePolicy": {},
    "VerticalContainerPolicy": {
        **_all(_INSIDE, "controlledValues"),
        **_all(_NOT_MODELLED, "oomBumpUpRatio oomMinBumpUp startupBoost"),
    },
    "CrossVersionObjectReference": _all(_RECORD, "apiVersion"),
    "MetricSpec": {},
    "MetricSource": _all(_NOT_MODELLED, "selector describedObject metric"),
    "MetricTarget": {},
    "MetricIdentifier": _all(_NOT_MODELLED, "selector"),
    "Behavior": {},
    "ScalingRules": {},
    "ScalingPolicy": {},
    "PodDisruptionBudgetSpec": {},
    "ServiceSpec": {
        **_all(
            _NETWORK,
            "ports clusterIP clusterIPs externalIPs externalName ipFamilies ipFamilyPolicy loadBalancerClass "
            "loadBalancerIP loadBalancerSourceRanges allocateLoadBalancerNodePorts healthCheckNodePort",
        ),
        **_all(
            _NOT_MODELLED,
            "internalTrafficPolicy sessionAffinity sessionAffinityConfig trafficDistribution",
        ),
    },
    "IngressSpec": _all(_NETWORK, "ingressClassName tls"),
    "IngressRule": _all(_NETWORK, "host"),
    "IngressHttp": {},
    "IngressPath": _all(_NETWORK, "path pathType"),
    "IngressBackend": _all(_NETWORK, "resource"),
    "IngressServiceBackend": _all(_NETWORK, "port"),
    "PriorityClass": _all(_RECORD, "apiVersion kind metadata description"),
    "ResourceQuotaSpec": {},
    "ScopeSelector": {},
    "ScopedResourceSelectorRequirement": {},
    "LimitRangeSpec": {},
    "LimitRangeItem": {},
    "KubeSchedulerConfiguration": {
        **_all(
            _FLAGS,
            "apiVersion kind metadata leaderElection clientConnection parallelism enableProfiling "
            "enableContentionProfiling healthzBindAddress metricsBindAddress",
        ),
        **_all(
            _NOT_MODELLED,
            "percentageOfNodesToScore podInitialBackoffSeconds podMaxBackoffSeconds extenders delayCacheUntilActive",
        ),
    },
    "SchedulerProfile": _all(_NOT_MODELLED, "percentageOfNodesToScore"),
    "Plugins": _all(_NOT_MODELLED, "preEnqueue queueSort reserve permit preBind bind postBind placementScore"),
    "PluginSet": {},
    "Plugin": {},
    "PluginConfig": {},
    "NodeResourcesFitArgs": {
        **_all(_RECORD, "apiVersion kind"),
        **_all(_NOT_MODELLED, "ignoredResources ignoredResourceGroups"),
    },
    "ScoringStrategy": {},
    "ResourceWeight": {},
    "RequestedToCapacityRatio": {},
    "ShapePoint": {},
    "BalancedArgs": _all(_RECORD, "apiVersion kind"),
    "SpreadArgs": _all(_RECORD, "apiVersion kind"),
    "InterPodAffinityArgs": _all(_RECORD, "apiVersion kind"),
    "NodeAffinityArgs": _all(_RECORD, "apiVersion kind"),
    "ApplicationSpec": _all(_RECORD, "project source sources sourceHydrator info revisionHistoryLimit"),
    "ApplicationDestination": _all(_RECORD, "server name"),
    "SyncPolicy": _all(_FLAGS, "retry managedNamespaceMetadata"),
    "AutomatedSync": _all(_RECORD, "prune allowEmpty"),
    "IgnoreDifferences": _all(_RECORD, "group"),
    "DeschedulerPolicy": {**_all(_RECORD, "apiVersion kind metadata")},
    "DeschedulerProfile": {},
}
