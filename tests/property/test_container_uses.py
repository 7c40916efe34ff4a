"""Usage per container against usage per pod, where both must be the same."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.objects import Container, PodTemplate
from kubeproof.cluster.steering.policies import Metric
from kubeproof.cluster.usage import CPU, Level, Pod, UsageRule, pod_usage, uses
from kubeproof.events.declarations import UsageChange, UsagePattern
from tests.differential.comparison import counts, search, verdicts_of
from tests.property.loops import autoscale_cases
from tests.property.strategies import Case

LEVELS = st.builds(Level, st.integers(0, 300)) | st.builds(Level, st.none(), st.integers(0, 900))
REQUESTS = st.lists(st.none() | st.integers(0, 500), min_size=1, max_size=4)


@given(REQUESTS, st.data())
def test_a_pod_uses_what_its_containers_use_up_to_what_division_leaves(requests, data) -> None:
    containers = tuple(Container(f"c{number}", request) for number, request in enumerate(requests))
    named = data.draw(st.lists(st.sampled_from(["", *(one.name for one in containers)]), unique=True, max_size=3))
    names = [""] if "" in named else named
    rules = tuple(UsageRule(CPU, 0, (data.draw(LEVELS),), 0, container=name) for name in names)

    apart, together = uses(rules, Pod(containers), CPU, {0: (0,)}), pod_usage(rules, Pod(containers), CPU, {0: (0,)})

    assert together - len(containers) < sum(apart) <= together
    assert names == [""] or not names or sum(apart) == together
    for name, rule in zip(names, rules, strict=True):
        for container, used in zip(containers, apart, strict=True):
            assert name != container.name or used == rule.levels[0].of(container.cpu_milli or 0)


def _of_main(case: Case) -> Case:
    """The case with all that is said of pods said of their only container."""
    events = tuple(
        replace(event, container="main") if isinstance(event, UsageChange | UsagePattern) else event
        for event in case.events
    )
    scalers = tuple(replace(one, metrics=tuple(map(_metric_of_main, one.metrics))) for one in case.setup.autoscalers)
    return replace(case, events=events, setup=replace(case.setup, autoscalers=scalers))


def _metric_of_main(metric: Metric) -> Metric:
    return replace(metric, type="ContainerResource", container="main")


@seed(7)
@settings(
    max_examples=40,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(autoscale_cases())
def test_the_only_container_of_a_pod_is_the_pod(case: Case) -> None:
    whole, own = search(case.plan(), max_states=800), search(_of_main(case).plan(), max_states=800)

    assert verdicts_of(own) == verdicts_of(whole)
    assert counts(own) == counts(whole)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 300))
def test_a_container_nobody_asks_for_changes_no_autoscaler_of_another(percent: int) -> None:
    first = Pod(PodTemplate(containers=(Container("main", 100), Container("proxy", 100))).containers)
    rules = (UsageRule(CPU, 0, (Level(percent),), 0, container="proxy"),)

    assert uses(rules, first, CPU, {0: (0,)}) == (50, percent)
