"""NetworkPolicies as sets of ports against the meaning of one connection at a time."""

from __future__ import annotations

import json
from random import Random

import pytest

from kubeproof.network.kubernetes.check import KubeOptions, answer_all
from kubeproof.network.kubernetes.objects import KubeNetwork
from kubeproof.network.kubernetes.policies import Policies
from kubeproof.network.kubernetes.ports import intersection
from kubeproof.network.kubernetes.questions import CAN, CANNOT, parse_question
from kubeproof.network.kubernetes.reader import load_kube_network
from tests.property.policies import PORTS, Object, may_connect, random_manifests

BLOCK = 150


def loaded(objects: list[Object]) -> KubeNetwork:
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    return load_kube_network(["-"], stdin=lambda: json.dumps(listed).encode())


def check_policies(seed: int) -> None:
    objects = random_manifests(Random(f"policies/{seed}"))
    network = loaded(objects)
    pods = [one for one in objects if one["kind"] == "Pod"]
    policies = Policies(network)
    for source, group in zip(pods, network.pods, strict=True):
        for target, other in zip(pods, network.pods, strict=True):
            if source is target:
                continue
            allowed = policies.find_allowed(group, other)
            assert allowed.least == allowed.most  # every namespace is known and there are no blocks
            for protocol in ("TCP", "UDP"):
                for port in (*PORTS, 9999):
                    expected = may_connect(objects, source, target, protocol, port)
                    assert bool(intersection(allowed.most, ((protocol, port, port),))) is expected, (
                        seed,
                        protocol,
                        port,
                    )


def refs(pod: Object) -> str:
    return f"Pod/{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def check_questions(seed: int) -> None:
    random = Random(f"questions/{seed}")
    objects = random_manifests(random)
    network = loaded(objects)
    source, target = random.sample([one for one in objects if one["kind"] == "Pod"], 2)
    port = random.choice(PORTS)
    text = f"{refs(source)} -> {refs(target)}:{port}"
    questions = [parse_question(kind, text, network) for kind in (CAN, CANNOT)]

    can, cannot = answer_all(network, questions, KubeOptions()).results

    expected = may_connect(objects, source, target, "TCP", port)
    assert (can.verdict, cannot.verdict) == (("HOLDS", "VIOLATED") if expected else ("VIOLATED", "HOLDS")), seed


@pytest.mark.parametrize("block", range(2))
def test_what_policies_allow_is_what_each_connection_means(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check_policies(seed)


def test_questions_about_connections_are_answered_by_their_meaning() -> None:
    for seed in range(BLOCK):
        check_questions(seed)


@pytest.mark.slow
def test_many_more_policies() -> None:
    for seed in range(2 * BLOCK, 20_000):
        check_policies(seed)
