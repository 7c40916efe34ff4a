"""A webhook that lets everything in but says what it knows: also when it is slow, busy, broken or attacked."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import ssl
import subprocess
import threading

import pytest

from kubeproof.errors import EnvironmentProblem
from kubeproof.live.admission import Desk, Judged, review, serve_reviews, tls_of

WEB = {"kind": "Deployment", "metadata": {"name": "web"}}


def ask(item=WEB, uid="42"):
    return json.dumps(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": uid, "object": item}}
    ).encode()


def answer(judge, body=None, within_s=30.0):
    """The response, and how often each outcome was counted."""
    desk = Desk(judge, within_s=within_s)
    said = review(ask() if body is None else body, desk)
    return None if said is None else json.loads(said)["response"], {k: v for k, v in desk.counts.items() if v}


def test_what_is_fine_is_let_in_without_a_word():
    assert answer(lambda item: Judged()) == ({"uid": "42", "allowed": True}, {"silent": 1})


def test_what_may_get_stuck_is_let_in_with_warnings():
    said, counts = answer(lambda item: Judged((f"{item['metadata']['name']} may get stuck",)))

    assert said == {"uid": "42", "allowed": True, "warnings": ["web may get stuck"]}
    assert counts == {"warned": 1}


def test_a_denial_is_a_denial():
    said, counts = answer(lambda item: Judged(denial="no"))

    assert said == {"uid": "42", "allowed": False, "status": {"code": 403, "message": "no"}}
    assert counts == {"denied": 1}


def test_a_judge_that_fails_keeps_nobody_out():
    assert answer(lambda item: 1 // 0) == ({"uid": "42", "allowed": True}, {"failed": 1})


def test_a_judge_that_is_late_keeps_nobody_waiting_and_whoever_comes_meanwhile_is_let_in():
    free, done = threading.Event(), threading.Event()

    def judge(item):
        free.wait(30)
        done.set()
        return Judged(denial="too late")

    desk = Desk(judge, within_s=0.01)
    first, second = (json.loads(review(ask(), desk))["response"] for _ in range(2))
    free.set()
    assert done.wait(30)

    assert first == second == {"uid": "42", "allowed": True}
    assert (desk.counts["late"], desk.counts["busy"]) == (1, 1)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"request": {"uid": 1, "object": {}}}', b"[" * 100_000])
def test_what_is_no_review_is_refused(body):
    assert answer(lambda item: Judged(), body) == (None, {"refused": 1})


def test_an_object_that_goes_is_nothing_to_judge():
    assert answer(lambda item: 1 // 0, ask(None))[0] == {"uid": "42", "allowed": True}


def test_warnings_are_no_longer_than_api_servers_hand_on_and_hold_no_control_characters():
    said, _ = answer(lambda item: Judged(tuple(f"\x1b[31m{'x' * 999}" for _ in range(99))))

    assert len(said["warnings"]) == 8
    assert all(100 < len(one) <= 256 and "\x1b" not in one for one in said["warnings"])


def talk(port, method, path, body=None, headers=()):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, body, dict(headers))
    response = connection.getresponse()
    return response.status, response.read()


def test_reviews_are_answered_over_http_with_figures_beside():
    desk = Desk(lambda item: Judged(("careful",)), within_s=30.0)
    with serve_reviews(desk, "127.0.0.1", 0, None) as port:
        status, said = talk(port, "POST", "/validate?timeout=5s", ask())
        other = talk(port, "POST", "/elsewhere", b"")[0]
        large = talk(port, "POST", "/validate", b"", [("Content-Length", str(2**40))])[0]
        wrong = talk(port, "POST", "/validate", b"{}")[0]
        figures = talk(port, "GET", "/metrics")[1].decode()
        healthy = talk(port, "GET", "/healthz")

    assert (status, json.loads(said)["response"]["warnings"]) == (200, ["careful"])
    assert (other, large, wrong, healthy) == (404, 413, 400, (200, b"ok\n"))
    assert 'kubeproof_admissions_total{outcome="warned"} 1' in figures
    assert 'kubeproof_admissions_total{outcome="refused"} 3' in figures


def test_a_certificate_that_is_none_is_told(tmp_path):
    file = tmp_path / "tls.crt"
    file.write_text("nothing", encoding="utf-8")

    with pytest.raises(EnvironmentProblem, match="no certificate with its key"):
        tls_of(str(file), str(file))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="making a certificate needs openssl")
def test_reviews_come_over_tls_and_whoever_never_shakes_hands_delays_nobody(tmp_path):
    certificate, key = str(tmp_path / "tls.crt"), str(tmp_path / "tls.key")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    about = ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    words = ["openssl", "req", "-x509", *curve, *about, "-keyout", key, "-out", certificate]
    subprocess.run(words, check=True, capture_output=True)
    desk = Desk(lambda item: Judged(("careful",)), within_s=30.0)
    trusting = ssl.create_default_context(cafile=certificate)
    with (
        serve_reviews(desk, "127.0.0.1", 0, tls_of(certificate, key)) as port,
        socket.create_connection(("127.0.0.1", port)),
    ):
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusting, timeout=30)
        connection.request("POST", "/validate", ask())
        said = json.loads(connection.getresponse().read())
        connection.close()

    assert said["response"]["warnings"] == ["careful"]
