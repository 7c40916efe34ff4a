"""Steps by name, equal ones once."""

from __future__ import annotations

from kubeproof.cluster.objects import ZONE
from kubeproof.events.declarations import ZoneFailure
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.plan import make_plan
from tests.differential.guards.clusters import cluster, node, of, placed, workload


def test_a_zone_whose_nodes_all_differ_fails_in_one_way() -> None:
    names = "abcdefgh"
    some = tuple(node(f"n-{name}", **{ZONE: "z1" if name < "g" else "z2"}) for name in names)
    pods = tuple(workload(name, cpu=1) for name in names)
    start = placed(**{name: ((f"n-{name}", 1),) for name in names})
    loaded = cluster(some, pods, of("settles"), events=(ZoneFailure(name="zone"),), start=start)
    plan = make_plan(
        loaded.setup, loaded.scenario.events, loaded.scenario.intents, placement=loaded.scenario.start.placement
    )
    model = RepresentativeModel(plan)
    (first,) = model.initial()
    failures = [step for step in model.steps(first) if step.actor == "event zone"]

    assert [len(step.concrete) for step in failures] == [6 + 1, 2 + 1]  # the nodes, and that it has happened
