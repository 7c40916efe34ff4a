"""Whatever the bytes are, reading them gives a result or one of our own errors."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubeproof.errors import KubeproofError
from kubeproof.manifests.load import load
from tests.unit.manifests.inputs import deployment, node, scenario

VALID = "---\n".join(
    (
        node("n1", extra="spec: {taints: [{key: a, effect: NoSchedule}]}\n"),
        deployment(
            spec="replicas: 3, strategy: {rollingUpdate: {maxSurge: 1}},",
            pod="tolerations: [{key: a, operator: Exists}], topologySpreadConstraints: [{maxSkew: 1, "
            "topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
            "labelSelector: {matchLabels: {app: web}}}],",
            container="resources: {requests: {cpu: 500m, memory: 1.5Gi}},",
        ),
        scenario(
            """
            kubernetesVersion: "1.34"
            controllers: {nodeLifecycle: {monitorGracePeriod: 40s}, kubelet: {startup: 3s}}
            events:
            - nodeFailure: {max: 1, name: a}
            - scale: {target: Deployment/shop/web, replicas: [1, 2], after: a}
            intents:
            - minReady: {target: Deployment/shop/web, count: "50%"}
            - settles: {}
            """
        ),
    )
)
PIECES = [
    "a",
    ": ",
    "- ",
    "\n",
    "  ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&a ",
    "*a",
    "<<: ",
    "? ",
    "|\n",
    ">\n",
    "'",
    '"',
    "!!str ",
    "!x ",
    "---\n",
    "...\n",
    "#",
    "%",
    "~",
    "null",
    "no",
    "1e9",
    "0x1",
    "-1",
    ".nan",
    "\t",
    "é",
    "\\",
    "\x00",
]
REPLACEMENTS = [
    "",
    "{}",
    "[]",
    "~",
    "no",
    "-1",
    "1e99",
    '"\\0"',
    "*x",
    "99999999999999999999",
    "\n",
    " ",
    "\ud7ff",
]


def read(content: bytes) -> None:
    """Reads the content; only our own errors may come, and a terminal can show every line of them."""
    message = ""
    try:
        load(["-"], stdin=lambda: content)
    except KubeproofError as problem:
        message = str(problem)
    assert all(line.isprintable() for line in message.split("\n"))


yaml_like = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """The valid input with a few spans replaced."""
    text = VALID
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 12))
        text = text[:start] + draw(st.sampled_from(REPLACEMENTS)) + text[end:]
    return text.encode()


quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
thorough = settings(max_examples=33_400, deadline=None, suppress_health_check=list(HealthCheck))


def test_the_input_that_is_mutated_is_valid() -> None:
    assert len(load(["-"], stdin=VALID.encode).scenario.intents) == 2


@quick
@given(st.binary(max_size=300))
def test_random_bytes_give_only_our_errors(content: bytes) -> None:
    read(content)


@quick
@given(yaml_like)
def test_random_yaml_gives_only_our_errors(text: str) -> None:
    read(text.encode())


@quick
@given(mutated())
def test_damaged_manifests_give_only_our_errors(content: bytes) -> None:
    read(content)


@pytest.mark.slow
@thorough
@given(st.binary(max_size=300))
def test_many_random_bytes_give_only_our_errors(content: bytes) -> None:
    read(content)


@pytest.mark.slow
@thorough
@given(yaml_like)
def test_much_random_yaml_gives_only_our_errors(text: str) -> None:
    read(text.encode())


@pytest.mark.slow
@thorough
@given(mutated())
def test_many_damaged_manifests_give_only_our_errors(content: bytes) -> None:
    read(content)
