"""KubeSchedulerConfiguration: profiles with their plugins, weights and arguments."""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.cluster.labels import NodeTerm
from kubeproof.cluster.objects import SchedulerProfile, SpreadConstraint
from kubeproof.controllers.scheduler.registry import DEFAULT_WEIGHTS, FILTERS
from kubeproof.manifests.pods.selectors import read_node_terms
from kubeproof.manifests.pods.templates import read_spread
from kubeproof.manifests.validation.deciding import ALL
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

SCORING = frozenset(DEFAULT_WEIGHTS)
PREEMPTION = "DefaultPreemption"
PLUGINS = SCORING | {
    *FILTERS,
    *("SchedulingGates", "PrioritySort", "NodeVolumeLimits", "DynamicResources", "NodeDeclaredFeatures"),
    *(PREEMPTION, "DefaultBinder"),
}
_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_FILTER_POINTS = ("preFilter", "filter", "preScore")


def read_scheduler_profiles(fields: Fields) -> tuple[SchedulerProfile, ...]:
    """The profiles; without any, the default one."""
    fields.ignore("apiVersion", "kind", "metadata")
    found: dict[str, SchedulerProfile] = {}
    for child in fields.children("profiles"):
        profile = _profile(child)
        if profile.name in found:
            child.fail("schedulerName", f"is {printable(profile.name)!r} again", remedy="Names are unique")
        found[profile.name] = profile
    fields.finish("KubeSchedulerConfiguration")
    return tuple(found.values()) or (SchedulerProfile(source=fields.source),)


def _profile(fields: Fields) -> SchedulerProfile:
    name = fields.text("schedulerName") or "default-scheduler"
    disabled, disabled_score, weights = _plugins(fields.child("plugins"))
    arguments = _Arguments()
    for config in fields.children("pluginConfig"):
        _plugin_config(config, arguments)
    fields.finish("SchedulerProfile")
    return SchedulerProfile(
        name=name,
        disabled=disabled,
        disabled_score=disabled_score,
        weights=tuple(sorted(weights.items())),
        fit_strategy=arguments.fit_strategy,
        fit_resources=arguments.fit_resources,
        fit_shape=arguments.fit_shape,
        balanced_resources=arguments.balanced_resources,
        added_affinity=arguments.added_affinity,
        default_spread=arguments.default_spread,
        hard_pod_affinity_weight=arguments.hard_pod_affinity_weight,
        ignore_preferred_of_existing=arguments.ignore_preferred_of_existing,
        source=fields.source,
    )


# Which plugins run


def _plugins(fields: Fields | None) -> tuple[frozenset[str], frozenset[str], dict[str, int]]:
    """Plugins off everywhere, plugins off for scoring only, and weights that differ from the default."""
    if fields is None:
        return frozenset(), frozenset(), {}
    everywhere, weights = _plugin_set(fields, "multiPoint", PLUGINS)
    no_score, score_weights = _plugin_set(fields, "score", SCORING)
    no_filter, _ = _plugin_set(fields, "filter", PLUGINS)
    # A plugin without its filter and without its score does nothing at all.
    everywhere |= {plugin for plugin in no_filter - {PREEMPTION} if plugin not in SCORING or plugin in no_score}
    everywhere |= _plugin_set(fields, "postFilter", frozenset({PREEMPTION}))[0] & {PREEMPTION}
    for point in _FILTER_POINTS:
        _note_partial(fields, point, everywhere)
    fields.finish("Plugins")
    return everywhere, no_score - everywhere, {**weights, **score_weights}


def _plugin_set(fields: Fields, point: str, universe: frozenset[str]) -> tuple[frozenset[str], dict[str, int]]:
    """What one extension point switches off, and the weights it gives; `*` switches all defaults off."""
    child = fields.child(point)
    if child is None:
        return frozenset(), {}
    enabled = {}
    for plugin in child.children("enabled"):
        enabled[_plugin_name(plugin)] = plugin.integer("weight") or 0
        plugin.finish("Plugin")
    disabled = {_plugin_name(plugin) for plugin in child.children("disabled")}
    child.finish("PluginSet")
    off = universe if "*" in disabled else frozenset(disabled)
    return off - set(enabled), {plugin: weight for plugin, weight in enabled.items() if weight}


def _plugin_name(fields: Fields) -> str:
    name = fields.require_text("name")
    if name != "*" and name not in PLUGINS:
        fields.log.omit(f"scheduler plugin {printable(name)}", line=fields.line_of("name"), decides=ALL)
    return name


def _note_partial(fields: Fields, point: str, everywhere: frozenset[str]) -> None:
    """Notes plugins that one extension point alone switches off, which a profile cannot say."""
    off, _ = _plugin_set(fields, point, PLUGINS)
    if off - everywhere:
        why = f"switched off there only: {', '.join(printable(p) for p in sorted(off - everywhere))}"
        fields.omit(point, why, decides=ALL)


# What they are told


class _Arguments:
    """Plugin arguments collected from pluginConfig, at their defaults until given."""

    def __init__(self) -> None:
        default = SchedulerProfile()
        self.fit_strategy: str = default.fit_strategy
        self.fit_resources: tuple[tuple[str, int], ...] = default.fit_resources
        self.fit_shape: tuple[tuple[int, int], ...] = ()
        self.balanced_resources: tuple[str, ...] = default.balanced_resources
        self.added_affinity: tuple[NodeTerm, ...] | None = None
        self.default_spread: tuple[SpreadConstraint, ...] | None = None
        self.hard_pod_affinity_weight: int = default.hard_pod_affinity_weight
        self.ignore_preferred_of_existing: bool = False


def _plugin_config(fields: Fields, arguments: _Arguments) -> None:
    name = fields.require_text("name")
    reader = _READERS.get(name)
    args = fields.child("args")
    if args is not None and reader is None:
        fields.log.omit(f"arguments of scheduler plugin {printable(name)}", line=fields.line_of("args"), decides=ALL)
    elif args is not None and reader is not None:
        reader(args, arguments)
    fields.finish("PluginConfig")


def _fit(args: Fields, arguments: _Arguments) -> None:
    strategy = args.child("scoringStrategy")
    if strategy is not None:
        arguments.fit_strategy = strategy.word("type", _STRATEGIES, "LeastAllocated")
        arguments.fit_resources = _resources(strategy) or arguments.fit_resources
        arguments.fit_shape = _shape(strategy)
        strategy.finish("ScoringStrategy")
    args.finish("NodeResourcesFitArgs")


def _resources(fields: Fields) -> tuple[tuple[str, int], ...]:
    """Resource names with weights 1 to 100; weight 1 if absent."""
    found = []
    for child in fields.children("resources"):
        found.append((child.require_text("name"), child.integer("weight", most=100) or 1))
        child.finish("ResourceWeight")
    return tuple(found)


def _shape(strategy: Fields) -> tuple[tuple[int, int], ...]:
    """The points of RequestedToCapacityRatio; utilization must rise."""
    ratio = strategy.child("requestedToCapacityRatio")
    points: list[tuple[int, int]] = []
    for child in [] if ratio is None else ratio.children("shape"):
        point = (child.integer("utilization", most=100) or 0, child.integer("score", most=10) or 0)
        if points and point[0] <= points[-1][0]:
            child.fail("utilization", "does not rise", remedy="Sort the points by utilization, each once")
        points.append(point)
        child.finish("ShapePoint")
    if ratio is not None:
        ratio.finish("RequestedToCapacityRatio")
    if not points and strategy.text("type") == "RequestedToCapacityRatio":
        strategy.fail("requestedToCapacityRatio", "needs a shape", remedy="Add at least one point")
    return tuple(points)


def _read_balanced(args: Fields, arguments: _Arguments) -> None:
    arguments.balanced_resources = tuple(name for name, _ in _resources(args)) or arguments.balanced_resources
    args.finish("BalancedArgs")


def _spread(args: Fields, arguments: _Arguments) -> None:
    constraints = read_spread(args, "defaultConstraints")
    listed = args.word("defaultingType", ("System", "List"), "System") == "List"
    if constraints and not listed:
        args.fail("defaultConstraints", "needs defaultingType: List", remedy="Add it")
    if any(constraint.selector is not None for constraint in constraints):
        args.fail("defaultConstraints", "must have no labelSelector", remedy="Remove it; it follows the workload")
    arguments.default_spread = constraints if listed else None
    args.finish("SpreadArgs")


def _affinity(args: Fields, arguments: _Arguments) -> None:
    added = args.child("addedAffinity")
    if added is not None:
        arguments.added_affinity = read_node_terms(added, "requiredDuringSchedulingIgnoredDuringExecution")
        if added.has("preferredDuringSchedulingIgnoredDuringExecution"):
            added.omit("preferredDuringSchedulingIgnoredDuringExecution", decides=ALL)
        added.finish("NodeAffinity")
    args.finish("NodeAffinityArgs")


def _pod_affinity(args: Fields, arguments: _Arguments) -> None:
    weight = args.integer("hardPodAffinityWeight", most=100)
    arguments.hard_pod_affinity_weight = arguments.hard_pod_affinity_weight if weight is None else weight
    arguments.ignore_preferred_of_existing = bool(args.boolean("ignorePreferredTermsOfExistingPods"))
    args.finish("InterPodAffinityArgs")


_READERS: dict[str, Callable[[Fields, _Arguments], None]] = {
    "NodeResourcesFit": _fit,
    "NodeResourcesBalancedAllocation": _read_balanced,
    "PodTopologySpread": _spread,
    "NodeAffinity": _affinity,
    "InterPodAffinity": _pod_affinity,
}
