"""A simulated cluster made by hand: two services, more nodes than a panel shows, bands, gaps, names that mean harm."""

from __future__ import annotations

from kubeproof.cluster.objects import Source
from kubeproof.simulate import outcome as q
from kubeproof.verdicts import Verdict
from tests.oracles.histograms import histogram_of

HOSTILE = "cart</script><img src=x onerror=alert(1)>\u202e"
STEPS = 40


def series(scope: str, subject: str, quantity: str, values: tuple[float | None, ...], is_band: bool) -> q.Series:
    low = tuple(None if value is None else 0.8 * value for value in values) if is_band else ()
    high = tuple(None if value is None else 1.2 * value for value in values) if is_band else ()
    return q.Series(scope, subject, quantity, values, low, high)


def timeline(runs: int, factor: float) -> q.Timeline:
    ramp = tuple(factor * (1 + step % 10) for step in range(STEPS))
    gap = tuple(None if 10 < step < 15 else 0.01 * value for step, value in enumerate(ramp))
    found = []
    for name in ("web", HOSTILE):
        for quantity in (q.PODS, q.READY, q.DESIRED, q.CPU_USED, q.CPU_REQUESTED, q.ARRIVED, q.OK):
            found.append(series(q.SERVICE, name, quantity, ramp, runs > 1))
        found.append(series(q.SERVICE, name, q.PENDING, (0.0,) * STEPS, runs > 1))
        found += [series(q.SERVICE, name, quantity, gap, runs > 1) for quantity in (q.P50, q.P95, q.P99)]
    for number in range(15):
        found.append(series(q.NODE, f"node-{number}", q.CPU_USED, (float(number),) * STEPS, False))
    found.append(series(q.CLUSTER, "cluster", q.NODES, (15.0,) * STEPS, False))
    return q.Timeline(tuple(15.0 * step for step in range(STEPS)), tuple(found))


def simulation(runs: int = 1, factor: float = 1.0) -> q.SimulationResult:
    times = histogram_of([0.05, 0.1, 0.2, 0.4])
    violated = q.IntentOutcome(
        "S001", "minReady", "Deployment/shop/web", Verdict.VIOLATED, "fewer than 2 ready", Source("scenario.yaml", 12),
        300.0, 3, 4, 7,
    )  # fmt: skip
    return q.SimulationResult(
        scenario="shop", duration_s=600, seed=1, runs=runs, autoscaler="hpa", timeline=timeline(runs, factor),
        services=(q.ServiceTotals("web", 1000, 985, 5, 5, 5, times), q.ServiceTotals(HOSTILE, 0, 0, 0, 0, 0)),
        intents=(violated, q.IntentOutcome("L002", "settles", "", Verdict.SAMPLED_OK, "")),
        costs=q.Costs(12.5, 3.25, 1.25, 4.5), verdict=Verdict.VIOLATED, moments_left_out=4,
        moments=(q.Moment(30.0, "hpa", f"scales {HOSTILE}"), q.Moment(60.0, "scheduler", "binds web-1 to node-2")),
        notes=("pods use what requests need",), not_modelled=("Ingress/shop",),
    )  # fmt: skip


def comparison() -> q.Comparison:
    variants = ((("hpa.targetCPU", "60"),), simulation()), ((("hpa.targetCPU", "80"),), simulation(factor=0.5))
    return q.Comparison(tuple(q.Variant(settings, result) for settings, result in variants))
