"""Controllers on a clock: chance among equals, drawn times, autoscalers that see what was measured, faults."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.plan import make_plan
from kubeproof.simulate.control.chance.moments import run_until_stable
from kubeproof.simulate.control.clocked import RunRecord
from kubeproof.simulate.control.planning import SIMPLE, plan_input
from kubeproof.simulate.control.walk import Taken, Walk
from kubeproof.simulate.options import SimulateOptions, reading_s
from kubeproof.simulate.simulation import simulate_cluster
from tests.unit.manifests.inputs import deployment, load_text, node, scenario
from tests.unit.simulate.inputs import AUTOSCALER, EXACT, REQUESTS, WEB, Steady, cluster, run

SERVICE = f"services: [{{target: {WEB}}}]"


def walked(loaded: Loaded, seed: int) -> list[Taken]:
    plan = make_plan(loaded.setup, loaded.scenario.events, loaded.scenario.intents)
    return list(run_until_stable(Walk(plan, Random(seed)), 600))


def bound_to(steps: list[Taken]) -> list[object]:
    return [concrete[2] for step in steps for concrete in step.concrete if concrete[0] == "bind"]


def values(record: RunRecord, subject: str, quantity: str) -> tuple[float | None, ...]:
    return record.timeline.of(subject, quantity).values


def words(record: RunRecord) -> list[tuple[float, str]]:
    return [(moment.time_s, moment.text) for moment in record.moments]


# -- chance -------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_run_and_another_another() -> None:
    loaded = cluster(EXACT, nodes=4, replicas=3)

    assert walked(loaded, 7) == walked(loaded, 7)
    assert len({tuple(bound_to(walked(loaded, seed))) for seed in range(20)}) > 5


def test_equal_nodes_are_equally_likely() -> None:
    loaded = cluster(EXACT, nodes=3, replicas=1)

    counts = Counter(bound_to(walked(loaded, seed))[0] for seed in range(600))
    assert set(counts) == {"n1", "n2", "n3"}
    assert all(160 <= count <= 240 for count in counts.values())


def test_a_start_takes_any_whole_number_of_seconds_in_its_range() -> None:
    loaded = cluster("controllers: {kubelet: {startup: {min: 1s, max: 4s}}}", nodes=1, replicas=1)

    ends = Counter(walked(loaded, seed)[-1].time_s for seed in range(400))
    assert set(ends) == {1, 2, 3, 4}
    assert all(60 <= count <= 140 for count in ends.values())


def test_a_start_with_probabilities_is_drawn_by_them() -> None:
    times = "[{time: 2s, probability: 0.9}, {time: 30s, probability: 0.1}]"
    loaded = cluster(f"controllers: {{kubelet: {{startup: {times}}}}}", nodes=1, replicas=1)

    ends = Counter(walked(loaded, seed)[-1].time_s for seed in range(400))
    assert set(ends) == {2, 30}
    assert 20 <= ends[30] <= 60


def test_events_happen_as_often_as_their_rate_says() -> None:
    loaded = cluster("start: deployed\nevents: [{podCrash: {max: unlimited, ratePerHour: 2}}]", replicas=2)

    crashes = [sum("crashes" in text for _, text in words(run(loaded, 3600, seed=seed))) for seed in range(40)]
    assert 3.2 <= sum(crashes) / 40 <= 4.8  # two pods with two each


def test_an_event_without_probability_does_not_happen_and_that_is_said() -> None:
    result = simulate_cluster(cluster("events: [{nodeFailure: {}}]"), SimulateOptions(duration_s=60))

    assert result.moments == ()
    assert result.notes == (
        "event nodeFailure-1 has no probability and does not happen: give it one, or put it into spec.workload.faults",
    )


def test_a_large_scale_down_is_drawn_where_verify_would_have_too_many_ways() -> None:
    fault = f"faults: [{{at: 60s, scale: {{target: {WEB}, replicas: [60]}}}}]"
    loaded = cluster(f"start: deployed\n{EXACT}\nworkload: {{{fault}}}", nodes=30, replicas=150)
    record = run(loaded, 120)

    assert values(record, WEB, "pods")[-1] == 60
    assert {values(record, f"n{number}", "pods")[-1] for number in range(1, 31)} <= {0, 1, 2, 3, 4, 5}


# -- autoscalers --------------------------------------------------------------------------------------


def test_the_autoscaler_sees_the_mean_of_the_window_at_its_rounds() -> None:
    """400m of 500m is 80 %, the target 50 %: ceil(2 * 80 / 50) = 4 pods; then 200m each is 40 %: more than enough."""
    loaded = cluster(f"start: deployed\n{EXACT}\nworkload: {{{SERVICE}}}", objects=(AUTOSCALER,))
    record = run(loaded, 120, plane=Steady(lambda now_s, pods: 0.8 / pods))

    assert words(record) == [(30, f"{WEB} gets 4 replicas")]
    assert values(record, "web", "desired")[28:32] == (2, 2, 4, 4)
    assert values(record, "web", "ready")[31:34] == (2, 4, 4)
    assert values(record, "web", "cpuUsed")[-1] == pytest.approx(0.8)


def test_metrics_that_come_late_are_acted_on_late() -> None:
    metrics = "metrics: {delay: 20s}"
    loaded = cluster(f"start: deployed\n{EXACT}\nworkload: {{{SERVICE}, {metrics}}}", objects=(AUTOSCALER,))
    record = run(loaded, 120, plane=Steady(lambda now_s, pods: 0.8 / pods))

    assert words(record) == [(60, f"{WEB} gets 4 replicas")]  # two scrapes are known at 50 s


def test_scaling_down_waits_for_its_window() -> None:
    loaded = cluster(f"start: deployed\n{EXACT}\nworkload: {{{SERVICE}}}", replicas=4, objects=(AUTOSCALER,))
    record = run(loaded, 900, plane=Steady(lambda now_s, pods: 0.05))

    assert words(record) == [(315, f"{WEB} gets 1 replicas")]  # 300 s after the round before the first metrics


def test_the_simple_rule_launches_several_pods_and_retires_one_at_a_time() -> None:
    simple = "simple: {up: 0.8, down: 0.2, cycle: 10s, downscaleAfter: 30s}"
    loaded = cluster(f"start: deployed\n{EXACT}\nworkload: {{{SERVICE}, {simple}}}", replicas=1, objects=(AUTOSCALER,))
    record = run(loaded, 300, plane=Steady(lambda now_s, pods: 0.85 if now_s < 30 else 0.05), autoscaler=SIMPLE)

    # 850m of 500m is 1.7: floor(1.7 / 0.8) = 2 more, decided on what was read a cycle ago, so twice
    sizes = [(40, 3), (50, 5), (80, 4), (90, 3), (100, 2), (110, 1)]
    assert words(record) == [(time_s, f"{WEB} gets {size} replicas") for time_s, size in sizes]


def test_the_simple_rule_needs_requests() -> None:
    with pytest.raises(UsageError, match="looks at the use that requests make"):
        simulate_cluster(cluster("{}", objects=(AUTOSCALER,)), SimulateOptions(duration_s=60, autoscaler=SIMPLE))


# -- faults -------------------------------------------------------------------------------------------


def test_a_node_fails_and_comes_back_at_its_moments() -> None:
    fault = "faults: [{at: 100s, for: 60s, nodeFailure: {nodes: {names: [n1]}}}]"
    record = run(cluster(f"start: deployed\nworkload: {{{fault}}}"), 300)

    told = words(record)
    assert told[0] == (100, "n1 fails")
    assert told[1][1] == "n1 is found silent"
    assert 150 <= told[1][0] <= 155  # monitor grace period 50 s, looked at every 5 s
    assert (160, "n1 is back") in told
    assert values(record, "cluster", "nodes")[99:102] == (2, 1, 1)


def test_requests_go_to_a_silent_node_until_that_is_noticed() -> None:
    fault = "faults: [{at: 100s, nodeFailure: {nodes: {names: [n1]}}}]"
    loaded = cluster(f"start: deployed\nworkload: {{{SERVICE}, {fault}}}", replicas=2)
    plane = Steady(lambda now_s, pods: 0.1)
    run(loaded, 300, plane=plane)

    rooms = [{name: room.cpu_milli for name, room in seen.rooms.items()} for seen in plane.seen]
    assert rooms[0] == {"n1": 4000, "n2": 4000}
    assert {"n1": 0, "n2": 4000} in rooms
    assert rooms[-1] == {"n2": 4000}


def test_a_fault_that_cannot_happen_is_told() -> None:
    crash, delete = f"podCrash: {{target: {WEB}}}", f"delete: {{target: {WEB}}}"
    faults = f"faults: [{{at: 5s, {crash}}}, {{at: 10s, {delete}}}, {{at: 20s, {crash}}}]"
    loaded = cluster(f"start: deployed\nworkload: {{{faults}}}")
    record = run(loaded, 60)

    assert record.notes == ("at 20 s podCrash-at-20s-3 could not happen",)  # there is no pod left; at 5 s there was
    moments = [(at_s, text) for at_s, text in words(record) if "crash" in text or "deleted" in text]
    assert [at_s for at_s, _ in moments] == [5, 10]
    assert moments[1] == (10, f"{WEB} is deleted")
    assert simulate_cluster(loaded, SimulateOptions(duration_s=60, runs=3)).notes == record.notes


def test_a_fault_after_the_end_is_told() -> None:
    fault = "faults: [{at: 100s, nodeFailure: {nodes: {names: [n1]}}}]"
    result = simulate_cluster(
        cluster(f"start: deployed\nworkload: {{{fault}}}"), SimulateOptions(duration_s=60, runs=2)
    )

    assert result.notes == ("nodeFailure-at-100s-1 does not happen: the run ends before",)


def test_a_pod_that_has_the_name_of_one_before_is_another() -> None:
    down, up = (f"scale: {{target: {WEB}, replicas: [{replicas}]}}" for replicas in (0, 1))
    faults = f"faults: [{{at: 10s, {down}}}, {{at: 100s, {up}}}]"
    loaded = cluster(f"start: deployed\nworkload: {{{SERVICE}, {faults}}}", replicas=1)
    plane = Steady(lambda now_s, pods: 0.1)
    run(loaded, 200, plane=plane)

    slots = [seen.services["web"][0] for seen in plane.seen if seen.services["web"]]
    assert {slot.pod for slot in slots} == {"shop/web-1"}
    assert len({slot.birth for slot in slots}) == 2


# -- amounts ------------------------------------------------------------------------------------------


def test_hours_energy_and_cost_are_sums_over_the_run() -> None:
    """Two nodes for an hour; one pod on each uses half of 500m of 4 cores: 100 + 100 * 0.25 / 4 = 106.25 W."""
    quantify = "quantify: {power: {idle: 100, max: 200}, cost: {nodeHour: 1, kilowattHour: 2}}"
    costs = run(cluster(f"start: deployed\n{EXACT}\n{quantify}"), 3600).costs

    assert (costs.pod_hours, costs.node_hours) == (2.0, 2.0)
    assert costs.energy_kwh == pytest.approx(0.2125)
    assert costs.cost == pytest.approx(2 + 0.425)


def test_an_autoscaler_of_one_container_sees_its_part_of_what_pods_are_measured_to_use() -> None:
    """400m of a pod are 250m of the container that requests five eighths: what the autoscaler wants, and no more."""
    proxy = "{name: proxy, image: example/proxy, resources: {requests: {cpu: 300m}}}"
    web = deployment("web", spec="replicas: 2,", container=REQUESTS)
    web = web.replace("containers: [", f"containers: [{proxy}, ")
    metric = "{type: ContainerResource, containerResource: {name: cpu, container: main, target: TARGET}}"
    scaler = AUTOSCALER.split("  metrics:")[0] + f"  metrics: [{metric}]\n"
    scaler = scaler.replace("TARGET", "{type: AverageValue, averageValue: 250m}").replace("s: 10", "s: 4")
    loaded = load_text(node("n1"), web, scaler, scenario(f"start: deployed\nworkload: {{{SERVICE}}}"))

    calm, busy = (run(loaded, 60, plane=Steady(lambda now_s, pods, use=use: use)) for use in (0.4, 0.8))
    assert [values(record, "web", "desired")[-1] for record in (calm, busy)] == [2, 4]


def test_energy_follows_what_each_container_uses() -> None:
    """One pod on each of two nodes: half of 500m, and all of 300m, of 4 cores: 100 + 100 * 0.55 / 4 = 113.75 W."""
    proxy = "{name: proxy, image: example/proxy, resources: {requests: {cpu: 300m}}}"
    web = deployment("web", spec="replicas: 2,", container=REQUESTS)
    web = web.replace("containers: [", f"containers: [{proxy}, ")
    busy = f'events: [{{cpuChange: {{target: {WEB}, container: proxy, levels: ["100%"]}}}}]'
    spec = f"start: deployed\n{EXACT}\n{busy}\nquantify: {{power: {{idle: 100, max: 200}}}}"

    assert run(load_text(node("n1"), node("n2"), web, scenario(spec)), 3600).costs.energy_kwh == pytest.approx(0.2275)


def test_series_have_a_value_for_each_reading() -> None:
    record = run(cluster(EXACT), 60)

    assert record.timeline.times_s == tuple(range(61))
    assert values(record, WEB, "ready")[:4] == (0, 0, 2, 2)
    assert {len(series.values) for series in record.timeline.series} == {61}
    assert [reading_s(seconds) for seconds in (60, 1800, 86_400, 10**8)] == [1, 5, 120, 138_889]


def test_an_input_without_workload_is_nothing_to_simulate() -> None:
    with pytest.raises(NothingToCheckError):
        plan_input(load_text(node("n1")))


def test_changes_of_traffic_are_told_at_their_moments() -> None:
    shift = "{at: 20s, for: 30s, trafficShift: {service: web, factor: 2.5}}"
    others = "{at: 50m, trafficShift: {service: web, factor: 3}}, {at: 40s, cordon: {nodes: {names: [n1]}}}"
    service = f"{{target: {WEB}, arrivals: {{constant: {{rate: 1}}}}}}"
    loaded = cluster(f"start: deployed\nworkload: {{services: [{service}], faults: [{shift}, {others}]}}")

    assert words(run(loaded, 100)) == [
        (20, "web gets 2.5 times the requests"),
        (40, "n1 is cordoned"),
        (50, "web gets 2.5 times the requests no more"),
    ]
    notes = simulate_cluster(loaded, SimulateOptions(duration_s=100)).notes
    assert "the trafficShift of web does not happen: the run ends before" in notes
