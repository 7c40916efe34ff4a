"""Who may talk to whom according to manifests: policies, services, ingresses, and what manifests do not decide."""

from __future__ import annotations

import re

import pytest

from kubeproof.errors import KubeproofError
from kubeproof.network.kubernetes.reader import load_kube_network
from kubeproof.network.result import NetworkResult
from kubeproof.network.run import ManifestOptions, verify_manifests

PODS = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: proxy, namespace: shop}
spec:
  template:
    metadata: {labels: {app: proxy}}
    spec: {containers: [{name: c, image: c, ports: [{name: http, containerPort: 3128}]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: db, namespace: shop, labels: {app: db}}
spec: {containers: [{name: c, image: c, ports: [{name: sql, containerPort: 5432}]}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup, namespace: ops}
spec:
  jobTemplate:
    spec:
      template:
        metadata: {labels: {app: backup}}
        spec: {containers: [{name: c, image: c}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: ops}
spec:
  template:
    metadata: {labels: {app: agent}}
    spec: {hostNetwork: true, containers: [{name: c, image: c}]}
"""
WEB, PROXY, DB, BACKUP, AGENT = (
    "Deployment/shop/web", "Deployment/shop/proxy", "Pod/shop/db", "CronJob/ops/backup", "DaemonSet/ops/agent",
)  # fmt: skip


def policy(spec: str, name: str = "p") -> str:
    """A policy; `@web` stands for a selector of the pods with app: web."""
    spec = re.sub(r"@(\w+)", r"podSelector: {matchLabels: {app: \1}}", spec)
    head = "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"
    return f"{head}metadata: {{name: {name}, namespace: shop}}\nspec: {spec}\n"


def ask(text: str, **options: object) -> NetworkResult:
    single = ("relays", "ingress_controller")
    asked = ManifestOptions(
        **{key: (value,) if isinstance(value, str) and key not in single else value for key, value in options.items()}
    )
    return verify_manifests(["-"], asked, stdin=lambda: text.encode())


def cannot(text: str, question: str, **options: object) -> str:
    return ask(text, cannot_reach=question, **options).verdict


ONLY_PROXY = policy("{@db, ingress: [{from: [{@proxy}]}]}")


def test_without_policies_everything_is_allowed() -> None:
    assert cannot(PODS, f"{WEB} -> {DB}") == "VIOLATED"


@pytest.mark.parametrize(
    ("spec", "verdict"),
    [
        ("{podSelector: {}}", "HOLDS"),  # no rules: nothing gets in
        ("{}", "HOLDS"),  # an absent selector is an empty one
        ("{@web}", "VIOLATED"),  # about other pods
        ("{podSelector: {}, ingress: [{}]}", "VIOLATED"),  # an empty rule admits everything
        ("{podSelector: {}, ingress: [{from: []}]}", "VIOLATED"),
        ("{podSelector: {}, policyTypes: [Egress]}", "HOLDS"),  # web may not open anything
        ("{@db, policyTypes: [Egress]}", "VIOLATED"),  # replies are no connections
        ("{@web, egress: []}", "VIOLATED"),  # without rules it is about ingress only
        ("{@web, egress: [{to: [{@proxy}]}]}", "HOLDS"),
        ("{@web, egress: [{ports: [{port: 53, protocol: UDP}]}]}", "HOLDS"),
        ("{@web, egress: [{ports: [{port: sql}]}]}", "VIOLATED"),  # a name at the target
        ("{@db, ingress: [{ports: [{port: sql}]}]}", "VIOLATED"),
        ("{@db, ingress: [{ports: [{port: http}]}]}", "HOLDS"),  # db has no such name
        ("{@db, ingress: [{ports: [{port: 5000, endPort: 6000}]}]}", "VIOLATED"),
        ("{@db, ingress: [{ports: [{port: 5000, endPort: 5431}]}]}", "HOLDS"),
        ("{@db, ingress: [{from: [{namespaceSelector: {matchLabels: {team: shop}}}]}]}", "VIOLATED"),
        ("{@db, ingress: [{from: [{namespaceSelector: {}, @x}]}]}", "HOLDS"),
    ],
)  # fmt: skip
def test_a_policy_means_what_upstream_says(spec: str, verdict: str) -> None:
    assert cannot(PODS + policy(spec), f"{WEB} -> {DB}:5432") == verdict


def test_policies_add_up() -> None:
    other = policy("{@db, ingress: [{from: [{@web}]}]}", "q")

    assert cannot(PODS + ONLY_PROXY, f"{WEB} -> {DB}") == "HOLDS"
    assert cannot(PODS + ONLY_PROXY + other, f"{WEB} -> {DB}") == "VIOLATED"


STATEFUL = """\
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cache, namespace: shop}
spec: {template: {metadata: {labels: {app: cache}}, spec: {containers: [{name: c, image: c}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: shop}
spec: {template: {spec: {containers: [{name: c, image: c}]}}}
"""
CACHE, JOB = "StatefulSet/shop/cache", "Job/shop/load"
FIRST = "podSelector: {matchLabels: {statefulset.kubernetes.io/pod-name: cache-0}}"
OF_JOB = "podSelector: {matchLabels: {batch.kubernetes.io/job-name: load}}"


@pytest.mark.parametrize(
    ("spec", "question", "verdict"),
    [
        (f"{{@db, ingress: [{{from: [{{{FIRST}}}]}}]}}", f"{CACHE} -> {DB}", "UNKNOWN"),  # the first pod may
        (f"{{@db, ingress: [{{from: [{{{FIRST}}}]}}]}}", f"{WEB} -> {DB}", "HOLDS"),
        (f"{{{FIRST}}}", f"{WEB} -> {CACHE}", "UNKNOWN"),  # is about the first pod only
        (f"{{{FIRST}, ingress: [{{}}]}}", f"{WEB} -> {CACHE}", "VIOLATED"),  # whoever it is about is admitted
        (f"{{@db, ingress: [{{from: [{{{OF_JOB}}}]}}]}}", f"{JOB} -> {DB}", "VIOLATED"),
        (f"{{{OF_JOB}, policyTypes: [Egress]}}", f"{JOB} -> {DB}", "HOLDS"),
    ],
)
def test_labels_that_controllers_add_to_pods_count(spec: str, question: str, verdict: str) -> None:
    assert cannot(PODS + STATEFUL + policy(spec), question) == verdict


def test_a_policy_that_surely_selects_pods_restricts_them_beside_one_that_perhaps_does() -> None:
    closed = policy("{@cache}", "closed")

    assert cannot(PODS + STATEFUL + closed + policy(f"{{{FIRST}}}"), f"{WEB} -> {CACHE}") == "HOLDS"
    opened = policy(f"{{{FIRST}, ingress: [{{from: [{{@web}}]}}]}}")
    assert cannot(PODS + STATEFUL + closed + opened, f"{WEB} -> {CACHE}") == "UNKNOWN"


def from_namespace(selector: str) -> str:
    return policy(f"{{@db, ingress: [{{from: [{{namespaceSelector: {selector}}}]}}]}}")


@pytest.mark.parametrize(
    ("selector", "verdict"),
    [
        ("{}", "VIOLATED"),
        ("{matchLabels: {kubernetes.io/metadata.name: ops}}", "VIOLATED"),
        ("{matchLabels: {kubernetes.io/metadata.name: shop}}", "HOLDS"),
        ("{matchLabels: {team: ops}}", "UNKNOWN"),
        ("{matchLabels: {team: ops, kubernetes.io/metadata.name: shop}}", "HOLDS"),
    ],
)
def test_labels_of_a_namespace_that_is_not_in_the_input_are_not_decided(selector: str, verdict: str) -> None:
    assert cannot(PODS + from_namespace(selector), f"{BACKUP} -> {DB}") == verdict


def from_block(block: str) -> str:
    return policy(f"{{@db, ingress: [{{from: [{{ipBlock: {block}}}]}}]}}")


@pytest.mark.parametrize(
    ("block", "question", "ranges", "verdict"),
    [
        ("{cidr: 10.0.0.0/8}", f"{WEB} -> {DB}", (), "UNKNOWN"),
        ("{cidr: 10.0.0.0/8}", f"{WEB} -> {DB}", ("10.244.0.0/16",), "UNKNOWN"),
        ("{cidr: 10.0.0.0/8}", f"{WEB} -> {DB}", ("172.16.0.0/12", "fd00::/8"), "HOLDS"),
        ("{cidr: 10.0.0.0/8, except: [10.244.0.0/16]}", f"{WEB} -> {DB}", ("10.244.0.0/16",), "HOLDS"),
        ("{cidr: 10.0.0.0/8}", f"world -> {DB}", (), "VIOLATED"),
        ("{cidr: 10.0.0.0/8}", f"10.1.2.3 -> {DB}", (), "VIOLATED"),
        ("{cidr: 10.0.0.0/8}", f"11.1.2.3 -> {DB}", (), "HOLDS"),
        ("{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}", f"10.1.2.3 -> {DB}", (), "HOLDS"),
        ("{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}", f"10.0.0.0/15 -> {DB}", (), "VIOLATED"),
        ("{cidr: 10.0.0.0/8, except: [10.0.0.0/9, 10.128.0.0/9]}", f"world -> {DB}", (), "HOLDS"),
        ("{cidr: 'fd00::/8'}", f"fd00::1 -> {DB}", (), "VIOLATED"),
    ],
)
def test_address_blocks_are_about_the_outside_and_only_perhaps_about_pods(
    block: str, question: str, ranges: tuple[str, ...], verdict: str
) -> None:
    assert cannot(PODS + from_block(block), question, pod_ranges=ranges) == verdict


def test_pods_on_the_network_of_the_host_are_not_decided_by_policies() -> None:
    closed = policy("{podSelector: {}}")

    assert cannot(PODS + closed, f"{AGENT} -> {DB}") == "UNKNOWN"
    assert cannot(PODS, f"{AGENT} -> {DB}") == "VIOLATED"
    assert cannot(PODS + closed, f"{BACKUP} -> {DB}") == "HOLDS"


def test_egress_to_the_outside_is_judged_at_the_source_alone() -> None:
    inside = policy(
        "{policyTypes: [Egress], egress: [{to: [{podSelector: {}}]}, {to: [{ipBlock: {cidr: 9.9.9.0/24}}]}]}"
    )

    assert cannot(PODS + inside, f"{WEB} -> world") == "VIOLATED"
    assert cannot(PODS + inside, f"{WEB} -> 8.8.8.8:443") == "HOLDS"
    assert cannot(PODS, f"{WEB} -> 8.8.8.8:443") == "VIOLATED"


def test_everything_must_pass_the_gateway_also_by_detours() -> None:
    question = f"{WEB} -> {DB} via shop/app=proxy"

    assert ask(PODS, must_pass=question).verdict == "VIOLATED"
    assert ask(PODS + ONLY_PROXY, must_pass=question).verdict == "UNKNOWN"  # the agent on the host's network may relay
    both = policy(
        "{@db, ingress: [{from: [{@proxy}, "
        "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ops}}, @backup}]}]}"
    )
    result = ask(PODS + both, must_pass=question)
    assert result.verdict == "VIOLATED"
    assert result.results[0].counterexamples[0].nodes == (WEB, BACKUP, DB)
    assert ask(PODS + both, must_pass=question, relays=False).verdict == "HOLDS"


SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec:
  selector: {app: db}
  ports: [{name: sql, port: 80, targetPort: sql}, {name: web, port: 81, targetPort: 8080}]
"""


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        (f"{PROXY} -> Service/shop/db:80", "HOLDS"),
        (f"{PROXY} -> Service/shop/db:sql", "HOLDS"),
        (f"{PROXY} -> Service/shop/db:81", "VIOLATED"),  # leads to 8080, which the policy does not admit
        (f"{PROXY} -> Service/shop/db:5432", "VIOLATED"),  # the pod's port, not one of the service
        (f"{PROXY} -> Service/shop/db:UDP/80", "VIOLATED"),
        (f"{WEB} -> Service/shop/db:80", "VIOLATED"),
    ],
)
def test_a_service_leads_to_the_target_port_of_its_pods(question: str, verdict: str) -> None:
    rule = policy("{@db, ingress: [{from: [{@proxy}], ports: [{port: 5432}]}]}")

    assert ask(PODS + SERVICE + rule, can_reach=question).verdict == verdict


def test_a_service_of_one_pod_of_a_stateful_set_leads_there() -> None:
    service = SERVICE.replace("app: db", "statefulset.kubernetes.io/pod-name: cache-0")

    assert ask(PODS + STATEFUL + service, can_reach=f"{WEB} -> Service/shop/db:81").verdict == "HOLDS"


def test_a_headless_service_does_not_translate_ports() -> None:
    headless = SERVICE.replace("spec:", "spec:\n  clusterIP: None")
    rule = policy("{@db, ingress: [{ports: [{port: 80}]}]}")

    assert ask(PODS + headless + rule, can_reach=f"{WEB} -> Service/shop/db:80").verdict == "HOLDS"
    assert ask(PODS + SERVICE + rule, can_reach=f"{WEB} -> Service/shop/db:80").verdict == "VIOLATED"


@pytest.mark.parametrize("target", [f"{DB}:sqll", "world:sql", "Service/shop/db:82", "Service/shop/db:UDP/80"])
def test_a_port_that_nobody_has_proves_nothing(target: str) -> None:
    result = ask(PODS + SERVICE, cannot_reach=f"{WEB} -> {target}")

    assert result.verdict == "VACUOUS"
    assert result.results[0].reasons[0].startswith("nothing asked for has the port ")


def test_a_gateway_that_nothing_could_pass_by_proves_nothing() -> None:
    off_the_host = PODS.replace("hostNetwork: true, ", "")
    question = f"{WEB} -> {DB} via shop/app=proxy"

    result = ask(off_the_host + policy("{@db}"), must_pass=question)

    assert ask(off_the_host + ONLY_PROXY, must_pass=question).verdict == "HOLDS"
    assert result.verdict == "VACUOUS"
    assert result.results[0].reasons == ("nothing gets from one end to the other, with or without passing anything",)


def test_a_service_without_pods_cannot_be_reached() -> None:
    result = ask(PODS + SERVICE.replace("app: db", "app: typo"), can_reach=f"{WEB} -> Service/shop/db")

    assert result.verdict == "VIOLATED"
    assert result.results[0].reasons == ("Service/shop/db selects no pods",)


INGRESS = """\
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front, namespace: shop}
spec:
  rules:
  - http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: db, port: {name: sql}}}}
"""


def test_an_ingress_reaches_its_backends_from_its_controller() -> None:
    text = PODS + SERVICE + INGRESS

    assert ask(text, can_reach=f"Ingress/shop/front -> {DB}", ingress_controller=BACKUP).verdict == "HOLDS"
    assert ask(text, can_reach=f"Ingress/shop/front -> {WEB}", ingress_controller=BACKUP).verdict == "VIOLATED"
    assert (
        ask(text + ONLY_PROXY, can_reach=f"Ingress/shop/front -> {DB}", ingress_controller=BACKUP).verdict == "VIOLATED"
    )
    result = ask(text + ONLY_PROXY, can_reach=f"Ingress/shop/front -> {DB}", ingress_controller=PROXY)
    assert result.verdict == "HOLDS"
    assert result.results[0].counterexamples[0].nodes == ("Ingress/shop/front", PROXY, "Service/shop/db", DB)


def test_of_an_ingress_only_the_port_asked_for_counts() -> None:
    text = PODS + SERVICE + INGRESS

    assert cannot(text, f"Ingress/shop/front -> {DB}:5432", ingress_controller=BACKUP) == "VIOLATED"
    assert cannot(text, f"Ingress/shop/front -> {DB}:22", ingress_controller=BACKUP) == "HOLDS"
    assert cannot(text, "Ingress/shop/front -> Service/shop/db:81", ingress_controller=BACKUP) == "HOLDS"


@pytest.mark.parametrize("again", [PODS.split("---\n")[1], PODS.split("---\n")[0], SERVICE * 2, ONLY_PROXY * 2])
def test_of_the_same_object_twice_the_last_counts_and_that_is_told(again: str) -> None:
    network = load_kube_network(["-"], stdin=f"{PODS}---\n{again}".encode)

    assert [note for note in network.notes if "comes again, the last counts (<stdin>:" in note]


def test_reasons_name_the_policies() -> None:
    result = ask(PODS + ONLY_PROXY, can_reach=f"{WEB} -> {DB}:5432")

    assert result.results[0].reasons == (
        f"{WEB} to {DB} needs TCP 5432; allowed is no port: no policy restricts egress; "
        "no rule of NetworkPolicy/shop/p admits ingress",
    )


@pytest.mark.parametrize(
    ("options", "code", "problem"),
    [
        ({"can_reach": "a b"}, 2, "not of the form"),
        ({"must_pass": f"{WEB} -> {DB}"}, 2, "not of the form"),
        ({"can_reach": f"{WEB} -> Deployment/shop/dbb"}, 2, "no 'Deployment/shop/dbb' in the input"),
        ({"can_reach": f"{WEB} -> shop/app=nothing"}, 2, "no pods match"),
        ({"can_reach": f"{WEB} -> Service/shop/nope"}, 2, "no 'Service/shop/nope'"),
        ({"can_reach": f"{WEB} -> {DB}:70000"}, 2, "70000 is no port"),
        ({"can_reach": f"Ingress/shop/no -> {DB}"}, 2, "no 'Ingress/shop/no'"),
        ({"must_pass": f"{WEB} -> {DB} via shop/app=db"}, 2, "through its own end"),
        ({"must_pass": f"{WEB} -> {DB} via 1.2.3.4"}, 2, "only pods can be passed"),
        ({"can_reach": f"{WEB} -> {DB}", "pod_ranges": "here"}, 2, "no address range"),
        ({}, 5, "no question"),
    ],
)
def test_wrong_questions_are_wrong_usage(options: dict[str, str], code: int, problem: str) -> None:
    with pytest.raises(KubeproofError, match=problem) as caught:
        ask(PODS, **options)

    assert caught.value.exit_code == code


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (policy("{podSelector: {}, policyTypes: [Both]}"), 5, "policyTypes has 'Both'"),
        (policy("{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: here}}]}]}"), 5, "cidr has 'here'"),
        (policy("{ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [11.0.0.0/8]}}]}]}"), 5, "not inside cidr"),
        (policy("{podSelector: {}, ingress: [{from: [{}]}]}"), 5, "needs either ipBlock or selectors"),
        (policy("{podSelector: {}, ingress: [{ports: [{port: web, endPort: 9}]}]}"), 5, "endPort needs"),
        (policy("{podSelector: {}, ingress: [{ports: [{protocol: ICMP}]}]}"), 5, "protocol is 'ICMP'"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_policy_is_reported_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(KubeproofError, match=problem) as caught:
        ask(PODS + text, can_reach=f"{WEB} -> {DB}")

    assert str(caught.value).startswith(f"E101 <stdin>:{PODS.count(chr(10)) + line}: ")


def test_what_is_not_modelled_is_listed() -> None:
    other = "---\napiVersion: projectcalico.org/v3\nkind: GlobalNetworkPolicy\nmetadata: {name: x}\n"

    result = ask(PODS + other, can_reach=f"{WEB} -> {DB}")

    assert result.notes == ("kind GlobalNetworkPolicy (projectcalico.org/v3) is not modelled here",)


def test_pods_of_a_workload_in_the_input_stand_for_themselves_once() -> None:
    owned = "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web-1\n  namespace: shop\n  ownerReferences: "
    owned += "[{kind: Deployment, name: web, controller: true}]\nspec: {containers: []}\n"

    with pytest.raises(KubeproofError, match="no 'Pod/shop/web-1' in the input"):
        ask(PODS + owned, can_reach=f"Pod/shop/web-1 -> {DB}")


@pytest.mark.parametrize(
    ("spec", "note"),
    [
        ("{type: ExternalName, externalName: example.org}", "Service/shop/x of type ExternalName is not modelled here"),
        ("{ports: [{port: 80}]}", "Service/shop/x, which has no selector, is not modelled here"),
    ],
)
def test_services_that_lead_elsewhere_are_listed(spec: str, note: str) -> None:
    service = f"---\napiVersion: v1\nkind: Service\nmetadata: {{name: x, namespace: shop}}\nspec: {spec}\n"

    assert ask(PODS + service, can_reach=f"{WEB} -> {DB}").notes == (note,)


def test_an_ingress_needs_its_controller() -> None:
    with pytest.raises(KubeproofError, match="Name its pods with --ingress-controller"):
        ask(PODS + SERVICE + INGRESS, can_reach=f"Ingress/shop/front -> {DB}")


def test_input_without_pods_is_nothing_to_check() -> None:
    with pytest.raises(KubeproofError, match="no pods") as caught:
        ask("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n", can_reach="a/* -> b/*")

    assert caught.value.exit_code == 5


def test_a_named_port_that_the_target_lacks_cannot_be_reached() -> None:
    assert ask(PODS, can_reach=f"{WEB} -> {DB}:sql").verdict == "HOLDS"
    assert ask(PODS, can_reach=f"{WEB} -> {DB}:http").verdict == "VIOLATED"
