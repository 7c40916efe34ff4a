"""Names of objects that the input does not have, although it has others of their kind."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.kinds import DECLARED
from kubeproof.cluster.wiring import Reference, WiredService
from kubeproof.verify.checks.declaration import INFO, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene
from kubeproof.verify.checks.surroundings import (
    CONTROL_PLANE,
    around,
    belong_together,
    did_you_mean,
    is_written,
    may_hold_more,
    names_around,
)

_SCALED = tuple(kind.name for kind in DECLARED if kind.has_replicas)
_CONFIGURATION = ("ConfigMap", "Secret")
_CLAIM = "PersistentVolumeClaim"


def _targets(scene: Scene) -> Iterator[Found]:
    for autoscaler in scene.setup.autoscalers:
        kind, namespace, name = autoscaler.target.split("/", 2)
        source = autoscaler.source
        if autoscaler.target in scene.by_ref or kind not in _SCALED or may_hold_more(scene, namespace, source):
            continue
        told = f"scales {autoscaler.target}, which is not in the input"
        remedy = did_you_mean(name, [one.name for one in around(scene, namespace, source)])
        ref = f"HorizontalPodAutoscaler/{autoscaler.namespace}/{autoscaler.name}"
        yield Found(ref, told, source, severity=WARNING if remedy else INFO, remedy=remedy)


# -- Services -----------------------------------------------------------------------------------------


def _backends(scene: Scene) -> Iterator[Found]:
    services = {(one.namespace, one.name): one for one in scene.wiring.services}
    named = [one for one in scene.wiring.references if one.kind == "Service" and one.ref.startswith("Ingress/")]
    resolved = {one.ref for one in named if (one.namespace, one.name) in services}
    for one in named:
        service = services.get((one.namespace, one.name))
        if service is not None:
            yield from _backend_port(scene, one, service)
        elif one.namespace != CONTROL_PLANE and not may_hold_more(scene, one.namespace, one.source):
            yield from _missing_backend(scene, one, has_others=one.ref in resolved)


def _missing_backend(scene: Scene, one: Reference, *, has_others: bool) -> Iterator[Found]:
    """A Service that is missing, if one of nearly that name or the Ingress's other ones are there."""
    remedy = did_you_mean(one.name, names_around(scene, "Service", one.namespace, one.source))
    if remedy or has_others:
        yield Found(one.ref, f"leads to Service {one.name}, which is not in the input", one.source, remedy=remedy)


def _backend_port(scene: Scene, one: Reference, service: WiredService) -> Iterator[Found]:
    known = {port.number for port in service.ports} | {port.name for port in service.ports if port.name}
    is_there = one.port is None or not known or one.port in known
    if is_there or not belong_together(scene, one.source, service.source):
        return
    told = f"leads to port {one.port} of {service.ref}, which has {', '.join(sorted(map(str, known)))}"
    yield Found(one.ref, told, one.source, ((service.ref, service.source),), remedy="Name a port of the Service")


def _governing(scene: Scene) -> Iterator[Found]:
    """Services that StatefulSets name, and that are missing or select other pods."""
    services = {(one.namespace, one.name): one for one in scene.wiring.services}
    for one in scene.wiring.references:
        if one.kind == "Service" and one.ref.startswith("StatefulSet/"):
            service = services.get((one.namespace, one.name))
            yield from _without_service(scene, one) if service is None else _find_misled(scene, one, service)


def _without_service(scene: Scene, one: Reference) -> Iterator[Found]:
    """A Service that is missing, although the set's pods have one, or one of nearly that name is there."""
    owner = scene.by_ref.get(one.ref)
    labels = None if owner is None else scene.labels(owner)
    near = [s for s in scene.wiring.services if belong_together(scene, one.source, s.source)]
    near = [s for s in near if s.namespace == one.namespace]
    remedy = did_you_mean(one.name, [service.name for service in near])
    others = [s for s in near if labels is not None and s.selector and set(s.selector) <= set(labels.items())]
    if remedy or others:
        told = f"names Service {one.name}, which is not in the input: its pods get no names in DNS"
        also = tuple((service.ref, service.source) for service in others)
        yield Found(one.ref, told, one.source, also, severity=WARNING if remedy else INFO, remedy=remedy)


def _find_misled(scene: Scene, one: Reference, service: WiredService) -> Iterator[Found]:
    owner = scene.by_ref.get(one.ref)
    if owner is None or not service.selector or not belong_together(scene, one.source, service.source):
        return
    if not set(service.selector) <= set(scene.labels(owner).items()):
        told = f"names {service.ref}, which selects other pods: its own get no names in DNS"
        yield Found(one.ref, told, one.source, ((service.ref, service.source),))


# -- what pods mount and read -------------------------------------------------------------------------


def _claims(scene: Scene) -> Iterator[Found]:
    made = {one.ref: {claim.name for claim in one.claim_templates} for one in scene.workloads}
    for one in scene.wiring.references:
        if one.kind != _CLAIM or one.volume in made.get(one.ref, ()):
            continue
        if is_written(scene, _CLAIM, one.namespace, one.name) or may_hold_more(scene, one.namespace, one.source):
            continue
        remedy = did_you_mean(one.name, names_around(scene, _CLAIM, one.namespace, one.source))
        beside = (w.kind == _CLAIM and w.source.file == one.source.file for w in scene.wiring.written)
        if remedy or any(beside):
            told = f"mounts claim {one.name}, which is not in the input ({one.field})"
            yield Found(one.ref, told, one.source, remedy=remedy)


def _configuration(scene: Scene) -> Iterator[Found]:
    """Only names that look like one of the input: others are often created elsewhere."""
    told: set[tuple[str, str, str]] = set()
    for one in scene.wiring.references:
        is_told = (one.ref, one.kind, one.name) in told
        if one.kind not in _CONFIGURATION or is_told or is_written(scene, one.kind, one.namespace, one.name):
            continue
        told.add((one.ref, one.kind, one.name))
        remedy = did_you_mean(one.name, names_around(scene, one.kind, one.namespace, one.source))
        if remedy:
            message = f"needs {one.kind} {one.name}, which is not in the input ({one.field})"
            yield Found(one.ref, message, one.source, remedy=remedy)


CHECKS = (
    Check(
        id="K007",
        key="scale-target-missing",
        severity=WARNING,
        title="a HorizontalPodAutoscaler whose target is not in the input",
        explanation=(
            "It reports FailedGetScale and never acts. Found only where the input shows workloads of its namespace, "
            "and no object of a kind whose controller may create others; a warning if one has nearly that name, "
            "otherwise info."
        ),
        remedy="Name a workload of its namespace in scaleTargetRef, with its kind",
        find=_targets,
    ),
    Check(
        id="K008",
        key="backend-missing",
        severity=WARNING,
        title="an Ingress that leads to a Service, or to a port of it, that does not exist",
        explanation=(
            "Its controller answers such requests with an error (503). A Service that is missing is found only where "
            "one of nearly that name, or the other Services of the Ingress, are in the input."
        ),
        remedy="Name a Service of the same namespace",
        find=_backends,
    ),
    Check(
        id="K011",
        key="claim-missing",
        severity=WARNING,
        title="a volume from a PersistentVolumeClaim that is not in the input, although others are",
        explanation=(
            "Pods that mount a claim wait, unscheduled, until it exists. Found only where a claim of nearly that name "
            "is in the input, or others are in the same file."
        ),
        remedy="Add the claim, or name one that exists",
        find=_claims,
    ),
    Check(
        id="K012",
        key="configuration-missing",
        severity=INFO,
        title="a ConfigMap or Secret that is not in the input, although one of nearly the same name is",
        explanation=(
            "Containers that need it do not start (CreateContainerConfigError). Names that look like none of the input "
            "are not told: such objects are often created elsewhere."
        ),
        remedy="Correct the name",
        find=_configuration,
    ),
    Check(
        id="K013",
        key="governing-service-missing",
        severity=WARNING,
        title="a StatefulSet whose serviceName names no Service of the input, or one that selects other pods",
        explanation=(
            "The names of its pods (web-0.web) are not resolved: members of the set do not find each other. A Service "
            "that is missing is found only where one has nearly that name or, as info, another one selects the pods."
        ),
        remedy="Add a headless Service of that name that selects the set's pods",
        find=_governing,
    ),
)
