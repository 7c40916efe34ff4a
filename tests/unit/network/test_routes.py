"""Routes of the Gateway API as sources: where they lead, and what other namespaces allow."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubeproof.network.kubernetes.check import KubeOptions, answer_all
from kubeproof.network.kubernetes.questions import CAN, parse_pods, parse_question
from kubeproof.network.kubernetes.reader import load_kube_network
from kubeproof.verdicts import Verdict

Object = dict[str, Any]


def pod(name: str, namespace: str) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "c"}]}}


def service(name: str, namespace: str) -> Object:
    spec = {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": 8080}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def route(kind: str, /, **backend: Any) -> Object:
    api = "gateway.networking.k8s.io/v1"
    spec = {"rules": [{"backendRefs": [{"name": "web", "port": 80, **backend}]}]}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "front", "namespace": "edge"}, "spec": spec}


GRANT: Object = {
    "apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant",
    "metadata": {"name": "edge", "namespace": "shop"},
    "spec": {
        "from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "edge"}],
        "to": [{"group": "", "kind": "Service", "name": "web"}],
    },
}  # fmt: skip


def ask(objects: list[Object], target: str, kind: str = "HTTPRoute") -> tuple[Verdict, tuple[str, ...]]:
    everything = [pod("gateway", "edge"), pod("web", "edge"), pod("web", "shop"), service("web", "edge"),
                  service("web", "shop"), *objects]  # fmt: skip
    network = load_kube_network(["-"], stdin="\n---\n".join(map(json.dumps, everything)).encode)
    question = parse_question(CAN, f"{kind}/edge/front -> {target}", network)
    options = KubeOptions(controllers=parse_pods("Pod/edge/gateway", network))
    result = answer_all(network, [question], options)
    return result.verdict, result.notes


@pytest.mark.parametrize("kind", ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"])
def test_a_route_leads_to_the_pods_of_its_services_only(kind: str) -> None:
    assert ask([route(kind)], "Pod/edge/web", kind)[0] is Verdict.HOLDS
    assert ask([route(kind)], "Pod/edge/web:8080", kind)[0] is Verdict.HOLDS
    assert ask([route(kind)], "Pod/edge/web:80", kind)[0] is Verdict.VIOLATED
    assert ask([route(kind)], "Pod/shop/web", kind)[0] is Verdict.VIOLATED


def test_another_namespace_has_to_grant_it() -> None:
    verdict, notes = ask([route("HTTPRoute", namespace="shop")], "Pod/shop/web")

    assert verdict is Verdict.VIOLATED
    assert any("which no ReferenceGrant allows" in note for note in notes)
    assert ask([route("HTTPRoute", namespace="shop"), GRANT], "Pod/shop/web")[0] is Verdict.HOLDS
    other = GRANT | {"spec": GRANT["spec"] | {"to": [{"kind": "Service", "name": "db"}]}}
    assert ask([route("HTTPRoute", namespace="shop"), other], "Pod/shop/web")[0] is Verdict.VIOLATED


def test_a_backend_that_is_no_service_is_told() -> None:
    verdict, notes = ask([route("HTTPRoute", kind="Bucket", group="storage")], "Pod/edge/web")

    assert verdict is Verdict.VIOLATED
    assert any("that is no Service" in note for note in notes)
