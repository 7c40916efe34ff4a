"""One descheduling cycle: which plugins run in which order, and all it may evict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.steering.policies import DeschedulerPolicy, DeschedulerProfile
from kubeproof.controllers.descheduler import evictor
from kubeproof.controllers.descheduler.arguments import arguments_of, plugins_at
from kubeproof.controllers.descheduler.budgets import NO_ALLOWANCES, REFUSED, Allowances, allowances_of
from kubeproof.controllers.descheduler.choices import check_limit
from kubeproof.controllers.descheduler.evicting import Evictions
from kubeproof.controllers.descheduler.evictor import Evictor
from kubeproof.controllers.descheduler.ledger import Ledger, limits_of, opening, outcome_of
from kubeproof.controllers.descheduler.protocol import Builder, Context, Plugin
from kubeproof.controllers.descheduler.scene import Scene
from kubeproof.controllers.descheduler.values import NodeEntry, Outcome, Version
from kubeproof.controllers.evictions.budgets import BudgetScale
from kubeproof.named_tuples import NamedTuple

BALANCE_LAST_SINCE = versions.BALANCE_LAST.since

DESCHEDULE, BALANCE = "deschedule", "balance"


class Known(NamedTuple):
    """A modelled plugin: its extension point, and its module, imported for policies that have it."""

    point: str
    module: str

    @property
    def build(self) -> Builder:
        found: Builder = import_module(f"{PACKAGE}.{self.module}").build
        return found

    @property
    def arguments(self) -> frozenset[str]:
        """The arguments that are read."""
        found: frozenset[str] = import_module(f"{PACKAGE}.{self.module}").ARGUMENTS
        return found


LIFE_TIME = "PodLifeTime"
PACKAGE = "kubeproof.controllers.descheduler.plugins"
PLUGINS = {
    "RemovePodsViolatingNodeTaints": Known(DESCHEDULE, "node_taints"),
    "RemovePodsViolatingNodeAffinity": Known(DESCHEDULE, "node_affinity"),
    "RemovePodsHavingTooManyRestarts": Known(DESCHEDULE, "restarts"),
    LIFE_TIME: Known(DESCHEDULE, "life_time"),
    "RemovePodsViolatingTopologySpreadConstraint": Known(BALANCE, "topology_spread"),
    "RemoveDuplicates": Known(BALANCE, "duplicates"),
    "LowNodeUtilization": Known(BALANCE, "low_node_utilization"),
    "HighNodeUtilization": Known(BALANCE, "high_node_utilization"),
}


def evictions(
    setup: Setup,
    policy: DeschedulerPolicy,
    nodes: tuple[NodeEntry, ...],
    version: Version,
    unique_keys: frozenset[str],
    *,
    unbound: tuple[tuple[int, int], ...] = (),
    scales: Mapping[int, BudgetScale] | None = None,
) -> tuple[Outcome, ...]:
    """All possible outcomes of one cycle, sorted, without duplicates; `((),)` if nothing is evicted.

    `unbound` are workloads and their numbers of pods without a node (minReplicas counts them); with `scales`, the
    workloads' sizes, the eviction API asks the setup's budgets. With fewer than two
    ready nodes nothing happens; up to 0.27 the process even ends then, which the caller must know.
    """
    scene = _scene(setup, policy, nodes, version, unique_keys, unbound)
    ledgers = frozenset({opening(scene)})
    for plugin in _plugins(policy, scene, _allowances(setup, nodes, scales)):
        ledgers = frozenset(after for before in ledgers for after in plugin.run(before))
        check_limit(len(ledgers))
    return tuple(sorted({outcome_of(ledger) for ledger in ledgers}))


def explain(
    setup: Setup,
    policy: DeschedulerPolicy,
    nodes: tuple[NodeEntry, ...],
    version: Version,
    unique_keys: frozenset[str],
    *,
    unbound: tuple[tuple[int, int], ...] = (),
    scales: Mapping[int, BudgetScale] | None = None,
) -> tuple[str, ...]:
    """The numbers behind the decisions of a cycle, plugin by plugin, along the first of its outcomes."""
    scene = _scene(setup, policy, nodes, version, unique_keys, unbound)
    if scene.node_count(scene.ready) < 2:
        return ("descheduler: fewer than two ready nodes, nothing is done",)
    allowances = _allowances(setup, nodes, scales)
    asked = sorted(set(allowances.charged.values()) - {REFUSED})
    lines = [f"budget {name} allows {allowances.rooms[name]} eviction(s) now" for name in asked]
    ledger: Ledger = opening(scene)
    for plugin in _plugins(policy, scene, allowances):
        lines += plugin.explain(ledger)
        ledger = min(plugin.run(ledger))
    return tuple(lines)


def list_plugins(
    setup: Setup,
    policy: DeschedulerPolicy,
    nodes: tuple[NodeEntry, ...],
    version: Version,
    unique_keys: frozenset[str],
) -> tuple[Plugin, ...]:
    """The plugins of a policy, made for these nodes."""
    return tuple(_plugins(policy, _scene(setup, policy, nodes, version, unique_keys, ()), NO_ALLOWANCES))


def not_modelled(policy: DeschedulerPolicy, classes: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Plugins and arguments of the policy that are not taken into account, sorted; `classes` are those of priority."""
    found: set[str] = set()
    for profile in policy.profiles:
        for key, names in profile.enabled:
            found |= {f"plugin {name or '(empty)'} at {key}" for name in names if not _is_modelled(name, key.lower())}
        found |= {f"argument {name}" for name in _list_unread_arguments(profile, classes)}
    return tuple(sorted(found))


def _is_modelled(name: str, point: str) -> bool:
    if name == evictor.NAME:
        return point in ("filter", "preevictionfilter")
    return name in PLUGINS and PLUGINS[name].point == point


def _list_unread_arguments(profile: DeschedulerProfile, classes: frozenset[str]) -> Iterator[str]:
    """Arguments that no rule here looks at, as plugin.argument."""
    for plugin, _ in profile.arguments:
        arguments = arguments_of(profile, plugin)
        known = evictor.MODELLED if plugin == evictor.NAME else PLUGINS[plugin].arguments if plugin in PLUGINS else None
        if known is not None:
            yield from (f"{plugin}.{name}" for name in arguments.fields if name not in known)
        if plugin == evictor.NAME and arguments.open_nested("priorityThreshold").text("name") not in ("", *classes):
            yield f"{plugin}.priorityThreshold.name of a class that the input does not have"
        extra = arguments.open_nested("podProtections").texts("extraEnabled") if plugin == evictor.NAME else ()
        yield from (f"{plugin}.podProtections.{name}" for name in extra if name not in evictor.EXTRA_MODELLED)
        if plugin == LIFE_TIME and set(arguments.texts("states")) - {"Running", "Pending", "Failed"}:
            yield f"{plugin}.states other than Running, Pending and Failed"


def _scene(
    setup: Setup,
    policy: DeschedulerPolicy,
    nodes: tuple[NodeEntry, ...],
    version: Version,
    unique_keys: frozenset[str],
    unbound: tuple[tuple[int, int], ...],
) -> Scene:
    return Scene(setup, nodes, version, unique_keys, selector=policy.node_selector, unbound=unbound)


def _allowances(setup: Setup, nodes: tuple[NodeEntry, ...], scales: Mapping[int, BudgetScale] | None) -> Allowances:
    return NO_ALLOWANCES if scales is None else allowances_of(setup, nodes, scales)


def _plugins(policy: DeschedulerPolicy, scene: Scene, allowances: Allowances) -> Iterator[Plugin]:
    """The plugins in the order in which they run; none with fewer than two ready nodes."""
    if scene.node_count(scene.ready) < 2:
        return
    if scene.version >= BALANCE_LAST_SINCE:
        order = [(profile, point) for point in (DESCHEDULE, BALANCE) for profile in policy.profiles]
    else:
        order = [(profile, point) for profile in policy.profiles for point in (DESCHEDULE, BALANCE)]
    limits = limits_of(policy, scene.version)
    for profile, point in order:
        own_evictor = Evictor(arguments_of(profile, evictor.NAME), scene)
        for name in plugins_at(profile, point):
            if name in PLUGINS and PLUGINS[name].point == point:
                arguments = arguments_of(profile, name)
                context = Context(scene, arguments, own_evictor, Evictions(scene, limits, allowances), limits)
                yield PLUGINS[name].build(context)
