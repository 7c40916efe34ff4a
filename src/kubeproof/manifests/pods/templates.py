"""Pod templates after API-server defaulting and admission."""

from __future__ import annotations

import re
from collections.abc import Collection

from kubeproof.cluster.labels import (
    NO_EXECUTE,
    NO_SCHEDULE,
    PREFER_NO_SCHEDULE,
    NodeTerm,
    PreferredTerm,
    Toleration,
    as_labels,
)
from kubeproof.cluster.objects import PodTemplate, Readiness, SpreadConstraint
from kubeproof.cluster.steering.policies import PREEMPT_LOWER, PREEMPT_NEVER
from kubeproof.manifests.pods.affinity import read_pod_affinity
from kubeproof.manifests.pods.containers import read_containers, read_image, serving_s, slowest
from kubeproof.manifests.pods.disks import omit_disks
from kubeproof.manifests.pods.resources import read_amounts
from kubeproof.manifests.pods.selectors import read_node_terms, read_preferred_terms, read_selector
from kubeproof.manifests.pods.whole import read_own_requests
from kubeproof.manifests.validation.deciding import NOTHING, NUMBER, RESTARTS
from kubeproof.manifests.validation.names import check_label_key, is_dns_subdomain, read_labels
from kubeproof.manifests.yaml.fields import LARGEST_INT32, Fields
from kubeproof.manifests.yaml.printable import printable

EFFECTS = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
_ADMISSION_SECONDS = 300
_SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_SAFE_TO_LOSE = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
_EVICT = "descheduler.alpha.kubernetes.io/evict"
_STAY = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_LARGEST_INT64 = 2**63 - 1
_COST = re.compile(r"0|-?[1-9][0-9]{0,9}", re.ASCII)
_RESTART_POLICIES = ("Always", "OnFailure", "Never")


def read_template(
    metadata: Fields | None, spec: Fields, *, only_always: bool, ends: bool = False, replaced: Collection[str] = ()
) -> PodTemplate:
    """The template that a pod's metadata and spec describe.

    `only_always`: restartPolicy must be Always, as in every workload that replaces its pods. `ends`: containers exit
    when their work is done, so that the policy means something. `replaced`: names of volumes that the controller
    replaces by its own.
    """
    labels = read_labels(metadata, "labels") if metadata is not None else {}
    host_network = spec.boolean("hostNetwork") or False
    containers = read_containers(spec, "containers", init=False, host_network=host_network)
    if not containers:
        spec.fail("containers", "is required", remedy="Add at least one container")
    inits = read_containers(spec, "initContainers", init=True, host_network=host_network)
    ends_for_good = not ends and _restart_policy(spec, only_always=only_always) == "Never"
    affinity = spec.child("affinity")
    required, preferred = _node_affinity(affinity)
    images, claims, local, is_local = _volumes(spec, replaced)
    template = PodTemplate(
        labels=as_labels(labels),
        containers=tuple(container for container, _ in containers),
        init_containers=tuple(container for container, _ in inits),
        overhead=tuple(sorted(read_amounts(spec.child("overhead")).items())),
        own_requests=read_own_requests(spec, [container for container, _ in (*containers, *inits)]),
        node_name=_node_name(spec),
        node_selector=as_labels(read_labels(spec, "nodeSelector")),
        required_terms=required,
        preferred_terms=preferred,
        tolerations=_tolerations(spec),
        spread=read_spread(spec, "topologySpreadConstraints"),
        grace_s=_or(spec.integer("terminationGracePeriodSeconds"), 30),
        pre_stop_s=serving_s([container for container, _ in containers]),
        readiness=_pod_readiness(spec, [probe for _, probe in (*containers, *inits) if probe is not None]),
        scheduler_name=spec.text("schedulerName") or "default-scheduler",
        deletion_cost=_deletion_cost(metadata),
        pod_affinity=read_pod_affinity(affinity, "podAffinity"),
        pod_anti_affinity=read_pod_affinity(affinity, "podAntiAffinity"),
        priority_class=spec.text("priorityClassName") or "",
        priority=spec.integer("priority", least=-LARGEST_INT32 - 1),
        preemption_policy=spec.word("preemptionPolicy", (PREEMPT_LOWER, PREEMPT_NEVER, ""), ""),
        volume_images=images,
        claims=claims,
        has_deadline=_has_deadline(spec),
        safe_to_evict={"true": True, "false": False}.get(_annotation(metadata, _SAFE_TO_EVICT)),
        has_local_storage=bool(local - set(_annotation(metadata, _SAFE_TO_LOSE).split(","))),
        has_local_volumes=is_local,
        always_evictable=_is_annotated(metadata, _EVICT),
        prefers_to_stay=_is_annotated(metadata, _STAY),
        ends_for_good=ends_for_good,
    )
    if affinity is not None:
        affinity.finish("Affinity")
    spec.finish("PodSpec")
    return template


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _restart_policy(spec: Fields, *, only_always: bool) -> str:
    policy = spec.word("restartPolicy", _RESTART_POLICIES, "Always")
    if policy == "Always":
        return policy
    if only_always:
        spec.fail(
            "restartPolicy",
            f"is {policy}",
            remedy="Pods of this kind of workload restart Always",
        )
    why = "containers exit by events alone, and are always restarted"
    spec.omit("restartPolicy", why, decides=RESTARTS if policy == "Never" else NOTHING)
    return policy


def _has_deadline(spec: Fields) -> bool:
    """True if the pod has a deadline of its own, which quotas ask for."""
    is_given = spec.integer("activeDeadlineSeconds", least=1) is not None
    if is_given:
        spec.omit("activeDeadlineSeconds", "scopes of quotas respect it, but pods do not end by it", decides=NUMBER)
    return is_given


def _node_name(spec: Fields) -> str | None:
    name = spec.text("nodeName") or None
    if name is not None and not is_dns_subdomain(name):
        spec.fail("nodeName", f"is {printable(name)!r}, not a node name", remedy="Write the name of a Node")
    return name


def _pod_readiness(spec: Fields, probes: list[Readiness]) -> Readiness | None:
    if len(set(probes)) > 1:
        spec.log.omit("all but the slowest readiness probe", line=spec.line_of("containers"))
    return slowest(probes)


def _annotation(metadata: Fields | None, key: str) -> str:
    annotations = metadata.child("annotations") if metadata is not None else None
    return (annotations.text(key) if annotations is not None else None) or ""


def _is_annotated(metadata: Fields | None, key: str) -> bool:
    """True if the annotation is there, whatever its value."""
    annotations = metadata.child("annotations") if metadata is not None else None
    return annotations is not None and annotations.is_given(key)


def _deletion_cost(metadata: Fields | None) -> int:
    """The pod-deletion-cost annotation; the API server refuses what is not a 32-bit integer."""
    annotations = metadata.child("annotations") if metadata is not None else None
    text = annotations.text(_DELETION_COST) if annotations is not None else None
    if annotations is None or text is None:
        return 0
    if not _COST.fullmatch(text) or not -LARGEST_INT32 - 1 <= int(text) <= LARGEST_INT32:
        annotations.fail(_DELETION_COST, f"is {printable(text)!r}", remedy="Write a 32-bit integer in quotes")
    return int(text)


def _node_affinity(affinity: Fields | None) -> tuple[tuple[NodeTerm, ...] | None, tuple[PreferredTerm, ...]]:
    node = affinity.child("nodeAffinity") if affinity is not None else None
    if node is None:
        return None, ()
    required = read_node_terms(node, "requiredDuringSchedulingIgnoredDuringExecution")
    preferred = read_preferred_terms(node, "preferredDuringSchedulingIgnoredDuringExecution")
    node.finish("NodeAffinity")
    return required, preferred


def _tolerations(spec: Fields) -> tuple[Toleration, ...]:
    """The tolerations, plus those that admission (DefaultTolerationSeconds) adds."""
    own = [_toleration(child) for child in spec.children("tolerations")]
    added = [
        Toleration(key=key, operator="Exists", effect=NO_EXECUTE, seconds=_ADMISSION_SECONDS)
        for key in (NOT_READY, UNREACHABLE)
        if not any(t.key in ("", key) and t.effect in ("", NO_EXECUTE) for t in own)
    ]
    return (*own, *added)


def _toleration(fields: Fields) -> Toleration:
    key = fields.text("key") or ""
    operator = fields.word("operator", ("Exists", "Equal", ""), "") or "Equal"
    value = fields.text("value") or ""
    effect = fields.word("effect", (*EFFECTS, ""), "")
    seconds = fields.integer("tolerationSeconds", least=-_LARGEST_INT64, most=_LARGEST_INT64)
    if key:
        check_label_key(fields, "key", key)
    elif operator != "Exists":
        fields.fail("operator", "must be Exists when key is empty", remedy="Add a key, or operator: Exists")
    if operator == "Exists" and value:
        fields.fail("value", "must be empty when operator is Exists", remedy="Remove it, or use Equal")
    if seconds is not None and effect != NO_EXECUTE:
        fields.fail("tolerationSeconds", "needs effect NoExecute", remedy="Add effect: NoExecute")
    fields.finish("Toleration")
    return Toleration(key, operator, value, effect, seconds)


def read_spread(fields: Fields, key: str) -> tuple[SpreadConstraint, ...]:
    """The topology spread constraints under a key."""
    found: list[SpreadConstraint] = []
    for child in fields.children(key):
        constraint = _constraint(child)
        if any((c.topology_key, c.hard) == (constraint.topology_key, constraint.hard) for c in found):
            child.fail("topologyKey", "appears twice with the same whenUnsatisfiable", remedy="Remove one of the two")
        found.append(constraint)
    return tuple(found)


def _constraint(fields: Fields) -> SpreadConstraint:
    skew = fields.integer("maxSkew", least=1)
    if skew is None:
        fields.fail("maxSkew", "is required", remedy="Add a number above 0")
    fields.require_text("whenUnsatisfiable")
    hard = fields.word("whenUnsatisfiable", ("DoNotSchedule", "ScheduleAnyway"), "") == "DoNotSchedule"
    constraint = SpreadConstraint(
        topology_key=check_label_key(fields, "topologyKey", fields.require_text("topologyKey")),
        max_skew=skew,
        hard=hard,
        selector=read_selector(fields, "labelSelector"),
        min_domains=fields.integer("minDomains", least=1) or 1,
        honor_affinity=fields.word("nodeAffinityPolicy", ("Honor", "Ignore"), "Honor") == "Honor",
        honor_taints=fields.word("nodeTaintsPolicy", ("Honor", "Ignore"), "Ignore") == "Honor",
        match_label_keys=fields.texts("matchLabelKeys"),
    )
    _check_constraint(fields, constraint)
    fields.finish("TopologySpreadConstraint")
    return constraint


def _check_constraint(fields: Fields, constraint: SpreadConstraint) -> None:
    """Rules between the fields of one constraint."""
    if fields.has("minDomains") and not constraint.hard:
        fields.fail("minDomains", "needs whenUnsatisfiable: DoNotSchedule", remedy="Remove it")
    if not constraint.match_label_keys:
        return
    if constraint.selector is None:
        fields.fail("matchLabelKeys", "needs a labelSelector", remedy="Add labelSelector")
    selected = {requirement.key for requirement in constraint.selector.requirements}
    for key in constraint.match_label_keys:
        check_label_key(fields, "matchLabelKeys", key)
        if key in selected:
            fields.fail("matchLabelKeys", f"repeats {key!r} of labelSelector", remedy="Remove it from one of them")


def _volumes(spec: Fields, replaced: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...], set[str], bool]:
    """The images that the pod mounts as volumes, the claims, and the names of volumes on the node's disk.

    The last is True if any volume is the node's own, also an emptyDir in memory. Of volumes that a StatefulSet has a
    claim template for nothing is left (`updateStorage` of `pkg/controller/statefulset/stateful_set_utils.go`).
    """
    images, claims, local, is_local = [], [], set(), False
    for volume in spec.children("volumes"):
        name = volume.require_text("name")
        is_kept = name not in replaced
        is_local = is_local or (is_kept and (volume.has("emptyDir") or volume.has("hostPath")))
        if is_kept and _is_local(volume):
            local.add(name)
        image, claim = volume.child("image"), volume.child("persistentVolumeClaim")
        if image is not None:
            images.append(read_image(image, "reference"))
            image.finish("ImageVolume")
        if claim is not None:
            claims += [claim.require_text("claimName")] if is_kept else []
            claim.finish("ClaimVolume")
        if is_kept:
            omit_disks(volume)
        volume.finish("Volume")
    return tuple(name for name in images if name), tuple(claims), local, is_local


def _is_local(volume: Fields) -> bool:
    """True for a hostPath, and for an emptyDir that is not in memory."""
    empty = volume.child("emptyDir")
    medium = empty.text("medium") if empty is not None else None
    return volume.is_given("hostPath") or (empty is not None and medium != "Memory")
