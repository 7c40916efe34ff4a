"""Fields that stand elsewhere in the API version that replaced an older one; they are moved in place.

Mirrors the conversions of `pkg/apis/networking/v1beta1` and `pkg/apis/autoscaling/v2beta1` before these were removed.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.manifests.yaml.tree import Entry, Mapping, Scalar, ScalarKind, Sequence, Value

_TARGETS = {  # field of an old metric -> type of its target, field of the new one
    "targetAverageUtilization": ("Utilization", "averageUtilization"),
    "targetAverageValue": ("AverageValue", "averageValue"),
    "targetValue": ("Value", "value"),
    "averageValue": ("AverageValue", "averageValue"),  # of an object
}


def upgrade_ingress(spec: Mapping) -> None:
    """Moves `serviceName` and `servicePort` of all backends to where networking.k8s.io/v1 has them."""
    if "backend" in spec.entries:
        spec.entries["defaultBackend"] = spec.entries.pop("backend")
    backends = [spec.get("defaultBackend")]
    for rule in _items(spec.get("rules")):
        http = rule.get("http")
        backends += [path.get("backend") for path in _items(http.get("paths") if isinstance(http, Mapping) else None)]
    for backend in backends:
        if isinstance(backend, Mapping) and "serviceName" in backend.entries:
            _upgrade_backend(backend)


def _upgrade_backend(backend: Mapping) -> None:
    name, port = backend.entries.pop("serviceName"), backend.entries.pop("servicePort", None)
    service = Mapping({"name": name}, name.line, name.column)
    if port is not None:
        is_number = isinstance(port.value, Scalar) and port.value.kind is ScalarKind.INTEGER
        inner = Mapping({"number" if is_number else "name": port}, port.line, port.column)
        service.entries["port"] = Entry(inner, port.line, port.column)
    backend.entries["service"] = Entry(service, name.line, name.column)


def upgrade_metrics(spec: Mapping) -> None:
    """Moves names and targets of metrics to where autoscaling/v2 has them."""
    for metric in _items(spec.get("metrics")):
        for kind in ("resource", "containerResource", "pods", "object", "external"):
            source = metric.get(kind)
            if isinstance(source, Mapping):
                _upgrade_source(source, is_object=kind == "object")


def _upgrade_source(source: Mapping, *, is_object: bool) -> None:
    if is_object and "target" in source.entries:
        source.entries["describedObject"] = source.entries.pop("target")
    name = source.entries.pop("metricName", None)
    selector = source.entries.pop("metricSelector", source.entries.pop("selector", None))
    if name is not None:
        metric = Mapping({"name": name}, name.line, name.column)
        metric.entries.update({} if selector is None else {"selector": selector})
        source.entries["metric"] = Entry(metric, name.line, name.column)
    for old, (target_type, new) in _TARGETS.items():
        entry = source.entries.pop(old, None)
        if entry is not None and "target" not in source.entries:
            stated = Entry(Scalar(target_type, False, entry.line, entry.column), entry.line, entry.column)
            target = Mapping({"type": stated, new: entry}, entry.line, entry.column)
            source.entries["target"] = Entry(target, entry.line, entry.column)


def _items(value: Value | None) -> Iterator[Mapping]:
    """The mappings of a list."""
    for item in value.items if isinstance(value, Sequence) else ():
        if isinstance(item, Mapping):
            yield item
