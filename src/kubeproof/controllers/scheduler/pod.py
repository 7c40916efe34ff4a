"""The pod that is to be scheduled, with what its plugins need from the setup."""

from __future__ import annotations

from kubeproof.cluster.objects import PodTemplate, SchedulerProfile, Setup, Workload, family
from kubeproof.values import dataclass

POD_TEMPLATE_HASH = "pod-template-hash"


@dataclass(frozen=True, slots=True)
class IncomingPod:
    """A pod of one workload under one scheduler profile."""

    setup: Setup
    index: int  # of the workload in setup.workloads
    profile: SchedulerProfile
    unique_keys: frozenset[str] = frozenset()  # label keys whose value no two nodes share

    @property
    def workload(self) -> Workload:
        return self.setup.workloads[self.index]

    @property
    def template(self) -> PodTemplate:
        return self.workload.template

    @property
    def version(self) -> tuple[int, int]:
        return self.setup.settings.kubernetes_version


def pod_labels(setup: Setup, index: int) -> dict[str, str]:
    """The labels that pods of a workload carry.

    The Deployment controller adds pod-template-hash. Its value is not modelled; each Deployment has its own.
    """
    workload = setup.workloads[index]
    labels = dict(workload.template.labels)
    if workload.has_template_hash:
        hashed = family(setup, index)[0] if workload.resized else index  # requests set at admission change no hash
        labels.setdefault(POD_TEMPLATE_HASH, f"hash-of-workload-{hashed}")
    return labels
