"""HorizontalPodAutoscalers, autoscaling/v1 and v2."""

from __future__ import annotations

from kubeproof.cluster.api.quantity import QuantityError, milli
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, ScalingPolicy, ScalingRules
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

_DEFAULT_CPU = Metric("Resource", "cpu", "Utilization", 80)
_SOURCES = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}
_TARGETS = {"Utilization": "averageUtilization", "AverageValue": "averageValue", "Value": "value"}
_EFFECTIVE = {  # by kind of metric, what is looked for first
    "Resource": ("AverageValue", "Utilization"),
    "ContainerResource": ("AverageValue", "Utilization"),
    "Pods": ("AverageValue",),
    "Object": ("Value", "AverageValue"),
    "External": ("AverageValue", "Value"),
}
_UP = ScalingRules((ScalingPolicy("Pods", 4, 15), ScalingPolicy("Percent", 100, 15)), window_s=0)
_DOWN = ScalingRules((ScalingPolicy("Percent", 100, 15),))


def read_autoscaler(fields: Fields, *, version: str) -> HorizontalPodAutoscaler:
    """The autoscaler after defaulting: at least one replica, CPU at 80 %."""
    metadata = read_metadata(fields)
    spec = fields.require_child("spec")
    least = spec.integer("minReplicas")
    least = 1 if least is None else least
    most = spec.integer("maxReplicas", least=1)
    if most is None or most < least:
        spec.fail("maxReplicas", "must be given and at least minReplicas", remedy="Raise it")
    up, down = _behavior(spec)
    autoscaler = HorizontalPodAutoscaler(
        namespace=metadata.namespace,
        name=metadata.name,
        target=_target(spec, metadata.namespace),
        min_replicas=least,
        max_replicas=most,
        metrics=_metrics(spec, version),
        scale_up=up,
        scale_down=down,
        source=fields.source,
    )
    spec.finish("HorizontalPodAutoscalerSpec")
    fields.finish("Object")
    return autoscaler


def _target(spec: Fields, namespace: str) -> str:
    reference = spec.require_child("scaleTargetRef")
    kind, name = reference.require_text("kind"), reference.require_text("name")
    reference.finish("CrossVersionObjectReference")
    return f"{kind}/{namespace}/{name}"


def _metrics(spec: Fields, version: str) -> tuple[Metric, ...]:
    if version == "v1":
        percent = spec.integer("targetCPUUtilizationPercentage", least=1)
        return (_DEFAULT_CPU,) if percent is None else (Metric("Resource", "cpu", "Utilization", percent),)
    return tuple(_metric(child) for child in spec.children("metrics")) or (_DEFAULT_CPU,)


def _metric(fields: Fields) -> Metric:
    fields.require_text("type")
    kind = fields.word("type", _SOURCES, "")
    source = fields.require_child(_SOURCES[kind])
    container = source.require_text("container") if kind == "ContainerResource" else ""
    name = _metric_name(source, kind)
    target = source.require_child("target")
    target.require_text("type")
    target_type = _effective_type(target, kind, target.word("type", _TARGETS, ""))
    value = _target_value(target, target_type)
    target.finish("MetricTarget")
    source.finish("MetricSource")
    fields.finish("MetricSpec")
    return Metric(kind, name, target_type, value, container)


def _effective_type(target: Fields, kind: str, stated: str) -> str:
    """What the controller goes by, which is which value is there: `type` counts for objects alone (v1.26 to v1.37)."""
    given = [name for name in _EFFECTIVE[kind] if target.has(_TARGETS[name])]
    if kind == "Object" and stated in given:
        return stated
    return given[0] if given else stated if stated in _EFFECTIVE[kind] else _EFFECTIVE[kind][0]


def _metric_name(source: Fields, kind: str) -> str:
    if kind in ("Resource", "ContainerResource"):
        return source.require_text("name")
    identifier = source.require_child("metric")
    name = identifier.require_text("name")
    identifier.finish("MetricIdentifier")
    return name


def _target_value(target: Fields, target_type: str) -> int:
    """Percent for Utilization, thousandths otherwise; positive."""
    key = _TARGETS[target_type]
    if not target.has(key):
        target.fail(key, f"is required with type {target_type}", remedy=f"Add {key}")
    if target_type == "Utilization":
        return target.integer(key, least=1) or 0
    text = target.number(key) or ""
    try:
        value = milli(text)
    except QuantityError as problem:
        target.fail(key, f"is {printable(text)!r}: {problem}", remedy="Write a quantity such as 100m")
    if value <= 0:
        target.fail(key, f"is {printable(text)!r}", remedy="Write a quantity above zero")
    return value


def _behavior(spec: Fields) -> tuple[ScalingRules | None, ScalingRules | None]:
    """Both directions after defaulting, or (None, None) without behavior."""
    behavior = spec.child("behavior")
    if behavior is None:
        return None, None
    up, down = _rules(behavior, "scaleUp", _UP), _rules(behavior, "scaleDown", _DOWN)
    behavior.finish("Behavior")
    return up, down


def _rules(behavior: Fields, key: str, default: ScalingRules) -> ScalingRules:
    fields = behavior.child(key)
    if fields is None:
        return default
    policies = tuple(_policy(child) for child in fields.children("policies"))
    window = fields.integer("stabilizationWindowSeconds", most=3600)
    select = fields.word("selectPolicy", ("Max", "Min", "Disabled"), default.select)
    tolerance = _tolerance(fields)
    fields.finish("ScalingRules")
    window = default.window_s if window is None else window
    return ScalingRules(policies or default.policies, select, window, tolerance)


def _tolerance(fields: Fields) -> int | None:
    """The direction's own tolerance in thousandths, a quantity as in the API; None: the controller's flag."""
    text = fields.number("tolerance")
    if text is None:
        return None
    try:
        tolerance = milli(text)
    except QuantityError as problem:
        fields.fail("tolerance", f"is {printable(text)!r}: {problem}", remedy="Write a quantity such as 0.05")
    if tolerance < 0:
        fields.fail("tolerance", f"is {printable(text)!r}", remedy="It is not negative")
    return tolerance


def _policy(fields: Fields) -> ScalingPolicy:
    fields.require_text("type")
    kind = fields.word("type", ("Pods", "Percent"), "")
    value, period = fields.integer("value", least=1), fields.integer("periodSeconds", least=1, most=1800)
    if value is None or period is None:
        fields.fail("value" if value is None else "periodSeconds", "is required", remedy="Add it")
    fields.finish("ScalingPolicy")
    return ScalingPolicy(kind, value, period)
