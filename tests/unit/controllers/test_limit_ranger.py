from __future__ import annotations

import pytest

from kubeproof.cluster.objects import Container, PodTemplate
from kubeproof.cluster.steering.quotas import LimitItem, LimitRange
from kubeproof.controllers.admission.limit_ranger import pod_sums, refusals, with_defaults


def limits(**fields: object) -> LimitRange:
    return LimitRange("shop", "bounds", (LimitItem(**{"type": "Container", **fields}),))  # type: ignore[arg-type]


def pod(*containers: Container, **fields: object) -> PodTemplate:
    return PodTemplate(containers=containers, **fields)  # type: ignore[arg-type]


def reasons(template: PodTemplate, *ranges: LimitRange) -> tuple[str, ...]:
    return refusals(template, ranges, (1, 37))


def test_gaps_are_filled_and_what_is_given_stays() -> None:
    defaults = limits(default_limits=(("cpu", 500), ("memory", 100)), default_requests=(("cpu", 100), ("memory", 50)))

    (bare, given) = with_defaults(
        pod(Container("a"), Container("b", 200, limits=(("cpu", 300),))), (defaults,)
    ).containers

    assert bare == Container("a", 100, 50, limits=(("cpu", 500), ("memory", 100)))
    assert given == Container("b", 200, 50, limits=(("cpu", 300), ("memory", 100)))


def test_of_two_limit_ranges_the_first_fills_a_gap() -> None:
    first, second = limits(default_requests=(("cpu", 100),)), limits(default_requests=(("cpu", 200), ("memory", 9)))

    assert with_defaults(pod(Container("a")), (first, second)).containers == (Container("a", 100, 9),)


def test_a_default_limit_below_the_request_makes_every_pod_invalid() -> None:
    template = with_defaults(pod(Container("a", 1000)), (limits(default_limits=(("cpu", 500),)),))

    assert reasons(template) == ("container a requests more cpu than its limit allows",)


@pytest.mark.parametrize(
    ("container", "refused"),
    [
        (Container("a", 100, limits=(("cpu", 400),)), False),
        (Container("a", 99, limits=(("cpu", 400),)), True),
        (Container("a", 100, limits=(("cpu", 401),)), True),
        (Container("a", 100), True),
        (Container("a", limits=(("cpu", 400),)), True),
    ],
)
def test_bounds_hold_for_requests_and_limits_and_want_both(container: Container, refused: bool) -> None:
    assert bool(reasons(pod(container), limits(least=(("cpu", 100),), most=(("cpu", 400),)))) is refused


@pytest.mark.parametrize(("limit", "refused"), [(250, False), (251, True)])
def test_the_limit_is_at_most_so_many_times_the_request(limit: int, refused: bool) -> None:
    container = Container("a", 100, limits=(("cpu", limit),))

    assert bool(reasons(pod(container), limits(most_ratio_milli=(("cpu", 2500),)))) is refused


def test_a_reason_names_its_limit_range_and_comes_once() -> None:
    two = pod(Container("a"), Container("b"))

    assert reasons(two, limits(least=(("cpu", 1),))) == (
        "minimum cpu usage per Container is not met (LimitRange bounds)",
    )


def test_a_pod_is_the_sum_of_its_containers_or_its_largest_init_container() -> None:
    template = pod(Container("a", 100), Container("b", 200), init_containers=(Container("i", 250),))

    assert pod_sums(template, (1, 37)) == ({"cpu": 300}, {})
    assert bool(reasons(template, limits(type="Pod", most=(("cpu", 1000),))))  # no limit is stated


def test_before_1_28_a_sum_needs_every_container() -> None:
    template = pod(Container("a", 100), Container("b"), init_containers=(Container("i", None, 50),))

    assert pod_sums(template, (1, 27)) == ({"memory": 50}, {})
    assert pod_sums(template, (1, 28)) == ({"cpu": 100, "memory": 50}, {})


def test_extended_resources_need_equal_requests_and_limits() -> None:
    asking = Container("a", others=(("example.com/gpu", 1),))

    assert reasons(pod(asking)) == ("container a needs a limit equal to its request of example.com/gpu",)
