"""`controllers.clusterAutoscaler` of a Scenario: node groups and the autoscaler's flags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.nodes.node_groups import EXPANDERS, ClusterAutoscaler, NodeGroup, Priorities, is_member
from kubeproof.cluster.objects import Node
from kubeproof.manifests.kinds.nodes import DEFAULT_PODS, read_taints
from kubeproof.manifests.pods.resources import CPU, MEMORY, PODS, others_of, read_amounts
from kubeproof.manifests.validation.names import is_dns_label, read_labels
from kubeproof.manifests.yaml.durations import read_seconds
from kubeproof.manifests.yaml.fields import Fields, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.shares import read_permille
from kubeproof.manifests.yaml.tree import Mapping

MOST_NODES = 1000  # of one group
MOST_PROVISIONING_S = 900  # max-node-provision-time: what takes longer counts as failed
_PATTERN = re.compile(r"[A-Za-z0-9_.*^$-]{1,100}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
_DEFAULTS = ClusterAutoscaler(())


def read_cluster_autoscaler(fields: Fields, nodes: Sequence[Node]) -> ClusterAutoscaler:
    """The autoscaler with its groups."""
    groups = tuple(_group(entry, nodes) for entry in fields.children("groups"))
    _check_groups(fields, groups, nodes)
    settings = ClusterAutoscaler(
        groups,
        expanders=_expanders(fields),
        priorities=_priorities(fields),
        scan_interval_s=_seconds(fields, "scanInterval", _DEFAULTS.scan_interval_s, least=1),
        utilization_permille=read_permille(
            fields, "scaleDownUtilizationThreshold", _DEFAULTS.utilization_permille, most=1000
        ),
        unneeded_s=_seconds(fields, "scaleDownUnneededTime", _DEFAULTS.unneeded_s),
        unready_s=_seconds(fields, "scaleDownUnreadyTime", _DEFAULTS.unready_s),
        delay_after_add_s=_seconds(fields, "scaleDownDelayAfterAdd", _DEFAULTS.delay_after_add_s),
        delay_after_failure_s=_seconds(fields, "scaleDownDelayAfterFailure", _DEFAULTS.delay_after_failure_s),
        provisioning_s=_provisioning(fields),
        most_nodes=fields.integer("maxNodesTotal") or 0,
        **_switches(fields),
    )
    fields.finish_strictly()
    return settings


def _switches(fields: Fields) -> dict[str, bool]:
    keys = {
        "scales_down": "scaleDownEnabled",
        "removes_unready": "scaleDownUnreadyEnabled",
        "skips_local_storage": "skipNodesWithLocalStorage",
        "skips_system_pods": "skipNodesWithSystemPods",
        "ignores_daemon_sets": "ignoreDaemonSetsUtilization",
        "balances": "balanceSimilarNodeGroups",
    }
    given = {name: fields.boolean(key) for name, key in keys.items()}
    return {name: value for name, value in given.items() if value is not None}


def _group(fields: Fields, nodes: Sequence[Node]) -> NodeGroup:
    name = fields.require_text("name")
    if not is_dns_label(name):
        fields.fail("name", f"is {printable(name)!r}", remedy="Use lower-case letters, digits and dashes")
    least = fields.integer("min", most=MOST_NODES) or 0
    most = fields.integer("max", least=1, most=MOST_NODES)
    if most is None or least > most:
        fields.fail("max", "is required, and at least min", remedy="Write min and max, such as min: 1 and max: 6")
    template = _template(fields, name, nodes)
    fields.finish_strictly()
    return NodeGroup(name, least, most, template, fields.source)


def _template(fields: Fields, group: str, nodes: Sequence[Node]) -> Node:
    """What a new node looks like: a node of the input, or what stands here."""
    if fields.has("like") == fields.has("template"):
        fields.log.fail(
            f"{fields.path} needs either like or template", line=fields.mapping.line, remedy="Give exactly one"
        )
    if fields.has("like"):
        like = fields.require_text("like")
        found = next((node for node in nodes if node.name == like), None)
        if found is None:
            remedy = suggestion(like, [node.name for node in nodes])
            fields.fail("like", f"is {printable(like)!r}, which is not a node of the input", remedy=remedy)
        return replace(found, images=(), keeps=False)
    return _read_template(fields.require_child("template"), group)


def _read_template(template: Fields, group: str) -> Node:
    amounts = read_amounts(template.require_child("allocatable"))
    node = Node(
        name=group,
        labels=as_labels(read_labels(template, "labels")),
        taints=read_taints(template),
        cpu_milli=amounts.get(CPU, 0),
        memory_bytes=amounts.get(MEMORY, 0),
        pods=amounts.get(PODS, DEFAULT_PODS),
        others=others_of(amounts),
        source=template.source,
    )
    template.finish_strictly()
    return node


def _check_groups(fields: Fields, groups: Sequence[NodeGroup], nodes: Sequence[Node]) -> None:
    if not groups:
        fields.fail("groups", "is required", remedy="List node groups with name, like or template, min and max")
    for number, group in enumerate(groups):
        if any(other.name == group.name for other in groups[:number]):
            fields.fail("groups", f"has {printable(group.name)} twice", remedy="Group names are unique")
        twin = next((other for other in groups[:number] if is_member(other.template, group.template)), None)
        if twin is not None:
            remedy = "Give one of them a label of its own, as clouds do"
            fields.fail("groups", f"{printable(group.name)} and {printable(twin.name)} have equal nodes", remedy=remedy)
        members = sum(is_member(node, group.template) for node in nodes)
        if members > group.most:
            remedy = f"Write max: {members} or more"
            fields.fail("groups", f"{printable(group.name)} has {members} nodes, more than its max", remedy=remedy)


def _expanders(fields: Fields) -> tuple[str, ...]:
    text = fields.text("expander")
    names = tuple(name.strip() for name in (text or "").split(",")) if text is not None else ()
    for name in names:
        if name not in EXPANDERS:
            fields.fail("expander", f"is {printable(name)!r}", remedy=suggestion(name, EXPANDERS))
    return names


def _priorities(fields: Fields) -> Priorities:
    """The priority expander's table: values to patterns of group names, as in its ConfigMap."""
    table = fields.child("priorities")
    found = []
    for key in [] if table is None else table.keys():
        assert table is not None
        if not _NUMBER.fullmatch(key):
            fields.fail("priorities", f"has the key {printable(key)!r}", remedy="Keys are whole numbers")
        patterns = table.texts(key)
        for pattern in patterns:
            _check_pattern(table, key, pattern)
        found.append((int(key), patterns))
    return tuple(sorted(found, reverse=True))


def _check_pattern(table: Fields, key: str, pattern: str) -> None:
    try:
        is_known = bool(_PATTERN.fullmatch(pattern)) and bool(re.compile(pattern))
    except re.error:
        is_known = False
    if not is_known:
        remedy = "Write letters, digits, - _ . * ^ $ only, such as spot-.*"
        table.fail(key, f"has the pattern {printable(pattern)!r}", remedy=remedy)


def _seconds(fields: Fields, key: str, default: int, *, least: int = 0) -> int:
    seconds = read_seconds(fields, key)
    if seconds is not None and seconds < least:
        fields.fail(key, "is zero", remedy="Write a duration of at least 1s")
    return default if seconds is None else seconds


def _provisioning(fields: Fields) -> tuple[int, int]:
    """Least and most seconds from the request to a ready node: one duration, or min and max."""
    if not fields.has("provisioning"):
        return _DEFAULTS.provisioning_s
    least = most = None
    if isinstance(fields.value("provisioning"), Mapping):
        bounds = fields.require_child("provisioning")
        least, most = read_seconds(bounds, "min"), read_seconds(bounds, "max")
        bounds.finish_strictly()
    else:
        least = most = read_seconds(fields, "provisioning")
    if least is None or most is None or not least <= most <= MOST_PROVISIONING_S:
        fields.fail("provisioning", "needs min and max up to 15m, min not above max", remedy="Write {min: 1m, max: 3m}")
    return least, most
