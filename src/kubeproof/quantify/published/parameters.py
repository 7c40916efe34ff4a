"""The parameters of the autoscaling models: what the paper gives, and our choice where it gives none."""

from __future__ import annotations

from dataclasses import fields, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from kubeproof.errors import UsageError
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """What the metrics show at one quantile: requests per second, latency level, CPU utilisation in percent."""

    demand: int
    latency: int
    utilisation: int


@dataclass(frozen=True, slots=True)
class AutoscalingParameters:
    """One autoscaler with its workload. Times are seconds of the model's clock, powers watts.

    Demand, latency and utilisation are sampled at three points with the weights of the extended Pearson-Tukey
    method; points a to c while there are at most `many_pods` pods, d to f above.
    """

    init_pods: int = 10
    min_pods: int = 1
    max_pods: int = 100
    limit_pods: int = 1000  # of the cluster
    response_time: int = 7  # at the start
    max_response_time: int = 5
    raised_response_time: int = 2  # after a decision for latency, energy or scalability
    max_latency: int = 5
    idle_power: int = 170
    max_power: int = 249
    cpu_request: int = 3
    target_utilisation: int = 50
    scale_out_from: int = 60  # utilisation in percent
    scale_in_to: int = 40
    step_pods: int = 40  # added at once
    max_demand: int = 1000
    period: int = 2  # of a scaling decision
    horizon: int = 1000  # end of the model's clock
    overshoot: int = 0  # 1: what is wanted for energy or scalability may pass max_pods
    many_pods: int = 50
    point_a: MetricPoint = MetricPoint(100, 0, 30)
    point_b: MetricPoint = MetricPoint(500, 2, 60)
    point_c: MetricPoint = MetricPoint(1000, 5, 95)
    point_d: MetricPoint = MetricPoint(100, 0, 30)
    point_e: MetricPoint = MetricPoint(500, 1, 60)
    point_f: MetricPoint = MetricPoint(1000, 3, 95)
    weight_low: Decimal = Decimal("0.185")
    weight_middle: Decimal = Decimal("0.63")
    weight_high: Decimal = Decimal("0.185")


SETTINGS = {
    1: AutoscalingParameters(init_pods=10, max_pods=100, response_time=7),
    2: AutoscalingParameters(init_pods=50, max_pods=100, response_time=6),
    3: AutoscalingParameters(init_pods=10, max_pods=200, response_time=5),
    4: AutoscalingParameters(init_pods=50, max_pods=200, response_time=4),
}
NAMES = tuple(one.name for one in fields(AutoscalingParameters))


def change(parameters: AutoscalingParameters, given: dict[str, str]) -> AutoscalingParameters:
    """The parameters with some of them given as text; an unknown name or an impossible value is wrong usage."""
    values: dict[str, Any] = {
        name: _value(name, text, getattr(SETTINGS[1], _check_known(name))) for name, text in given.items()
    }
    result = replace(parameters, **values)
    problem = _problem(result)
    if problem:
        raise UsageError(f"impossible parameters: {problem}", "Correct --set.")
    return result


def show(parameters: AutoscalingParameters) -> tuple[tuple[str, str], ...]:
    """All parameters by name, written as `change` reads them."""
    return tuple((name, _text(getattr(parameters, name))) for name in NAMES)


def _check_known(name: str) -> str:
    if name not in NAMES:
        raise UsageError(f"--set {name}: there is no such parameter", f"There are: {', '.join(NAMES)}.")
    return name


def _value(name: str, text: str, example: object) -> int | Decimal | MetricPoint:
    try:
        if isinstance(example, MetricPoint):
            demand, latency, utilisation = (_whole(part) for part in text.split("/"))
            return MetricPoint(demand, latency, utilisation)
        return _share(text) if isinstance(example, Decimal) else _whole(text)
    except (ValueError, InvalidOperation):
        form = "DEMAND/LATENCY/UTILISATION" if isinstance(example, MetricPoint) else "a number"
        raise UsageError(f"--set {name}={text}: not {form}", f"The default is {_text(example)}.") from None


def _whole(text: str) -> int:
    if len(text) > 9:
        raise ValueError
    return int(text)


def _share(text: str) -> Decimal:
    share = Decimal(text)
    if not share.is_finite():
        raise ValueError
    return share


def _text(value: object) -> str:
    if isinstance(value, MetricPoint):
        return f"{value.demand}/{value.latency}/{value.utilisation}"
    return str(value)


def _problem(one: AutoscalingParameters) -> str:
    """What makes the parameters impossible; empty if nothing does."""
    points = (one.point_a, one.point_b, one.point_c, one.point_d, one.point_e, one.point_f)
    weights = (one.weight_low, one.weight_middle, one.weight_high)
    rules = (
        (1 <= one.min_pods <= one.max_pods <= one.limit_pods, "1 <= min_pods <= max_pods <= limit_pods"),
        (0 <= one.init_pods <= one.limit_pods, "0 <= init_pods <= limit_pods"),
        (0 <= one.response_time <= one.horizon, "0 <= response_time <= horizon"),
        (0 <= one.raised_response_time <= one.horizon, "0 <= raised_response_time <= horizon"),
        (one.overshoot in (0, 1), "overshoot 0 or 1"),
        (0 <= one.scale_in_to <= one.scale_out_from <= 100, "0 <= scale_in_to <= scale_out_from <= 100"),
        (min(one.idle_power, one.max_power, one.step_pods, one.max_latency, one.many_pods) >= 0, "nothing is negative"),
        (min(one.period, one.cpu_request, one.target_utilisation, one.max_demand) >= 1, "periods and targets >= 1"),
        (all(0 <= point.demand <= one.max_demand for point in points), "demands between 0 and max_demand"),
        (all(-1 <= point.latency <= one.max_latency for point in points), "latencies between -1 and max_latency"),
        (all(0 <= point.utilisation <= 100 for point in points), "utilisations between 0 and 100"),
        (all(0 < weight < 1 for weight in weights) and sum(weights) == 1, "weights that sum to 1"),
    )
    return next((f"needed is {rule}{_describe_given(one, rule)}" for holds, rule in rules if not holds), "")


def _describe_given(one: AutoscalingParameters, rule: str) -> str:
    """What the parameters that a rule names are."""
    named = [name for name in NAMES if name in rule.split()]
    return f", but {', '.join(f'{name} is {_text(getattr(one, name))}' for name in named)}" if named else ""
