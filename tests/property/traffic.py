"""Random small clusters behind Services: how evenly pods are loaded, and who gets traffic while it terminates."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.services import Service
from kubeproof.intents.declarations import Intent
from tests.property.families import BASIC_FAMILIES
from tests.property.loops import LOOP_FAMILIES
from tests.property.owners import OWNER_FAMILIES
from tests.property.strategies import Case, choice

WHENS = choice("always", "stable", "alwaysOnceTrue", "eventually", "eventuallyAlways")
SELECTORS = choice((("app", "web"),), (("app", "web"),), (("app", "db"),), (("app", "none"),))


@st.composite
def services(draw: st.DrawFn, name: str) -> Service:
    """A Service of either policy."""
    return Service(
        draw(choice("shop", "shop", "other")),
        name,
        draw(SELECTORS),
        draw(choice(True, True, False)),
        publishes_unready=draw(choice(False, False, False, True)),
        has_ingress=draw(choice(False, True)),
    )


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


@st.composite
def ending_cases(draw: st.DrawFn) -> Case:
    """Everything that deletes pods, hooks that keep them serving, and proxies that learn of it later."""
    families = (
        *(BASIC_FAMILIES["failure"], BASIC_FAMILIES["scale"], LOOP_FAMILIES["drain"], LOOP_FAMILIES["rollout"]),
        *(OWNER_FAMILIES["stateful"], OWNER_FAMILIES["daemon"]),
    )
    case = draw(st.one_of(*(family() for family in families)))
    lags = draw(choice((0, 0), (1, 0), (2, 3)))
    pre_stop_s = draw(choice(0, 1, 4, 40))
    setup = replace(
        case.setup,
        workloads=tuple(replace(w, template=replace(w.template, pre_stop_s=pre_stop_s)) for w in case.setup.workloads),
        services=tuple(draw(services(f"service-{number}")) for number in range(draw(choice(1, 2)))),
        settings=replace(case.setup.settings, endpoints_lag_s=lags[0], ingress_lag_s=lags[1]),
    )
    target = draw(st.sampled_from([workload.ref for workload in setup.workloads]))
    intent = Intent(key="noTrafficToTerminating", name="ending", target=target, when=draw(WHENS))
    return replace(case, setup=setup, intents=(intent,))
