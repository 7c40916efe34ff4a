"""Services: whom they select, how they share traffic, what is refused."""

from __future__ import annotations

import pytest

from kubeproof.cluster.services import Service
from kubeproof.errors import ManifestError
from tests.unit.manifests.inputs import load_text


def _service(spec: str) -> str:
    return f"apiVersion: v1\nkind: Service\nmetadata: {{name: web, namespace: shop}}\nspec: {{{spec}}}\n"


@pytest.mark.parametrize(
    ("spec", "is_split_by_node"),
    [
        ("selector: {app: web}", False),
        ("selector: {app: web}, type: LoadBalancer", False),
        ("selector: {app: web}, type: NodePort, externalTrafficPolicy: Cluster", False),
        ("selector: {app: web}, type: LoadBalancer, externalTrafficPolicy: Local", True),
    ],
)
def test_traffic_is_split_by_node_where_the_policy_is_local(spec: str, is_split_by_node: bool) -> None:
    loaded = load_text(_service(f"{spec}, ports: [{{port: 80}}]"))

    assert loaded.setup.services == (Service("shop", "web", (("app", "web"),), is_split_by_node),)
    assert loaded.omissions == ()


@pytest.mark.parametrize("spec", ["", "type: ExternalName, externalName: example.com", "clusterIP: None"])
def test_a_service_without_a_selector_sends_nothing_to_pods(spec: str) -> None:
    assert load_text(_service(spec)).setup.services == ()


def test_a_local_policy_needs_a_type_that_lets_traffic_in() -> None:
    with pytest.raises(ManifestError, match="externalTrafficPolicy is Local, but the type is ClusterIP"):
        load_text(_service("selector: {app: web}, externalTrafficPolicy: Local"))


def test_what_also_decides_about_traffic_is_listed() -> None:
    loaded = load_text(_service("selector: {app: web}, sessionAffinity: ClientIP, internalTrafficPolicy: Local"))

    assert [omission.what for omission in loaded.omissions] == [
        "field spec.sessionAffinity of Service/shop/web",
        "field spec.internalTrafficPolicy of Service/shop/web",
    ]


INGRESS = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: %s}
spec: {%s}
"""


@pytest.mark.parametrize(
    ("namespace", "spec", "is_reached"),
    [
        ("shop", "defaultBackend: {service: {name: web, port: {number: 80}}}", True),
        (
            "shop",
            "rules: [{host: a, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web}}}]}}]",
            True,
        ),
        ("shop", "rules: [{http: {paths: [{backend: {service: {name: other}}}]}}]", False),
        ("shop", "rules: [{http: {paths: [{backend: {resource: {kind: Bucket, name: web}}}]}}, {host: b}]", False),
        ("other", "defaultBackend: {service: {name: web}}", False),
    ],
)
def test_an_ingress_leads_to_the_services_of_its_backends(namespace: str, spec: str, is_reached: bool) -> None:
    loaded = load_text(_service("selector: {app: web}") + "---\n" + INGRESS % (namespace, spec))

    assert [service.has_ingress for service in loaded.setup.services] == [is_reached]
    assert loaded.omissions == ()


def test_a_service_may_publish_pods_that_are_not_ready() -> None:
    loaded = load_text(_service("selector: {app: web}, publishNotReadyAddresses: true"))

    assert loaded.setup.services == (Service("shop", "web", (("app", "web"),), publishes_unready=True),)


def test_a_service_or_an_ingress_without_a_spec_leads_nowhere() -> None:
    head = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
    ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop}\n"

    assert load_text(f"{head}---\n{ingress}").setup.services == ()


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (
            "endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io",
            "the endpoint controller makes it anew",
        ),
        ("kubernetes.io/service-name: web", "its addresses are no pods of the input"),
    ],
)
def test_an_endpoint_slice_is_listed_with_the_reason(labels: str, why: str) -> None:
    metadata = f"metadata: {{name: web-1, namespace: shop, labels: {{{labels}}}}}"
    loaded = load_text(f"apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n{metadata}\nendpoints: []\n")

    assert [(o.what, o.why) for o in loaded.omissions] == [("EndpointSlice/shop/web-1", why)]
