"""`kubeproof admit` from the command line: whoever asks is answered from what runs."""

from __future__ import annotations

import http.client
import json
import threading

import pytest

from kubeproof.cli.commands import admit
from kubeproof.cli.main import main
from kubeproof.live import admission
from tests.unit.verify.what_if.clusters import deployment, node, text_of

NODES = [node("a"), node("b")]


@pytest.fixture
def snap(tmp_path):
    file = tmp_path / "snap.yaml"
    file.write_text(text_of(NODES, deployment("web", {"a": 1})), encoding="utf-8")
    return str(file)


def answers(monkeypatch, words, *items):
    """The responses to reviews of the items, asked while the command runs."""
    said = []

    def ask_and_end(for_s):
        for item in items:
            connection = http.client.HTTPConnection("127.0.0.1", ports[0], timeout=60)
            body = {"apiVersion": "admission.k8s.io/v1", "request": {"uid": "1", "object": item}}
            connection.request("POST", "/validate", json.dumps(body))
            said.append(json.loads(connection.getresponse().read())["response"])

    ports = []
    real = admission.serve_reviews

    def serve(*args):
        chosen = real(*args)
        ports.append(chosen.__enter__())

        class Kept:
            def __enter__(self):
                return ports[0]

            def __exit__(self, *problem):
                return chosen.__exit__(*problem)

        return Kept()

    monkeypatch.setattr(admission, "serve_reviews", serve)
    monkeypatch.setattr(admit, "_wait", ask_and_end)
    assert main(["admit", "--plain", "--listen", "127.0.0.1:0", "--within", "60", *words]) == 0
    assert threading.active_count() >= 1
    return said


TOO_LARGE, FINE = deployment("mail", {"a": 1}, cpu="9")[0], deployment("mail", {"a": 1}, cpu="1")[0]


def test_what_may_get_stuck_is_warned_of_and_what_is_fine_is_not(snap, monkeypatch):
    first, second = answers(monkeypatch, ["--on", snap], TOO_LARGE, FINE)

    assert first["allowed"]
    assert first["warnings"][0].startswith("kubeproof: Deployment/shop/mail may get stuck: ")
    assert second == {"uid": "1", "allowed": True}


def test_whoever_enforces_keeps_out_what_is_proved_to_get_stuck(snap, monkeypatch):
    first, second = answers(monkeypatch, ["--on", snap, "--enforce"], TOO_LARGE, FINE)

    assert (first["allowed"], second["allowed"]) == (False, True)
    assert "Deployment/shop/mail may get stuck" in first["status"]["message"]


@pytest.mark.parametrize("item", [{}, {"kind": "Deployment"}, {"kind": "Service", "apiVersion": "v1"}, {"kind": 7}])
def test_what_is_no_workload_is_let_in(snap, monkeypatch, item):
    assert answers(monkeypatch, ["--on", snap, "--enforce"], item) == [{"uid": "1", "allowed": True}]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--on", "x.yaml"], "API servers ask over TLS alone"),
        (["--plain"], "name what runs"),
        (["--plain", "--listen", "here", "--on", "x.yaml"], "is no address"),
        (["--plain", "--tls-cert", "x", "--on", "x.yaml"], "--plain is without TLS"),
    ],
)
def test_what_cannot_be_served_is_wrong_usage(words, complaint, capsys):
    assert main(["admit", *words]) == 2
    assert complaint in capsys.readouterr().err
