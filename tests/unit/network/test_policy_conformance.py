"""What the conformance suite of policy.networking.k8s.io asks of network plug-ins, and the well-known recipes for
NetworkPolicies, answered from manifests. Facts only: who may talk to whom, in our own form.

Four namespaces (red, green, yellow, blue) with one workload each, which serve TCP 80 (web) and 8080, UDP 53 (dns) and
5353, SCTP 9003 and 9005.
"""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from kubeproof.network.kubernetes.objects import KubeNetwork, Outside
from kubeproof.network.kubernetes.policies import Policies
from kubeproof.network.kubernetes.ports import intersection
from kubeproof.network.kubernetes.reader import load_kube_network

Object = dict[str, Any]
PORTS = {"tcp": (80, 8080), "udp": (53, 5353), "sctp": (9003, 9005)}
NAMED = {"tcp": ("web", 80), "udp": ("dns", 53)}
HOUSES = ("red", "green", "yellow", "blue")


def load(objects: list[Object]) -> KubeNetwork:
    content = "\n---\n".join(json.dumps(one) for one in objects)
    return load_kube_network(["-"], stdin=content.encode)


def houses() -> list[Object]:
    found: list[Object] = []
    for house in HOUSES:
        labels = {"house": house}
        ports = [
            {"containerPort": number, "protocol": protocol.upper(), "name": name}
            for protocol, (name, number) in NAMED.items()
        ]
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "ports": ports}]}}
        found.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": house, "labels": labels}})
        found.append({
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": house, "namespace": house},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        })  # fmt: skip
    return found


def answer(objects: list[Object], source: str, target: str, protocol: str, port: int) -> str:
    network = load([*houses(), *objects])
    parties = {pods.namespace: pods for pods in network.pods}
    allowed = Policies(network).find_allowed(parties[source], parties[target])
    wanted = ((protocol.upper(), port, port),)
    if intersection(wanted, allowed.least):
        return "yes"
    return "maybe" if intersection(wanted, allowed.most) else "no"


# Rules of administrators: (action, house, ports), written for both versions of the API


def new_policy(tier: str, subject: str, priority: int = 10, name: str = "one", **rules: list[Any]) -> Object:
    spec: Object = {"tier": tier, "priority": priority, "subject": {"namespaces": {"matchLabels": {"house": subject}}}}
    for key, listed in rules.items():
        peers = "from" if key == "ingress" else "to"
        spec[key] = [new_rule(peers, *rule) for rule in listed]
    api = "policy.networking.k8s.io/v1alpha2"
    return {"apiVersion": api, "kind": "ClusterNetworkPolicy", "metadata": {"name": name}, "spec": spec}


def new_rule(peers: str, action: str, house: str, ports: dict[str, int] | None = None) -> Object:
    rule: Object = {"action": action, peers: [{"namespaces": {"matchLabels": {"house": house}}}]}
    if ports:
        rule["protocols"] = [{protocol: {"destinationPort": {"number": port}}} for protocol, port in ports.items()]
    return rule


def old_policy(tier: str, subject: str, priority: int = 10, name: str = "default", **rules: list[Any]) -> Object:
    kind = "AdminNetworkPolicy" if tier == "Admin" else "BaselineAdminNetworkPolicy"
    selector = {"matchLabels": {"house": subject}}
    spec: Object = {"subject": {"pods": {"namespaceSelector": selector, "podSelector": selector}}}
    if tier == "Admin":
        spec["priority"] = priority
    for key, listed in rules.items():
        peers = "from" if key == "ingress" else "to"
        spec[key] = [old_rule(peers, *rule) for rule in listed]
    api = "policy.networking.k8s.io/v1alpha1"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}


def old_rule(peers: str, action: str, house: str, ports: dict[str, int] | None = None) -> Object:
    selector = {"matchLabels": {"house": house}}
    peer = {"pods": {"namespaceSelector": selector, "podSelector": selector}}
    rule: Object = {"action": "Allow" if action == "Accept" else action, peers: [peer]}
    if ports:
        rule["ports"] = [{"portNumber": {"protocol": key.upper(), "port": port}} for key, port in ports.items()]
    return rule


# Subject, the house allowed everything, the one denied a port, the one allowed only a port; both ports
ONE_PROTOCOL = [
    ("ingress", "tcp", "red", "blue", "green", "yellow", 80, 80),
    ("ingress", "udp", "yellow", "blue", "green", "red", 5353, 53),
    ("ingress", "sctp", "blue", "red", "green", "yellow", 9003, 9003),
    ("egress", "tcp", "red", "blue", "green", "yellow", 80, 8080),
    ("egress", "udp", "yellow", "blue", "green", "red", 5353, 53),
    ("egress", "sctp", "blue", "red", "green", "yellow", 9003, 9003),
]


@pytest.mark.parametrize("write", [new_policy, old_policy])
@pytest.mark.parametrize("tier", ["Admin", "Baseline"])
@pytest.mark.parametrize(("way", "protocol", "subject", "free", "cut", "only", "denied", "allowed"), ONE_PROTOCOL)
def test_rules_of_one_protocol_are_followed_in_order(
    write: Any,
    tier: str,
    way: str,
    protocol: str,
    subject: str,
    free: str,
    cut: str,
    only: str,
    denied: int,
    allowed: int,
) -> None:
    def poke(rules: list[Any], house: str) -> dict[int, str]:
        ends = (house, subject) if way == "ingress" else (subject, house)
        return {port: answer([write(tier, subject, **{way: rules})], *ends, protocol, port) for port in PORTS[protocol]}

    passing = [("Pass", free)] if tier == "Admin" else []
    everything = [("Accept", free), ("Deny", free), *passing]
    at_ports = [("Deny", cut, {protocol: denied}), ("Accept", only, {protocol: allowed}), ("Deny", only)]
    usual = [*everything, *at_ports]

    assert set(poke(usual, free).values()) == {"yes"}
    assert poke(usual, only) == {port: "yes" if port == allowed else "no" for port in PORTS[protocol]}
    assert poke(usual, cut) == {port: "no" if port == denied else "yes" for port in PORTS[protocol]}
    assert set(poke([everything[1], everything[0], *at_ports], free).values()) == {"no"}
    if tier == "Admin":
        assert set(poke([("Pass", free), ("Accept", free), ("Deny", free)], free).values()) == {"yes"}
        assert set(poke([("Pass", cut, {protocol: denied}), at_ports[0]], cut).values()) == {"yes"}


BOTH_WAYS = {"tcp": 80, "udp": 53, "sctp": 9003}


@pytest.mark.parametrize("write", [new_policy, old_policy])
def test_rules_for_both_ways_and_several_protocols(write: Any) -> None:
    rules = [("Accept", "blue"), ("Deny", "blue"), ("Deny", "green", BOTH_WAYS)]
    out = [*rules, ("Accept", "yellow", {"tcp": 8080, "udp": 5353, "sctp": 9003}), ("Deny", "yellow")]
    into = [*rules, ("Accept", "yellow", {"tcp": 80, "udp": 5353, "sctp": 9003}), ("Deny", "yellow")]
    policy = write("Admin", "red", ingress=into, egress=out)
    for protocol, (first, second) in PORTS.items():
        for port in (first, second):
            is_cut = BOTH_WAYS[protocol] == port
            assert answer([policy], "red", "blue", protocol, port) == "yes"
            assert answer([policy], "blue", "red", protocol, port) == "yes"
            assert answer([policy], "red", "green", protocol, port) == ("no" if is_cut else "yes")
            assert answer([policy], "green", "red", protocol, port) == ("no" if is_cut else "yes")
    yellow = {("tcp", 8080), ("udp", 5353), ("sctp", 9003)}
    for protocol, ports in PORTS.items():
        for port in ports:
            assert answer([policy], "red", "yellow", protocol, port) == ("yes" if (protocol, port) in yellow else "no")
    assert answer([policy], "yellow", "red", "tcp", 80) == "yes"
    assert answer([policy], "yellow", "red", "tcp", 8080) == "no"


def all_of(action: str, tier: str = "Admin", priority: int = 10, name: str = "one") -> Object:
    rules = [(action, "green")]
    return new_policy(tier, "red", priority, name, ingress=rules, egress=rules)


NAMESPACED = {
    "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "np", "namespace": "red"},
    "spec": {
        "podSelector": {}, "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [{"namespaceSelector": {"matchLabels": {"house": "green"}}}]}],
        "egress": [{"to": [{"namespaceSelector": {"matchLabels": {"house": "green"}}}]}],
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([all_of("Deny"), NAMESPACED, all_of("Deny", "Baseline", name="b")], "no"),
        ([all_of("Pass"), NAMESPACED, all_of("Deny", "Baseline", name="b")], "yes"),
        ([all_of("Pass"), all_of("Deny", "Baseline", name="b")], "no"),
        (
            [
                all_of("Deny", priority=50),
                all_of("Pass", priority=60, name="two"),
                all_of("Accept", "Baseline", name="b"),
            ],
            "no",
        ),
        (
            [
                all_of("Deny", priority=50),
                all_of("Pass", priority=40, name="two"),
                all_of("Accept", "Baseline", name="b"),
            ],
            "yes",
        ),
        ([all_of("Deny", priority=50), all_of("Accept", priority=50, name="two")], "maybe"),
        ([all_of("Accept"), {**NAMESPACED, "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}}], "yes"),
        ([{**NAMESPACED, "spec": {"podSelector": {}}}, all_of("Accept", "Baseline", name="b")], "no"),
    ],
)
def test_tiers_decide_one_after_the_other(objects: list[Object], expected: str) -> None:
    assert answer(objects, "green", "red", "tcp", 80) == expected


@pytest.mark.parametrize(("protocol", "name"), [("tcp", "web"), ("udp", "dns")])
def test_named_ports_are_those_of_containers(protocol: str, name: str) -> None:
    first, second = PORTS[protocol]
    rule = {"action": "Accept", "to": [{"namespaces": {"matchLabels": {"house": "yellow"}}}]}
    for write, key, port in (
        (new_policy, "protocols", {"destinationNamedPort": name}),
        (old_policy, "ports", {"namedPort": name}),
    ):
        policy = write("Admin", "red", egress=[("Deny", "yellow")])
        action = "Allow" if write is old_policy else "Accept"
        policy["spec"]["egress"].insert(0, {**rule, "action": action, key: [port]})
        assert answer([policy], "red", "yellow", protocol, first) == "yes"
        assert answer([policy], "red", "yellow", protocol, second) == "no"


def test_addresses_of_pods_are_not_decided_by_manifests_and_those_outside_are() -> None:
    policy = new_policy("Admin", "red", egress=[("Accept", "green")])
    policy["spec"]["egress"].append({"action": "Deny", "to": [{"networks": ["0.0.0.0/0", "::/0"]}]})
    network = load([*houses(), policy])
    red = next(pods for pods in network.pods if pods.namespace == "red")

    assert answer([policy], "red", "green", "tcp", 80) == "yes"
    assert answer([policy], "red", "blue", "tcp", 80) == "maybe"
    assert Policies(network).find_allowed(red, Outside("world")).most == ()
    policy["spec"]["egress"][1]["to"] = [{"networks": ["10.0.0.0/8"]}]
    assert Policies(load([*houses(), policy])).find_allowed(red, Outside("world")).why.startswith("any port")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"priority": 2000}, "priority"),
        ({"subject": {}}, "needs one of namespaces or pods"),
        ({"ingress": [{"action": "Deny", "from": []}]}, "is empty"),
        ({"ingress": [{"action": "Reject", "from": [{"namespaces": {}}]}]}, "action"),
        ({"ingress": [{"action": "Deny", "from": [{"networks": ["x"]}]}]}, "networks"),
        ({"ingress": [{"action": "Deny", "from": [{}]}]}, "needs one of"),
    ],
)
def test_a_policy_that_cannot_be_read_is_refused(change: Object, message: str) -> None:
    policy = new_policy("Admin", "red")
    policy["spec"] |= change

    with pytest.raises(Exception, match=message):
        load([*houses(), policy])


# Recipes for NetworkPolicies: labels of pods a to d in the namespaces x, default and y; labels of namespaces; policies;
# a port; who may talk to whom on it, by source and target


def recipe_pods(labels: dict[str, Object], namespaces: dict[str, Object]) -> list[Object]:
    found: list[Object] = []
    for space in ("x", "default", "y"):
        found.append(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space, "labels": namespaces.get(space, {})}}
        )
        for name in "abcd":
            metadata = {"name": name, "namespace": space, "labels": labels.get(f"{space}/{name}", {})}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
            found.append({**pod, "spec": {"containers": [{"name": "c", "image": "c"}]}})
    return found


def recipe_policy(selector: Object, ways: tuple[str, ...] = ("Ingress",), name: str = "one", **rules: Any) -> Object:
    spec = {"podSelector": selector, "policyTypes": list(ways), **rules}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": name}, "spec": spec}


def select(**labels: str) -> Object:
    return {"matchLabels": labels}


WEB, SHOP = {"app": "web"}, {"app": "bookstore"}
DENY_WEB = recipe_policy(select(**WEB), name="deny", ingress=[])
IN_DEFAULT = ("default/a", "default/b", "default/c", "default/d")
B = "default/b"
RECIPES = {
    "deny all to an application": (
        {B: WEB}, {}, [DENY_WEB], 80, lambda source, target: target != B,
    ),
    "limit to an application": (
        {"x/b": SHOP, "default/a": SHOP, B: {**SHOP, "role": "api"}, "default/c": {"role": "api"}, "y/c": SHOP}, {},
        [recipe_policy(select(role="api", **SHOP), ingress=[{"from": [{"podSelector": select(**SHOP)}]}])], 80,
        lambda source, target: target != B or source == "default/a",
    ),
    "allow all to an application": (
        {B: WEB}, {}, [DENY_WEB, recipe_policy(select(**WEB), ingress=[{}])], 80, lambda source, target: True,
    ),
    "deny all in a namespace": (
        {}, {}, [recipe_policy({}, ingress=[])], 80, lambda source, target: target not in IN_DEFAULT,
    ),
    "deny from other namespaces": (
        {}, {}, [recipe_policy({"matchLabels": None}, ingress=[{"from": [{"podSelector": {}}]}])], 80,
        lambda source, target: target not in IN_DEFAULT or source in IN_DEFAULT,
    ),
    "allow from all namespaces": (
        {B: WEB}, {}, [DENY_WEB, recipe_policy(select(**WEB), ingress=[{"from": [{"namespaceSelector": {}}]}])], 80,
        lambda source, target: True,
    ),
    "allow from a namespace": (
        {B: WEB}, {"x": {"purpose": "production"}},
        [recipe_policy(select(**WEB), ingress=[{"from": [{"namespaceSelector": select(purpose="production")}]}])], 80,
        lambda source, target: target != B or source.startswith("x/"),
    ),
    "allow from some pods of other namespaces": (
        {B: WEB, "x/a": {"type": "monitoring"}, "default/a": {"type": "monitoring"}, "y/a": {"type": "monitoring"}},
        {"x": {"team": "operations"}, "y": {"team": "operations"}},
        [recipe_policy(select(**WEB), ingress=[{"from": [
            {"namespaceSelector": select(team="operations"), "podSelector": select(type="monitoring")}]}])], 80,
        lambda source, target: target != B or source in ("x/a", "y/a"),
    ),
    "allow from outside": (
        {B: WEB}, {}, [DENY_WEB, recipe_policy(select(**WEB), ingress=[{"from": []}])], 80, lambda source, target: True,
    ),
    "allow a port": (
        {"x/a": {"role": "monitoring"}, "default/a": {"role": "monitoring"}, B: {"app": "apiserver"},
         "y/a": {"role": "monitoring"}}, {},
        [recipe_policy(select(app="apiserver"), ingress=[
            {"ports": [{"port": 5000}], "from": [{"podSelector": select(role="monitoring")}]}])], 5000,
        lambda source, target: target != B or source == "default/a",
    ),
    "several selectors": (
        {"default/a": {**SHOP, "role": "search"}, B: {**SHOP, "role": "db"}, "default/c": {**SHOP, "role": "api"},
         "default/d": {"app": "inventory", "role": "web"}, "y/a": {**SHOP, "role": "search"}}, {},
        [recipe_policy(select(role="db", **SHOP), ingress=[{"from": [
            {"podSelector": select(role="search", **SHOP)}, {"podSelector": select(role="api", **SHOP)},
            {"podSelector": select(app="inventory", role="web")}]}])], 80,
        lambda source, target: target != B or source in IN_DEFAULT,
    ),
    "deny what leaves an application": (
        {B: {"app": "foo"}}, {}, [recipe_policy(select(app="foo"), ("Egress",), egress=[])], 80,
        lambda source, target: source != B,
    ),
    "deny what leaves but name resolution": (
        {B: {"app": "foo"}}, {},
        [recipe_policy(select(app="foo"), ("Egress",), egress=[
            {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]}])], 53,
        lambda source, target: True,
    ),
    "the same on another port": (
        {B: {"app": "foo"}}, {},
        [recipe_policy(select(app="foo"), ("Egress",), egress=[{"ports": [{"port": 53, "protocol": "TCP"}]}])], 80,
        lambda source, target: source != B,
    ),
    "deny what leaves a namespace": (
        {}, {}, [recipe_policy({}, ("Egress",), egress=[])], 80, lambda source, target: source not in IN_DEFAULT,
    ),
    "deny what leaves the cluster": (
        {B: {"app": "foo"}}, {},
        [recipe_policy(select(app="foo"), ("Egress",), egress=[{"to": [{"namespaceSelector": {}}]}])], 80,
        lambda source, target: True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_mean_what_is_written_about_them(recipe: str) -> None:
    labels, namespaces, policies, port, expected = RECIPES[recipe]
    network = load([*recipe_pods(labels, namespaces), *policies])
    decide = Policies(network)
    parties = {f"{pods.namespace}/{pods.ref.rpartition('/')[2]}": pods for pods in network.pods}
    for source, target in permutations(parties, 2):
        allowed = decide.find_allowed(parties[source], parties[target])
        wanted = (("TCP", port, port),)
        assert bool(intersection(wanted, allowed.least)) == expected(source, target), (source, target)
        assert bool(intersection(wanted, allowed.most)) == expected(source, target), (source, target)


def test_what_may_not_leave_the_cluster_does_not() -> None:
    labels, namespaces, policies, *_ = RECIPES["deny what leaves the cluster"]
    network = load([*recipe_pods(labels, namespaces), *policies])
    foo = next(pods for pods in network.pods if pods.ref == "Pod/default/b")

    assert Policies(network).find_allowed(foo, Outside("world")).most == ()
