"""VerticalPodAutoscalers, autoscaling.k8s.io/v1."""

from __future__ import annotations

from kubeproof.cluster.steering.vertical import (
    CPU,
    DEFAULT_LEAST,
    EVERY_CONTAINER,
    IN_PLACE_OR_RECREATE,
    MEMORY,
    MODES,
    RECREATE,
    ContainerPolicy,
    VerticalPodAutoscaler,
)
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.pods.resources import read_amounts
from kubeproof.manifests.validation.deciding import ALL
from kubeproof.manifests.yaml.fields import Fields


def read_vertical(fields: Fields) -> VerticalPodAutoscaler:
    """The autoscaler after defaulting: pods are recreated, CPU and memory are controlled."""
    metadata = read_metadata(fields)
    spec = fields.require_child("spec")
    reference = spec.require_child("targetRef")
    kind, name = reference.require_text("kind"), reference.require_text("name")
    reference.finish("CrossVersionObjectReference")
    mode, least = _update_policy(spec)
    found = VerticalPodAutoscaler(
        namespace=metadata.namespace,
        name=metadata.name,
        target=f"{kind}/{metadata.namespace}/{name}",
        mode=mode,
        policies=_policies(spec),
        least_replicas=least,
        source=fields.source,
    )
    spec.finish("VerticalPodAutoscalerSpec")
    fields.finish("Object")
    return found


def _update_policy(spec: Fields) -> tuple[str, int]:
    policy = spec.child("updatePolicy")
    if policy is None:
        return RECREATE, DEFAULT_LEAST
    mode = policy.word("updateMode", MODES, RECREATE)
    if mode == IN_PLACE_OR_RECREATE:
        policy.omit("updateMode", "pods are always replaced, never resized in place", decides=ALL)
    least = policy.integer("minReplicas", least=1)
    policy.finish("VerticalUpdatePolicy")
    return mode, DEFAULT_LEAST if least is None else least


def _policies(spec: Fields) -> tuple[ContainerPolicy, ...]:
    resources = spec.child("resourcePolicy")
    if resources is None:
        return ()
    found = tuple(_policy(child) for child in resources.children("containerPolicies"))
    resources.finish("VerticalResourcePolicy")
    return found


def _policy(fields: Fields) -> ContainerPolicy:
    controlled = fields.texts("controlledResources") if fields.has("controlledResources") else (CPU, MEMORY)
    for name in controlled:
        if name not in (CPU, MEMORY):
            fields.fail("controlledResources", f"holds {name}", remedy="Write cpu, memory or both")
    least, most = read_amounts(fields.child("minAllowed")), read_amounts(fields.child("maxAllowed"))
    for name in sorted(least.keys() & most.keys()):
        if least[name] > most[name]:
            fields.fail("maxAllowed", f"is below minAllowed for {name}", remedy="Raise it")
    policy = ContainerPolicy(
        container=fields.text("containerName") or EVERY_CONTAINER,
        is_off=fields.word("mode", ("Auto", "Off"), "Auto") == "Off",
        least=tuple(sorted(least.items())),
        most=tuple(sorted(most.items())),
        controlled=tuple(dict.fromkeys(controlled)),
    )
    fields.finish("VerticalContainerPolicy")
    return policy
