"""From an intent to a monitor: what each `when` remembers, what each key becomes."""

import pytest

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.loops.control import Reads, Seen
from kubeproof.cluster.loops.tags import Tag, tag_of
from kubeproof.cluster.objects import ZONE
from kubeproof.intents.catalogue import catalogue, entry
from kubeproof.intents.declarations import WHENS, Amount, Intent
from kubeproof.intents.facts.counts import NothingPending, ReadyAtLeast, ReplicasAtLeast, ReplicasAtMost
from kubeproof.intents.facts.places import SkewAtMost
from kubeproof.intents.monitor import CYCLE, FRESH, IN_STABLE, NEVER, PERSISTENT, RECURRENT, make_monitor
from kubeproof.intents.views import Counts, Domain, Pods
from tests.unit.model.builders import WEB, layout, node, setup, workload


def _layout():
    whole = setup([node("n1", "a"), node("n2", "b")], workload(2), workload(namespace="lab"))
    return layout(whole)


def _monitor(key, when="always", target=WEB, **more):
    return make_monitor(Intent(key=key, name=key, target=target, when=when, **more), _layout())


def _ready(ready, *, desired=2, exists=1, unbound=0, active=None):
    return Seen((Counts(exists, desired, unbound),), (Pods(ready, ready if active is None else active), Pods(0, 0)))


def _run(monitor, *seen):
    memory, memories = FRESH, []
    for one in seen:
        memory = monitor.observe(memory, one)
        memories.append(memory)
    return memories


def test_always_counts_from_the_first_time_the_desired_state_was_reached():
    monitor = _monitor("minReady", count=Amount(2))

    assert monitor.kind == NEVER
    assert _run(monitor, _ready(0), _ready(1), _ready(2), _ready(1), _ready(2)) == [
        (0, 0, 0),
        (0, 0, 0),
        (1, 0, 1),
        (1, 1, 1),
        (1, 0, 1),
    ]


def test_an_upper_bound_counts_from_the_first_state():
    monitor = _monitor("maxReplicas", count=Amount(1))

    assert _run(monitor, _ready(0), _ready(0, active=2)) == [(1, 0, 1), (1, 1, 1)]


def test_an_upper_bound_says_nothing_about_a_workload_that_wants_no_pods():
    monitor = _monitor("maxReplicas", count=Amount(1))

    assert _run(monitor, _ready(0, desired=0), _ready(0, exists=0)) == [(1, 0, 0), (1, 0, 0)]


def test_skew_is_an_upper_bound_too():
    monitor = _monitor("maxSkew", topology_key=ZONE)

    assert _run(monitor, Seen((Counts(1, 2),), (Domain(2, 2, 0), Domain(0, 0, 0)))) == [(1, 1, 1)]


def test_always_once_true_counts_from_the_first_time_the_fact_was_true():
    monitor = _monitor("minReady", "alwaysOnceTrue", count=Amount(1))

    assert monitor.kind == NEVER
    assert _run(monitor, _ready(0), _ready(1), _ready(0)) == [(0, 0, 0), (1, 0, 1), (1, 1, 1)]


def test_eventually_is_bad_until_the_fact_was_true_once():
    monitor = _monitor("minReady", "eventually", count=Amount(1))

    assert monitor.kind == PERSISTENT
    assert monitor.tags == 0
    assert _run(monitor, _ready(0), _ready(1), _ready(0)) == [(0, 1, 1), (1, 0, 1), (1, 0, 1)]


@pytest.mark.parametrize(("when", "kind"), [("stable", IN_STABLE), ("eventuallyAlways", RECURRENT)])
def test_stable_and_eventually_always_remember_nothing(when, kind):
    monitor = _monitor("minReady", when, count=Amount(1))

    assert monitor.kind == kind
    assert _run(monitor, _ready(1), _ready(0), _ready(0, desired=0)) == [(0, 0, 1), (0, 1, 1), (0, 1, 0)]


@pytest.mark.parametrize("when", WHENS)
def test_a_workload_that_never_wants_pods_leaves_every_when_vacuous(when):
    monitor = _monitor("minReady", when, count=Amount(1))

    assert [matters for _, _, matters in _run(monitor, _ready(0, desired=0), _ready(0, exists=0))] == [0, 0]


@pytest.mark.parametrize(
    ("key", "fact"), [("minReady", ReadyAtLeast), ("minReplicas", ReplicasAtLeast), ("maxReplicas", ReplicasAtMost)]
)
def test_counting_intents_become_their_fact(key, fact):
    monitor = _monitor(key, count=Amount(3))

    assert type(monitor.fact) is fact
    assert (monitor.fact.workload, monitor.fact.amount) == (0, Amount(3))
    assert monitor.reads == Reads((0,), (0, 1))
    assert monitor.needs_relevance


def test_schedulable_asks_stable_states_and_no_pending_forever_asks_endless_runs():
    schedulable, waiting = _monitor("schedulable"), _monitor("noPendingForever", target="Deployment/lab/web")

    assert (type(schedulable.fact), schedulable.kind, schedulable.tags) == (NothingPending, IN_STABLE, 0)
    assert (type(waiting.fact), waiting.kind) == (NothingPending, PERSISTENT)
    assert waiting.fact.workload == 1
    assert waiting.tags == tag_of(1, Tag.BIND) == 16 << 32


def test_settles_is_broken_by_any_loop():
    monitor = _monitor("settles", target=None)

    assert (monitor.kind, monitor.fact, monitor.tags, monitor.needs_relevance) == (CYCLE, None, Tag.STEP, False)
    assert monitor.reads == Reads()
    assert monitor.observe(FRESH, Seen()) == FRESH


@pytest.mark.parametrize(
    ("of", "target", "tags"),
    [
        ("any", None, 1),
        ("replicas", None, 2),
        ("placement", None, 8),
        ("replicas", WEB, 2 << 16),
        ("placement", "Deployment/lab/web", 8 << 32),
        ("any", WEB, (2 | 4 | 8) << 16),
    ],
)
def test_no_oscillation_is_broken_by_loops_that_change_what_it_names(of, target, tags):
    monitor = _monitor("noOscillation", target=target, of=of)

    assert (monitor.kind, monitor.tags) == (CYCLE, tags)


def test_max_skew_counts_the_target_or_what_a_selector_finds():
    by_target = _monitor("maxSkew", topology_key=ZONE, skew=2)
    by_label = _monitor("maxSkew", topology_key=ZONE, target=None, selector=LabelSelector(), namespace="lab")
    near_target = _monitor("maxSkew", topology_key=ZONE, selector=LabelSelector())
    nobody = _monitor("maxSkew", topology_key=ZONE, target=None)

    assert type(by_target.fact) is SkewAtMost
    assert (by_target.fact.workloads, by_target.fact.skew, by_target.fact.affine is None) == ((0,), 2, False)
    assert (by_label.fact.workloads, by_label.fact.affine) == ((1,), None)
    assert near_target.fact.workloads == (0,)
    assert nobody.fact.workloads == ()


def test_the_catalogue_has_permanent_ids():
    assert [(one.id, one.key) for one in catalogue()] == [
        ("S001", "minReady"),
        ("S002", "minReplicas"),
        ("S003", "maxReplicas"),
        ("S004", "maxSkew"),
        ("S005", "schedulable"),
        ("S006", "maxNodes"),
        ("S007", "maxPodObjects"),
        ("S008", "spread"),
        ("S009", "notColocated"),
        ("S010", "onlyOn"),
        ("S011", "noEviction"),
        ("S012", "maxLoadSkew"),
        ("S013", "noTrafficToTerminating"),
        ("L001", "noPendingForever"),
        ("L002", "settles"),
        ("L003", "noOscillation"),
        ("L004", "noEvictionLoop"),
        ("L005", "noCreateFailLoop"),
        ("L006", "rolloutCompletes"),
        ("L007", "drainCompletes"),
        ("L008", "runsOnEveryNode"),
        ("L009", "completes"),
        ("T001", "ltl"),
    ]
    assert entry("maxSkew").id == "S004"


@pytest.mark.parametrize(
    ("by", "tags"),
    [
        ("any", tag_of(0, Tag.EVICT)),
        ("descheduler", tag_of(0, Tag.BY_DESCHEDULER)),
        ("kernelPanic", int(Tag.PANIC)),
    ],
)
@pytest.mark.parametrize("key", ["noEviction", "noEvictionLoop"])
def test_evictions_count_by_who_evicts(key, by, tags):
    intent = Intent(key=key, name="e", target=WEB, by=by)

    assert make_monitor(intent, _layout()).tags == tags
