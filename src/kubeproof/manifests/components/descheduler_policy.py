"""DeschedulerPolicy, descheduler/v1alpha2."""

from __future__ import annotations

from kubeproof.cluster.steering.policies import DeschedulerPolicy, DeschedulerProfile, Plain
from kubeproof.manifests.validation.deciding import ALL, NOTHING
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import TRUE_WORDS, Mapping, Scalar, ScalarKind, Sequence, Value

_POINTS = ("presort", "sort", "deschedule", "balance", "filter", "preevictionfilter")


def read_descheduler_policy(fields: Fields) -> DeschedulerPolicy:
    """The policy; plugin arguments are kept as plain values for the plugins to judge."""
    fields.child("metadata")
    profiles = tuple(_profile(child) for child in fields.children("profiles"))
    policy = DeschedulerPolicy(
        profiles=profiles,
        node_selector=fields.text("nodeSelector") or "",
        max_per_node=fields.integer("maxNoOfPodsToEvictPerNode"),
        max_per_namespace=fields.integer("maxNoOfPodsToEvictPerNamespace"),
        max_total=fields.integer("maxNoOfPodsToEvictTotal"),
        source=fields.source,
    )
    for key in (
        "metricsCollector",
        "metricsProviders",
        "gracePeriodSeconds",
        "evictionFailureEventNotification",
    ):
        if fields.has(key):
            fields.omit(key, decides=ALL if key.startswith("metrics") else NOTHING)
    fields.finish("DeschedulerPolicy")
    return policy


def _profile(fields: Fields) -> DeschedulerProfile:
    name = fields.require_text("name")
    arguments: dict[str, Plain] = {}
    for config in fields.children("pluginConfig"):
        plugin = config.require_text("name")
        if plugin in arguments:
            config.fail("name", f"is {printable(plugin)!r} again", remedy="Give each plugin's arguments once")
        value = config.value("args")
        config.log.reads.keep(value)
        arguments[plugin] = None if value is None else plain(value)
        _note_gates(config, plugin)
        config.finish("PluginConfig")
    enabled, disabled = _plugins(fields)
    fields.finish("DeschedulerProfile")
    return DeschedulerProfile(
        name, enabled, disabled, tuple((plugin, arguments[plugin]) for plugin in sorted(arguments))
    )


def _note_gates(config: Fields, plugin: str) -> None:
    """Records the arguments that some versions of the plugin do not know."""
    if isinstance(config.value("args"), Mapping):
        arguments = config.require_child("args")
        for key in arguments.keys():  # noqa: SIM118 - Fields is not a mapping
            arguments.note_gate(plugin, key)


PluginLists = tuple[tuple[str, tuple[str, ...]], ...]


def _plugins(fields: Fields) -> tuple[PluginLists, PluginLists]:
    """Enabled and disabled plugins by extension point, in the configured order."""
    plugins = fields.child("plugins")
    if plugins is None:
        return (), ()
    enabled, disabled = [], []
    for key in plugins.keys():  # noqa: SIM118 - Fields is not a mapping
        if key.lower() not in _POINTS:
            plugins.fail(key, "is not an extension point", remedy=f"Known: {', '.join(_POINTS)}")
        point = plugins.require_child(key)
        enabled.append((key, point.texts("enabled")))
        disabled.append((key, point.texts("disabled")))
        point.finish("PluginSet")
    return tuple(enabled), tuple(disabled)


def plain(value: Value) -> Plain:
    """The value as frozen Python data: mappings as sorted pairs, numbers that are not integers as text.

    The tree is at most 100 levels deep, so recursion is safe.
    """
    if isinstance(value, Mapping):
        return tuple((key, plain(value.entries[key].value)) for key in sorted(value.entries))
    if isinstance(value, Sequence):
        return tuple(plain(item) for item in value.items)
    return _plain_scalar(value)


def _plain_scalar(value: Scalar) -> Plain:
    if value.kind is ScalarKind.NULL:
        return None
    if value.kind is ScalarKind.BOOLEAN:
        return value.text.lower() in TRUE_WORDS
    return int(value.text) if value.kind is ScalarKind.INTEGER else value.text
