"""Random small clusters behind Services that split traffic by node or by pod."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.services import Service
from kubeproof.intents.declarations import Intent
from tests.property.loops import LOOP_FAMILIES
from tests.property.strategies import BASIC_FAMILIES, Case, choice

WHENS = choice("always", "stable", "alwaysOnceTrue", "eventually", "eventuallyAlways")
SELECTORS = choice((("app", "web"),), (("app", "web"),), (("app", "db"),), (("app", "none"),))


@st.composite
def services(draw: st.DrawFn, name: str) -> Service:
    """A Service of either policy."""
    return Service(draw(choice("shop", "shop", "other")), name, draw(SELECTORS), draw(choice(True, True, False)))


@st.composite
def traffic_cases(draw: st.DrawFn) -> Case:
    """Everything that moves pods, and how evenly they are loaded."""
    families = (BASIC_FAMILIES["spread"], BASIC_FAMILIES["failure"], LOOP_FAMILIES["drain"], LOOP_FAMILIES["rollout"])
    case = draw(st.one_of(*(family() for family in families)))
    found = tuple(draw(services(f"service-{number}")) for number in range(draw(choice(1, 2))))
    targets = [workload.ref for workload in case.setup.workloads]
    intents = tuple(
        Intent(
            key="maxLoadSkew",
            name=f"load-{number}",
            target=draw(st.sampled_from(targets)),
            when=draw(WHENS),
            skew=draw(choice(1, 1, 2)),
        )
        for number in range(draw(choice(1, 2)))
    )
    return replace(case, setup=replace(case.setup, services=found), intents=intents)
