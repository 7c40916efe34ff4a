"""How old pods have to be for a policy: the ages at which its answer about a pod may change.

A pod's age counts from the moment it gets its node. For `minPodAge` that is upstream's rule (`status.startTime`);
PodLifeTime counts from the creation, which is earlier for pods that had to wait for a node.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import Setup, Workload
from kubeproof.cluster.steering.policies import DeschedulerPolicy, DeschedulerProfile
from kubeproof.controllers.descheduler import evictor
from kubeproof.controllers.descheduler.arguments import Arguments, arguments_of, plugins_at

LIFE_TIME = "PodLifeTime"
POINTS = ("deschedule", "balance")


def ages_asked(setup: Setup, policy: DeschedulerPolicy) -> tuple[tuple[int, ...], ...]:
    """Per workload the ages in seconds that the policy asks for, ascending."""
    return tuple(tuple(sorted(set(_ages_of(setup, policy, workload)))) for workload in setup.workloads)


def _ages_of(setup: Setup, policy: DeschedulerPolicy, workload: Workload) -> Iterator[int]:
    if workload.rules.is_pod and not workload.template.always_evictable:
        return  # never evicted, however old
    for profile in policy.profiles:
        evicting = arguments_of(profile, evictor.NAME)
        if not _is_meant(workload, evicting, field="") or not any(plugins_at(profile, point) for point in POINTS):
            continue
        least_s = evicting.seconds("minPodAge") or 0
        if least_s > 0 and versions.MIN_POD_AGE.holds_in(setup.settings.descheduler_version):
            yield ceil(least_s)
        yield from _life_times(profile, workload)


def _life_times(profile: DeschedulerProfile, workload: Workload) -> Iterator[int]:
    """The first second at which PodLifeTime calls a pod too old."""
    arguments = arguments_of(profile, LIFE_TIME)
    limit_s = arguments.number("maxPodLifeTimeSeconds")
    if LIFE_TIME in plugins_at(profile, POINTS[0]) and limit_s is not None and _is_meant(workload, arguments):
        yield limit_s + 1


def _is_meant(workload: Workload, arguments: Arguments, field: str = "namespaces") -> bool:
    """True unless the arguments leave the workload's pods out; an annotation overrules the evictor's."""
    selector = arguments.selector("labelSelector")
    if not field and workload.template.always_evictable:
        return True
    is_selected = selector is None or selector.matches(dict(workload.template.labels))
    return is_selected and (not field or arguments.admits_namespace(workload.namespace, field=field))
