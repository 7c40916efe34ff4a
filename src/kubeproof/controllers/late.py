"""The loops that only some clusters have, by name: their modules are imported when the first one is made.

Other rooms take these classes from here, to make one or to ask for it with `isinstance`. A loop that every cluster
has (Deployment, ReplicaSet, scheduler, kubelet, taints, node monitor) is imported from its own module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.late import LateClass

if TYPE_CHECKING:
    from kubeproof.controllers.descheduler.controller import DeschedulerController
    from kubeproof.controllers.endpoints import EndpointController
    from kubeproof.controllers.evictions.drain_eviction import DrainEviction
    from kubeproof.controllers.gitops import GitOpsController
    from kubeproof.controllers.hpa.controller import HpaController
    from kubeproof.controllers.rollout.controller import RolloutController
    from kubeproof.controllers.scheduler.pinned import PinnedScheduler
    from kubeproof.controllers.scheduler.preempting import PreemptingScheduler
    from kubeproof.controllers.scheduler.preempting_pinned import PreemptingPinnedScheduler
    from kubeproof.controllers.volume_controller import VolumeController
    from kubeproof.controllers.workloads.cronjob import CronJobController
    from kubeproof.controllers.workloads.daemonset import DaemonSetController
    from kubeproof.controllers.workloads.job import JobController
    from kubeproof.controllers.workloads.statefulset import StatefulSetController
else:
    CronJobController = LateClass("kubeproof.controllers.workloads.cronjob", "CronJobController")
    DaemonSetController = LateClass("kubeproof.controllers.workloads.daemonset", "DaemonSetController")
    DeschedulerController = LateClass("kubeproof.controllers.descheduler.controller", "DeschedulerController")
    DrainEviction = LateClass("kubeproof.controllers.evictions.drain_eviction", "DrainEviction")
    EndpointController = LateClass("kubeproof.controllers.endpoints", "EndpointController")
    GitOpsController = LateClass("kubeproof.controllers.gitops", "GitOpsController")
    HpaController = LateClass("kubeproof.controllers.hpa.controller", "HpaController")
    JobController = LateClass("kubeproof.controllers.workloads.job", "JobController")
    RolloutController = LateClass("kubeproof.controllers.rollout.controller", "RolloutController")
    PinnedScheduler = LateClass("kubeproof.controllers.scheduler.pinned", "PinnedScheduler")
    PreemptingScheduler = LateClass("kubeproof.controllers.scheduler.preempting", "PreemptingScheduler")
    PreemptingPinnedScheduler = LateClass(
        "kubeproof.controllers.scheduler.preempting_pinned", "PreemptingPinnedScheduler"
    )
    StatefulSetController = LateClass("kubeproof.controllers.workloads.statefulset", "StatefulSetController")
    VolumeController = LateClass("kubeproof.controllers.volume_controller", "VolumeController")

__all__ = [
    "CronJobController",
    "DaemonSetController",
    "DeschedulerController",
    "DrainEviction",
    "EndpointController",
    "GitOpsController",
    "HpaController",
    "JobController",
    "PinnedScheduler",
    "PreemptingPinnedScheduler",
    "PreemptingScheduler",
    "RolloutController",
    "StatefulSetController",
    "VolumeController",
]
