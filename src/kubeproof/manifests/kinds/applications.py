"""Argo CD Applications: whether automated sync heals drift, of which workloads, and what it leaves alone.

An Application with `syncPolicy.automated.selfHeal` is a GitOps reconciler (`kubeproof.controllers.gitops`) of the
workloads in the namespace that it deploys to. Argo CD sees drift at once and heals it `--self-heal-timeout-seconds`
after the last time, 5 by default (later versions begin with 2 s and wait longer each time, up to 300).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kubeproof.cluster.objects import Settings, Workload
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.values import dataclass

SELF_HEAL_S = 5
REPLICAS = frozenset({"/spec/replicas", ".spec.replicas"})
SCALER = "kube-controller-manager"  # the field manager of what autoscalers write
RESPECTS = "RespectIgnoreDifferences=true"


@dataclass(frozen=True, slots=True)
class Ignored:
    """Objects whose spec.replicas may differ; None stands for any name or namespace."""

    kind: str
    name: str | None
    namespace: str | None

    def covers(self, workload: Workload) -> bool:
        """True for a workload that is meant."""
        is_named = self.name in (None, workload.name) and self.namespace in (None, workload.namespace)
        return is_named and self.kind in ("*", workload.kind)


@dataclass(frozen=True, slots=True)
class Application:
    """What of an Argo CD Application decides about drift."""

    heals: bool  # automated sync with self-heal
    namespace: str | None  # where it deploys to; None: the manifests say it
    ignores: tuple[Ignored, ...] = ()
    respects: bool = False  # what is ignored is not written together with the rest either


def read_application(fields: Fields) -> Application:
    """The Application after defaulting: no automated sync, no self-heal."""
    read_metadata(fields)
    spec = fields.require_child("spec")
    destination, policy = spec.child("destination"), spec.child("syncPolicy")
    options = policy.choose("syncOptions", (RESPECTS,)) if policy is not None else ()
    found = Application(
        heals=_heals(policy),
        namespace=destination.text("namespace") if destination is not None else None,
        ignores=tuple(ignored for entry in spec.children("ignoreDifferences") for ignored in _list_ignored(entry)),
        respects=RESPECTS in options,
    )
    if destination is not None:
        destination.finish("ApplicationDestination")
    if policy is not None:
        policy.finish("SyncPolicy")
    spec.finish("ApplicationSpec")
    fields.ignore("operation")
    fields.finish("Object")
    return found


def _heals(policy: Fields | None) -> bool:
    automated = policy.child("automated") if policy is not None else None
    if automated is None:
        return False
    is_on, heals = automated.boolean("enabled"), automated.boolean("selfHeal")
    automated.finish("AutomatedSync")
    return is_on is not False and bool(heals)


def _list_ignored(entry: Fields) -> Iterable[Ignored]:
    """The entry, if it is about spec.replicas."""
    pointers = entry.choose("jsonPointers", REPLICAS) | entry.choose("jqPathExpressions", REPLICAS)
    managers = entry.choose("managedFieldsManagers", (SCALER,))
    kind, name, namespace = entry.text("kind") or "*", entry.text("name"), entry.text("namespace")
    entry.finish("IgnoreDifferences")
    if pointers or managers:
        yield Ignored(kind, name, namespace)


def with_applications(
    settings: Settings, applications: Sequence[Application], workloads: Sequence[Workload]
) -> Settings:
    """The settings in which reconcilers keep to what Applications say; whether they heal is settled already."""
    healing = [application for application in applications if application.heals]
    if settings.gitops_interval_s is None or not applications:
        return settings
    namespaces = {application.namespace for application in healing}
    everywhere = not healing or None in namespaces
    left = tuple(
        (workload.ref, application.respects)
        for application in applications
        for workload in workloads
        if application.namespace in (None, workload.namespace)
        and any(ignored.covers(workload) for ignored in application.ignores)
    )
    scope = () if everywhere else tuple(sorted(str(namespace) for namespace in namespaces))
    return replace(settings, gitops_namespaces=scope, gitops_ignored=left)
