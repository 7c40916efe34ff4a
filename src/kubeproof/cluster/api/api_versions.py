"""API versions that Kubernetes has removed, as its deprecation guide lists them."""

from __future__ import annotations

from kubeproof.named_tuples import NamedTuple

Version = tuple[int, int]


class Removed(NamedTuple):
    """Since when a version is not served, and what replaced it."""

    since: Version
    instead: str  # apiVersion; "": nothing

    def is_gone(self, cluster: Version) -> bool:
        """True if a cluster of this version does not serve it."""
        return cluster >= self.since


_TABLE = """
1.16 extensions/v1beta1 Deployment,DaemonSet,ReplicaSet apps/v1
1.16 extensions/v1beta1 NetworkPolicy networking.k8s.io/v1
1.16 extensions/v1beta1 PodSecurityPolicy -
1.16 apps/v1beta1 Deployment,StatefulSet,ReplicaSet,ControllerRevision apps/v1
1.16 apps/v1beta2 Deployment,StatefulSet,ReplicaSet,DaemonSet,ControllerRevision apps/v1
1.21 batch/v2alpha1 CronJob batch/v1
1.22 extensions/v1beta1 Ingress networking.k8s.io/v1
1.22 networking.k8s.io/v1beta1 Ingress,IngressClass networking.k8s.io/v1
1.22 admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration,ValidatingWebhookConfiguration \
admissionregistration.k8s.io/v1
1.22 apiextensions.k8s.io/v1beta1 CustomResourceDefinition apiextensions.k8s.io/v1
1.22 apiregistration.k8s.io/v1beta1 APIService apiregistration.k8s.io/v1
1.22 authentication.k8s.io/v1beta1 TokenReview authentication.k8s.io/v1
1.22 authorization.k8s.io/v1beta1 SubjectAccessReview,LocalSubjectAccessReview,SelfSubjectAccessReview \
authorization.k8s.io/v1
1.22 certificates.k8s.io/v1beta1 CertificateSigningRequest certificates.k8s.io/v1
1.22 coordination.k8s.io/v1beta1 Lease coordination.k8s.io/v1
1.22 rbac.authorization.k8s.io/v1beta1 Role,RoleBinding,ClusterRole,ClusterRoleBinding rbac.authorization.k8s.io/v1
1.22 rbac.authorization.k8s.io/v1alpha1 Role,RoleBinding,ClusterRole,ClusterRoleBinding rbac.authorization.k8s.io/v1
1.22 scheduling.k8s.io/v1beta1 PriorityClass scheduling.k8s.io/v1
1.22 storage.k8s.io/v1beta1 StorageClass,CSIDriver,CSINode,VolumeAttachment storage.k8s.io/v1
1.25 batch/v1beta1 CronJob batch/v1
1.25 discovery.k8s.io/v1beta1 EndpointSlice discovery.k8s.io/v1
1.25 events.k8s.io/v1beta1 Event events.k8s.io/v1
1.25 autoscaling/v2beta1 HorizontalPodAutoscaler autoscaling/v2
1.25 policy/v1beta1 PodDisruptionBudget policy/v1
1.25 policy/v1beta1 PodSecurityPolicy -
1.25 node.k8s.io/v1beta1 RuntimeClass node.k8s.io/v1
1.26 autoscaling/v2beta2 HorizontalPodAutoscaler autoscaling/v2
1.26 flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema,PriorityLevelConfiguration flowcontrol.apiserver.k8s.io/v1
1.27 storage.k8s.io/v1beta1 CSIStorageCapacity storage.k8s.io/v1
1.29 flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema,PriorityLevelConfiguration flowcontrol.apiserver.k8s.io/v1
1.32 flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema,PriorityLevelConfiguration flowcontrol.apiserver.k8s.io/v1
"""


def _version(text: str) -> Version:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


REMOVED: dict[tuple[str, str], Removed] = {
    (version, kind): Removed(_version(since), "" if instead == "-" else instead)
    for since, version, kinds, instead in (line.split() for line in _TABLE.strip().splitlines())
    for kind in kinds.split(",")
}
