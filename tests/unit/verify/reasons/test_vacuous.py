"""An intent without anything to say tells what keeps runs from what it speaks about."""

from __future__ import annotations

import pytest

from kubeproof.verdicts import Verdict
from tests.unit.verify.inputs import node, only, scenario, verified, web

T = "Deployment/shop/web"
READY = f"{{minReady: {{target: {T}, count: 1}}}}"


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        ((node("n1"), web(3), scenario(READY)), "web-3; n1: NodeResourcesFit: Insufficient cpu (cpu: 1000m asked for"),
        ((node("n1"), web(0), scenario(READY)), f"{T} wants no pods (0 replicas), and nothing changes that"),
        ((node("n1"), web(1), scenario("{drainCompletes: {}}")), "no event of the Scenario drains a node"),
        ((node("n1"), web(1), scenario("{rolloutCompletes: {}}")), "no event of the Scenario changes its pod template"),
        (
            (node("n1"), web(1), scenario(READY, events=f"{{neverReady: {{target: {T}}}}}")),
            "rest with: not all of its pods become ready",
        ),
    ],
)
def test_what_keeps_runs_from_the_intent_is_told(documents, words):
    one = only(verified(*documents))

    assert one.verdict == Verdict.VACUOUS
    assert words in one.detail
