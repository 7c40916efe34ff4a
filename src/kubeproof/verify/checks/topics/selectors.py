"""Selectors that match nothing: of Services, budgets, network policies and monitors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import Source
from kubeproof.cluster.wiring import PODS, SERVICES, Selection, WiredService
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.checks.declaration import INFO, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene
from kubeproof.verify.checks.surroundings import (
    CONTROL_PLANE,
    around,
    belong_together,
    elsewhere,
    equal_to,
    in_words,
    is_added_later,
    list_selected,
    may_hold_more,
    nearest,
)


class _Selecting(NamedTuple):
    """An object that selects pods of a namespace."""

    ref: str
    namespace: str
    selector: LabelSelector
    source: Source

    @property
    def name(self) -> str:
        return self.ref.rpartition("/")[2]


def _services(scene: Scene) -> Iterator[Found]:
    services = [one for one in scene.wiring.services if one.selector and not one.is_external]
    yield from _empty(scene, [_Selecting(s.ref, s.namespace, equal_to(s.selector), s.source) for s in services])


def _budgets(scene: Scene) -> Iterator[Found]:
    budgets = [(one, one.selector) for one in scene.setup.budgets if one.selector is not None]
    refs = [f"PodDisruptionBudget/{one.namespace}/{one.name}" for one, _ in budgets]
    pairs = zip(refs, budgets, strict=True)
    yield from _empty(scene, [_Selecting(ref, b.namespace, selector, b.source) for ref, (b, selector) in pairs])


def _policies(scene: Scene) -> Iterator[Found]:
    yield from _empty(scene, _of_selections(scene, "NetworkPolicy"))


def _of_selections(scene: Scene, kind: str) -> list[_Selecting]:
    chosen = (one for one in scene.wiring.selections if one.of == PODS and one.ref.startswith(f"{kind}/"))
    return [_Selecting(one.ref, name, one.selector, one.source) for one in chosen for name in one.namespaces or ()]


def _empty(scene: Scene, objects: list[_Selecting]) -> Iterator[Found]:
    """Those that select no pods, where the input shows all pods there are and some reason to expect theirs."""
    idle = [one for one in objects if not any(list_selected(scene, one.namespace, one.selector))]
    for one in idle:
        if not one.selector.is_empty and not may_hold_more(scene, one.namespace, one.source):
            yield from _without_pods(scene, one, is_odd=len(idle) == 1 and len(objects) > _FEW)


_FEW = 2  # objects of a kind; among more of them one that differs from all others is odd


def _without_pods(scene: Scene, one: _Selecting, *, is_odd: bool) -> Iterator[Found]:
    close = nearest(around(scene, one.namespace, one.source), one.selector, one.name)
    there = elsewhere(scene, one.namespace, one.selector, one.source)
    told = f"selects {in_words(one.selector)}, which no pod of namespace {one.namespace} has"
    if there is not None:
        yield Found(one.ref, f"{told}; pods of {there.ref} have it", one.source, ((there.ref, there.source),))
    elif close:
        pods = around(scene, one.namespace, one.source)
        hint = ", unless it is added while they run" if is_added_later(scene, pods, one.selector) else ""
        creator = next((by for by in scene.wiring.pod_creators if by.namespace == one.namespace), None)
        hint = hint or (f", unless it is meant for pods that {creator.ref} lets somebody create" if creator else "")
        yield Found(one.ref, f"{told}; {close}{hint}", one.source, severity=INFO if hint else "")
    elif is_odd:
        yield Found(one.ref, told, one.source, severity=INFO)


# -- monitors -----------------------------------------------------------------------------------------


def _monitors(scene: Scene) -> Iterator[Found]:
    for one in scene.wiring.selections:
        if one.of == SERVICES:
            yield from _service_monitor(scene, one)
    yield from _empty(scene, _of_selections(scene, "PodMonitor"))


def _service_monitor(scene: Scene, one: Selection) -> Iterator[Found]:
    services = [s for s in scene.wiring.services if one.namespaces is None or s.namespace in one.namespaces]
    chosen = [service for service in services if one.selector.matches(dict(service.labels))]
    if chosen:
        yield from _missing_ports(one, chosen)
        return
    near = [service for service in services if belong_together(scene, one.source, service.source)]
    if (
        one.namespaces is None
        or CONTROL_PLANE in one.namespaces
        or any(may_hold_more(scene, namespace, one.source) for namespace in one.namespaces)
    ):
        return
    close = _nearest_service(near, one.selector)
    if close:
        yield Found(one.ref, f"selects Services with {in_words(one.selector)}, which none has; {close}", one.source)


def _nearest_service(services: Iterable[WiredService], selector: LabelSelector) -> str:
    """The Service whose pods have the labels that were asked of it: the selector was written for pods."""
    for service in services:
        if selector.matches(dict(service.selector)):
            return f"{service.ref} selects pods with them, and has {_labels(service)} itself"
    return ""


def _labels(service: WiredService) -> str:
    return ",".join(f"{key}={value}" for key, value in service.labels) or "no labels"


def _missing_ports(one: Selection, chosen: list[WiredService]) -> Iterator[Found]:
    """Ports that no chosen Service has: the monitor finds nothing to ask."""
    names = {port.name for service in chosen for port in service.ports}
    also = tuple((service.ref, service.source) for service in chosen)
    for port, source in one.ports:
        if port not in names:
            known = ", ".join(sorted(filter(None, names))) or "none with a name"
            told = f"asks at port {port}, which {chosen[0].ref} does not have (it has {known})"
            yield Found(one.ref, told, source, also)


CHECKS = (
    Check(
        id="K003",
        key="service-selects-nothing",
        severity=WARNING,
        title="a Service whose selector matches no pods",
        explanation=(
            "It has no endpoints, and connections to it are refused. Found only where the input shows the pods of its "
            "namespace, no object of a kind whose controller may create others, and some that may be meant; as info "
            "where all other Services of the input have pods, and where pods lack a label that may be added while they "
            "run, as by a leader election."
        ),
        remedy="Make the selector equal to labels of the pod template that is meant",
        find=_services,
    ),
    Check(
        id="K004",
        key="budget-selects-nothing",
        severity=WARNING,
        title="a PodDisruptionBudget whose selector matches no pods",
        explanation=(
            "It protects nobody: drains evict the pods that it was written for without asking. Found only where the "
            "input shows the pods of its namespace."
        ),
        remedy="Make the selector equal to labels of the pod template that is meant",
        find=_budgets,
    ),
    Check(
        id="K005",
        key="policy-selects-nothing",
        severity=WARNING,
        title="a NetworkPolicy whose podSelector matches no pods",
        explanation=(
            "It restricts nobody: the pods that it was written for talk to everybody. Found only where the input shows "
            "the pods of its namespace; as info where a Role lets somebody create "
            "pods there, as a hub or a runner does."
        ),
        remedy="Make podSelector equal to labels of the pod template that is meant",
        find=_policies,
    ),
    Check(
        id="K006",
        key="monitor-selects-nothing",
        severity=WARNING,
        title="a ServiceMonitor or PodMonitor that matches nothing, or asks at a port that nobody has",
        explanation=(
            "Nothing is measured, and alerts that rest on it never fire. A ServiceMonitor matches labels of Services, "
            "not of pods, and names a port of the Service by its name."
        ),
        remedy="Make the selector equal to labels of the Service (or pods), and port to the name of one of its ports",
        find=_monitors,
    ),
)
