"""Policies of Cilium: what they admit, deny and close, and that what is not understood is left out as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubeproof.network.kubernetes.objects import KubeNetwork, Outside
from kubeproof.network.kubernetes.policies import Policies
from kubeproof.network.kubernetes.ports import intersection
from tests.unit.network.test_policy_conformance import NAMESPACED, answer, houses, load

Object = dict[str, Any]
EVERYBODY: Object = {}


def cilium(name: str = "one", house: str | None = "red", kind: str = "CiliumNetworkPolicy", **spec: Any) -> Object:
    metadata = {"name": name} | ({"namespace": house} if kind == "CiliumNetworkPolicy" else {})
    selector = {"matchLabels": {"house": house}} if house else {}
    whole = {"endpointSelector": selector, **spec}
    return {"apiVersion": "cilium.io/v2", "kind": kind, "metadata": metadata, "spec": whole}


def endpoints(**labels: str) -> Object:
    return {"matchLabels": {key.replace("__", ":").replace("_", "."): value for key, value in labels.items()}}


GREEN = {"matchLabels": {"k8s:io.kubernetes.pod.namespace": "green", "k8s:house": "green"}}
BLUE = {"matchLabels": {"io.cilium.k8s.namespace.labels.house": "blue"}}
TCP_80 = [{"ports": [{"port": "80", "protocol": "TCP"}]}]


@pytest.mark.parametrize(
    ("spec", "source", "port", "expected"),
    [
        ({"ingress": [{"fromEndpoints": [GREEN]}]}, "green", 80, "yes"),
        ({"ingress": [{"fromEndpoints": [GREEN]}]}, "blue", 80, "no"),
        ({"ingress": [{"fromEndpoints": [BLUE]}]}, "blue", 80, "yes"),
        ({"ingress": [{"fromEndpoints": [EVERYBODY]}]}, "blue", 80, "no"),  # everybody of its own namespace
        ({"ingress": [EVERYBODY]}, "green", 80, "no"),
        ({"ingress": []}, "green", 80, "yes"),
        ({"ingress": [{"fromEndpoints": []}]}, "green", 80, "no"),
        ({"ingress": [{"toPorts": TCP_80}]}, "green", 80, "yes"),
        ({"ingress": [{"toPorts": TCP_80}]}, "green", 8080, "no"),
        ({"ingress": [{"fromEndpoints": [GREEN], "toPorts": TCP_80}]}, "green", 8080, "no"),
        ({"ingress": [{"fromEntities": ["cluster"]}]}, "blue", 80, "yes"),
        ({"ingress": [{"fromEntities": ["all"]}], "ingressDeny": [{"fromEndpoints": [GREEN]}]}, "green", 80, "no"),
        ({"ingress": [{"fromEntities": ["all"]}], "ingressDeny": [{"fromEndpoints": [GREEN]}]}, "blue", 80, "yes"),
        ({"ingressDeny": [{"fromEndpoints": [GREEN]}]}, "blue", 80, "no"),
        ({"egress": [{"toEndpoints": [GREEN]}]}, "green", 80, "yes"),
        ({"ingress": [{"fromCIDR": ["10.0.0.0/8"]}]}, "green", 80, "maybe"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": "web"}]}]}]}, "green", 80, "yes"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": "70", "endPort": 90}]}]}]}, "green", 80, "yes"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": "0"}]}]}]}, "green", 8080, "yes"),
    ],
)
def test_a_rule_means_what_cilium_makes_of_it(spec: Object, source: str, port: int, expected: str) -> None:
    assert answer([cilium(**spec)], source, "red", "tcp", port) == expected


def test_policies_of_both_kinds_are_united() -> None:
    policy = cilium(ingress=[{"fromEndpoints": [BLUE]}])

    assert answer([policy, NAMESPACED], "green", "red", "tcp", 80) == "yes"
    assert answer([policy, NAMESPACED], "blue", "red", "tcp", 80) == "yes"
    assert answer([policy, NAMESPACED], "yellow", "red", "tcp", 80) == "no"


def test_policies_of_the_whole_cluster_select_everywhere_and_denials_do_not_need_an_order() -> None:
    kind = "CiliumClusterwideNetworkPolicy"
    one = cilium("one", None, kind, ingress=[{"fromEntities": ["all"]}], ingressDeny=[{"fromEndpoints": [GREEN]}])
    two = cilium("two", None, kind, ingress=[{"fromEntities": ["all"]}], ingressDeny=[{"fromEndpoints": [BLUE]}])

    for target in ("red", "yellow"):
        assert answer([one, two], "green", target, "tcp", 80) == "no"
        assert answer([one, two], "blue", target, "tcp", 80) == "no"
    assert answer([one, two], "red", "yellow", "tcp", 80) == "yes"


def test_the_world_is_outside() -> None:
    network = load([*houses(), cilium(egress=[{"toEntities": ["world"]}])])
    red = next(pods for pods in network.pods if pods.namespace == "red")

    assert intersection(Policies(network).find_allowed(red, Outside("world")).least, (("TCP", 80, 80),))


@pytest.mark.parametrize(
    "spec",
    [
        {"ingress": [{"fromEntities": ["host"]}]},
        {"egress": [{"toFQDNs": [{"matchName": "example.org"}]}]},
        {"ingress": [{"toPorts": [{"ports": [{"port": "80"}], "rules": {"http": [{}]}}]}]},
        {"enableDefaultDeny": {"ingress": False}, "ingress": [{"fromEndpoints": [GREEN]}]},
        {"ingressDeny": [{"fromCIDRSet": [{"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}]}]},
        {"ingress": [{"fromEndpoints": [{"matchLabels": {"reserved:host": ""}}]}]},
    ],
)
def test_what_is_not_understood_is_left_out_and_told(spec: Object) -> None:
    network: KubeNetwork = load([*houses(), cilium(**spec)])

    assert network.policies == ()
    assert network.admin_policies == ()
    assert any("CiliumNetworkPolicy/red/one, as it" in note for note in network.notes)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"ingress": [{"fromCIDR": ["x"]}]}, "Write an address range"),
        ({"ingress": [{"toPorts": [{"ports": [{"port": "70000"}]}]}]}, "0 stands for all"),
    ],
)
def test_a_policy_that_is_wrong_is_refused(spec: Object, message: str) -> None:
    with pytest.raises(Exception, match=message):
        load([*houses(), json.loads(json.dumps(cilium(**spec)))])
