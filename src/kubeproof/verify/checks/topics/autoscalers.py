"""Autoscalers that can never act, and numbers of replicas that two parties write."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.objects import Source, Workload
from kubeproof.cluster.steering.policies import SAMPLED_METRICS, HorizontalPodAutoscaler, Metric, ScalingPolicy
from kubeproof.cluster.steering.vertical import INITIAL, OFF, VerticalPodAutoscaler
from kubeproof.controllers.hpa.ambiguity import is_ambiguous, selecting
from kubeproof.manifests.loaded import RUNNING
from kubeproof.manifests.validation.idle_autoscalers import idle_metrics
from kubeproof.verify.checks.declaration import INFO, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene
from kubeproof.verify.checks.surroundings import around, belong_together


def _ref(autoscaler: HorizontalPodAutoscaler) -> str:
    return f"HorizontalPodAutoscaler/{autoscaler.namespace}/{autoscaler.name}"


def _place(autoscaler: HorizontalPodAutoscaler) -> tuple[str, Source]:
    return _ref(autoscaler), autoscaler.source


def _targets(scene: Scene) -> Iterator[tuple[HorizontalPodAutoscaler, Workload]]:
    """The autoscalers whose target is in the input."""
    for autoscaler in scene.setup.autoscalers:
        target = scene.by_ref.get(autoscaler.target)
        if target is not None and belong_together(scene, autoscaler.source, target.source):
            yield autoscaler, target


# -- several autoscalers for the same pods ------------------------------------------------------------


def _ambiguous(scene: Scene) -> Iterator[Found]:
    """One finding for each set of autoscalers that refuse because of each other."""
    yield from _beside_keda(scene)
    told: set[tuple[str, ...]] = set()
    by_namespace: dict[str, list[tuple[HorizontalPodAutoscaler, Workload]]] = {}
    for autoscaler, target in _targets(scene):
        by_namespace.setdefault(autoscaler.namespace, []).append((autoscaler, target))
    for rivals in by_namespace.values():
        for autoscaler, target in rivals if len(rivals) > 1 else ():
            here = around(scene, autoscaler.namespace, autoscaler.source)
            counted = [as_labels(labels) for one in here if target.selector.matches(labels := scene.labels(one))]
            near = {a.name: (a, t) for a, t in rivals if belong_together(scene, autoscaler.source, a.source)}
            known = {name: other.selector for name, (_, other) in near.items()}
            names = selecting(counted, known) if is_ambiguous(autoscaler.name, counted, known) else ()
            if names and names not in told:
                told.add(names)
                yield _refusal(autoscaler, [near[name] for name in names])


def _beside_keda(scene: Scene) -> Iterator[Found]:
    """Autoscalers beside a ScaledObject of KEDA, which has one made for its target."""
    scaled = {
        f"{r.kind}/{r.namespace}/{r.name}": r for r in scene.wiring.references if r.ref.startswith("ScaledObject/")
    }
    for autoscaler, target in _targets(scene):
        other = scaled.get(target.ref)
        if other is not None and belong_together(scene, autoscaler.source, other.source):
            told = f"KEDA makes another one for {target.ref} ({other.ref})"
            also = ((other.ref, other.source), (target.ref, target.source))
            remedy = "Keep one of them; a ScaledObject takes cpu and memory triggers, too"
            message = f"never scales by a metric (AmbiguousSelector): {told}"
            yield Found(_ref(autoscaler), message, autoscaler.source, also, remedy=remedy)


def _refusal(autoscaler: HorizontalPodAutoscaler, involved: list[tuple[HorizontalPodAutoscaler, Workload]]) -> Found:
    others = [(a, t) for a, t in involved if a.name != autoscaler.name]
    names = ", ".join(a.name for a, _ in others)
    if all(target.ref == autoscaler.target for _, target in others):
        told = f"{names} scales {autoscaler.target}, too"
        remedy = "Keep one of them; one autoscaler takes several metrics"
    else:
        told = f"the selectors of its target and of {', '.join(t.ref for _, t in others)} match the same pods"
        remedy = "Give each target a selector, and pods, of their own"
    also = tuple(_place(a) for a, _ in others) + tuple((t.ref, t.source) for _, t in involved)
    message = f"never scales by a metric (AmbiguousSelector): {told}"
    return Found(_ref(autoscaler), message, autoscaler.source, tuple(dict.fromkeys(also)), remedy=remedy)


# -- metrics that cannot be computed ------------------------------------------------------------------


def _without_request(scene: Scene) -> Iterator[Found]:
    for autoscaler, metric, owner in idle_metrics(scene.loaded):
        if belong_together(scene, autoscaler.source, owner.source):
            yield _idle(autoscaler, metric, owner)


def _idle(autoscaler: HorizontalPodAutoscaler, metric: Metric, owner: Workload) -> Found:
    without = ", ".join(_containers_without(owner, metric))
    told = f"never scales by {metric.name} utilization (FailedGetResourceMetric): "
    if owner.ref == autoscaler.target:
        told += f"container {without} of {owner.ref} has no {metric.name} request"
    else:
        told += f"its target's selector matches pods of {owner.ref}, whose container {without} has no request"
    remedy = f"Give every container of the pod a request for {metric.name}"
    return Found(_ref(autoscaler), told, autoscaler.source, ((owner.ref, owner.source),), remedy=remedy)


def _containers_without(owner: Workload, metric: Metric) -> Iterator[str]:
    alone = metric.container
    names = [c.name for c in owner.template.containers if alone in ("", c.name)]
    yield from ([alone] if alone and not names else ())
    for container in owner.template.containers:
        asked = {"cpu": container.cpu_milli, "memory": container.memory_bytes, **dict(container.others)}
        if container.name in names and asked.get(metric.name) is None:
            yield container.name


# -- numbers that do not move, or that others write ---------------------------------------------------


def _find_fixed(scene: Scene) -> Iterator[Found]:
    for one in scene.setup.autoscalers:
        if one.min_replicas == one.max_replicas:
            told = f"minReplicas and maxReplicas are both {one.max_replicas}: it never scales"
            yield Found(_ref(one), told, one.source)
        elif one.scale_up is not None and one.scale_up.select == "Disabled":
            told = f"behavior.scaleUp is disabled: it never adds a pod, up to maxReplicas {one.max_replicas} or not"
            remedy = "Leave out selectPolicy: Disabled of scaleUp, or add policies that limit it"
            yield Found(_ref(one), told, one.source, remedy=remedy)


def _hasty(scene: Scene) -> Iterator[Found]:
    """Autoscalers that one low measurement takes from the maximum to the minimum."""
    for one in scene.setup.autoscalers:
        rules = one.scale_down
        if (
            rules is None
            or rules.window_s != 0
            or rules.select == "Disabled"
            or one.max_replicas - one.min_replicas < 2
        ):
            continue
        allows = [
            _may_lose(policy, one.max_replicas) >= one.max_replicas - one.min_replicas for policy in rules.policies
        ]
        if allows and (all(allows) if rules.select == "Min" else any(allows)):
            told = (
                f"scaleDown has no stabilization window and no limit: one low measurement takes it from "
                f"{one.max_replicas} pods to {one.min_replicas}"
            )
            yield Found(_ref(one), told, one.source)


def _may_lose(policy: ScalingPolicy, size: int) -> int:
    """How many of so many pods one period of a policy lets go."""
    return policy.value if policy.type == "Pods" else size * policy.value // 100


def _with_vertical(scene: Scene) -> Iterator[Found]:
    for autoscaler, _ in _targets(scene):
        for vertical in scene.setup.verticals:
            if vertical.target != autoscaler.target or vertical.mode == OFF:
                continue
            shared = [m.name for m in autoscaler.metrics if _is_of_requests(m) and _is_controlled(vertical, m)]
            if shared:
                other = f"VerticalPodAutoscaler/{vertical.namespace}/{vertical.name}"
                told = f"scales by {shared[0]} utilization, a share of the request that {other} changes meanwhile"
                yield Found(_ref(autoscaler), told, autoscaler.source, ((other, vertical.source),))


def _is_of_requests(metric: Metric) -> bool:
    return metric.type in SAMPLED_METRICS and metric.target_type == "Utilization"


def _is_controlled(vertical: VerticalPodAutoscaler, metric: Metric) -> bool:
    policies = vertical.policies or (vertical.policy(""),)
    return any(not one.is_off and metric.name in one.controlled for one in policies)


def _find_written_twice(scene: Scene) -> Iterator[Found]:
    """Replicas that stand in a manifest beside an autoscaler; of a running cluster nobody knows what stands there."""
    if scene.loaded.scenario.start.mode == RUNNING:
        return
    told: set[str] = set()
    for autoscaler, target in _targets(scene):
        if target.replicas_given and target.ref not in told:
            told.add(target.ref)
            message = (
                f"spec.replicas is {target.replicas} and {_ref(autoscaler)} scales it between "
                f"{autoscaler.min_replicas} and {autoscaler.max_replicas}: every apply takes it back"
            )
            severity = WARNING if _is_healed(scene, target) else ""
            yield Found(target.ref, message, target.source, (_place(autoscaler),), severity)


def _is_healed(scene: Scene, target: Workload) -> bool:
    """True if a GitOps reconciler writes the replicas again and again."""
    settings = scene.setup.settings
    is_meant = not settings.gitops_namespaces or target.namespace in settings.gitops_namespaces
    return settings.gitops_interval_s is not None and is_meant and target.ref not in dict(settings.gitops_ignored)


def _vertical_idle(scene: Scene) -> Iterator[Found]:
    """VerticalPodAutoscalers whose updater never evicts: it spares workloads with few pods."""
    most = {one.target: one.max_replicas for one in scene.setup.autoscalers}
    for vertical in scene.setup.verticals:
        target = scene.by_ref.get(vertical.target)
        if target is None or vertical.mode in (OFF, INITIAL) or not target.rules.has_replicas:
            continue
        size = max(target.replicas, most.get(target.ref, 0))
        if 0 < size < vertical.least_replicas:
            ref = f"VerticalPodAutoscaler/{vertical.namespace}/{vertical.name}"
            told = f"never evicts a pod of {target.ref}: it has {size}, and the updater wants {vertical.least_replicas}"
            yield Found(ref, told, vertical.source, ((target.ref, target.source),))


CHECKS = (
    Check(
        id="K014",
        key="autoscalers-ambiguous",
        severity=WARNING,
        title="HorizontalPodAutoscalers that count the same pods, so that none of them acts",
        explanation=(
            "An autoscaler lists pods by the selector of its target and refuses with AmbiguousSelector if another "
            "autoscaler of the namespace selects one of them, too. So neither of two autoscalers of one target acts."
        ),
        remedy="Keep one autoscaler for each set of pods",
        find=_ambiguous,
    ),
    Check(
        id="K015",
        key="metric-without-request",
        severity=WARNING,
        title="a HorizontalPodAutoscaler by utilization of a resource that a container does not request",
        explanation=(
            "Utilization is a share of the request. As long as one container of one counted pod states none, sidecars "
            "included, the metric cannot be computed and the autoscaler does not act on it."
        ),
        remedy="Give every container of the pod a request for the resource",
        find=_without_request,
    ),
    Check(
        id="K016",
        key="autoscaler-fixed",
        severity=INFO,
        title="a HorizontalPodAutoscaler whose minimum is its maximum, or that may not add pods",
        explanation=(
            "It keeps the number of replicas where it is, and hides what spec.replicas says. With selectPolicy "
            "Disabled in behavior.scaleUp it only takes pods away."
        ),
        remedy="Raise maxReplicas, or write spec.replicas and remove the autoscaler",
        find=_find_fixed,
    ),
    Check(
        id="K042",
        key="scale-down-at-once",
        severity=INFO,
        title="a HorizontalPodAutoscaler that one low measurement takes from its maximum to its minimum",
        explanation=(
            "behavior.scaleDown with stabilizationWindowSeconds 0 follows every measurement, also the low one of pods "
            "that have just started or got no traffic for a moment; by default the highest recommendation of five "
            "minutes counts. Policies that let a few pods go at a time are a limit, too."
        ),
        remedy="Leave stabilizationWindowSeconds out, or add a policy that limits the rate",
        find=_hasty,
    ),
    Check(
        id="K017",
        key="autoscalers-share-metric",
        severity=WARNING,
        title="a HorizontalPodAutoscaler and a VerticalPodAutoscaler that act on the same resource",
        explanation=(
            "One changes how many pods share the load, the other the request that the load is measured against; each "
            "answers the other's change with one of its own. The VerticalPodAutoscaler's documentation rules it out."
        ),
        remedy="Scale by another metric, or take the resource out of controlledResources",
        find=_with_vertical,
    ),
    Check(
        id="K018",
        key="replicas-written-twice",
        severity=INFO,
        title="spec.replicas in the manifest of a workload that an autoscaler scales",
        explanation=(
            "Every kubectl apply, and every sync of a GitOps tool, sets replicas back to the manifest's number, in the "
            "middle of a load peak as well. It is a warning where the input has a reconciler that heals drift."
        ),
        remedy="Remove spec.replicas from the manifest; the autoscaler keeps at least minReplicas",
        find=_find_written_twice,
    ),
    Check(
        id="K037",
        key="vertical-autoscaler-idle",
        severity=INFO,
        title="a VerticalPodAutoscaler whose target has too few pods for it to act",
        explanation=(
            "The updater evicts no pod of a workload with fewer than minReplicas pods, 2 unless told otherwise: pods "
            "that run keep their requests until something else replaces them."
        ),
        remedy="Write updatePolicy.minReplicas: 1, or run two pods",
        find=_vertical_idle,
    ),
)
