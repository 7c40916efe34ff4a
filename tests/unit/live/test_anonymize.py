"""Renamed clusters behave as before and tell nothing about their owner."""

import ipaddress
import re
from pathlib import Path

import pytest
import yaml

from kubeproof.live.addresses import Addresses
from kubeproof.live.anonymize import Anonymizer
from kubeproof.live.keep import keep
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.yaml.writer import as_yaml
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from tests.unit.live.objects import shop

ROOT = Path(__file__).parents[3]
EXAMPLES = ("01-conflicting-spread", "03-repaired-spread", "06-tainted-node-loop", "07-two-namespaces")
GOLDEN = (
    "an-application-that-ignores-replicas", "an-ordinal-follows-its-claim", "anti-affinity-per-revision",
    "a-quarter-of-three-may-be-missing", "a-job-waits-for-quota-for-ever", "cron-jobs-pile-up",
    "daemon-pod-preempts-on-its-node", "idle-memory-pins-maximum", "node-name-on-a-tainted-node",
)  # fmt: skip
FILES_ONLY = ("Scenario", "KubeSchedulerConfiguration", "DeschedulerPolicy")


def objects_of(folder):
    files = sorted(set(folder.glob("*.yaml")) - {folder / "expected.yaml"})
    found = [one for file in files for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one]
    found = [item for one in found for item in (one["items"] if one["kind"] == "List" else [one])]
    return [one for one in found if one["kind"] not in FILES_ONLY]


def answers(objects):
    loaded = load_texts([("snap.yaml", "---\n".join(as_yaml(one) for one in objects))])
    result = verify(loaded, VerifyOptions(max_states=2_000))
    return sorted((one.key, one.verdict) for one in result.results), result.statistics.states


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_verdicts_of_an_example_stay(example):
    plain = [keep(one) for one in objects_of(ROOT / "examples" / example)]
    rename = Anonymizer()

    assert answers([rename(one) for one in plain]) == answers(plain)


@pytest.mark.parametrize("case", sorted(path.parent.name for path in (ROOT / "tests" / "golden").glob("*/input.yaml")))
def test_a_snapshot_is_read_as_the_cluster_would_be(case):
    objects = objects_of(ROOT / "tests" / "golden" / case)
    whole, kept = ("---\n".join(as_yaml(one) for one in given) for given in (objects, [keep(one) for one in objects]))
    read = [load_texts([("snap.yaml", text)]) for text in (whole, kept)]

    told = [re.sub(r"line=\d+", "", f"{one.setup} {one.scenario}") for one in read]  # lines of their own
    assert told[0] == told[1]
    assert [one.what for one in read[0].omissions] == [one.what for one in read[1].omissions]


@pytest.mark.parametrize("case", GOLDEN)
def test_the_verdicts_of_a_golden_case_stay(case):
    plain = [keep(one) for one in objects_of(ROOT / "tests" / "golden" / case)]
    rename = Anonymizer()

    assert answers([rename(one) for one in plain]) == answers(plain)


def test_resources_of_others_are_renamed_where_they_are_offered_asked_for_and_bounded():
    rename = Anonymizer()
    node = rename({"kind": "Node", "status": {"allocatable": {"cpu": "4", "acme.com/gpu": "8"}}})
    asked = rename({"kind": "Pod", "spec": {"containers": [{"resources": {"requests": {"acme.com/gpu": "1"}}}]}})
    quota = rename({"kind": "ResourceQuota", "spec": {"hard": {"requests.acme.com/gpu": "2", "pods": "3"}}})

    (name,) = set(node["status"]["allocatable"]) - {"cpu"}
    assert name.startswith("example.com/")
    assert asked["spec"]["containers"][0]["resources"]["requests"] == {name: "1"}
    assert quota["spec"]["hard"] == {f"requests.{name}": "2", "pods": "3"}


def test_ranges_of_addresses_lie_in_each_other_as_before():
    rename = Addresses(b"secret")
    texts = (
        "10.0.0.0/8",
        "10.1.0.0/16",
        "10.1.2.3/32",
        "10.2.0.0/16",
        "192.168.0.0/16",
        "2001:db8::/32",
        "2001:db8:1::/48",
    )
    renamed = [rename(text) for text in texts]

    def inclusions(given):
        networks = [ipaddress.ip_network(text) for text in given]
        return [[one.version == other.version and one.subnet_of(other) for other in networks] for one in networks]

    assert inclusions(renamed) == inclusions(texts)
    assert not set(renamed) & set(texts)
    assert [rename("0.0.0.0/0"), rename("0.0.0.0"), rename("::/0"), rename("none")] == [
        "0.0.0.0/0",
        "0.0.0.0",
        "::/0",
        None,
    ]
    assert Addresses()("10.1.2.3") != Addresses()("10.1.2.3")  # nobody can try all of them


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"kind": "StorageClass", "provisioner": "acme.com/disk"}, "acme"),
        ({"kind": "Pod", "status": {"conditions": [{"type": "acme.com/gate", "status": "acme"}]}}, "acme"),
        ({"kind": "Pod", "metadata": {"annotations": {"ignore.kubeproof.dev/acme": "acme said so"}}}, "acme"),
        ({"kind": "Node", "metadata": {"labels": {"node-role.kubernetes.io/acme": "", "acme.k8s.io/x": "1"}}}, "acme"),
        ({"kind": "CronJob", "spec": {"schedule": "acme"}}, "acme"),
        ({"kind": "Pod", "metadata": {"ownerReferences": [{"kind": "AcmeJob", "name": "acme"}]}}, "cme"),
        (
            {"kind": "ResourceQuota", "spec": {"hard": {"acme.storageclass.storage.k8s.io/requests.storage": "1"}}},
            "acme",
        ),
        ({"kind": "ResourceQuota", "spec": {"hard": {"count/acmes.acme.com": "1", "cpu": "acme"}}}, "acme"),
        ({"kind": "Pod", "metadata": {"deletionTimestamp": "2026-11-18T02:03:04Z"}}, "2026"),
        ({"kind": "Service", "spec": {"ports": [{"hostIP": "10.9.8.7"}]}}, "10.9.8.7"),
    ],
)
def test_what_is_no_word_of_the_api_is_renamed(given, word):
    assert word not in str(Anonymizer()(given))


def test_a_field_that_the_api_does_not_have_is_told_without_its_name():
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c"}], "acme": {"x": 1}},
    }

    assert keep(pod)["spec"]["acme"] == {}
    assert keep(pod, hides_unknown=True)["spec"] == {"containers": [{"name": "c"}], "unknown1": {}}


def test_the_verdicts_of_a_running_cluster_stay():
    plain = [keep(one) for one in shop(full=True)]
    rename = Anonymizer()
    renamed = [rename(one) for one in plain]

    assert answers(renamed) == answers(plain)
    text = "".join(as_yaml(one) for one in renamed)
    assert not [word for word in ("web", "shop", "registry", "example.com") if word in text]


def test_the_same_name_is_the_same_name_everywhere():
    rename = Anonymizer()

    assert rename.name("web") == rename.name("web") != rename.name("api")
    assert rename.image("nginx") == rename.image("nginx:latest") != rename.image("nginx:1")
    assert rename.key("topology.kubernetes.io/zone") == "topology.kubernetes.io/zone"
    assert rename.key("example.com/tier") == rename.name("example.com/tier")
    assert rename.name("kube-system") == "kube-system"
    assert rename.name("17") == "17"


def test_ordinals_and_claims_follow_their_stateful_set():
    rename = Anonymizer()
    renamed = rename(
        {
            "kind": "StatefulSet",
            "metadata": {"name": "db", "namespace": "shop"},
            "spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]},
        }
    )
    own, template = renamed["metadata"]["name"], renamed["spec"]["volumeClaimTemplates"][0]["metadata"]["name"]

    assert rename.name("db-3") == f"{own}-3"
    assert rename.name("data-db-3") == f"{template}-{own}-3"


def test_values_of_well_known_labels_are_found_by_the_terms_that_ask_for_them():
    rename = Anonymizer()
    labels = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "windows", "pool": "blue"}
    term = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    node = rename({"kind": "Node", "metadata": {"name": "a", "labels": labels}})
    renamed = rename({"kind": "Pod", "spec": {"matchExpressions": term}})

    found = {one["key"]: one["values"][0] for one in renamed["spec"]["matchExpressions"]}
    assert found == node["metadata"]["labels"]
    assert "blue" not in str(found)


def test_ports_are_called_the_same_where_they_are_declared_and_asked_for():
    rename = Anonymizer()
    declared = rename({"kind": "Pod", "spec": {"ports": [{"name": "acme-api", "containerPort": 8080}]}})
    asked = rename({"kind": "Service", "spec": {"ports": [{"port": 80, "targetPort": "acme-api"}]}})

    assert asked["spec"]["ports"] == [{"port": 80, "targetPort": declared["spec"]["ports"][0]["name"]}]
    assert "acme" not in str(asked)


@pytest.mark.parametrize("secret", ["ip-10-20-30-40", "system-acme-billing", "acme-4711-2024-05-01"])
def test_numbers_and_prefixes_of_names_tell_nothing(secret):
    renamed = Anonymizer().name(secret)

    assert not [part for part in ("10", "20", "30", "acme", "4711", "2024") if part in renamed.split("-")]


def test_a_name_is_the_same_one_before_and_after_longer_ones_were_seen():
    rename = Anonymizer()
    before = rename.name("web-2")
    rename.name("web-2-0")

    assert rename.name("web-2") == before
    stateful = {"kind": "StatefulSet", "metadata": {"name": "db-2"}}
    assert rename.name("db-2-0") != rename(stateful)["metadata"]["name"]
    assert rename.name("db-2") == rename(stateful)["metadata"]["name"]


def test_components_whose_flags_count_stay_known():
    rename = Anonymizer()

    assert rename.image("registry.k8s.io/descheduler/descheduler:v0.34").startswith("descheduler:")
    assert rename.image("registry.acme.com/api:1") == "image:v2"
