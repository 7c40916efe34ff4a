"""Inputs cut into independent parts against the same inputs as wholes: verdicts, and traces woven into the whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.kinds import (
    CRON_JOB,
    DAEMON_SET,
    DEPLOYMENT,
    JOB,
    JOBS,
    POD,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    ROLLED_OUT,
    STATEFUL_SET,
)
from kubeproof.cluster.labels import LabelSelector, Requirement, Toleration, as_labels
from kubeproof.cluster.objects import (
    FORBID,
    HOSTNAME,
    Container,
    CronRules,
    JobRules,
    Node,
    PodAffinity,
    PodTemplate,
    PodTerm,
    Readiness,
    Settings,
    Setup,
    SpreadConstraint,
    StatefulRules,
    Strategy,
    Workload,
)
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, PodDisruptionBudget
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.cluster.usage import CPU
from kubeproof.errors import ScenarioError
from kubeproof.events.declarations import (
    STABLE,
    Completes,
    Cordon,
    Delete,
    Drain,
    Event,
    Maintenance,
    NodeFailure,
    PodCrash,
    Rollout,
    Scale,
)
from kubeproof.intents.declarations import ALWAYS, ALWAYS_ONCE_TRUE, EVENTUALLY, EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.intents.declarations import STABLE as WHEN_STABLE
from kubeproof.manifests.kinds.daemon_sets import daemon_tolerations
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from kubeproof.verify.options import SLICING, Effort, VerifyOptions
from kubeproof.verify.run import verify
from tests.property.mixed import Mix, mixed_inputs

PATIENT = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    deadline=None,
    database=None,
    phases=(Phase.generate,),
)
MOST_STATES = 4000
TOLERATIONS = (
    Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute", 300),
    Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute", 300),
)


OWN = ("own",)  # only on the team's nodes
WEB = LabelSelector((Requirement("app", "In", ("web",)),))
APART = PodAffinity((PodTerm("team", WEB, namespace_selector=LabelSelector()),))


def nodes_of(team: str, count: int) -> tuple[Node, ...]:
    """The team's own nodes."""
    names = [f"{team}{number}" for number in range(count)]
    return tuple(
        Node(name, as_labels({HOSTNAME: name, "team": team}), cpu_milli=2000, memory_bytes=2**33, pods=110)
        for name in names
    )


@st.composite
def workloads(draw: st.DrawFn, team: str) -> Workload:
    """A workload that mostly runs on the team's nodes only, and mostly looks at no other."""
    template = PodTemplate(
        labels=(("app", "web"),),
        containers=(Container("main", draw(st.sampled_from([500, 1000, 1500])), 2**20),),
        node_selector=draw(st.sampled_from([OWN, OWN, OWN, OWN, ()])) and (("team", team),),
        spread=draw(st.sampled_from([(), (), (SpreadConstraint("team", 1, True, WEB),)])),
        pod_anti_affinity=draw(st.sampled_from([PodAffinity(), PodAffinity(), PodAffinity(), APART])),
        tolerations=TOLERATIONS,
        readiness=draw(st.sampled_from([None, None, None, Readiness(2, 3)])),
        grace_s=draw(st.sampled_from([0, 30])),
        priority=draw(st.sampled_from([None, None, None, 5, 100])),
    )
    kind = draw(st.sampled_from([DEPLOYMENT, DEPLOYMENT, REPLICA_SET]))
    namespace = draw(st.sampled_from([team, team, team, "shared"]))
    return Workload(kind, namespace, team, template, draw(st.integers(1, 2)), WEB)


ALL_KINDS = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, JOB, CRON_JOB, REPLICATION_CONTROLLER, POD)


@st.composite
def owners(draw: st.DrawFn, team: str) -> Workload:
    """A workload of any kind, with one pod or two."""
    kind = draw(st.sampled_from(ALL_KINDS))
    plain = draw(workloads(team))
    template, one = replace(plain.template, grace_s=0), replace(plain, kind=kind)
    if kind == DAEMON_SET:
        tolerations = daemon_tolerations(template.tolerations)
        rolling = Strategy(True, 0, False, 1, False)
        return replace(one, template=replace(template, tolerations=tolerations), replicas=0, strategy=rolling)
    if kind == STATEFUL_SET:
        return replace(one, template=template, stateful=StatefulRules(parallel=draw(st.booleans())))
    if kind in JOBS:
        rules = JobRules(completions=draw(st.sampled_from([1, 2])), backoff_limit=draw(st.sampled_from([0, 1])))
        cron = CronRules((3600,), FORBID) if kind == CRON_JOB else None
        quick = replace(template, readiness=None)
        return replace(one, template=quick, replicas=1, replicas_given=False, job=rules, cron=cron)
    return replace(one, template=template, replicas=1 if kind == POD else plain.replicas)


@st.composite
def events(draw: st.DrawFn, name: str, declared: tuple[Workload, ...]) -> Event:
    """An event that mostly waits for a stable cluster."""
    target = draw(st.sampled_from(declared))
    after = draw(st.sampled_from([STABLE, STABLE, STABLE, None]))
    made: list[Event] = [
        Cordon(name=name, after=after, max=draw(st.integers(1, 2))),
        Drain(name=name, after=after, uncordon=draw(st.booleans())),
        Maintenance(name=name, after=after),
        NodeFailure(name=name, after=after, recovers=draw(st.booleans())),
        Delete(name=name, after=after, target=target.ref),
        PodCrash(name=name, after=after, target=target.ref),
    ]
    if target.kind not in (POD, DAEMON_SET, *JOBS):
        made.insert(0, Scale(name=name, after=after, target=target.ref, replicas=(draw(st.integers(0, 3)),)))
    if target.kind in ROLLED_OUT:
        made.append(Rollout(name=name, after=after, target=target.ref))
    return draw(st.sampled_from(made))


@st.composite
def intents(draw: st.DrawFn, name: str, declared: tuple[Workload, ...]) -> Intent:
    """A property of one team's workload, or of all."""
    target = draw(st.sampled_from(declared)).ref
    when = draw(st.sampled_from([ALWAYS, WHEN_STABLE, EVENTUALLY, EVENTUALLY_ALWAYS, ALWAYS_ONCE_TRUE]))
    key = draw(
        st.sampled_from(
            ["minReady", "minReady", "minReplicas", "maxReplicas", "schedulable", "settles", "noEviction",
             "noOscillation", "drainCompletes", "noPendingForever"]
        )
    )  # fmt: skip
    amount = draw(st.sampled_from([Amount(1), Amount(2), Amount(100, percent=True)]))
    if key in ("settles", "noOscillation", "noEviction"):
        return Intent(key=key, name=name, target=draw(st.sampled_from([None, target])))
    if key == "drainCompletes":
        return Intent(key=key, name=name)
    if key in ("schedulable", "noPendingForever"):
        return Intent(key=key, name=name, target=target)
    return Intent(key=key, name=name, target=target, when=when, count=amount)


@st.composite
def inputs(draw: st.DrawFn, owned: Callable[[str], st.SearchStrategy[Workload]] = workloads) -> Loaded:
    """Two or three teams with nodes of their own, most of which cannot influence each other."""
    teams = ("a", "b", "c")[: draw(st.integers(2, 3))]
    declared = tuple(draw(owned(team)) for team in teams)
    setup = Setup(
        nodes=tuple(node for team in teams for node in nodes_of(team, draw(st.integers(1, 2)))),
        workloads=declared,
        settings=Settings(startup_s=draw(st.sampled_from([(1, 1), (1, 5), (0, 0)]))),
        budgets=tuple(
            PodDisruptionBudget(
                w.namespace, "web", w.selector, max_unavailable=draw(st.sampled_from([None, (1, False)]))
            )
            for w in declared
            if draw(st.integers(0, 3)) == 0
        ),
        autoscalers=tuple(
            HorizontalPodAutoscaler(
                w.namespace, "web", w.ref, 1, draw(st.integers(1, 2)), (Metric("Resource", CPU, "Utilization", 50),)
            )
            for w in declared
            if draw(st.integers(0, 5)) == 0 and w.kind not in (POD, DAEMON_SET, *JOBS)
        ),
    )
    scenario = Scenario(
        start=Start(draw(st.sampled_from(["empty", "deployed", "deployed"]))),
        events=tuple(draw(events(f"event-{n}", declared)) for n in range(draw(st.integers(0, 2)))),
        intents=tuple(draw(intents(f"intent-{n}", declared)) for n in range(draw(st.integers(1, 3)))),
    )
    return Loaded(setup, scenario)


def compare_slices(loaded: Loaded, effort: Effort) -> bool:
    """Asserts equal verdicts with and without slicing; returns whether the input was cut."""
    whole = verify(loaded, VerifyOptions(without=(SLICING,), max_states=MOST_STATES))
    parts = verify(loaded, VerifyOptions(max_states=MOST_STATES, effort=effort))
    said, known = ([result.verdict for result in one.results] for one in (parts, whole))
    assert "ERROR" not in (*said, *known), (parts.results, whole.results)
    assert all("UNKNOWN" in (a, b) or a == b for a, b in zip(said, known, strict=True)), (said, known)
    assert [result.intent for result in parts.results] == [result.intent for result in whole.results]
    return any(key == "slices" for key, _ in parts.scope)


@st.composite
def inputs_of_any_kind(draw: st.DrawFn) -> Loaded:
    """Teams with workloads of any kind, some under a quota or a reconciler; Jobs that take a while or not."""
    loaded = draw(inputs(owners))
    setup, scenario = loaded.setup, loaded.scenario
    quotas = (ResourceQuota("a", "q", (("pods", draw(st.sampled_from([1, 2]))),)),)
    flags = replace(setup.settings, gitops_interval_s=draw(st.sampled_from([None, None, None, None, 180])))
    setup = replace(setup, quotas=quotas if draw(st.integers(0, 3)) == 0 else (), settings=flags)
    jobs = [w.ref for w in setup.workloads if w.kind in JOBS]
    runs = tuple(Completes(name=f"runs {ref}", target=ref, least_s=20, most_s=20) for ref in jobs)
    done = tuple(Intent(key="completes", name=f"done {ref}", target=ref) for ref in jobs[:1])
    return replace(
        loaded,
        setup=setup,
        scenario=replace(scenario, events=(*scenario.events, *runs), intents=(*scenario.intents, *done)),
    )


@st.composite
def inputs_under_one_selector(draw: st.DrawFn) -> Loaded:
    """An autoscaler in a namespace of two teams on nodes of their own: it may count pods of the other team, too."""
    kinds = st.sampled_from([DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, JOB, POD])
    aim = Metric("Resource", CPU, "Utilization", draw(st.sampled_from([25, 50, 80])))
    target = _own(draw, "a", DEPLOYMENT, "web", 500)
    other = _own(draw, "b", draw(kinds), draw(st.sampled_from(["web", "web", "b"])), draw(st.sampled_from([500, None])))
    scaler = HorizontalPodAutoscaler("shared", "web", target.ref, 1, 3, (aim,))
    setup = Setup((*nodes_of("a", 1), *nodes_of("b", 1)), (target, other), autoscalers=(scaler,))
    declared = (target, other)
    scenario = Scenario(
        start=Start("deployed"),
        events=(Completes(name="runs", target=other.ref, least_s=20, most_s=20),) if other.kind == JOB else (),
        intents=(
            Intent(key="minReplicas", name="grows", target=target.ref, when=EVENTUALLY_ALWAYS, count=Amount(2)),
            Intent(key="maxReplicas", name="stays", target=target.ref, when=ALWAYS, count=Amount(target.replicas)),
            draw(intents("other", declared)),
        ),
    )
    return Loaded(setup, scenario)


def _own(draw: st.DrawFn, team: str, kind: str, app: str, cpu_milli: int | None) -> Workload:
    labels = as_labels({"app": app, "team": team})
    nobody = LabelSelector((Requirement("app", "In", ("nobody",)),))
    spread = (SpreadConstraint(HOSTNAME, 1, False, nobody),)  # in place of defaults, by which selectors relate, too
    template = PodTemplate(
        labels, (Container("main", cpu_milli, 2**20),), node_selector=(("team", team),), grace_s=0, spread=spread
    )
    if kind == DAEMON_SET:
        template = replace(template, tolerations=daemon_tolerations(()))
    selector = WEB if team == "a" else LabelSelector((Requirement("team", "In", (team,)),))
    size = draw(st.integers(1, 2)) if kind in (DEPLOYMENT, REPLICA_SET, STATEFUL_SET) else 1
    return Workload(kind, "shared", team, template, size, selector, strategy=Strategy(True, 0, False, 1, False))


@st.composite
def mixed_teams(draw: st.DrawFn) -> Loaded:
    """Workloads of several kinds, each of which only runs on nodes of its own."""
    loaded = draw(mixed_inputs(APART_IN_PARTS))
    setup = loaded.setup
    owners = [setup.workloads[number % len(setup.workloads)].name for number in range(len(setup.nodes))]
    nodes = tuple(
        replace(one, labels=as_labels({**dict(one.labels), "team": owner}))
        for one, owner in zip(setup.nodes, owners, strict=True)
    )
    workloads = tuple(
        replace(w, template=replace(w.template, node_selector=(*w.template.node_selector, ("team", w.name))))
        for w in setup.workloads
    )
    return replace(loaded, setup=replace(setup, nodes=nodes, workloads=workloads))


APART_IN_PARTS = Mix(workloads=(2, 3), nodes=(3, 3), foreign=False, verticals=False, claims=False, most_events=1)
WOVEN = Effort(max_repeated=1)  # no search of the whole: every trace of a part is woven, then replayed


def check_inputs(
    examples: int, number: int, strategy: st.SearchStrategy[Loaded] | None = None, effort: Effort = Effort()
) -> int:
    """Compares so many inputs; returns how many of them were cut."""
    found: list[bool] = []

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(inputs() if strategy is None else strategy)
    def check(loaded: Loaded) -> None:
        try:
            found.append(compare_slices(loaded, effort))
        except ScenarioError:  # no stable start: said of the parts and of the whole
            found.append(False)

    check()
    return sum(found)


def test_parts_and_wholes_give_the_same_verdicts() -> None:
    assert check_inputs(60, 1) > 10


def test_the_violations_of_parts_are_runs_of_the_whole() -> None:
    assert check_inputs(60, 2, effort=WOVEN) > 5


def test_parts_of_any_kind_and_wholes_give_the_same_verdicts() -> None:
    assert check_inputs(60, 3, inputs_of_any_kind()) > 5


def test_parts_keep_together_what_one_selector_matches() -> None:
    assert 0 < check_inputs(40, 4, inputs_under_one_selector()) < 40


def test_parts_of_several_kinds_with_whatever_stands_beside_them_and_wholes_give_the_same_verdicts() -> None:
    assert check_inputs(30, 4, mixed_teams(), WOVEN) > 3


@pytest.mark.slow
@pytest.mark.parametrize("number", range(30, 40))
def test_parts_of_several_kinds_and_wholes_give_the_same_verdicts_on_many_more(number: int) -> None:
    assert check_inputs(300, number, mixed_teams(), WOVEN if number % 2 else Effort()) > 20


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20, 30))
def test_parts_of_any_kind_and_wholes_give_the_same_verdicts_on_many_more(number: int) -> None:
    assert check_inputs(300, number, inputs_of_any_kind()) > 20


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 20))
def test_parts_and_wholes_give_the_same_verdicts_on_many_more(number: int) -> None:
    assert check_inputs(300, number, effort=WOVEN if number % 2 else Effort()) > 20
