"""ResourceQuotas and LimitRanges, after the defaulting and checks of the API server."""

from __future__ import annotations

from kubeproof.cluster.api.quantity import QuantityError, milli
from kubeproof.cluster.steering.quotas import CONTAINER, WHOLE_POD, Amounts, LimitItem, LimitRange, ResourceQuota, Scope
from kubeproof.controllers.admission.quota import COUNT, HUGE_PAGES, SCOPES
from kubeproof.controllers.scheduler.requests import NATIVE
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.pods.resources import CPU, PODS, is_extended, read_amount, read_amounts
from kubeproof.manifests.validation.deciding import find_held_back
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_CLAIM = "PersistentVolumeClaim"
_PLAIN_SCOPES = tuple(SCOPES)


def read_quota(fields: Fields) -> ResourceQuota | None:
    """The quota as far as it is about pods; None if a scope that is not modelled decides whom it means."""
    metadata = read_metadata(fields)
    spec = fields.child("spec")
    hard = _hard(spec.child("hard") if spec is not None else None, metadata.namespace)
    scopes = _scopes(spec, metadata.namespace)
    if spec is not None:
        spec.finish("ResourceQuotaSpec")
    fields.finish("Object")
    if scopes is None:
        return None
    return ResourceQuota(metadata.namespace, metadata.name, hard, scopes, fields.source)


def _hard(fields: Fields | None, namespace: str) -> Amounts:
    """The bounds that pods count towards; others are listed as not modelled."""
    found: dict[str, int] = {}
    for name in [] if fields is None else fields.keys():
        assert fields is not None
        resource = name.removeprefix("requests.").removeprefix("limits.")
        if _is_charged(name, resource):
            found[name] = _amount(fields, name, resource)
        else:
            fields.omit(name, decides=find_held_back(name, namespace))
    return tuple(sorted(found.items()))


def _is_charged(name: str, resource: str) -> bool:
    if name in (PODS, COUNT) or resource in NATIVE or resource.startswith(HUGE_PAGES):
        return not (name.startswith("limits.") and resource.startswith(HUGE_PAGES))
    return name.startswith("requests.") and is_extended(resource)


def _amount(fields: Fields, key: str, resource: str) -> int:
    """CPU in thousandths, everything else in units."""
    if resource != CPU:
        return read_amount(fields, key)
    text = fields.number(key) or ""
    try:
        return milli(text)
    except QuantityError as problem:
        fields.fail(key, f"is {printable(text)!r}: {problem}", remedy="Write a quantity such as 500m or 2")


def _scopes(spec: Fields | None, namespace: str) -> tuple[Scope, ...] | None:
    """All requirements of `scopes` and `scopeSelector`; None if one of them is not modelled."""
    if spec is None:
        return ()
    found = [Scope(name) for name in spec.texts("scopes")]
    selector = spec.child("scopeSelector")
    for child in [] if selector is None else selector.children("matchExpressions"):
        operator = child.word("operator", _OPERATORS, "Exists")
        found.append(Scope(child.require_text("scopeName"), operator, child.texts("values")))
        child.finish("ScopedResourceSelectorRequirement")
    if selector is not None:
        selector.finish("ScopeSelector")
    unknown = [scope.name for scope in found if scope.name not in _PLAIN_SCOPES]
    for name in unknown:
        what = f"scope {printable(name)}, and with it the whole quota,"
        spec.log.omit(what, line=spec.mapping.line, decides=f"*/{namespace}/*")
    return None if unknown else tuple(found)


def read_limit_range(fields: Fields) -> LimitRange:
    """The LimitRange; a default limit follows the maximum, a default request the default limit or the minimum."""
    metadata = read_metadata(fields)
    spec = fields.require_child("spec")
    items = tuple(item for child in spec.children("limits") if (item := _item(child, metadata.namespace)) is not None)
    spec.finish("LimitRangeSpec")
    fields.finish("Object")
    return LimitRange(metadata.namespace, metadata.name, items, fields.source)


def _item(fields: Fields, namespace: str) -> LimitItem | None:
    """One set of bounds; None for those of claims, which are not modelled."""
    kind = fields.require_text("type")
    if kind not in (CONTAINER, WHOLE_POD):
        decided = find_held_back(kind, namespace)
        fields.log.omit(f"limits of type {printable(kind)}", line=fields.mapping.line, decides=decided)
        return None
    most, least = read_amounts(fields.child("max")), read_amounts(fields.child("min"))
    limits, requests = read_amounts(fields.child("default")), read_amounts(fields.child("defaultRequest"))
    ratios = _ratios(fields.child("maxLimitRequestRatio"))
    fields.finish("LimitRangeItem")
    if kind == CONTAINER:
        limits = {**most, **limits}
        requests = {**least, **limits, **requests}
    return LimitItem(kind, *(tuple(sorted(one.items())) for one in (limits, requests, least, most, ratios)))


def _ratios(fields: Fields | None) -> dict[str, int]:
    names = [] if fields is None else fields.keys()
    return {name: _amount(fields, name, CPU) for name in names if fields is not None}
