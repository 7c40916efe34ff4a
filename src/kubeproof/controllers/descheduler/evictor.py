"""DefaultEvictor: which pods may be evicted at all (Filter), and which just now (PreEvictionFilter).

Mirrors `plugins/defaultevictor`. Templates do not know resource claims or namespace labels: pods count as having
none. Static and mirror pods are not modelled. What a policy asks for beyond that is told by `not_modelled`. Budgets
are no part of it: the eviction API asks them when an eviction is requested.
"""

from __future__ import annotations

from collections import Counter

from kubeproof.cluster.api import versions
from kubeproof.cluster.steering.priorities import SYSTEM_CRITICAL, class_values, priority_of
from kubeproof.controllers.descheduler.arguments import Arguments
from kubeproof.controllers.descheduler.scene import Scene
from kubeproof.controllers.descheduler.values import PodGroup
from kubeproof.controllers.evictions.budgets import budgets_of

NAME = "DefaultEvictor"

MIN_REPLICAS_SINCE = versions.MIN_REPLICAS.since
DAEMON_SETS_SINCE = versions.DAEMON_SETS.since
MIN_POD_AGE_SINCE = versions.MIN_POD_AGE.since
WITHOUT_BUDGET_SINCE = versions.WITHOUT_BUDGET.since
PROTECTIONS_SINCE = versions.PROTECTIONS.since
MANDATORY = "Mandatory"

MODELLED = frozenset(
    {
        "nodeSelector", "labelSelector", "priorityThreshold", "nodeFit", "minReplicas", "minPodAge", "podProtections",
        "evictLocalStoragePods", "evictDaemonSetPods", "evictSystemCriticalPods", "evictFailedBarePods",
        "noEvictionPolicy", "ignorePvcPods", "ignorePodsWithoutPDB",
    }
)  # fmt: skip
LOCAL, WITH_CLAIM, WITHOUT_BUDGET = "PodsWithLocalStorage", "PodsWithPVC", "PodsWithoutPDB"
EXTRA_MODELLED = frozenset({WITH_CLAIM, WITHOUT_BUDGET})


class Evictor:
    """The evictor of one profile."""

    def __init__(self, arguments: Arguments, scene: Scene) -> None:
        self._scene = scene
        self._unprotected = _find_unprotected(arguments, scene.version)
        self._protected = _find_protected(arguments, scene.version)
        self._heeds_wishes = arguments.text("noEvictionPolicy") == MANDATORY and scene.version >= PROTECTIONS_SINCE
        self._selector = arguments.selector("labelSelector")
        self._threshold = _threshold(arguments.open_nested("priorityThreshold"), scene)
        self._min_replicas = (arguments.number("minReplicas") or 0) if scene.version >= MIN_REPLICAS_SINCE else 0
        self._min_age = arguments.seconds("minPodAge") if scene.version >= MIN_POD_AGE_SINCE else None
        self._replicas = _replicas(scene) if self._min_replicas > 1 else Counter[int]()
        self._fit_nodes = scene.ready_entries(arguments.text("nodeSelector")) if arguments.flag("nodeFit") else None

    @property
    def tells_pods_apart(self) -> bool:
        """True if it may let pods of a workload go that run on one node, and not those on another, or younger ones."""
        return self._min_age is not None or self._fit_nodes is not None

    def may_evict(self, group: PodGroup) -> bool:
        """Filter: the pods are not terminating and nothing protects them; an annotation overrules all protection."""
        template = self._scene.template(group.workload)
        if group.terminating or template.always_evictable:
            return not group.terminating  # one that terminates can be evicted once more, which changes nothing
        if self._heeds_wishes and template.prefers_to_stay:
            return False
        if not self._owner_allows(group) or not self._volumes_allow(group):
            return False
        priority = priority_of(template)
        if "SystemCriticalPods" not in self._unprotected and priority >= self._threshold:
            return False
        if self._selector is not None and not self._selector.matches(self._scene.labels(group.workload)):
            return False
        return self._old_enough(group)

    def may_evict_now(self, group: PodGroup, entry: int) -> bool:
        """PreEvictionFilter: with nodeFit, some other ready node must take the pod, judged by itself."""
        return self._fit_nodes is None or self._scene.fits_another(group.workload, entry, self._fit_nodes)

    def _owner_allows(self, group: PodGroup) -> bool:
        rules = self._scene.workload(group.workload).rules
        if rules.is_pod:
            return "FailedBarePods" in self._unprotected and group.failed
        if rules.runs_per_node and "DaemonSetPods" not in self._unprotected:
            return False
        return self._min_replicas <= 1 or self._replicas[group.workload] >= self._min_replicas

    def _volumes_allow(self, group: PodGroup) -> bool:
        """False for pods on local storage unless that is allowed, and for what further protections mean."""
        template = self._scene.template(group.workload)
        if template.has_local_volumes and LOCAL not in self._unprotected:
            return False
        if template.claims and WITH_CLAIM in self._protected:
            return False
        return WITHOUT_BUDGET not in self._protected or bool(budgets_of(self._scene.setup, group.workload))

    def _old_enough(self, group: PodGroup) -> bool:
        return self._min_age is None or (group.age_s is not None and group.age_s >= self._min_age)


def _threshold(arguments: Arguments, scene: Scene) -> int:
    """The priority from which on pods are protected: a value, that of a class, or that of critical pods."""
    value, name = arguments.number("value"), arguments.text("name")
    if value is None and name:
        value = class_values(scene.setup).get(name)
    return SYSTEM_CRITICAL if value is None else value


def _replicas(scene: Scene) -> Counter[int]:
    """All pods of each workload, with or without a node, whatever their phase."""
    replicas = Counter(dict(scene.unbound))
    for entry in scene.entries:
        for group in entry.pods:
            replicas[group.workload] += group.pods * entry.count
    return replicas


def _find_unprotected(arguments: Arguments, version: tuple[int, int]) -> frozenset[str]:
    """The default protections that are switched off; the newer list, if used, replaces the older flags."""
    protections = arguments.open_nested("podProtections")
    disabled, extra = protections.texts("defaultDisabled"), protections.texts("extraEnabled")
    if version >= PROTECTIONS_SINCE and (disabled or extra):
        return frozenset(disabled)
    flags = {
        "evictSystemCriticalPods": "SystemCriticalPods",
        "evictFailedBarePods": "FailedBarePods",
        "evictDaemonSetPods": "DaemonSetPods",
        "evictLocalStoragePods": LOCAL,
    }
    allowed = {protection for flag, protection in flags.items() if arguments.flag(flag)}
    return frozenset(allowed - ({"DaemonSetPods"} if version < DAEMON_SETS_SINCE else set()))


def _find_protected(arguments: Arguments, version: tuple[int, int]) -> frozenset[str]:
    """The protections that are switched on beyond the default ones."""
    protections = arguments.open_nested("podProtections")
    disabled, extra = protections.texts("defaultDisabled"), protections.texts("extraEnabled")
    if version >= PROTECTIONS_SINCE and (disabled or extra):
        return frozenset(extra)
    flags = {WITH_CLAIM: "ignorePvcPods"}
    if version >= WITHOUT_BUDGET_SINCE:
        flags[WITHOUT_BUDGET] = "ignorePodsWithoutPDB"
    return frozenset(protection for protection, flag in flags.items() if arguments.flag(flag))
