"""preStop hooks: how long a deleted pod serves on."""

from __future__ import annotations

import pytest

from tests.unit.manifests.inputs import load_text


def _deployment(*containers: str) -> str:
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{", ".join(containers)}]}}
"""


def _hook(handler: str, *, name: str = "web", ports: str = "") -> str:
    return f"{{name: {name}, image: registry.example.com/web, lifecycle: {{preStop: {{{handler}}}}}{ports}}}"


def _seconds(*containers: str) -> int:
    return load_text(_deployment(*containers)).setup.workloads[0].template.pre_stop_s


@pytest.mark.parametrize(
    "handler",
    [
        "sleep: {seconds: 15}",
        "exec: {command: [sleep, '15']}",
        "exec: {command: [/bin/sleep, 15s]}",
        "exec: {command: [sh, -c, sleep 15]}",
        "exec: {command: [/bin/bash, -c, /bin/sleep 15]}",
    ],
)
def test_a_hook_that_sleeps_keeps_the_pod_serving(handler: str) -> None:
    assert _seconds(_hook(handler)) == 15


@pytest.mark.parametrize(
    ("handler", "what"),
    [
        ("exec: {command: [nginx, -s, quit]}", "spec.template.spec.containers[0].lifecycle.preStop.exec"),
        (
            "exec: {command: [sh, -c, sleep 5 && nginx -s quit]}",
            "spec.template.spec.containers[0].lifecycle.preStop.exec",
        ),
        ("httpGet: {port: 80}", "spec.template.spec.containers[0].lifecycle.preStop.httpGet"),
    ],
)
def test_a_hook_of_unknown_length_counts_as_none_and_is_listed(handler: str, what: str) -> None:
    loaded = load_text(_deployment(_hook(handler)))

    assert loaded.setup.workloads[0].template.pre_stop_s == 0
    assert [omission.what for omission in loaded.omissions] == [f"field {what} of Deployment/shop/web"]


def test_without_hooks_a_pod_is_stopped_at_once() -> None:
    assert _seconds("{name: web, image: registry.example.com/web}") == 0


def test_a_hook_after_the_start_does_not_matter_here() -> None:
    lifecycle = "{postStart: {sleep: {seconds: 3}}}"

    assert _seconds(f"{{name: web, image: registry.example.com/web, lifecycle: {lifecycle}}}") == 0


def test_the_containers_with_ports_decide() -> None:
    serving = _hook("sleep: {seconds: 15}", ports=", ports: [{containerPort: 80}]")

    assert _seconds(serving, "{name: metrics, image: registry.example.com/metrics}") == 15


def test_of_several_that_may_serve_the_first_to_stop_decides() -> None:
    assert _seconds(_hook("sleep: {seconds: 15}"), _hook("sleep: {seconds: 4}", name="other")) == 4
