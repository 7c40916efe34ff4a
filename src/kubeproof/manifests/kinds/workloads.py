"""Deployments, ReplicaSets and Pods."""

from __future__ import annotations

import re
from collections.abc import Collection

from kubeproof.cluster.kinds import DEPLOYMENT, POD, REPLICA_SET, REPLICATION_CONTROLLER
from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import PodTemplate, StatefulRules, Strategy, Workload
from kubeproof.cluster.running import PENDING
from kubeproof.cluster.state import NEVER, Phase
from kubeproof.manifests.kinds.metadata import Metadata, read_metadata
from kubeproof.manifests.pods.selectors import selector_of
from kubeproof.manifests.pods.templates import read_template
from kubeproof.manifests.yaml.fields import LARGEST_INT32, Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Scalar, ScalarKind
from kubeproof.values import dataclass

_PERCENT = re.compile(r"[0-9]{1,9}%", re.ASCII)
_FINISHED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class PodStatus:
    """Where a Pod of a cluster stands."""

    node: str  # "" if it has none
    phase: int  # Phase or PENDING
    is_deleted: bool = False
    wanted: str = ""  # the only node that its required affinity names, as a DaemonSet writes it
    ordinal: int = NEVER  # the number at the end of its name


@dataclass(frozen=True, slots=True)
class ReadWorkload:
    """A workload, who owns it, and what its manifest left to the server."""

    workload: Workload
    owner: str | None = None
    replicas_given: bool = True
    finished: bool = False  # a Pod that has run to its end
    pod: PodStatus | None = None  # of a Pod


def read_deployment(fields: Fields) -> ReadWorkload:
    """A Deployment after defaulting: one replica, RollingUpdate 25 % / 25 %."""
    metadata = read_metadata(fields)
    spec = fields.require_child("spec")
    selector, template = selector_and_template(spec)
    workload = Workload(
        kind=DEPLOYMENT,
        namespace=metadata.namespace,
        name=metadata.name,
        template=template,
        replicas=read_replicas(spec),
        selector=selector,
        min_ready_s=spec.integer("minReadySeconds") or 0,
        paused=spec.boolean("paused") or False,
        source=fields.source,
        strategy=_strategy(spec),
        replicas_given=spec.has("replicas"),
    )
    _check_deadline(spec, workload.min_ready_s)
    spec.finish("DeploymentSpec")
    fields.finish("Object")
    return ReadWorkload(workload, metadata.owner, spec.has("replicas"))


def read_replica_set(fields: Fields) -> ReadWorkload:
    """A ReplicaSet after defaulting: one replica."""
    spec = fields.require_child("spec")
    selector, template = selector_and_template(spec)
    return read_replicated(fields, spec, REPLICA_SET, template, selector)


def read_replication_controller(fields: Fields) -> ReadWorkload:
    """A ReplicationController after defaulting: one replica, the labels of its template as selector."""
    spec = fields.require_child("spec")
    template = _pod_template(spec)
    labels = spec.text_map("selector") or dict(template.labels)
    if not labels:
        spec.fail("selector", "is empty", remedy="Select the labels of the pod template")
    if any(dict(template.labels).get(key) != value for key, value in labels.items()):
        spec.fail("selector", "does not match the labels of the pod template", remedy="Make them agree")
    selector = LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items())))
    return read_replicated(fields, spec, REPLICATION_CONTROLLER, template, selector)


def read_replicated(
    fields: Fields,
    spec: Fields,
    kind: str,
    template: PodTemplate,
    selector: LabelSelector,
    *,
    schema: str = "ReplicaSetSpec",
    stateful: StatefulRules = StatefulRules(),
) -> ReadWorkload:
    """A workload that is a number of equal pods and little more; whatever else its spec holds is listed."""
    metadata = read_metadata(fields)
    workload = Workload(
        kind=kind,
        namespace=metadata.namespace,
        name=metadata.name,
        template=template,
        replicas=read_replicas(spec),
        selector=selector,
        min_ready_s=spec.integer("minReadySeconds") or 0,
        source=fields.source,
        replicas_given=spec.has("replicas"),
        stateful=stateful,
    )
    spec.finish(schema)
    fields.finish("Object")
    return ReadWorkload(workload, metadata.owner, spec.has("replicas"))


def read_pod(fields: Fields) -> ReadWorkload:
    """A Pod; one whose status says that it runs is bound to its node from the start."""
    metadata = read_metadata(fields, may_end=True)
    template = read_template(fields.child("metadata"), fields.require_child("spec"), only_always=False)
    phase, is_ready = _phase(fields)
    fields.finish("Object")
    workload = _pod(fields, metadata, template, phase)
    status = _pod_status(metadata, template, phase, is_ready=is_ready)
    return ReadWorkload(workload, metadata.owner, finished=phase in _FINISHED, pod=status)


def _pod_status(metadata: Metadata, template: PodTemplate, phase: str, *, is_ready: bool) -> PodStatus:
    node = template.node_name or ""
    stands = Phase.STARTING if phase != "Running" else Phase.READY if is_ready else Phase.RUNNING
    if metadata.is_deleted:
        stands = Phase.TERMINATING
    number = metadata.name.rpartition("-")[2]
    ordinal = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else NEVER
    return PodStatus(node, int(stands) if node else PENDING, metadata.is_deleted, _find_wanted_node(template), ordinal)


def _find_wanted_node(template: PodTemplate) -> str:
    """The node that is the only one by `metadata.name` in the required affinity."""
    names = {
        requirement.values
        for term in template.required_terms or ()
        for requirement in term.fields
        if requirement.operator == "In"
    }
    return next(iter(names))[0] if len(names) == 1 else ""


def _pod(fields: Fields, metadata: Metadata, template: PodTemplate, phase: str) -> Workload:
    bound_to = template.node_name if phase == "Running" else None
    return Workload(
        kind=POD,
        namespace=metadata.namespace,
        name=metadata.name,
        template=template,
        bound_to=bound_to,
        source=fields.source,
    )


def _phase(fields: Fields) -> tuple[str, bool]:
    """What the status says: the phase, and whether the pod is ready."""
    status = fields.child("status")
    if status is None:
        return "", False
    phase = status.text("phase") or ""
    conditions = [(c.text("type"), c.text("status")) for c in status.children("conditions")]
    status.finish("PodStatus")
    return phase, ("Ready", "True") in conditions


def read_replicas(spec: Fields) -> int:
    """spec.replicas, 1 if absent."""
    replicas = spec.integer("replicas")
    return 1 if replicas is None else replicas


def selector_and_template(spec: Fields, replaced: Collection[str] = ()) -> tuple[LabelSelector, PodTemplate]:
    """The selector, which must not be empty, and the template, which it must match.

    Volumes with the names `replaced` give way to those that the controller adds.
    """
    selector = selector_of(spec.require_child("selector"))
    if selector.is_empty:
        spec.fail("selector", "is empty", remedy="Select the labels of the pod template")
    template = _pod_template(spec, replaced)
    if not selector.matches(dict(template.labels)):
        spec.fail("selector", "does not match the labels of the pod template", remedy="Make them agree")
    return selector, template


def _pod_template(spec: Fields, replaced: Collection[str] = ()) -> PodTemplate:
    fields = spec.require_child("template")
    metadata = fields.child("metadata")
    template = read_template(metadata, fields.require_child("spec"), only_always=True, replaced=replaced)
    if metadata is not None:
        metadata.finish("ObjectMeta")
    fields.finish("PodTemplate")
    return template


def _check_deadline(spec: Fields, min_ready_s: int) -> None:
    deadline = spec.integer("progressDeadlineSeconds")
    if (600 if deadline is None else deadline) <= min_ready_s and min_ready_s:
        spec.fail("progressDeadlineSeconds", "must exceed minReadySeconds", remedy="Raise it (600 if absent)")


def _strategy(spec: Fields) -> Strategy:
    """The update strategy; RollingUpdate 25 % / 25 % unless given."""
    fields = spec.child("strategy")
    if fields is None:
        return Strategy()
    rolling = fields.word("type", ("RollingUpdate", "Recreate"), "RollingUpdate") == "RollingUpdate"
    limits = fields.child("rollingUpdate")
    fields.finish("DeploymentStrategy")
    if limits is not None and not rolling:
        fields.fail("rollingUpdate", "must be absent with Recreate", remedy="Remove it")
    if limits is None:
        return Strategy(rolling=rolling)
    surge = count_or_percent(limits, "maxSurge", largest_percent=LARGEST_INT32)
    unavailable = count_or_percent(limits, "maxUnavailable", largest_percent=100)
    limits.finish("RollingUpdate")
    if surge[0] == 0 and unavailable[0] == 0:
        limits.fail("maxUnavailable", "and maxSurge are both 0", remedy="Allow one of them")
    return Strategy(rolling, *surge, *unavailable)


def count_or_percent(
    fields: Fields, key: str, *, largest_percent: int, default: tuple[int, bool] = (25, True)
) -> tuple[int, bool]:
    """A number of pods (n, False) or a percentage (n, True); 25 % if absent, unless another default is given."""
    value = fields.value(key)
    if value is None:
        return default
    if isinstance(value, Scalar) and value.kind is ScalarKind.INTEGER:
        return fields.integer(key) or 0, False
    text = fields.text(key) or ""
    if not _PERCENT.fullmatch(text) or int(text[:-1]) > largest_percent:
        fields.fail(key, f"is {printable(text)!r}", remedy='Write a number, or a percentage such as "25%"')
    return int(text[:-1]), True
