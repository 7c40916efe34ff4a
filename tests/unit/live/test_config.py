"""Which cluster and as whom, as kubectl would decide; nothing secret in messages."""

import base64
import stat

import pytest

from kubeproof.errors import ClusterError
from kubeproof.live import config as module
from kubeproof.live.client import Client
from kubeproof.live.config import Connection, connection
from kubeproof.live.credentials import Credentials
from tests.unit.live.api_server import KUBECONFIG, Recorded, serving
from tests.unit.live.objects import shop


def written(folder, text, name="config"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def config_of(cluster="server: https://k8s:6443", user="token: hush", context="cluster: c, user: u"):
    return f"""
current-context: one
contexts:
- {{name: one, context: {{{context}}}}}
- {{name: two, context: {{cluster: c, user: u, namespace: ops}}}}
clusters: [{{name: c, cluster: {{{cluster}}}}}]
users: [{{name: u, user: {{{user}}}}}]
"""


def test_the_current_context_or_the_one_named(tmp_path):
    file = written(tmp_path, config_of())

    one = connection(kubeconfig=file, environment={})
    two = connection(kubeconfig=file, context="two", environment={})

    assert (one.server, one.name, one.namespace, one.credentials.token) == (
        "https://k8s:6443",
        "one",
        "default",
        "hush",
    )
    assert (two.name, two.namespace) == ("two", "ops")


def test_of_several_files_the_first_that_says_something_counts(tmp_path):
    first = written(tmp_path, "current-context: two\n", "first")
    second = written(tmp_path, config_of(), "second")

    assert connection(environment={"KUBECONFIG": f"{first}:{second}:{tmp_path}/absent"}).name == "two"


def test_an_unknown_context_lists_the_known_ones(tmp_path):
    with pytest.raises(ClusterError, match=r"no context 'three'\. There are: one, two."):
        connection(kubeconfig=written(tmp_path, config_of()), context="three", environment={})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("contexts: []\n", "no current context"),
        ("- a list\n", "is no kubeconfig"),
        ("a: [unclosed\n", "cannot be used"),
        (config_of(cluster="server: ftp://x"), "no usable server"),
        (config_of(cluster='server: https://x, certificate-authority-data: "%"'), "not base64"),
        (config_of(cluster="server: https://x, certificate-authority: absent.pem"), "cannot be read"),
        (config_of(user="auth-provider: {name: gcp}"), "auth-provider"),
        (
            config_of(user="exec: {command: kubeproof-absent, apiVersion: client.authentication.k8s.io/v1}"),
            "not installed",
        ),
        (config_of(user="exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}"), "cannot be used"),
    ],
)
def test_unusable_files_end_with_6_and_a_remedy(text, problem, tmp_path):
    with pytest.raises(ClusterError, match=problem) as raised:
        connection(kubeconfig=written(tmp_path, text), environment={})

    assert raised.value.exit_code == 6
    assert raised.value.remedy


def test_certificates_come_from_data_or_from_files_beside_the_config(tmp_path):
    written(tmp_path, "PEM", "ca.pem")
    data = base64.b64encode(b"KEY").decode()
    text = config_of(
        "server: https://x, certificate-authority: ca.pem", f"client-certificate-data: {data}, client-key-data: {data}"
    )

    found = connection(kubeconfig=written(tmp_path, text), environment={})

    assert (found.authority, found.credentials.certificate, found.credentials.key) == (b"PEM", b"KEY", b"KEY")


def test_a_helper_program_gives_the_token(tmp_path):
    program = tmp_path / "helper"
    program.write_text('#!/bin/sh\necho "{\\"status\\": {\\"token\\": \\"$1-$EXTRA\\"}}"\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    extra = "args: [hello], env: [{name: EXTRA, value: x}]"
    user = f"exec: {{command: ./helper, {extra}, apiVersion: client.authentication.k8s.io/v1}}"

    found = connection(kubeconfig=written(tmp_path, config_of(user=user)), environment={"PATH": "/usr/bin:/bin"})

    assert found.credentials.token == "hello-x"


@pytest.mark.parametrize(
    ("script", "problem"), [("exit 3", "exit code 3"), ("echo nonsense", "printed no credentials")]
)
def test_a_helper_program_that_fails_is_named(script, problem, tmp_path):
    program = tmp_path / "helper"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    user = "exec: {command: ./helper, apiVersion: client.authentication.k8s.io/v1}"

    with pytest.raises(ClusterError, match=problem):
        connection(kubeconfig=written(tmp_path, config_of(user=user)), environment={})


def test_inside_a_cluster_the_account_of_the_pod_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ACCOUNT", str(tmp_path))
    for name, text in (("namespace", "ops\n"), ("ca.crt", "PEM"), ("token", "hush")):
        written(tmp_path, text, name)

    found = connection(environment={"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBECONFIG": str(tmp_path / "absent")})

    assert found == Connection(
        "https://[fd00::1]:443", "in-cluster", "ops", b"PEM", credentials=Credentials(token_file=f"{tmp_path}/token")
    )


def test_credentials_never_travel_in_the_clear_nor_into_messages():
    where = Connection("http://elsewhere.example:8080", "x", credentials=Credentials(token="hush"))

    assert "Authorization" not in Client(where)._headers()
    assert "hush" not in repr(where)


def test_redirects_are_not_followed():
    class Redirecting(Recorded):
        def answer(self, path, query):
            return 302, {"message": "go elsewhere"}

    with serving(Redirecting(shop())) as recorded, pytest.raises(ClusterError, match="answers 302"):
        Client(Connection(recorded.server, "x")).get("/api/v1/nodes")


def test_who_is_not_known_is_told_to_log_in():
    class Unknown(Recorded):
        def answer(self, path, query):
            return 401, {"message": "Unauthorized"}

    with (
        serving(Unknown()) as recorded,
        pytest.raises(ClusterError, match=r"does not know who asks: Unauthorized\. Log in"),
    ):
        Client(Connection(recorded.server, "x")).get("/api/v1/nodes")


def test_an_answer_that_is_no_object_is_refused():
    class Odd(Recorded):
        def answer(self, path, query):
            return 200, "hello"

    with serving(Odd()) as recorded, pytest.raises(ClusterError, match="does not answer as an API server does"):
        Client(Connection(recorded.server, "x")).get("/api/v1/nodes")


def test_the_shown_config_template_is_valid(tmp_path):
    assert (
        connection(kubeconfig=written(tmp_path, KUBECONFIG.format(server="http://x")), environment={}).namespace
        == "shop"
    )


def test_no_proxy_of_the_environment_sees_what_goes_to_this_machine(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(Recorded(shop())) as recorded:
        found = Client(Connection(recorded.server, "x")).get("/api/v1/nodes")

    assert found["kind"] == "NodeList"
