"""Twelve failures that users reported, each as a pair of golden cases: one that shows it, one that is repaired."""

import pytest

from tests.golden.cases import expected

REPORTS = {
    "rolling update against required anti-affinity": (
        "surge-meets-anti-affinity",
        "anti-affinity-lets-old-pods-go-first",
    ),
    "a zone without room caps the workload": ("zone-without-room-hard", "zone-without-room-soft"),
    "packing descheduler against a spreading scheduler": (
        "packing-evictor-against-spreading-scheduler",
        "packing-evictor-with-packing-scheduler",
    ),
    "idle memory above the target": ("idle-memory-pins-maximum", "idle-memory-below-target"),
    "a budget in percent that allows nothing": (
        "a-budget-in-percent-allows-nothing",
        "a-budget-in-percent-allows-one",
    ),
    "a rollout below its budget": ("a-rollout-ignores-the-budget", "a-rollout-within-the-budget"),
    "a daemon pod without room": ("daemon-pod-starved-on-a-full-node", "daemon-pod-preempts-on-its-node"),
    "a stateful pod on a dead node": ("stateful-pod-on-a-dead-node", "deployment-pod-on-a-dead-node"),
    "failed pods of a workload that names its node": ("failed-pods-pile-up", "a-pending-pod-piles-nothing-up"),
    "anti-affinity of others": ("rejected-by-running-pods", "disliked-by-running-pods"),
    "no room for a surge pod": ("no-room-for-the-surge", "room-after-termination"),
    "two disruptions of three": ("half-of-three-may-be-missing", "a-quarter-of-three-may-be-missing"),
}


def test_there_are_twelve():
    assert len(REPORTS) == 12


@pytest.mark.parametrize("report", REPORTS)
def test_the_failure_is_found_and_its_repair_is_proved(report):
    failing, repaired = REPORTS[report]

    assert expected(failing)["verdict"] == "VIOLATED"
    assert expected(repaired)["verdict"] == "HOLDS"
