"""`--vary`: which settings may vary, and what is refused."""

from __future__ import annotations

import pytest

from kubeproof.errors import UsageError
from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.bands import mean_costs, together
from kubeproof.simulate.outcome import Costs, Series, Timeline
from kubeproof.simulate.variation import Axis, parse_axis, variants
from tests.unit.simulate.inputs import AUTOSCALER, WEB, cluster

INPUT = cluster(
    f"workload: {{services: [{{target: {WEB}, arrivals: {{constant: {{rate: 1}}}}}}]}}", objects=(AUTOSCALER,)
)


def varied(text: str) -> Loaded:
    ((_, found),) = variants(INPUT, (parse_axis(text),))
    return found


def test_settings_of_every_kind_vary() -> None:
    setup = varied("hpa.targetCPU=70").setup
    assert setup.autoscalers[0].metrics[0].value == 70
    assert varied("hpa.minReplicas=3").setup.autoscalers[0].min_replicas == 3
    assert varied("hpa.maxReplicas=3").setup.autoscalers[0].max_replicas == 3
    assert varied("hpa.syncPeriod=30s").setup.settings.hpa_period_s == 30
    assert varied("hpa.downscaleStabilization=0s").setup.settings.downscale_stabilization_s == 0
    assert varied("hpa.tolerance=0.05").setup.settings.hpa_tolerance_permille == 50
    assert varied("kubelet.startup=5s-20s").setup.settings.startup_s == (5, 20)
    assert varied("nodeLifecycle.monitorGracePeriod=20s").setup.settings.grace_s == 20
    workload = varied("metrics.delay=1m").scenario.workload
    assert workload is not None
    assert workload.metrics.delay_s == 60
    shifted = varied("traffic.factor=1.5").scenario.workload
    assert shifted is not None
    assert [(shift.service, shift.factor) for shift in shifted.shifts] == [("web", 1.5)]
    assert varied(f"{WEB}.replicas=5").setup.workloads[0].replicas == 5
    (container,) = varied(f"{WEB}.cpuRequest=250m").setup.workloads[0].template.containers
    assert container.cpu_milli == 250
    (container,) = varied(f"{WEB}.cpuLimit=2").setup.workloads[0].template.containers
    assert container.limits == (("cpu", 2000),)


def test_a_request_above_the_limit_is_refused_as_in_manifests() -> None:
    both = (Axis(f"{WEB}.cpuRequest", ("3",)), Axis(f"{WEB}.cpuLimit", ("1",)))
    with pytest.raises(UsageError, match=r"asks for more cpu than the limit allows.*request of 3000m.*limit of 1000m"):
        variants(INPUT, both)

    ((_, raised),) = variants(INPUT, (both[0], Axis(f"{WEB}.cpuLimit", ("4",))))  # only all settings together count
    (container,) = raised.setup.workloads[0].template.containers
    assert (container.cpu_milli, container.limits) == (3000, (("cpu", 4000),))


def test_all_combinations_are_made() -> None:
    found = variants(INPUT, (Axis("hpa.targetCPU", ("60", "80")), Axis("hpa.minReplicas", ("1", "2"))))

    assert [dict(settings) for settings, _ in found] == [
        {"hpa.targetCPU": cpu, "hpa.minReplicas": least} for cpu in ("60", "80") for least in ("1", "2")
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hpa.targetCPU", "has no values"),
        ("hpa.targetCPU=", "has no values"),
        ("hpa.target=5", "knows no 'hpa.target'"),
        ("hpa.targetCPU=high", "is not a whole number"),
        ("hpa.targetCPU=0", "is not a whole number"),
        ("hpa.minReplicas=11", "more replicas at least than at most"),
        ("hpa.tolerance=-1", "is not a number"),
        ("hpa.tolerance=nan", "is not a number"),
        ("metrics.window=0s", "is not a duration"),
        ("kubelet.startup=9s-5s", "is not a duration"),
        (f"{WEB}.cpuRequest=much", "is not an amount of CPU"),
        ("Deployment/shop/wob.replicas=1", "is not a workload of the input"),
    ],
)
def test_what_cannot_vary_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        varied(text)


def test_too_many_variants_and_repeated_keys_are_refused() -> None:
    numbers = tuple(str(number) for number in range(1, 202))
    with pytest.raises(UsageError, match="201 variants"):
        variants(INPUT, (Axis("hpa.targetCPU", numbers),))
    with pytest.raises(UsageError, match="twice"):
        variants(INPUT, (Axis("hpa.targetCPU", ("1",)), Axis("hpa.targetCPU", ("2",))))


def test_without_the_object_nothing_varies() -> None:
    bare = cluster("{}")
    for text in ("hpa.targetCPU=50", "metrics.delay=1s", "traffic.factor=2"):
        with pytest.raises(UsageError, match="--vary"):
            variants(bare, (parse_axis(text),))


def test_runs_together_have_means_and_bands() -> None:
    timelines = [
        Timeline((0.0, 1.0), (Series("service", "web", "pods", (float(number), None if number else 7.0)),))
        for number in range(21)
    ]
    (series,) = together(timelines).series

    assert (series.values, series.low, series.high) == ((10.0, 7.0), (1.0, 7.0), (19.0, 7.0))
    assert together(timelines[:1]) is timelines[0]
    assert mean_costs([Costs(1, 2, 3.0), Costs(3, 4, 5.0)]) == Costs(2.0, 3.0, 4.0, None)
