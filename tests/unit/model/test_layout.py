"""Which nodes share a place, and which domains are interchangeable."""

from dataclasses import replace

import pytest

from kubeproof.cluster.labels import LabelSelector, NodeTerm, PreferredTerm, Requirement
from kubeproof.cluster.objects import (
    HOSTNAME,
    REGION,
    ZONE,
    Container,
    PodAffinity,
    PodTerm,
    SchedulerProfile,
    Setup,
    WeightedPodTerm,
)
from kubeproof.cluster.steering.policies import DeschedulerPolicy
from kubeproof.events.declarations import Cordon, NodeChoice, NodeFailure
from kubeproof.intents.declarations import Intent
from kubeproof.model.layout import alike, find_unread, make_layout, mentions, symmetric_domains, unique_keys
from tests.unit.model.builders import node, setup, spread, taint, workload

BARE = workload(kind="Pod")  # no default spread constraints: nothing is read of nodes


def _places(whole, events=(), intents=(), names=(), *, merge=True):
    layout = make_layout(whole, mentions(whole, events, intents, names), merge=merge)
    return [place.nodes for place in layout.places]


def _domains(whole, events=(), intents=()):
    found = mentions(whole, events, intents, ())
    layout = make_layout(whole, found)
    names = [layout.setup.nodes[place.nodes[0]].name for place in layout.places]
    return [[[names[p] for p in block] for block in family] for family in symmetric_domains(layout, found)]


def test_labels_that_nobody_reads_tell_no_nodes_apart():
    nodes = [node("n1", "a", labels={"rack": "1"}), node("n2", "b", labels={"rack": "2"}), node("n3")]

    assert _places(setup(nodes, BARE)) == [(0, 1, 2)]


def test_without_merging_every_node_is_a_place():
    assert _places(setup([node("n1"), node("n2")], BARE), merge=False) == [(0,), (1,)]


@pytest.mark.parametrize(
    "different",
    [
        pytest.param({"taints": (taint(),)}, id="taints"),
        pytest.param({"unschedulable": True}, id="cordon"),
        pytest.param({"cpu": 2000}, id="cpu"),
        pytest.param({"pods": 11}, id="pods"),
    ],
)
def test_taints_cordon_and_resources_always_tell_apart(different):
    assert _places(setup([node("n1"), node("n2", **different), node("n3")], BARE)) == [(0, 2), (1,)]


def test_an_extended_resource_tells_apart_only_where_a_pod_requests_it():
    greedy = replace(BARE.template, containers=(Container("main", others=(("example.com/gpu", 1),)),))
    nodes = [node("n1"), node("n2", others=(("example.com/gpu", 1),)), node("n3")]

    assert _places(setup(nodes, BARE)) == [(0, 1, 2)]
    assert _places(setup(nodes, replace(BARE, template=greedy))) == [(0, 2), (1,)]


def test_an_extended_resource_that_a_score_weighs_tells_apart():
    weighed = SchedulerProfile(fit_resources=(("cpu", 1), ("example.com/gpu", 3)))
    nodes = [node("n1"), node("n2", others=(("example.com/gpu", 1),))]

    assert _places(replace(setup(nodes, BARE), profiles=(weighed,))) == [(0,), (1,)]


def test_a_descheduler_may_read_every_resource():
    nodes = [node("n1"), node("n2", others=(("example.com/gpu", 1),))]

    assert _places(replace(setup(nodes, BARE), descheduler=DeschedulerPolicy(()))) == [(0,), (1,)]


def test_what_nothing_reads_of_nodes_is_told():
    nodes = [node("n1", labels={"rack": "1"}, others=(("example.com/gpu", 1),))]
    whole = setup(nodes, BARE)

    assert find_unread(whole, mentions(whole, (), (), ())) == (
        "label kubernetes.io/hostname",
        "label rack",
        "resource example.com/gpu",
    )


def test_a_selected_value_tells_apart_and_all_other_values_are_one():
    picky = workload(kind="Pod", node_selector=(("disk", "ssd"),))
    nodes = [
        node("n1", labels={"disk": "ssd"}),
        *(node(f"n{i}", labels={"disk": f"hdd{i}"}) for i in (2, 3)),
        node("n4"),
    ]

    assert _places(setup(nodes, picky)) == [(0,), (1, 2), (3,)]


@pytest.mark.parametrize("kind", ["pod_affinity", "pod_anti_affinity"])
@pytest.mark.parametrize(
    "affinity",
    [
        pytest.param(PodAffinity(required=(PodTerm("rack"),)), id="required"),
        pytest.param(PodAffinity(preferred=(WeightedPodTerm(5, PodTerm("rack")),)), id="preferred"),
    ],
)
def test_topology_keys_of_pod_affinity_tell_apart(kind, affinity):
    nodes = [node("n1", labels={"rack": "1"}), node("n2", labels={"rack": "2"}), node("n3", labels={"rack": "1"})]

    assert _places(setup(nodes, workload(kind="Pod", **{kind: affinity}))) == [(0, 2), (1,)]


@pytest.mark.parametrize(
    "reader",
    [
        pytest.param({"required_terms": (NodeTerm((Requirement("disk", "Exists"),)),)}, id="required"),
        pytest.param(
            {"preferred_terms": (PreferredTerm(5, NodeTerm((Requirement("disk", "Exists"),))),)}, id="preferred"
        ),
    ],
)
def test_existence_of_a_key_in_affinity_tells_apart(reader):
    nodes = [node("n1", labels={"disk": "x"}), node("n2", labels={"disk": "y"}), node("n3")]

    assert _places(setup(nodes, workload(kind="Pod", **reader))) == [(0, 1), (2,)]


def test_every_value_of_a_compared_key_matters():
    bigger = workload(kind="Pod", required_terms=(NodeTerm((Requirement("cores", "Gt", ("2",)),)),))
    nodes = [node(f"n{cores}", labels={"cores": str(cores)}) for cores in (1, 3, 4)]

    assert _places(setup(nodes, bigger)) == [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    ("whole", "events", "names"),
    [
        pytest.param(workload(kind="Pod", node_name="n2"), (), (), id="nodeName"),
        pytest.param(BARE, (Cordon(name="c", nodes=NodeChoice(names=("n2",))),), (), id="event"),
        pytest.param(BARE, (), ("n2",), id="placement"),
        pytest.param(
            workload(kind="Pod", required_terms=(NodeTerm((), (Requirement("metadata.name", "In", ("n2",)),)),)),
            (),
            (),
            id="field term",
        ),
    ],
)
def test_a_named_node_is_a_place_of_its_own(whole, events, names):
    assert _places(setup([node("n1"), node("n2"), node("n3")], whole), events, (), names) == [(0, 2), (1,)]


def test_a_pod_that_runs_is_content_of_its_node_and_does_not_set_it_apart():
    assert _places(setup([node("n1"), node("n2"), node("n3")], workload(kind="Pod", bound_to="n2"))) == [(0, 1, 2)]


def test_equal_bare_pods_that_run_are_one_kind_unless_somebody_names_them():
    pods = [workload(kind="Pod", name=f"p{i}", bound_to=f"n{i}") for i in (1, 2, 3)]
    other = workload(kind="Pod", name="other", bound_to="n1", grace_s=5)
    whole = setup([node("n1"), node("n2"), node("n3")], *pods, other)

    assert alike(whole, ()) == (0, 0, 0, 3)
    assert alike(whole, {whole.workloads[1].ref}) == (0, 1, 0, 3)


def test_a_bare_pod_that_waits_is_a_kind_of_its_own():
    whole = setup([node("n1")], workload(kind="Pod", name="p1"), workload(kind="Pod", name="p2"))

    assert alike(whole, ()) == (0, 1)


def test_events_read_the_labels_of_their_selector():
    event = Cordon(name="c", nodes=NodeChoice(LabelSelector((Requirement("pool", "In", ("x",)),))))
    nodes = [node("n1", labels={"pool": "x"}), node("n2", labels={"pool": "y"}), node("n3", labels={"pool": "z"})]

    assert _places(setup(nodes, BARE), (event,)) == [(0,), (1, 2)]


def test_profiles_read_their_added_affinity_and_default_constraints():
    profile = SchedulerProfile(
        added_affinity=(NodeTerm((Requirement("pool", "Exists"),)),), default_spread=(spread("rack"),)
    )
    whole = Setup((node("n1"), node("n2")), (BARE,), profiles=(profile,))
    found = mentions(whole, (), (), ())

    assert (found.keys, found.topology) == ({"pool"}, {"rack"})


# -- topology ---------------------------------------------------------------------------------------


def test_zones_tell_apart_and_host_names_do_not():
    nodes = [node("a1", "a"), node("a2", "a"), node("b1", "b")]
    whole = setup(nodes, workload(spread=(spread(HOSTNAME), spread(ZONE))))

    assert unique_keys(whole, mentions(whole, (), (), ())) == {HOSTNAME}
    assert _places(whole) == [(0, 1), (2,)]


def test_workloads_without_constraints_read_host_and_zone_as_the_scheduler_does():
    whole = setup([node("a1", "a"), node("a2", "a"), node("b1", "b")], workload())

    assert mentions(whole, (), (), ()).topology == {HOSTNAME, ZONE}
    assert _places(whole) == [(0, 1), (2,)]


def test_a_zone_for_each_node_tells_no_nodes_apart():
    whole = setup([node("n1", "a"), node("n2", "b"), node("n3", "c")], workload(spread=(spread(ZONE),)))

    assert unique_keys(whole, mentions(whole, (), (), ())) == {ZONE}
    assert _places(whole) == [(0, 1, 2)]


def test_a_failure_reads_zone_and_region_and_an_intent_its_key():
    whole = setup([node("n1")], BARE)

    assert mentions(whole, (NodeFailure(name="f"),), (), ()).topology == {ZONE, REGION}
    assert mentions(whole, (), (Intent(key="maxSkew", name="s", topology_key="rack"),), ()).topology == {"rack"}


def test_equal_zones_are_interchangeable_and_unequal_ones_are_not():
    nodes = [node("a1", "a"), node("a2", "a"), node("b1", "b"), node("b2", "b"), node("c1", "c")]

    assert _domains(setup(nodes, workload(spread=(spread(ZONE),)))) == [[["a1"], ["b1"]]]


def test_zones_with_the_same_mix_of_nodes_match_place_by_place():
    nodes = [node("a1", "a"), node("a2", "a", cpu=1000), node("b1", "b", cpu=1000), node("b2", "b")]
    whole = setup([*nodes, node("c1", "c"), node("c2", "c")], workload(spread=(spread(ZONE),)))

    ((first, second),) = _domains(whole)
    assert sorted((first, second)) == [["a2", "a1"], ["b1", "b2"]]


def test_a_mentioned_zone_value_breaks_the_symmetry():
    nodes = [node("a1", "a"), node("a2", "a"), node("b1", "b"), node("b2", "b"), node("c1", "c"), node("c2", "c")]
    picky = workload(spread=(spread(ZONE),), node_selector=((ZONE, "a"),))

    assert _domains(setup(nodes, workload(spread=(spread(ZONE),)))) == [[["a1"], ["b1"], ["c1"]]]
    assert _domains(setup(nodes, picky)) == [[["b1"], ["c1"]]]


def test_two_shared_topology_keys_leave_no_symmetry():
    nodes = [node(f"{z}{i}", z, labels={"rack": str(i)}) for z in "ab" for i in (1, 2)]
    whole = setup(nodes, workload(spread=(spread(ZONE), spread("rack"))))

    assert _domains(whole) == []


def test_a_shared_key_that_no_node_has_does_not_count():
    nodes = [node(f"{z}{i}", z) for z in "ab" for i in (1, 2)]
    whole = setup(nodes, workload(spread=(spread(ZONE), spread("rack"))))

    assert _domains(whole) == [[["a1"], ["b1"]]]


def test_a_named_node_makes_its_zone_special():
    nodes = [node(f"{z}{i}", z) for z in "abc" for i in (1, 2)]
    whole = setup(nodes, workload(spread=(spread(ZONE),)), workload(kind="Pod", name="p", node_name="a1"))

    assert _domains(whole) == [[["b1"], ["c1"]]]
