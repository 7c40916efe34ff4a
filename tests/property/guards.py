"""Random small clusters whose pods a budget guards: drains, and a number of ready pods that may or may not be kept."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.kinds import DEPLOYMENT, REPLICA_SET
from kubeproof.cluster.objects import Setup
from kubeproof.intents.declarations import Amount, Intent
from tests.property.events import cordons
from tests.property.loops import budgets, drains
from tests.property.strategies import Case, choice, nodes, settings_values, templates, workload

COUNTS = choice(Amount(1), Amount(2), Amount(0), Amount(50, percent=True), Amount(3))


@st.composite
def guarded_cases(draw: st.DrawFn) -> Case:
    """One workload under a budget of any form, and operators who empty nodes."""
    some = draw(nodes(most=2))
    pods = workload(draw(choice(DEPLOYMENT, REPLICA_SET)), "web", draw(templates("web", graces=(0, 0, 30))), 2)
    pods = replace(pods, replicas=draw(choice(2, 1, 3)))
    limits = (draw(budgets("web")), draw(budgets("web", "other")))[: draw(choice(1, 1, 1, 1, 2))]
    setup = Setup(some, (pods,), settings=draw(settings_values()), budgets=limits)
    events = [draw(drains(most=2))]
    if draw(choice(False, False, True)):
        events.append(draw(cordons(most=1)))
    intent = Intent(name="ready", key="minReady", target=pods.ref, count=draw(COUNTS))
    there = ((some[0].name, draw(choice(pods.replicas, 1, 4))),)
    placement = ((pods.ref, there),) if draw(choice(False, True)) else ()
    return Case(setup, tuple(events), (intent,), placement)
