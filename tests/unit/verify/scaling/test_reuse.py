"""What setups of a sweep share in a worker does not change any answer."""

from dataclasses import replace

import pytest

from kubeproof.cases.library import load_case
from kubeproof.cluster.scale import Limit
from kubeproof.manifests.load import load
from kubeproof.model.loops import shared
from kubeproof.model.plan import make_plan
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.scaling.plan import SweepOptions, plan_sweep
from kubeproof.verify.scaling.result import SizeAnswer
from kubeproof.verify.scaling.sweep import verify_size


def without_times(answer: SizeAnswer) -> SizeAnswer:
    return replace(answer, statistics=replace(answer.statistics, elapsed_s=0.0))


@pytest.mark.parametrize(
    ("case", "variant"),
    [
        ("c1", "safe"),
        ("c2", "safe"),
        ("c3", "violating"),
        ("c5", "violating"),
        ("c6", "violating-descheduler"),
        ("c8", "violating"),
        ("c8", "safe"),
    ],
)
def test_every_size_has_the_same_answer_with_and_without_reuse(case, variant):
    plan = plan_sweep(load(load_case(case, variant)), VerifyOptions(), SweepOptions(limit=Limit(2, 2)))
    work = (plan.loaded, plan.scale, plan.options)

    together = [without_times(verify_size(*work, size)) for size in plan.sizes]

    alone = []
    for size in plan.sizes:
        shared.forget()
        alone.append(without_times(verify_size(*work, size)))
    assert together == alone


def test_setups_that_differ_in_replicas_share_their_scheduler():
    setup = load(load_case("c8")).setup
    more = replace(setup, workloads=tuple(replace(workload, replicas=9) for workload in setup.workloads))

    first, second = make_plan(setup), make_plan(more)

    assert [name for name in ("scheduler web", "descheduler") if _loop(first, name) is _loop(second, name)] == [
        "scheduler web",
        "descheduler",
    ]


def test_setups_that_differ_in_nodes_do_not():
    setup = load(load_case("c8")).setup
    other = replace(setup, nodes=setup.nodes[:2])

    assert _loop(make_plan(setup), "scheduler web") is not _loop(make_plan(other), "scheduler web")


def test_shared_loops_never_see_what_tells_sizes_apart():
    setup = load(load_case("c3")).setup

    scheduler = _loop(make_plan(setup), "scheduler web")

    assert {workload.replicas for workload in scheduler.layout.setup.workloads} == {0}
    assert scheduler.layout.setup.autoscalers == ()


def _loop(plan, name):
    return next(controller for controller in plan.controllers if controller.name == name)
