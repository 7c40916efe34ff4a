"""ResourceQuotas and LimitRanges, from text to the templates that they change."""

from __future__ import annotations

import pytest

from kubeproof.cluster.objects import Container
from kubeproof.cluster.steering.quotas import Scope
from kubeproof.controllers.admission.quota import is_meant
from kubeproof.errors import ManifestError
from kubeproof.events.declarations import Apply
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from tests.unit.verify.inputs import node, scenario, web

POD = """apiVersion: v1
kind: Pod
metadata: {name: solo, namespace: shop}
spec: {containers: [{name: main, image: x}]}
"""


def quota(spec: str, namespace: str = "shop") -> str:
    return f"apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q, namespace: {namespace}}}\nspec: {spec}\n"


def limits(*items: str) -> str:
    listed = ", ".join(items)
    return f"apiVersion: v1\nkind: LimitRange\nmetadata: {{name: l, namespace: shop}}\nspec: {{limits: [{listed}]}}\n"


def read(*documents: str) -> Loaded:
    return load_texts([("in.yaml", "---\n".join((node("n1"), *documents)))])


def test_amounts_of_cpu_are_thousandths_under_every_name() -> None:
    loaded = read(
        quota("{hard: {cpu: 1500m, requests.memory: 1Gi, limits.cpu: 2, pods: 3, requests.example.com/gpu: 4}}")
    )

    assert loaded.setup.quotas[0].hard == (
        ("cpu", 1500),
        ("limits.cpu", 2000),
        ("pods", 3),
        ("requests.example.com/gpu", 4),
        ("requests.memory", 2**30),
    )
    assert loaded.omissions == ()


def test_bounds_that_are_not_about_pods_are_listed() -> None:
    loaded = read(quota("{hard: {services: 3, count/deployments.apps: 2, pods: 1}}"))

    assert loaded.setup.quotas[0].hard == (("pods", 1),)
    assert [omission.what for omission in loaded.omissions] == [
        "field spec.hard.services of ResourceQuota/shop/q",
        'field spec.hard["count/deployments.apps"] of ResourceQuota/shop/q',
    ]


def test_scopes_come_as_words_or_as_expressions() -> None:
    selector = "{matchExpressions: [{scopeName: NotTerminating, operator: Exists}]}"
    loaded = read(quota("{hard: {pods: 1}, scopes: [BestEffort], scopeSelector: " + selector + "}"))

    assert loaded.setup.quotas[0].scopes == (Scope("BestEffort"), Scope("NotTerminating"))


def test_a_quota_with_a_scope_that_is_not_modelled_is_left_out_and_listed() -> None:
    loaded = read(quota("{hard: {pods: 1}, scopes: [Weekend]}"))

    assert loaded.setup.quotas == ()
    assert [o.what for o in loaded.omissions] == ["scope Weekend, and with it the whole quota, of ResourceQuota/shop/q"]


def test_the_default_priority_class_is_the_one_that_a_quota_asks_for() -> None:
    named = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: usual}\n"
    default = named + "value: 5\nglobalDefault: true\n"
    selector = "{matchExpressions: [{scopeName: PriorityClass, operator: In, values: [usual]}]}"
    loaded = read(web(1), default, quota("{hard: {pods: 1}, scopeSelector: " + selector + "}"))

    assert is_meant(loaded.setup.quotas[0], loaded.setup.workloads[0])
    assert loaded.omissions == ()


def test_a_limit_range_fills_the_templates_of_its_namespace() -> None:
    plain = web(1).replace(', resources: {requests: {cpu: "1"}}', "")
    other = plain.replace("namespace: shop", "namespace: other")

    loaded = read(plain, other, limits("{type: Container, default: {cpu: 500m}, min: {memory: 1Mi}}"))

    image = "registry.example.com/main:latest"
    filled = Container("main", 500, 2**20, image=image, limits=(("cpu", 500),))
    assert [w.template.containers for w in loaded.setup.workloads] == [(filled,), (Container("main", image=image),)]
    assert [w.refused for w in loaded.setup.workloads] == [(), ()]


def test_a_template_beyond_the_bounds_stands_and_its_pods_are_refused() -> None:
    (workload,) = read(web(1), limits("{type: Container, max: {cpu: 500m}}")).setup.workloads

    assert workload.refused == (
        "container main requests more cpu than its limit allows",
        "maximum cpu usage per Container is exceeded or has no limit (LimitRange l)",
    )


def test_a_bare_pod_that_would_be_refused_is_an_error_with_its_place() -> None:
    with pytest.raises(ManifestError, match=r"in.yaml:7: Pod/shop/solo: the API server refuses it: .*must specify cpu"):
        read(POD, quota("{hard: {cpu: 1}}"))


def test_an_applied_workload_gets_the_same_defaults() -> None:
    manifest = web(1).replace("\n", "\n        ")
    applying = scenario("{settles: {}}").replace(
        "events: []", f"events:\n  - apply:\n      manifest:\n        {manifest}"
    )

    loaded = read(web(1), limits("{type: Container, defaultRequest: {memory: 1Mi}}"), applying)

    (event,) = loaded.scenario.events
    assert isinstance(event, Apply)
    assert event.workload.template == loaded.setup.workloads[0].template
    assert event.workload.template.containers[0].memory_bytes == 2**20


def test_limits_of_claims_are_listed() -> None:
    loaded = read(limits("{type: PersistentVolumeClaim, max: {storage: 1Gi}}"))

    assert [o.what for o in loaded.omissions] == ["limits of type PersistentVolumeClaim of LimitRange/shop/l"]
