"""What the input holds around an object: whose pods there are, and whether others may come from elsewhere.

Checks that miss something tell so only where the input shows that it should be there. Folders with examples hold the
same object again and again: what stands in another folder then belongs to another cluster.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from string import digits

from kubeproof.cluster.kinds import JOBS, STATEFUL_SET
from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import Source, Workload
from kubeproof.cluster.steering.counted import labels_of
from kubeproof.verify.checks.scene import Scene

CONTROL_PLANE = "kube-system"  # what runs there comes with the cluster, and seldom with the manifests
ALIKE = 0.75  # as similar are a word and a misspelling of it
_SLIP = 2  # letters more or less
_OF_JOBS = ("job-name", "batch.kubernetes.io/job-name", "batch.kubernetes.io/job-completion-index")
_TELLING_APART = {  # labels with which controllers tell pods of one workload apart
    STATEFUL_SET: ("statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"),
    **dict.fromkeys(JOBS, _OF_JOBS),
}
# Groups of the API whose kinds have no controller that creates pods, or only such as the model has.
_KNOWN_GROUPS = ("", "apps", "batch", "autoscaling", "policy", "extensions", "events", "kustomize.config.k8s.io")
_KNOWN_SUFFIX = ".k8s.io"
# Kinds of others that create no pods of a namespace by themselves.
_WITHOUT_PODS = (
    "ServiceMonitor PodMonitor PrometheusRule Probe ScrapeConfig AlertmanagerConfig VirtualService DestinationRule "
    "Gateway ServiceEntry PeerAuthentication AuthorizationPolicy RequestAuthentication EnvoyFilter Sidecar Telemetry "
    "Certificate Issuer ClusterIssuer ExternalSecret SecretStore ClusterSecretStore SealedSecret IngressRoute "
    "Middleware BackendConfig FrontendConfig ManagedCertificate ServiceExport MultiClusterIngress MultiClusterService "
    "Scenario AppProject ImagePolicy ImageRepository GitRepository HelmRepository OCIRepository Bucket ScaledObject "
    "TriggerAuthentication CiliumNetworkPolicy ConstraintTemplate ClusterPolicy Policy PodMonitoring "
    "SecretProviderClass"
)


# -- folders ------------------------------------------------------------------------------------------


def belong_together(scene: Scene, one: Source, other: Source) -> bool:
    """True if two places are of one cluster; of an input with variants, those of one folder or of one below it."""
    if not scene.has_variants or one.file == other.file:
        return True
    if scene.may_differ(one) or scene.may_differ(other):
        return False  # what stands elsewhere may be meant for another version of it
    first, second = _folder(one), _folder(other)
    return first == second or first.startswith(f"{second}{os.sep}") or second.startswith(f"{first}{os.sep}")


def come_together(scene: Scene, one: Source, other: Source) -> bool:
    """True if two places are applied to one cluster for sure; of an input with variants, those of one file."""
    return not scene.has_variants or one.file == other.file


def _folder(source: Source) -> str:
    return os.path.dirname(source.file.removesuffix(">"))


# -- pods ---------------------------------------------------------------------------------------------


def around(scene: Scene, namespace: str, source: Source) -> list[Workload]:
    """The workloads of a namespace that belong to the cluster of a place; a namespace with a name is one cluster's."""
    found = scene.by_namespace.get(namespace, [])
    return [one for one in found if namespace != "default" or belong_together(scene, source, one.source)]


def may_hold_more(scene: Scene, namespace: str, source: Source) -> bool:
    """True if pods may be in the namespace that the input does not show.

    That is so if it shows no workload there at all, an object whose controller may create some, or a template in the
    same folder that nobody rendered.
    """
    if any(_folder(place) == _folder(source) for place in scene.unrendered):
        return True
    if namespace == CONTROL_PLANE or not around(scene, namespace, source):
        return True
    there = (objects[0] for (_, place), objects in scene.written.items() if place == namespace)
    return any(_may_create_pods(one.group, one.kind) for one in there)


def _may_create_pods(group: str, kind: str) -> bool:
    is_known = group in _KNOWN_GROUPS or group.endswith(_KNOWN_SUFFIX)
    return not is_known and kind not in _WITHOUT_PODS.split()


def list_selected(scene: Scene, namespace: str, selector: LabelSelector) -> Iterator[Workload]:
    """The workloads of a namespace some of whose pods a selector matches."""
    return (one for one in scene.by_namespace.get(namespace, ()) if matches_some(scene, selector, one))


def matches_some(scene: Scene, selector: LabelSelector, one: Workload) -> bool:
    """True if a selector may match a pod of a workload: labels that tell its pods apart have some value."""
    labels, aside = scene.labels(one), _TELLING_APART.get(one.kind, ())
    return all(requirement.key in aside or requirement.matches(labels) for requirement in selector.requirements)


# -- selectors ----------------------------------------------------------------------------------------


def equal_to(labels: Iterable[tuple[str, str]]) -> LabelSelector:
    """The selector that a plain map of labels stands for."""
    return LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in labels))


def in_words(selector: LabelSelector) -> str:
    """`app=web,tier in (a,b)`, as kubectl writes selectors."""
    return ",".join(map(_requirement, selector.requirements))


def _requirement(one: Requirement) -> str:
    if one.operator == "In" and len(one.values) == 1:
        return f"{one.key}={one.values[0]}"
    if one.operator in ("Exists", "DoesNotExist"):
        return one.key if one.operator == "Exists" else f"!{one.key}"
    return f"{one.key} {'in' if one.operator == 'In' else 'notin'} ({','.join(one.values)})"


def is_added_later(scene: Scene, pods: Iterable[Workload], selector: LabelSelector) -> bool:
    """True if a selector matches pods of a workload but for labels that these do not have at all.

    Programs that elect a leader label its pod while they run, and people label pods by hand.
    """
    for one in pods:
        labels = scene.labels(one)
        missed = [requirement for requirement in selector.requirements if not requirement.matches(labels)]
        if len(missed) < len(selector.requirements) and not any(_is_there(labels, one) for one in missed):
            return True
    return False


def _is_there(labels: dict[str, str], missed: Requirement) -> bool:
    """True if pods have the label with another value, or the value at a label of another name."""
    return missed.key in labels or any(value in missed.values for value in labels.values())


def nearest(pods: Iterable[Workload], selector: LabelSelector, name: str) -> str:
    """The workload that a selector of an object of this name most likely means, in words; empty if none is like it."""
    best, told = 0, ""
    for one in pods:
        labels = labels_of(one)
        missed = [requirement for requirement in selector.requirements if not requirement.matches(labels)]
        likeness = 2 * (len(selector.requirements) - len(missed)) + _likeness(one, missed, name)
        if missed and likeness > best:
            best, told = likeness, f"{one.ref} {_has(labels, missed[0])}"
    return told


def _likeness(one: Workload, missed: Iterable[Requirement], name: str) -> int:
    """What speaks for a workload beside the labels that match: its name, and values that are nearly the wanted ones."""
    values = {value for requirement in missed for value in requirement.values}
    own = labels_of(one).values()
    close = any(value == other or _is_slip(value, other) for value in own for other in values)
    return close + (one.name in (name, *values))


def _has(labels: dict[str, str], missed: Requirement) -> str:
    if missed.key in labels:
        return f"has {missed.key}={labels[missed.key]}"
    same = sorted(key for key, value in labels.items() if value in missed.values)
    return f"has {same[0]}={labels[same[0]]}" if same else f"has no label {missed.key}"


def elsewhere(scene: Scene, namespace: str, selector: LabelSelector, source: Source) -> Workload | None:
    """A workload of another namespace that a selector would match."""
    found = (one for one in scene.workloads if one.namespace != namespace and matches_some(scene, selector, one))
    return next((one for one in found if belong_together(scene, source, one.source)), None)


# -- names --------------------------------------------------------------------------------------------


def is_written(scene: Scene, kind: str, namespace: str, name: str) -> bool:
    """True if the input has the object, wherever it stands."""
    return any(one.name == name for one in scene.written.get((kind, namespace), ()))


def names_around(scene: Scene, kind: str, namespace: str, source: Source) -> list[str]:
    """The names of objects of a kind and namespace that belong to the cluster of a place."""
    found = scene.written.get((kind, namespace), [])
    return [one.name for one in found if namespace != "default" or belong_together(scene, source, one.source)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`Did you mean …?` with a name that differs by a slip of the pen; empty if there is none."""
    close = next((other for other in sorted(known) if _is_slip(name, other)), "")
    return f"Did you mean {close}?" if close else ""


def _is_slip(name: str, other: str) -> bool:
    """True if two names differ in one of their words, by a letter or two; families of names differ by more."""
    words, others = name.split("-"), other.split("-")
    differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(words) != len(others) or len(differing) != 1:
        return name.replace("-", "") == other.replace("-", "") and name != other
    one, two = differing[0]
    if abs(len(one) - len(two)) > _SLIP or one.rstrip(digits) == two.rstrip(digits):
        return False
    return bool(get_close_matches(one[:100], [two], 1, ALIKE))
