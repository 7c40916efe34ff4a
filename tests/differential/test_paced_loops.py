"""Loops with a time of their own beside others: reductions apply to those, and every way to answer still agrees."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.kinds import CRON_JOB, DEPLOYMENT, JOB, REPLICA_SET
from kubeproof.cluster.labels import Labels, as_labels
from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler, NodeGroup
from kubeproof.cluster.objects import HOSTNAME
from kubeproof.cluster.services import Service
from kubeproof.cluster.steering.vertical import CPU, RECREATE, ContainerPolicy, VerticalPodAutoscaler
from kubeproof.cluster.volumes import Claim, StorageClass, Volume
from kubeproof.events.declarations import Usage, UsageChange
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import make_plan
from kubeproof.model.reductions.partial_order import fewer_orders, orders_of_deploying
from tests.differential.test_mixed import compare_answers
from tests.property.mixed import Mix, mixed_inputs
from tests.property.strategies import choice

USED = (Usage(percent=100), Usage(percent=20))
OWNED = (DEPLOYMENT, DEPLOYMENT, REPLICA_SET)
BESIDE = {
    "reconciler": Mix(kinds=OWNED, workloads=(1, 2), nodes=(1, 2), most_pods=3),
    "jobs": Mix(kinds=(*OWNED, JOB, JOB, CRON_JOB), workloads=(2, 2), nodes=(1, 2), most_pods=3, verticals=False),
    "vertical": Mix(kinds=OWNED, workloads=(2, 2), nodes=(1, 2), most_pods=3, most_events=1),
    "volumes": Mix(kinds=OWNED, workloads=(2, 2), nodes=(1, 2), most_pods=3, verticals=False),
    "routes": Mix(kinds=OWNED, workloads=(2, 2), nodes=(1, 2), most_pods=3, verticals=False, most_events=1),
    "nodes": Mix(
        kinds=OWNED, workloads=(1, 2), nodes=(1, 1), most_pods=2, most_events=1, verticals=False, gitops=False
    ),
}
EXAMPLES, MANY = 15, 300
LEAST_DECIDED = 10


@st.composite
def paced_inputs(draw: st.DrawFn, beside: str) -> Loaded:
    """An input with such a loop, and pods that start at different times."""
    loaded = draw(mixed_inputs(BESIDE[beside]))
    paced = replace(loaded.setup.settings, startup_s=draw(choice((1, 5), (1, 5), (0, 0))))
    return _with(replace(loaded, setup=replace(loaded.setup, settings=paced)), beside)


def _with(loaded: Loaded, beside: str) -> Loaded:
    setup, scenario = loaded.setup, loaded.scenario
    first, last = setup.workloads[0], setup.workloads[-1]
    if beside == "reconciler":
        return replace(loaded, setup=replace(setup, settings=replace(setup.settings, gitops_interval_s=30)))
    if beside == "vertical":
        vertical = VerticalPodAutoscaler(
            "shop", last.name, last.ref, RECREATE, (ContainerPolicy(controlled=(CPU,)),), 1
        )
        used = UsageChange(name="used", resource="cpu", target=last.ref, levels=USED, max=1)
        others = tuple(one for one in setup.autoscalers if one.target != last.ref)
        more = replace(setup, verticals=(vertical,), autoscalers=others, quotas=())
        kept = tuple(one for one in scenario.events if one.subject != last.ref)
        return replace(loaded, setup=more, scenario=replace(scenario, events=(*kept, used)))
    if beside == "volumes":
        claim = Claim("shop", "disk", 1, "now", ("ReadWriteOnce",))
        mounting = replace(last, template=replace(last.template, claims=("disk",)))
        disks = tuple(Volume(f"disk-{number}", 1, "now", ("ReadWriteOnce",)) for number in (1, 2))
        more = replace(
            setup,
            workloads=(*setup.workloads[:-1], mounting),
            claims=(*setup.claims, claim),
            volumes=(*setup.volumes, *disks),
            storage_classes=(*setup.storage_classes, StorageClass("now", "ebs.csi.aws.com", waits=False)),
        )
        return replace(loaded, setup=more)
    if beside == "routes":
        services = (Service("shop", "web", (("app", first.name),)),)
        asked = Intent(key="noTrafficToTerminating", name="routed", target=first.ref)
        more = replace(setup, services=services, settings=replace(setup.settings, endpoints_lag_s=2))
        return replace(loaded, setup=more, scenario=replace(scenario, intents=(*scenario.intents, asked)))
    if beside == "nodes":
        (one,) = setup.nodes
        grown = replace(one, name="n2", group="web", is_slot=True, labels=_named(one.labels, "n2"))
        flags = ClusterAutoscaler((NodeGroup("web", 1, 2, replace(one, group="web")),), unneeded_s=20)
        more = replace(setup, nodes=(replace(one, group="web"), grown), cluster_autoscaler=flags)
        return replace(loaded, setup=more)
    return loaded


def _named(labels: Labels, name: str) -> Labels:
    return as_labels(dict(labels) | {HOSTNAME: name})


def compare_many(beside: str, number: int, examples: int) -> Counter[str]:
    """Compares so many random inputs; also counts those to which a reduction applies."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(paced_inputs(beside))
    def check(loaded: Loaded) -> None:
        found.update(compare_answers(loaded))
        found["reduced"] += is_reduced(loaded)

    check()
    return found


def is_reduced(loaded: Loaded) -> bool:
    """True if orders are left out of the search of the input, or of that for its start."""
    scenario = loaded.scenario
    plan = make_plan(loaded.setup, scenario.events, scenario.intents)
    plans = ((plan, fewer_orders), (plan.deploying(), orders_of_deploying))
    return any(GroupedSystem(one, orders(one)).leaves_out_orders for one, orders in plans)


@pytest.mark.parametrize("beside", sorted(BESIDE))
def test_all_ways_to_answer_agree_beside_a_paced_loop(beside: str) -> None:
    found = compare_many(beside, 7, EXAMPLES)

    assert found["HOLDS"] + found["VIOLATED"] >= LEAST_DECIDED
    assert found["reduced"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("beside", sorted(BESIDE))
def test_all_ways_to_answer_agree_beside_paced_loops_many_times(beside: str) -> None:
    found = compare_many(beside, 8, MANY)

    assert found["HOLDS"] + found["VIOLATED"] >= MANY // 2
