from __future__ import annotations

import pytest

from kubeproof.cluster.steering.policies import Metric
from kubeproof.controllers.hpa.behavior import DEFAULT_DOWN, DEFAULT_UP, Behavior, behavior_of, tolerance_of
from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.controllers.hpa.decide import ScaleDecision
from kubeproof.controllers.hpa.history import FRESH, later
from kubeproof.controllers.hpa.settings import AutoscalerSettings
from kubeproof.errors import InternalError
from tests.oracles.hpa_sync import decide
from tests.unit.controllers.hpa.builders import CPU_50, autoscaler, memory, missing, ready, rules, unready

SEEDED = memory((), ())
MEMORY = Metric("Resource", "memory", "AverageValue", 512 * 2**20 * 1000)
SIDECAR = Metric("ContainerResource", "cpu", "Utilization", 50, container="app")
QUEUE = Metric("Pods", "queue", "AverageValue", 2500)


def test_a_scale_up_reads_with_its_numbers() -> None:
    assert decide(autoscaler(), 4, ((ready(4, 80),),), SEEDED) == ScaleDecision(
        7, memory(((0, 7),), ()), ("cpu 80 % of request, target 50 %: ceil(1.6 x 4) = 7",)
    )


def test_example_8_is_limited_to_double() -> None:
    outcome = decide(autoscaler(1, 20), 4, ((ready(4, 400),),), SEEDED)

    assert outcome.replicas == 8
    assert outcome.reasons == (
        "cpu 400 % of request, target 50 %: ceil(8 x 4) = 32",
        "limited to 8: twice the current 4, or 4, in one sync",
    )


def test_the_largest_metric_decides() -> None:
    outcome = decide(autoscaler(1, 10, CPU_50, MEMORY), 2, ((ready(2, 20),), (ready(2, 768 * 2**20 * 1000),)), SEEDED)

    assert outcome.replicas == 3
    assert outcome.reasons == (
        "cpu 20 % of request, target 50 %: ceil(0.4 x 2) = 1",
        "memory average 768Mi, target 512Mi: ceil(1.5 x 2) = 3",
    )


@pytest.mark.parametrize(
    ("metric", "samples", "words"),
    [
        (CPU_50, (ready(4, 52),), "cpu 52 % of request, target 50 %: ratio 1.04 is within tolerance, stays at 4"),
        (
            CPU_50,
            (ready(3, 100), unready(1)),
            "cpu 100 % of request, target 50 %; with 1 pod unready as idle 75 % of request: ceil(1.5 x 4) = 6",
        ),
        (
            CPU_50,
            (ready(2, 10), missing(2)),
            "cpu 10 % of request, target 50 %; with 2 pods without metric at full request 55 % of request: "
            "ratio 1.1 is within tolerance, stays at 4",
        ),
        (
            CPU_50,
            (ready(2, 60), missing(1), unready(1)),
            "cpu 60 % of request, target 50 %; with 1 pod without metric as idle and 1 pod unready as idle "
            "30 % of request: ratio 0.6 would turn the direction, stays at 4",
        ),
        (
            CPU_50,
            (ready(1, 400), missing(1)),
            "cpu 400 % of request, target 50 %; with 1 pod without metric as idle 200 % of request: ceil(4 x 2) = 8",
        ),
        (
            CPU_50,
            (ready(1, 150), missing(1)),
            "cpu 150 % of request, target 50 %; with 1 pod without metric as idle 75 % of request: "
            "ceil(1.5 x 2) would turn the direction, stays at 4",
        ),
        (SIDECAR, (ready(4, 80),), "cpu of container app 80 % of request, target 50 %: ceil(1.6 x 4) = 7"),
        (
            QUEUE,
            (ready(3, 1000), missing(1)),
            "queue average 1, target 2.5; with 1 pod without metric at target average 1.375: ceil(0.55 x 4) = 3",
        ),
        (
            Metric("Resource", "cpu", "AverageValue", 100),
            (ready(4, 50),),
            "cpu average 50m, target 100m: ceil(0.5 x 4) = 2",
        ),
    ],
)
def test_words_name_what_was_measured_and_assumed(metric: Metric, samples: tuple, words: str) -> None:
    assert decide(autoscaler(1, 10, metric), 4, (samples,), SEEDED).reasons[0] == words


def test_without_metrics_nothing_changes_but_the_bounds_still_hold() -> None:
    nothing = (Failure("no metrics"),)

    assert decide(autoscaler(2, 5), 4, nothing, SEEDED) == ScaleDecision(
        4, SEEDED, ("cpu: no proposal (no metrics)", "stays at 4: no metric gives a proposal")
    )
    assert decide(autoscaler(2, 5), 9, nothing, SEEDED).replicas == 5
    assert decide(autoscaler(2, 5), 1, nothing, SEEDED).replicas == 2


def test_a_failed_metric_forbids_shrinking_only() -> None:
    two = autoscaler(1, 10, CPU_50, MEMORY)

    assert decide(two, 4, ((ready(4, 80),), ()), SEEDED).replicas == 7
    assert decide(two, 4, ((ready(4, 20),), ()), SEEDED) == ScaleDecision(
        4,
        SEEDED,
        (
            "cpu 20 % of request, target 50 %: ceil(0.4 x 4) = 2",
            "memory: no proposal (no pods)",
            "stays at 4: 1 of 2 metrics failed, which forbids scaling down to 2",
        ),
    )


def test_a_failed_sync_seeds_but_recommends_nothing() -> None:
    assert decide(autoscaler(), 4, ((),), FRESH).history == memory(((0, 4),), ())


def test_zero_replicas_disable() -> None:
    assert decide(autoscaler(), 0, ((),), FRESH) == ScaleDecision(
        0, memory((), ()), ("disabled: the target has 0 replicas",)
    )


def test_a_drop_below_the_minimum_is_repaired_to_exactly_the_minimum() -> None:
    samples = ((ready(1, 400),),)
    behaved = autoscaler(3, 10, up=DEFAULT_UP, down=DEFAULT_DOWN)

    assert decide(autoscaler(3, 10), 1, samples, SEEDED) == ScaleDecision(
        3, SEEDED, ("1 replicas are below minReplicas 3",)
    )
    assert decide(behaved, 1, samples, SEEDED).history.scale_events == ((0, 2),)
    assert decide(behaved, 12, samples, SEEDED).history.scale_events == ((0, -2),)


def test_an_ambiguous_autoscaler_refuses_metrics_but_enforces_its_bounds() -> None:
    high = ((ready(4, 80),),)

    assert decide(autoscaler(1, 10), 4, high, SEEDED, is_ambiguous=True) == ScaleDecision(
        4, SEEDED, ("AmbiguousSelector: more than one autoscaler selects these pods",)
    )
    assert decide(autoscaler(1, 3), 4, high, SEEDED, is_ambiguous=True).replicas == 3
    assert decide(autoscaler(5, 9), 3, high, SEEDED, is_ambiguous=True).replicas == 5


def test_tolerances_of_the_autoscaler_count_since_1_35() -> None:
    wide = autoscaler(1, 20, up=rules(("Pods", 9, 15), tolerance_milli=300), down=rules(("Pods", 9, 15)))
    samples = ((ready(10, 60),),)

    assert decide(wide, 10, samples, SEEDED, AutoscalerSettings(version=(1, 35))).replicas == 10
    assert decide(wide, 10, samples, SEEDED, AutoscalerSettings(version=(1, 34))).replicas == 12
    assert decide(autoscaler(1, 20), 10, samples, SEEDED, AutoscalerSettings(tolerance=0.2)).replicas == 10


def test_a_tolerance_is_the_float_that_upstream_makes_of_the_quantity() -> None:
    behavior = Behavior(rules(tolerance_milli=570), rules(tolerance_milli=1000))
    tolerance = tolerance_of(behavior, AutoscalerSettings())

    assert (tolerance.up, tolerance.down) == (0.5700000000000001, 1.0)


def test_a_behavior_with_one_direction_gets_the_default_of_the_other() -> None:
    own = rules(("Pods", 1, 60))

    assert behavior_of(autoscaler()) is None
    assert behavior_of(autoscaler(up=own)) == Behavior(own, DEFAULT_DOWN)
    assert behavior_of(autoscaler(down=own)) == Behavior(DEFAULT_UP, own)


def test_a_metric_that_is_not_modelled_is_never_guessed() -> None:
    with pytest.raises(InternalError, match="External metric jobs"):
        decide(autoscaler(1, 10, Metric("External", "jobs", "Value", 1)), 4, ((ready(4, 80),),), SEEDED)


def test_a_spike_of_one_sync_holds_the_size_for_five_minutes() -> None:
    spike = decide(autoscaler(1, 20), 4, ((ready(4, 80),),), SEEDED)
    calm = decide(autoscaler(1, 20), 7, ((ready(7, 20),),), later(spike.history, 15))
    over = decide(autoscaler(1, 20), 7, ((ready(7, 20),),), later(calm.history, 285))

    assert (spike.replicas, calm.replicas, over.replicas) == (7, 7, 3)
    assert calm.reasons == (
        "cpu 20 % of request, target 50 %: ceil(0.4 x 7) = 3",
        "the highest recommendation of the last 300 s is 7",
    )


def test_a_proposal_beyond_int32_shrinks_the_target_to_its_minimum() -> None:
    """100m of memory for 100M is a common slip: a tenth of a byte."""
    slip = autoscaler(2, 10, Metric("Resource", "memory", "AverageValue", 100), down=rules(("Percent", 100, 15)))

    assert decide(slip, 5, ((ready(5, 10**11),),), SEEDED).reasons == (
        "memory average 95.3674Mi, target 9.53674e-08Mi: "
        "ceil(1e+09 x 5) is beyond 32 bits, which upstream takes for less than nothing",
        "raised to minReplicas 2",
    )
    assert decide(slip, 5, ((ready(5, 10**11),),), SEEDED).replicas == 2


def test_a_proposal_beyond_int32_with_assumed_values_changes_nothing() -> None:
    slip = autoscaler(2, 10, Metric("Resource", "memory", "AverageValue", 100))

    assert decide(slip, 5, ((ready(4, 10**11), missing(1)),), SEEDED).replicas == 5
