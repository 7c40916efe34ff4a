"""The published workflow of eleven services against the authors' own logs, and the parts that it adds."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from kubeproof.errors import UsageError
from kubeproof.simulate.published.cluster import TimedNode
from kubeproof.simulate.published.declarations import (
    BatchCall,
    BatchFlow,
    Experiment,
    NodeSpec,
    ServiceSpec,
    Thresholds,
)
from kubeproof.simulate.published.experiments import CALLED, workflow
from kubeproof.simulate.published.result import Curves
from kubeproof.simulate.published.run import simulate
from kubeproof.simulate.published.service import TimedService

NAMED = os.environ.get("KUBEPROOF_DATA")
PLACES = [Path(NAMED)] if NAMED else [above / "shared" / "data" for above in Path(__file__).resolve().parents]
STEADY = Thresholds(up=9.0, down=0.0, quiet_cycles=10)

# The authors' maxima, in the order of CALLED (published logs, 500 intervals).
MAXIMA = {100: (24, 24, 4, 5, 4), 200: (28, 26, 6, 9, 5)}
FIRST_SCALE_UP = (7, 8, 8, 8, 8)


def log_of(threads: int) -> Path:
    """The authors' log, read in place: it may not be copied; a test that asks is skipped where it is not."""
    files = (place / "abs-k8s" / f"authors_wf1_{threads}threads.csv" for place in PLACES)
    return next((file for file in files if file.is_file()), None) or pytest.skip("the authors' logs are not here")


def most_pods(curves: Curves) -> list[int]:
    return [max(reading.pods for reading in curves.of(name)) for name in CALLED]


def first_scale_up(curves: Curves) -> list[int]:
    return [list(curves.changes(name))[1][0] for name in CALLED]


@pytest.mark.parametrize("threads", [100, 200])
def test_most_pods_and_first_scale_up_are_the_authors_within_one(threads: int) -> None:
    curves = simulate(workflow(threads))

    assert all(abs(ours - theirs) <= 1 for ours, theirs in zip(most_pods(curves), MAXIMA[threads], strict=True))
    assert first_scale_up(curves) == list(FIRST_SCALE_UP)


def test_the_smaller_workflow_has_the_authors_maxima_exactly() -> None:
    assert most_pods(simulate(workflow(100))) == list(MAXIMA[100])


@pytest.mark.parametrize(("threads", "same_pods"), [(100, 2499), (200, 1535)])
def test_against_the_authors_logs_in_every_interval(threads: int, same_pods: int) -> None:
    file = log_of(threads)
    curves = simulate(workflow(threads))
    found = {(reading.interval, reading.service): reading for reading in curves.readings}

    with file.open(encoding="utf-8") as lines:
        pairs = [(found[int(row["interval"]), row["service"]], row) for row in csv.DictReader(lines)]

    assert len(pairs) == 5 * 500
    assert sum(ours.pods == int(row["pods"]) for ours, row in pairs) == same_pods
    settled = [(ours, row) for ours, row in pairs if 40 <= ours.interval < 466]
    assert all(ours.cpu == int(row["cpu"]) for ours, row in settled)
    assert all(abs(ours.pods - int(row["pods"])) <= 1 for ours, row in settled)


def test_in_the_smaller_workflow_only_launches_at_the_same_instant_differ() -> None:
    curves = simulate(workflow(100))

    assert list(curves.changes("cartservice")) == [(0, 1), (8, 2), (10, 3), (13, 4), (466, 3), (467, 2), (468, 1)]
    assert list(curves.changes("adservice")) == [(0, 1), (8, 2), (10, 3), (13, 4), (466, 3), (467, 2), (468, 1)]


# -- parts ------------------------------------------------------------------------------------------


def test_a_batch_is_split_in_turns_and_its_parts_sum_to_its_cost() -> None:
    service = TimedService(ServiceSpec("web", 10, 50, STEADY, pods=3, memory=0), (TimedNode(NodeSpec("a", 999, 0)),))

    assert service.receive_batch(100, 7, 0.0) == 3

    assert [pod.backlog.units for pod in service.pods] == [29, 29, 42]  # the third is first in turn: 3 of 7 requests
    assert service.receive_batch(10, 2, 1.0) == 2  # fewer requests than pods: one gets none


def flow(*stages: tuple[BatchCall, ...]) -> Experiment:
    services = tuple(ServiceSpec(name, 10, 50, STEADY, memory=0, newest_is_next=False) for name in ("front", "a", "b"))
    return Experiment("flow", (NodeSpec("node", 1000, 0),), services, (), 12, flow=BatchFlow(2, 1, 10, stages))


def test_a_stage_begins_when_the_last_call_of_the_one_before_has_ended() -> None:
    curves = simulate(flow((BatchCall("front", 70),), (BatchCall("a", 20), BatchCall("b", 120))))

    cpu = {name: [reading.cpu for reading in curves.of(name)] for name in ("front", "a", "b")}
    assert cpu["front"][3:6] == [50, 20, 0]
    assert cpu["a"][3:7] == [0, 20, 0, 0]  # at the instant at which the front end was done
    assert cpu["b"][3:8] == [0, 50, 50, 20, 0]
    assert [one.counts for one in curves.responses] == [((1.0, 10),), ((0.0, 10),), ((2.0, 10),)]
    assert all(one.unfinished == 0 for one in curves.responses)


def test_what_is_under_way_at_the_end_is_told() -> None:
    curves = simulate(flow((BatchCall("front", 70),), (BatchCall("a", 9999),)))

    assert [one.unfinished for one in curves.responses] == [0, 10, 0]


def test_the_scaler_waits_while_a_pod_that_it_launched_has_no_node() -> None:
    eager = Thresholds(up=0.5, down=0.0, quiet_cycles=10)
    services = (ServiceSpec("front", 10, 50, eager, memory=0, newest_is_next=False),)
    calls = BatchFlow(2, 9, 10, ((BatchCall("front", 30),),))
    curves = simulate(Experiment("full", (NodeSpec("node", 25, 0),), services, (), 12, flow=calls))

    assert [pods for _, pods in curves.changes("front")] == [1, 2]  # a third fits nowhere


def test_an_unknown_size_is_wrong_usage() -> None:
    with pytest.raises(UsageError):
        workflow(300)
