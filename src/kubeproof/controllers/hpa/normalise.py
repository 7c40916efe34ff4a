"""From what the metrics ask for to what the autoscaler writes: stabilization, rate limits, bounds.

Mirrors `normalizeDesiredReplicas` (no behavior) and `normalizeDesiredReplicasWithBehaviors` of `horizontal.go`, which
are the same from 1.26 to 1.37. Without behavior the two are different algorithms, not different defaults.
"""

from __future__ import annotations

from math import ceil

from kubeproof.cluster.steering.policies import ScalingPolicy, ScalingRules
from kubeproof.controllers.hpa.behavior import Behavior
from kubeproof.controllers.hpa.history import History, change_within, prune, recommend, rescale, seed
from kubeproof.named_tuples import NamedTuple

PLAIN_UP_FACTOR = 2
PLAIN_UP_LEAST = 4


class Normalised(NamedTuple):
    """The replicas to write, the memory after this sync, and what changed the proposal on the way."""

    replicas: int
    history: History
    reasons: tuple[str, ...] = ()


class _Shaped(NamedTuple):
    replicas: int
    reason: str = ""


def normalise(
    current: int,
    proposal: int,
    minimum: int,
    maximum: int,
    behavior: Behavior | None,
    history: History,
    *,
    downscale_stabilization_s: int = 300,
    is_bounded: bool = True,
) -> Normalised:
    """The decision of one sync; `current` lies between the bounds, everything else is `combine.forced`.

    The first sync finds the current count as the only recommendation. The memory gets the raw proposal, and the change
    if there is one; it is bounded unless told otherwise, see `decide`.
    """
    before = seed(history, current)
    if behavior is None:
        stabilised = _highest_recent(proposal, before, downscale_stabilization_s)
        limited = _limit_plain(current, stabilised.replicas, minimum, maximum)
    else:
        windows_s = behavior.up_window_s, behavior.down_window_s(downscale_stabilization_s)
        stabilised = _stabilise(current, proposal, before, *windows_s)
        limited = _limit(current, stabilised.replicas, minimum, maximum, behavior, before)
    after = rescale(recommend(before, proposal), behavior, limited.replicas - current)
    bounds = (minimum, maximum) if is_bounded else None
    kept = prune(after, behavior, downscale_stabilization_s=downscale_stabilization_s, bounds=bounds)
    return Normalised(limited.replicas, kept, tuple(filter(None, (stabilised.reason, limited.reason))))


def _highest_recent(proposal: int, history: History, window_s: int) -> _Shaped:
    """The largest recommendation of the window, also when that is more than the current count."""
    highest = max([proposal, *_recent(history, window_s)])
    if highest == proposal:
        return _Shaped(proposal)
    return _Shaped(highest, f"the highest recommendation of the last {window_s} s is {highest}")


def _limit_plain(current: int, desired: int, minimum: int, maximum: int) -> _Shaped:
    """Between the bounds, and at most doubled (4 are always allowed); no limit on the way down."""
    doubled = max(PLAIN_UP_FACTOR * current, PLAIN_UP_LEAST)
    if desired < minimum:
        return _Shaped(minimum, f"raised to minReplicas {minimum}")
    if desired > maximum and maximum <= doubled:
        return _Shaped(maximum, f"limited to maxReplicas {maximum}")
    if desired > doubled:
        return _Shaped(doubled, f"limited to {doubled}: twice the current {current}, or 4, in one sync")
    return _Shaped(desired)


def _stabilise(current: int, proposal: int, history: History, up_s: int, down_s: int) -> _Shaped:
    """As near to the current count as the recommendations of both windows allow."""
    lowest = min([proposal, *_recent(history, up_s)])
    highest = max([proposal, *_recent(history, down_s)])
    replicas = min(max(current, lowest), highest)
    if replicas == proposal:
        return _Shaped(proposal)
    if proposal >= current:
        return _Shaped(replicas, f"the lowest recommendation of the last {up_s} s is {lowest}: {replicas}")
    return _Shaped(replicas, f"the highest recommendation of the last {down_s} s is {highest}: {replicas}")


def _limit(current: int, desired: int, minimum: int, maximum: int, behavior: Behavior, history: History) -> _Shaped:
    """Within the rate of the direction's policies and the bounds."""
    if desired > current:
        rate = scale_up_limit(current, behavior.up, history)
        if desired > maximum and maximum <= rate:
            return _Shaped(maximum, f"limited to maxReplicas {maximum}")
        return _Shaped(desired) if desired <= rate else _Shaped(rate, _rate_words("scaleUp", rate, behavior.up))
    if desired < current:
        rate = scale_down_limit(current, behavior.down, history)
        if desired < minimum and minimum >= rate:
            return _Shaped(minimum, f"raised to minReplicas {minimum}")
        return _Shaped(desired) if desired >= rate else _Shaped(rate, _rate_words("scaleDown", rate, behavior.down))
    return _Shaped(desired)


def scale_up_limit(current: int, rules: ScalingRules, history: History) -> int:
    """The most replicas the policies allow now; Max takes the most generous policy, Min the strictest."""
    if rules.select == "Disabled":
        return current
    allowed = [_most(_at_period_start(current, policy, history), policy) for policy in rules.policies]
    return max(current, min(allowed) if rules.select == "Min" else max(allowed))


def scale_down_limit(current: int, rules: ScalingRules, history: History) -> int:
    """The fewest replicas the policies allow now; Max takes the largest change, so the smallest number."""
    if rules.select == "Disabled":
        return current
    allowed = [_fewest(_at_period_start(current, policy, history), policy) for policy in rules.policies]
    return min(current, max(allowed) if rules.select == "Min" else min(allowed))


def _at_period_start(current: int, policy: ScalingPolicy, history: History) -> int:
    """The count before this autoscaler's own changes in the period; changes by others are not undone."""
    return current - change_within(history, policy.period_s)


def _most(start: int, policy: ScalingPolicy) -> int:
    """In float64 as upstream: 10 % on 50 pods allow 56, because 50 x 1.1 is a little above 55."""
    if policy.type == "Pods":
        return start + policy.value
    return ceil(float(start) * (1 + float(policy.value) / 100))


def _fewest(start: int, policy: ScalingPolicy) -> int:
    """In float64 as upstream: 90 % off 10 pods leave 0, because 10 x (1 - 0.9) is a little below 1."""
    if policy.type == "Pods":
        return start - policy.value
    return int(float(start) * (1 - float(policy.value) / 100))


def _recent(history: History, window_s: int) -> list[int]:
    return [each.replicas for each in history.recommendations or () if each.age_s < window_s]


def _rate_words(direction: str, rate: int, rules: ScalingRules) -> str:
    if rules.select == "Disabled":
        return f"{direction} is disabled: stays at {rate}"
    policies = ", ".join(f"{policy.value} {policy.type} in {policy.period_s} s" for policy in rules.policies)
    chosen = f", {rules.select}" if len(rules.policies) > 1 else ""
    return f"limited to {rate} by {direction} ({policies}{chosen})"
