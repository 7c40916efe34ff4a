"""Argo CD Applications: automated sync with self-heal is a GitOps reconciler of what it deploys."""

from __future__ import annotations

from kubeproof.cluster.objects import Settings
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

HEALING = "syncPolicy: {automated: {selfHeal: true, prune: true}, syncOptions: [%s]}"
REPLICAS = "ignoreDifferences: [{group: apps, kind: Deployment, %s}]"
WEB = "Deployment/shop/web"


def application(*spec: str, namespace: str = "shop") -> str:
    """An Application that deploys to a namespace."""
    lines = "\n".join(f"  {line}" for line in spec)
    return f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: app-{namespace}, namespace: argocd}}
spec:
  project: default
  source: {{repoURL: "https://git.example.com/shop", path: shop}}
  destination: {{server: "https://kubernetes.default.svc", namespace: {namespace}}}
{lines}
"""


def settings(*documents: str) -> Settings:
    """The settings of an input with one Deployment in the namespace shop."""
    return load_text(node(), deployment("web"), *documents).setup.settings


def test_self_heal_undoes_drift_in_its_namespace_within_seconds() -> None:
    found = settings(application(HEALING % ""))

    assert (found.gitops_interval_s, found.gitops_namespaces, found.gitops_ignored) == (5, ("shop",), ())


def test_without_self_heal_drift_stays() -> None:
    for policy in (
        "",
        "syncPolicy: {automated: {prune: true}}",
        "syncPolicy: {automated: {selfHeal: true, enabled: false}}",
    ):
        assert settings(application(policy)).gitops_interval_s is None


def test_the_scenario_says_how_often_or_that_it_does_not() -> None:
    often, never = (
        scenario(f"controllers: {{gitops: {{{said}}}}}\nintents: [{{settles: {{}}}}]")
        for said in ("interval: 3m", "selfHeal: false")
    )

    assert settings(application(HEALING % ""), often).gitops_interval_s == 180
    assert settings(application(HEALING % ""), often).gitops_namespaces == ("shop",)
    assert settings(application(HEALING % ""), never).gitops_interval_s is None


def test_replicas_that_may_differ_are_left_alone() -> None:
    for said in (
        "jsonPointers: [/spec/replicas]",
        "jqPathExpressions: [.spec.replicas]",
        "managedFieldsManagers: [kube-controller-manager]",
    ):
        assert settings(application(HEALING % "", REPLICAS % said)).gitops_ignored == ((WEB, False),)
    kept = application(
        HEALING % "RespectIgnoreDifferences=true", REPLICAS % "name: web, jsonPointers: [/spec/replicas]"
    )
    assert settings(kept).gitops_ignored == ((WEB, True),)
    for other in ("jsonPointers: [/spec/template]", "name: api, jsonPointers: [/spec/replicas]"):
        assert settings(application(HEALING % "", REPLICAS % other)).gitops_ignored == ()


def test_several_applications_heal_their_own_namespaces() -> None:
    found = settings(
        application(HEALING % ""), application(HEALING % "", namespace="bank"), application(namespace="lab")
    )

    assert found.gitops_namespaces == ("bank", "shop")


def test_nothing_of_it_is_listed_but_fields_that_argo_cd_does_not_have() -> None:
    whole = load_text(node(), deployment("web"), application(HEALING % "", "selfheal: true"))

    assert [omission.what for omission in whole.omissions] == [
        "unknown field spec.selfheal of Application/argocd/app-shop"
    ]
