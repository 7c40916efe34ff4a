"""What pods and their containers use, by what events say of either."""

from __future__ import annotations

import pytest

from kubeproof.cluster.objects import Container, PodTemplate
from kubeproof.cluster.usage import (
    CPU,
    MEMORY,
    Level,
    Pod,
    UsageRule,
    containers_of,
    find_shared_rule,
    pod_usage,
    share_of,
    uses,
)

MIB = 2**20
SHOP, PROXY = Container("shop", 300, 64 * MIB), Container("proxy", 100, None)
POD = Pod((SHOP, PROXY))


def about(container: str, *levels: Level, memory: int | None = 0, **more) -> UsageRule:
    return UsageRule(CPU, 0, levels, memory, container=container, **more)


def test_of_what_nobody_speaks_every_container_uses_half_of_its_request():
    assert uses((), POD, CPU, {}) == (150, 50)
    assert uses((), POD, MEMORY, {}) == (32 * MIB * 1000, 0)


def test_an_event_about_one_container_leaves_the_others_at_half():
    rules = (about("proxy", Level(90), Level(None, 30)),)

    assert uses(rules, POD, CPU, {0: (0, -1)}) == (150, 90)
    assert uses(rules, POD, CPU, {0: (1, -1)}) == (150, 30)
    assert pod_usage(rules, POD, CPU, {0: (0, -1)}) == 240


def test_events_about_different_containers_move_apart():
    rules = (about("proxy", Level(10), Level(90)), about("shop", Level(20), Level(80), memory=3))

    assert uses(rules, POD, CPU, {0: (1,), 3: (0,)}) == (60, 90)
    assert uses(rules, POD, CPU, {0: (0,), 3: (1,)}) == (240, 10)


def test_one_container_may_follow_its_age_beside_another_that_changes():
    rules = (about("shop", Level(200), Level(10), memory=None, until_s=(30,)), about("proxy", Level(40)))

    assert uses(rules, POD._replace(age_s=29), CPU, {0: (0,)}) == (600, 40)
    assert uses(rules, POD._replace(age_s=30), CPU, {0: (0,)}) == (30, 40)


def test_a_percentage_of_the_pod_holds_for_every_container():
    assert uses((about("", Level(55)),), POD, CPU, {0: (0,)}) == (165, 55)


@pytest.mark.parametrize(
    ("containers", "parts"), [((SHOP, PROXY), (150, 50)), ((Container("a"), Container("b")), (100, 100))]
)
def test_an_amount_of_the_pod_is_divided_by_requests_or_equally_without_any(containers, parts):
    rules = (about("", Level(None, 200)),)

    assert uses(rules, Pod(containers), CPU, {0: (0,)}) == parts
    assert pod_usage(rules, Pod(containers), CPU, {0: (0,)}) == 200


def test_a_shared_load_is_divided_among_pods_and_then_containers():
    rules = (about("", Level(None, 1200), is_shared=True),)
    load = find_shared_rule(rules, {0: (0,)})

    assert load is not None
    assert uses(rules, POD, CPU, {0: (0,)}, share_of(load, 0, {0: (0,)}, 3)) == (300, 100)


def test_without_traffic_the_pod_is_idle_whatever_events_say_of_its_containers():
    rules = (about("proxy", Level(90), cut=1, idle=Level(None, 40)),)

    assert uses(rules, POD, CPU, {0: (0,), 1: (0,)}) == (150, 90)
    assert uses(rules, POD, CPU, {0: (0,), 1: (1,)}) == (30, 10)


def test_what_pods_of_other_sizes_use_is_divided_as_in_those_of_the_manifest():
    rules = (about("", Level(None, 400), parts=(("shop", 300), ("proxy", 100)), cut=1, idle=Level(None, 40)),)
    resized = Pod((Container("shop", 50), Container("proxy", 950)))

    assert uses(rules, resized, CPU, {0: (0,), 1: (0,)}) == (300, 100)
    assert uses(rules, resized, CPU, {0: (0,), 1: (1,)}) == (30, 10)


def test_sidecars_run_and_use_where_the_version_has_them():
    sidecar = Container("mesh", 100, restartable_init=True)
    template = PodTemplate(containers=(SHOP,), init_containers=(Container("migrate", 900), sidecar))

    assert containers_of(template, (1, 29)) == (SHOP, sidecar)
    assert containers_of(template, (1, 28)) == (SHOP,)
