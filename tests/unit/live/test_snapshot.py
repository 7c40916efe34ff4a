"""A cluster is read with GET requests only, page by page, and what cannot be read is named."""

import subprocess
import sys

import pytest
import yaml

from kubeproof.cli.main import main
from kubeproof.errors import ClusterError
from kubeproof.live.client import Client
from kubeproof.live.config import Connection
from kubeproof.live.resources import BY_KIND, RESOURCES
from kubeproof.live.snapshot import SnapshotOptions, take_snapshot
from kubeproof.manifests.kinds.catalogue import READ_KINDS
from kubeproof.manifests.load import load_texts
from tests.unit.live.api_server import Recorded, kubeconfig, serving
from tests.unit.live.objects import pod, shop

OF_FILES = {"KubeSchedulerConfiguration", "DeschedulerPolicy", "Scenario"}  # never objects of an API server


def client_of(recorded):
    return Client(Connection(recorded.server, "test"), wait=lambda _: None)


def text_of(recorded, **options):
    parts = []
    take_snapshot(client_of(recorded), SnapshotOptions(**options), parts.append)
    return b"".join(parts).decode()


def test_the_kinds_read_are_those_that_are_modelled():
    assert set(BY_KIND) == set(READ_KINDS) - OF_FILES - {"EndpointSlice"} | {"NetworkPolicy"}
    known = [(resource, READ_KINDS.get(resource.kind)) for resource in RESOURCES]
    assert all(kind is None or resource.version in kind.versions for resource, kind in known)
    assert not {"Secret", "ConfigMap"} & set(BY_KIND)


def test_a_snapshot_is_verified_from_its_running_pods(tmp_path, capsys):
    with serving(Recorded(shop(full=True))) as recorded:
        assert main(["snapshot", "-A", "--kubeconfig", kubeconfig(tmp_path, recorded.server)]) == 0
    written = capsys.readouterr()
    (tmp_path / "snap.yaml").write_text(written.out, encoding="utf-8")

    assert "8 objects of 5 kinds" in written.err
    assert main(["verify", str(tmp_path / "snap.yaml"), "--color", "never", "-v", "--no-pairs"]) == 1
    told = capsys.readouterr().out
    assert "running: 2 ready, 1 without a node" in told
    assert "1 workload under 8 faults: 8 STUCK" in told


def test_verify_live_says_the_same_as_verifying_the_snapshot(tmp_path, capsys):
    with serving(Recorded(shop(full=True))) as recorded:
        config = kubeconfig(tmp_path, recorded.server)
        assert main(["verify", "--live", "-A", "--kubeconfig", config, "--color", "never"]) == 1
        live = capsys.readouterr().out
        assert f"kubeproof verify --live -A --kubeconfig {config} -o json=trace.json" in live
        main(["snapshot", "-A", "--kubeconfig", config])
    (tmp_path / "snap.yaml").write_text(capsys.readouterr().out, encoding="utf-8")
    main(["verify", str(tmp_path / "snap.yaml"), "--color", "never"])
    saved = capsys.readouterr().out

    assert verdicts(live) == verdicts(saved) != []


def verdicts(text):
    return [line for line in text.splitlines() if line.startswith(("HOLDS", "VIOLATED", "UNKNOWN"))]


def test_every_request_is_a_get_with_the_token_and_a_page_size(tmp_path, capsys):
    with serving(Recorded(shop())) as recorded:
        assert main(["snapshot", "-A", "--kubeconfig", kubeconfig(tmp_path, recorded.server)]) == 0

    assert recorded.methods == {"GET"}
    assert {path for _, path, *_ in recorded.requests} == {resource.path() for resource in RESOURCES}
    assert {query["limit"] for _, _, query, _ in recorded.requests} == {"500"}
    assert {who for *_, who in recorded.requests} == {"Bearer hush"}


def test_one_namespace_is_asked_for_by_name(tmp_path, capsys):
    with serving(Recorded(shop())) as recorded:
        assert main(["snapshot", "-n", "shop", "--kubeconfig", kubeconfig(tmp_path, recorded.server)]) == 0

    asked = {path for _, path, *_ in recorded.requests}
    assert {"/api/v1/namespaces/shop", "/api/v1/namespaces/shop/pods", "/api/v1/nodes"} <= asked
    assert not {"/api/v1/namespaces", "/api/v1/pods"} & asked
    assert "namespace shop only" in capsys.readouterr().out


def test_the_namespace_of_the_context_is_the_default(tmp_path, capsys):
    with serving(Recorded(shop())) as recorded:
        main(["snapshot", "--kubeconfig", kubeconfig(tmp_path, recorded.server)])

    assert "/api/v1/namespaces/shop/pods" in {path for _, path, *_ in recorded.requests}


@pytest.mark.parametrize("kind", sorted(BY_KIND))
def test_a_forbidden_kind_is_named_with_verb_and_remedy(kind, tmp_path, capsys):
    recorded = Recorded(shop())
    recorded.forbidden = {kind}
    with serving(recorded):
        code = main(["snapshot", "-A", "--kubeconfig", kubeconfig(tmp_path, recorded.server)])
    written = capsys.readouterr()

    assert code == 6
    assert written.out == ""
    assert f"forbidden to list {BY_KIND[kind].plural}" in written.err
    assert f"(kind {kind})" in written.err
    assert "kubeproof snapshot --rbac -A | kubectl apply -f -" in written.err


def test_all_forbidden_kinds_are_named_at_once(tmp_path, capsys):
    recorded = Recorded(shop())
    recorded.forbidden = {"Node", "Pod"}
    with serving(recorded):
        assert main(["verify", "--live", "-A", "--kubeconfig", kubeconfig(tmp_path, recorded.server)]) == 6
    told = capsys.readouterr().err

    assert "(kind Node)" in told
    assert "(kind Pod)" in told


def test_an_unreachable_cluster_ends_with_6(tmp_path, capsys):
    with serving(Recorded()) as recorded:
        pass
    assert main(["snapshot", "-A", "--kubeconfig", kubeconfig(tmp_path, recorded.server)]) == 6
    told = capsys.readouterr().err

    assert told.startswith(f"error: E402 {recorded.server} cannot be reached: ")
    assert "Traceback" not in told


def test_a_kind_that_is_not_served_is_noted():
    recorded = Recorded(shop())
    recorded.unserved = {"VerticalPodAutoscaler"}
    with serving(recorded):
        text = text_of(recorded)

    assert "# This cluster does not serve autoscaling.k8s.io/v1 VerticalPodAutoscaler.\n" in text


def test_pages_are_followed_to_the_end():
    with serving(Recorded([pod(f"p-{n}", "a") for n in range(25)])) as recorded:
        text = text_of(recorded, page=10)

    assert [one["metadata"]["name"] for one in yaml.safe_load_all(text)] == [f"p-{n}" for n in range(25)]
    assert [query.get("continue") for _, path, query, _ in recorded.requests if path == "/api/v1/pods"] == [
        None,
        "10",
        "20",
    ]


def test_a_list_that_expires_begins_again_without_repeating_anything():
    recorded = Recorded([pod(f"p-{n}", "a") for n in range(25)])
    recorded.expire_after = 2
    with serving(recorded):
        text = text_of(recorded, page=10)

    assert [one["metadata"]["name"] for one in yaml.safe_load_all(text)] == [f"p-{n}" for n in range(25)]


def test_a_list_that_always_expires_is_given_up():
    recorded = Recorded([pod(f"p-{n}", "a") for n in range(25)])
    recorded.expire_after = 100
    with serving(recorded), pytest.raises(ClusterError, match="the list of pods expired 5 times"):
        text_of(recorded, page=10)


def test_passing_faults_are_tried_again():
    recorded = Recorded(shop())
    recorded.failures = [503, 429, 500]
    with serving(recorded):
        assert "name: web-abc-1" in text_of(recorded)


def test_lasting_faults_end():
    recorded = Recorded(shop())
    recorded.failures = [503] * 10
    with serving(recorded), pytest.raises(ClusterError, match=r"cannot list namespaces .* 503"):
        text_of(recorded)


def test_nothing_confidential_is_kept():
    with serving(Recorded(shop())) as recorded:
        text = text_of(recorded)

    for word in ("hunter2", "alice", "managedFields", "last-applied", "10.0.0.7", "providerID", "uid", "kernelVersion"):
        assert word not in text
    assert "annotations" not in text


def test_what_is_written_is_read_back_as_it_was():
    hostile = pod("web-abc-1", "a")
    hostile["metadata"]["labels"] = {"x": "no", "y": "1.30", "z": "null"}
    hostile["spec"]["schedulerName"] = "a: b #c \u2028 é \x7f {}"
    with serving(Recorded([hostile])) as recorded:
        (read,) = yaml.safe_load_all(text_of(recorded))

    assert read["metadata"]["labels"] == {"x": "no", "y": "1.30", "z": "null"}
    assert read["spec"]["schedulerName"] == hostile["spec"]["schedulerName"]


PEAK = """
import sys
from kubeproof.cli.main import main
code = main(sys.argv[1:])
print([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1], file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_five_thousand_pods_take_the_memory_of_a_page(tmp_path):
    def peak(count):
        recorded = Recorded(shop()[:5])
        recorded.generated["Pod"] = (count, lambda number: pod(f"web-abc-{number}", "a"))
        with serving(recorded):
            words = ["snapshot", "-A", "--page-size", "250", "--kubeconfig", kubeconfig(tmp_path, recorded.server)]
            ended = subprocess.run([sys.executable, "-c", PEAK, *words], capture_output=True, text=True, check=True)
        return int(ended.stderr.split()[-1]), ended.stdout.count("kind: Pod\n")

    small, few = peak(250)
    large, many = peak(5000)

    assert (few, many) == (250, 5000)
    assert large < small + 16 * 1024  # kibibytes; the snapshot itself has 5 MB, its objects 60


@pytest.mark.parametrize("count", [500, pytest.param(5000, marks=pytest.mark.slow)])
def test_a_large_snapshot_can_be_loaded(count):
    recorded = Recorded(shop()[:5])
    recorded.generated["Pod"] = (count, lambda number: pod(f"web-abc-{number}", "a"))
    with serving(recorded):
        loaded = load_texts([("snap.yaml", text_of(recorded))])

    assert [(one.ref, one.number) for one in loaded.scenario.start.pods] == [("Deployment/shop/web", count)]


def test_without_any_kubeconfig_it_says_so(tmp_path):
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin"}
    ended = subprocess.run(
        [sys.executable, "-m", "kubeproof.cli.main", "snapshot", "-A"],
        env={**environment, "PYTHONPATH": "src"}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ended.returncode == 6
    assert ended.stderr.startswith("error: E402 no kubeconfig. Log in to a cluster")


def test_a_namespace_that_is_not_there_is_told(tmp_path, capsys):
    with serving(Recorded(shop())) as recorded:
        assert main(["snapshot", "-n", "shpo", "--kubeconfig", kubeconfig(tmp_path, recorded.server)]) == 6

    said = capsys.readouterr()
    assert "has no namespace 'shpo'" in said.err
    assert said.out == ""


def test_a_kind_that_every_cluster_has_must_be_served():
    recorded = Recorded(shop())
    recorded.unserved = {"PodDisruptionBudget"}
    with serving(recorded), pytest.raises(ClusterError, match=r"cannot list poddisruptionbudgets\.policy"):
        text_of(recorded)


def test_a_namespace_cannot_lead_to_another_path():
    with serving(Recorded(shop())) as recorded, pytest.raises(ClusterError, match="has no namespace"):
        text_of(recorded, namespace="shop/secrets?x=")

    assert not [path for _, path, *_ in recorded.requests if "/secrets" in path]


@pytest.mark.parametrize("anonymize", [False, True])
def test_what_one_namespace_leaves_out_is_told_with_the_verdict(anonymize):
    with serving(Recorded(shop(full=True))) as recorded:
        alone, whole = text_of(recorded, namespace="shop", anonymize=anonymize), text_of(recorded, anonymize=anonymize)

    told = [omission.what for omission in load_texts([("snap.yaml", alone)]).omissions]
    assert "pods of other namespaces" in told
    assert "pods of other namespaces" not in [one.what for one in load_texts([("snap.yaml", whole)]).omissions]
