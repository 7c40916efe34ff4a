"""Numbers that follow the size, against the input at that size."""

import pytest

from kubeproof.cases.library import load_case
from kubeproof.manifests.load import load, load_texts
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.any_size.family import find_family
from kubeproof.verify.proofs.any_size.linear import Box, Linear, at_most, value_at
from tests.unit.verify.scaling.inputs import grows

EVENTS_AND_BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 7
---"""
SIZES = [(1, 1), (1, 3), (2, 1), (2, 5), (3, 2), (4, 9)]


def with_scaling():
    loaded = grows(objects=EVENTS_AND_BUDGET, intent="minReady: {target: Deployment/shop/web, count: 2}")
    ((name, text),) = loaded.texts
    events = "  events:\n  - scale: {target: Deployment/shop/web, replicas: [1, 5]}\n  intents:"
    return load_texts([(name, text.replace("  intents:", events))])


INPUTS = {
    "events and a budget": with_scaling,
    **{name: lambda name=name: load(load_case(name, "safe")) for name in ("c1", "c2", "c3", "c6")},
}


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize(("each", "pods"), SIZES)
def test_every_number_is_that_of_the_input_at_the_size(name, each, pods):
    family = find_family(INPUTS[name](), VerifyOptions())
    nodes = (each,) * len(family.kinds)
    sized = family.at(pods, nodes)

    def value(number):
        return value_at(number, pods, nodes)

    assert [tuple(map(value, family.bounds_of(one))) for one in family.loaded.setup.autoscalers] == [
        (one.min_replicas, one.max_replicas) for one in sized.setup.autoscalers
    ]
    assert [set(map(value, family.sizes_of(one))) for one in family.loaded.scenario.events] == [
        set(one.sizes) for one in sized.scenario.events
    ]
    counted = [one for one in family.loaded.scenario.intents if one.count is not None]
    told = {one.name: one.count.number for one in sized.scenario.intents if one.count is not None}
    assert {one.name: value(family.count_of(one.name)) for one in counted} == told
    kept = [one for one in sized.setup.budgets if one.min_available is not None]
    assert [value(family.min_available_of(one)) for one in kept] == [one.min_available[0] for one in kept]


def test_a_percentage_follows_no_line():
    family = find_family(grows(intent='minReady: {target: Deployment/shop/web, count: "50%"}'), VerifyOptions())

    assert family.count_of("minReady Deployment/shop/web") is None


P, N, ONE = Linear(1, (0,), 0), Linear(0, (1,), 0), Linear(0, (0,), 1)
BOX = Box(1, None, (1,))


def test_one_number_stays_below_another_by_arithmetic_or_where_sizes_keep_to_a_line():
    twice, seven, eight = Linear(2, (0,), 0), Linear(0, (7,), 0), Linear(0, (8,), 0)

    assert at_most(BOX, ((P,),), ((twice,),)) == ()
    assert at_most(BOX, ((twice, seven),), ((eight,),)) == ()
    assert at_most(BOX, ((P,), (twice, seven)), ((eight,),)) == (Linear(-1, (8,), 0),)
    assert at_most(BOX, ((twice,),), ((Linear(2, (0,), -1),),)) is None
    assert at_most(BOX, ((twice, seven),), ((Linear(2, (0,), -1), Linear(0, (7,), -1)),)) is None
    assert at_most(Box(1, 8, (1,)), ((P,),), ((eight,),)) == ()
