"""Steps by name, equal ones once."""

from __future__ import annotations

from kubeproof.cluster.kinds import DAEMON_SET
from kubeproof.cluster.loops.actions import Verb
from kubeproof.cluster.objects import ZONE
from kubeproof.events.declarations import ZoneFailure
from kubeproof.model.by_name.abstraction import anonymous
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import make_plan
from tests.differential.guards.clusters import cluster, node, nodes, of, placed, workload


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


def test_a_daemon_set_comes_to_nodes_that_differ_in_one_way_and_that_stands_for_all() -> None:
    loaded = cluster(nodes(4), workload("agent", cpu=1, kind=DAEMON_SET), of("settles"))
    plan = make_plan(loaded.setup, (), loaded.scenario.intents)
    model, every = RepresentativeModel(plan), IndividualModel(plan)
    (empty,) = model.initial()
    differing = empty._replace(nodes=tuple(one._replace(images=bits) for bits, one in enumerate(empty.nodes)))

    def created(one: IndividualModel) -> list[Transition]:
        return [step for step in one.steps(differing) if step.concrete[0][0] == Verb.KEEP]

    (step,) = created(model)
    others = created(every)
    assert len(others) == 4 * 3 * 2  # which node has which pod
    assert step.concrete in [other.concrete for other in others]
    assert {anonymous(model, other.target) for other in others} == {anonymous(model, step.target)}
