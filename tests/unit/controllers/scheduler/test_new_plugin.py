"""A new scheduler plugin is one module and one line: pods follow it, and reports tell what it refuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kubeproof.controllers.scheduler import registry
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import NodeView, Rejection
from kubeproof.controllers.scheduler.registry import NODE_FILTERS
from kubeproof.model.loops.shared import forget
from kubeproof.verdicts import Verdict
from tests.unit.verify.inputs import node, only, scenario, verified, web


class Loners:
    """Pods of one node only: refuses a node that has a pod already."""

    def reject(self, view: NodeView) -> Rejection | None:
        return Rejection("node(s) were not lonely", unresolvable=True) if view.pods else None


def build_filter(pod: IncomingPod) -> Loners:
    """The filter, for every pod."""
    return Loners()


@pytest.fixture(autouse=True)
def _shipped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "NODE_FILTERS", (*NODE_FILTERS, ("Loners", build_filter)))
    forget()  # schedulers that other tests have made
    yield
    forget()


@pytest.mark.parametrize(("replicas", "verdict"), [(1, Verdict.HOLDS), (2, Verdict.VIOLATED)])
def test_it_refuses_nodes_and_is_told(replicas: int, verdict: Verdict) -> None:
    found = only(verified(node("a"), web(replicas), scenario("{schedulable: {}}")))

    assert found.verdict == verdict
    assert ("Loners" in repr(found)) == (verdict == Verdict.VIOLATED)
