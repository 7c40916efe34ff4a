"""How objects of the input name and select each other, by names and ports: what decides about no pod's place.

No control loop of the model reads any of it. Checks do that look at the manifests alone.
"""

from __future__ import annotations

from kubeproof.cluster.labels import Labels, LabelSelector
from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass

Port = int | str  # a number, or the name of a port of a container or Service
PODS, SERVICES = "pods", "Services"


_CLUSTER_WIDE = (
    "Scenario Node Namespace PersistentVolume StorageClass PriorityClass IngressClass RuntimeClass CSIDriver CSINode "
    "VolumeAttachment CustomResourceDefinition APIService CertificateSigningRequest PodSecurityPolicy FlowSchema "
    "PriorityLevelConfiguration MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy "
    "ValidatingAdmissionPolicyBinding"
)


def ref_of(kind: str, namespace: str, name: str) -> str:
    """`Kind/namespace/name`; of kinds that belong to the whole cluster `Kind/name`."""
    is_wide = kind.startswith("Cluster") or kind in _CLUSTER_WIDE.split()
    return f"{kind}/{name}" if is_wide else f"{kind}/{namespace}/{name}"


@dataclass(frozen=True, slots=True)
class Written:
    """An object of the input, of whatever kind."""

    kind: str
    version: str  # apiVersion
    namespace: str  # "default" where none is stated; nobody knows whether the kind has one
    name: str
    source: Source
    states_namespace: bool = False

    @property
    def ref(self) -> str:
        return ref_of(self.kind, self.namespace, self.name)

    @property
    def group(self) -> str:
        return self.version.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Selection:
    """An object that chooses pods, or Services, by their labels."""

    ref: str
    of: str  # PODS or SERVICES
    namespaces: tuple[str, ...] | None  # None: all of them
    selector: LabelSelector
    source: Source
    ports: tuple[tuple[str, Source], ...] = ()  # names of ports that it wants the chosen ones to have


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that names another one of its own namespace."""

    ref: str  # who names it
    kind: str
    namespace: str
    name: str
    field: str  # where: "spec.serviceName"
    source: Source
    port: Port | None = None  # of a Service
    volume: str = ""  # of a claim: the volume of the pod that it is mounted as


@dataclass(frozen=True, slots=True)
class ServicePort:
    """A port of a Service, and the port of its pods that it leads to."""

    name: str
    number: int
    target: Port
    protocol: str
    source: Source


@dataclass(frozen=True, slots=True)
class WiredService:
    """A Service of any type, also one that selects no pods."""

    namespace: str
    name: str
    labels: Labels
    selector: Labels
    ports: tuple[ServicePort, ...]
    source: Source
    is_external: bool = False  # type ExternalName

    @property
    def ref(self) -> str:
        return f"Service/{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class ContainerPort:
    """A port that a container declares; others may be open all the same."""

    container: str
    name: str
    number: int
    protocol: str = "TCP"


@dataclass(frozen=True, slots=True)
class ProbePort:
    """The port that a probe of a container asks at."""

    container: str
    probe: str  # "readinessProbe"
    port: Port
    source: Source


@dataclass(frozen=True, slots=True)
class WiredPods:
    """What the pods of a workload offer to others."""

    ref: str
    ports: tuple[ContainerPort, ...] = ()  # of containers that run as long as the pod does
    probes: tuple[ProbePort, ...] = ()


@dataclass(frozen=True, slots=True)
class StartDeadline:
    """`startingDeadlineSeconds` of a CronJob."""

    ref: str
    seconds: int
    source: Source


@dataclass(frozen=True, slots=True)
class PodCreator:
    """Who may create pods of a namespace: the Role that allows it, or the binding of a ClusterRole."""

    ref: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Wiring:
    """All of it; an object that stands in the input twice counts as it was read last."""

    written: tuple[Written, ...] = ()
    services: tuple[WiredService, ...] = ()
    pods: tuple[WiredPods, ...] = ()
    selections: tuple[Selection, ...] = ()
    references: tuple[Reference, ...] = ()
    start_deadlines: tuple[StartDeadline, ...] = ()
    pod_creators: tuple[PodCreator, ...] = ()
