"""What a verdict is said not to depend on may go, or say anything else: the verdict stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.objects import Strategy, Workload
from kubeproof.cluster.services import Service
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, PodDisruptionBudget
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.cluster.volumes import StorageClass, Volume
from kubeproof.errors import ScenarioError
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.dependence import EVERY_NODE, Apart
from kubeproof.verify.findings.depended import BY_SLICES, DECIDED, EVENT
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult
from kubeproof.verify.run import verify
from tests.differential.test_slicing import mixed_teams
from tests.property.mixed import Mix, mixed_inputs
from tests.property.strategies import choice, selector_for

OPTIONS = VerifyOptions(max_states=500)
SMALL = Mix(workloads=(1, 2), nodes=(1, 2), most_pods=3, most_events=1)
EXAMPLES, CHUNKS, MANY = 25, 4, 400
KINDS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "HorizontalPodAutoscaler": ("autoscalers", lambda one: f"{one.namespace}/{one.name}"),
    "VerticalPodAutoscaler": ("verticals", lambda one: f"{one.namespace}/{one.name}"),
    "PodDisruptionBudget": ("budgets", lambda one: f"{one.namespace}/{one.name}"),
    "ResourceQuota": ("quotas", lambda one: f"{one.namespace}/{one.name}"),
    "Service": ("services", lambda one: f"{one.namespace}/{one.name}"),
    "PersistentVolumeClaim": ("claims", lambda one: one.key),
    "PersistentVolume": ("volumes", lambda one: one.name),
    "StorageClass": ("storage_classes", lambda one: one.name),
}


@st.composite
def furnished(draw: st.DrawFn) -> Loaded:
    """A mixed input, often in parts, with objects and fields that mean nothing to some of it."""
    loaded = draw(st.one_of(mixed_teams(), mixed_inputs(SMALL)))
    setup = loaded.setup
    nodes = tuple(
        replace(one, labels=as_labels({**dict(one.labels), "rack": draw(choice("r1", "r2"))}), others=(("gpu", 1),))
        for one in setup.nodes
    )
    last = setup.workloads[-1]
    foreign = (Service("shop", "mail", (("app", "mail"),)), Service("shop", "in front", (("app", last.name),)))
    metric = Metric("Resource", "cpu", "Utilization", 50)
    lost = HorizontalPodAutoscaler("shop", "lost", "Deployment/shop/lost", 1, 2, (metric,))
    budget = PodDisruptionBudget("shop", "kept", selector_for(last.name), (1, False), None)
    more = replace(
        setup,
        nodes=nodes,
        services=draw(choice((), foreign)),
        autoscalers=(*setup.autoscalers, *draw(choice((), (lost,)))),
        budgets=setup.budgets or draw(choice((), (budget,))),
        quotas=(*setup.quotas, *draw(choice((), (ResourceQuota("lab", "tight", (("pods", 0),)),)))),
        volumes=setup.volumes or draw(choice((), (Volume("spare", 1, "slow", ("ReadWriteOnce",)),))),
        storage_classes=setup.storage_classes or draw(choice((), (StorageClass("slow", "ebs.csi.aws.com"),))),
    )
    return replace(loaded, setup=more)


# -- changes ------------------------------------------------------------------------------------------


def without(loaded: Loaded, one: Apart) -> Loaded:
    """The input without a whole object; without a workload also without what names it."""
    setup, scenario = loaded.setup, loaded.scenario
    if one.object.startswith(EVENT):
        events = tuple(event for event in scenario.events if event.name != one.object.removeprefix(EVENT))
        return replace(loaded, scenario=replace(scenario, events=events))
    kind, _, name = one.object.partition("/")
    if kind in KINDS:
        field, name_of = KINDS[kind]
        kept = tuple(each for each in getattr(setup, field) if name_of(each) != name)
        assert len(kept) < len(getattr(setup, field)), one
        changed: dict[str, Any] = {field: kept}
        return replace(loaded, setup=replace(setup, **changed))
    workloads = tuple(each for each in setup.workloads if each.ref != one.object)
    assert len(workloads) == len(setup.workloads) - 1, one
    placement = tuple(each for each in scenario.start.placement if each[0] != one.object)
    events = tuple(event for event in scenario.events if event.subject != one.object)
    autoscalers = tuple(each for each in setup.autoscalers if each.target != one.object)
    start = replace(scenario.start, placement=placement)
    return replace(
        loaded,
        setup=replace(setup, workloads=workloads, autoscalers=autoscalers),
        scenario=replace(scenario, start=start, events=events),
    )


def altered(draw: st.DrawFn, loaded: Loaded, one: Apart) -> Loaded:
    """The input with something else in a field."""
    setup = loaded.setup
    what, _, name = one.field.partition(" ")
    if one.object == EVERY_NODE:
        nodes = tuple(draw(_another(what, name, node)) for node in setup.nodes)
        return replace(loaded, setup=replace(setup, nodes=nodes))
    workloads = tuple(draw(_rewritten(what, w)) if w.ref == one.object else w for w in setup.workloads)
    return replace(loaded, setup=replace(setup, workloads=workloads))


@st.composite
def _another(draw: st.DrawFn, what: str, name: str, node: Any) -> Any:
    if what == "label":
        labels = {key: value for key, value in node.labels if key != name}
        value = draw(choice("p", "q", None))
        return replace(node, labels=as_labels(labels if value is None else labels | {name: value}))
    others = tuple(pair for pair in node.others if pair[0] != name)
    return replace(node, others=(*others, (name, draw(choice(0, 1, 8)))))


@st.composite
def _rewritten(draw: st.DrawFn, what: str, one: Workload) -> Workload:
    if what == "spec.strategy":
        return replace(one, strategy=draw(choice(Strategy(rolling=False), Strategy(max_surge=0, max_unavailable=100))))
    image = draw(choice("web:2", "elsewhere/db:3"))
    containers = tuple(replace(container, image=image) for container in one.template.containers)
    return replace(one, template=replace(one.template, containers=containers))


# -- comparing ----------------------------------------------------------------------------------------


def results_of(loaded: Loaded) -> dict[str, IntentResult]:
    """The results by intent."""
    return {one.intent: one for one in verify(loaded, OPTIONS).results}


def compare(draw: st.DrawFn, loaded: Loaded) -> Counter[str]:
    """Takes away, or changes, something that one verdict does not depend on, and all of that at once."""
    found: Counter[str] = Counter()
    try:
        before = results_of(loaded)
    except ScenarioError:  # no stable start
        return found
    decided = [one for one in before.values() if one.verdict in DECIDED]
    if not decided:
        return found
    one = draw(choice(*decided))
    assert one.depends_on is not None
    aside = one.depends_on.not_on
    if one.strategy is not None and one.strategy.name == BY_SLICES:
        found["in parts"] += 1
    if not aside:
        return found
    (intent,) = (each for each in loaded.scenario.intents if each.name == one.intent)
    single = draw(choice(*aside))
    is_field = bool(single.field)
    changed = altered(draw, loaded, single) if is_field else without(loaded, single)
    found[single.field.partition(" ")[0] or single.object.partition("/")[0]] += 1
    found[_compared(one, changed, intent, is_alike=is_field)] += 1
    whole = loaded
    for each in aside:
        whole = altered(draw, whole, each) if each.field else whole
    for each in aside:
        if not each.field and each.object in _names(whole):  # it may have gone with its target
            whole = without(whole, each)
    found[_compared(one, whole, intent, is_alike=False)] += 1
    return found


def _names(loaded: Loaded) -> set[str]:
    setup = loaded.setup
    events = {f"{EVENT}{event.name}" for event in loaded.scenario.events}
    others = {f"{kind}/{of(one)}" for kind, (field, of) in KINDS.items() for one in getattr(setup, field)}
    return events | others | {one.ref for one in setup.workloads}


def _compared(before: IntentResult, loaded: Loaded, intent: Any, *, is_alike: bool) -> str:
    """The verdict of the same intent; with `is_alike` its search is the same, too."""
    kept = loaded.scenario.intents if is_alike else (intent,)
    after = results_of(replace(loaded, scenario=replace(loaded.scenario, intents=kept)))[before.intent]
    assert after.verdict in (before.verdict, Verdict.UNKNOWN), (before.verdict, after.verdict, after.detail)
    if is_alike:
        told = (after.verdict, after.states, after.transitions, after.strategy)
        assert told == (before.verdict, before.states, before.transitions, before.strategy)
    return "same" if after.verdict == before.verdict else "open"


def compare_many(number: int, examples: int) -> Counter[str]:
    """Compares so many random inputs."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(furnished(), st.data())
    def check(loaded: Loaded, data: st.DataObject) -> None:
        found.update(compare(data.draw, loaded))

    check()
    return found


@pytest.mark.parametrize("number", range(CHUNKS))
def test_what_a_verdict_does_not_depend_on_may_go_or_change(number: int) -> None:
    found = compare_many(number, EXAMPLES)

    assert found["same"] > EXAMPLES
    assert found["open"] < found["same"] // 10


@pytest.mark.slow
@pytest.mark.parametrize("number", range(100, 100 + CHUNKS))
def test_what_a_verdict_does_not_depend_on_may_go_or_change_many_times(number: int) -> None:
    assert compare_many(number, MANY)["in parts"] > 0
