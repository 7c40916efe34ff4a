"""What the autoscaler remembers between syncs, in a canonical form that keeps only what can still matter.

Upstream holds it in memory only, so a restarted controller begins with `FRESH`. Ages are whole seconds since the sync
that made the entry. A sync takes a little time, and the next one comes a full period after its end; so an entry whose
age equals a window is just beyond it, for every window, although upstream spells the comparisons differently
(`stabilizeRecommendation` not-before, `stabilizeRecommendationWithBehaviors` and `getReplicasChangePerPeriod` after).
"""

from __future__ import annotations

from kubeproof.cluster.steering.policies import ScalingRules
from kubeproof.controllers.hpa.behavior import Behavior
from kubeproof.named_tuples import NamedTuple


class Recommendation(NamedTuple):
    """What the metrics asked for, before stabilization and limits."""

    age_s: int
    replicas: int


class ScaleEvent(NamedTuple):
    """A change this autoscaler made; positive when it added replicas."""

    age_s: int
    change: int


class History(NamedTuple):
    """The memory of one autoscaler; `recommendations` is None until its first sync."""

    recommendations: tuple[Recommendation, ...] | None = None
    scale_events: tuple[ScaleEvent, ...] = ()


FRESH = History()


def later(history: History, seconds: int) -> History:
    """The same memory, `seconds` older."""
    if not seconds:
        return history
    recommendations = history.recommendations
    if recommendations is not None:
        recommendations = tuple(Recommendation(age + seconds, replicas) for age, replicas in recommendations)
    return History(recommendations, tuple(ScaleEvent(age + seconds, change) for age, change in history.scale_events))


def seed(history: History, current: int) -> History:
    """With the current count as first recommendation, if this is the first sync.

    A memory that was emptied by `prune` is not seeded again: upstream's list never becomes empty.
    """
    if history.recommendations is not None:
        return history
    return history._replace(recommendations=(Recommendation(0, current),))


def recommend(history: History, replicas: int) -> History:
    """With the newest recommendation added."""
    return history._replace(recommendations=(Recommendation(0, replicas), *(history.recommendations or ())))


def rescale(history: History, behavior: Behavior | None, change: int) -> History:
    """With a change of this autoscaler recorded; without behavior nobody would read it, so nothing is.

    Mirrors `storeScaleEvent`: the new event takes the place of the last one in the list that is older than all periods
    of its own direction. The other direction may have longer periods; then upstream forgets an event too early.
    """
    if behavior is None or change == 0:
        return history
    period_s = _longest_period_s(behavior.up if change > 0 else behavior.down)
    events = list(history.scale_events)
    outdated = [i for i, event in enumerate(events) if event.age_s >= period_s and event.change * change > 0]
    if outdated:
        events[outdated[-1]] = ScaleEvent(0, change)
    else:
        events.append(ScaleEvent(0, change))
    return history._replace(scale_events=tuple(events))


def change_within(history: History, period_s: int) -> int:
    """Replicas added minus replicas removed by this autoscaler in the last `period_s` seconds."""
    return sum(event.change for event in history.scale_events if event.age_s < period_s)


def prune(
    history: History,
    behavior: Behavior | None,
    *,
    downscale_stabilization_s: int = 300,
    bounds: tuple[int, int] | None = None,
) -> History:
    """The smallest memory that leads to the same decisions for ever, as long as the autoscaler's spec stays the same.

    A recommendation stays while it is inside a window and no younger one outdoes it: only the younger one can still
    decide. With `bounds` (minReplicas, maxReplicas) values are clamped, and those that every proposal meets anyway are
    dropped. Repeated equal syncs therefore lead to equal memories.
    """
    recommendations = history.recommendations
    if recommendations is not None:
        up_s = 0 if behavior is None else behavior.up_window_s
        down_s = downscale_stabilization_s if behavior is None else behavior.down_window_s(downscale_stabilization_s)
        recommendations = _deciding(recommendations, up_s, down_s, bounds)
    return History(recommendations, _readable(history.scale_events, behavior))


def _deciding(
    recommendations: tuple[Recommendation, ...], up_s: int, down_s: int, bounds: tuple[int, int] | None
) -> tuple[Recommendation, ...]:
    """Those that can still be the minimum of the window up or the maximum of the window down, youngest first."""
    if bounds is not None:
        recommendations = tuple(Recommendation(a, min(max(r, bounds[0]), bounds[1])) for a, r in recommendations)
    highest = _outdoing(recommendations, down_s, 1, None if bounds is None else bounds[0])
    lowest = _outdoing(recommendations, up_s, -1, None if bounds is None else bounds[1])
    return tuple(sorted({*highest, *lowest}))


def _outdoing(
    recommendations: tuple[Recommendation, ...], window_s: int, sign: int, useless: int | None
) -> list[Recommendation]:
    """Those inside the window that exceed all younger ones (sign 1) or undercut them (sign -1)."""
    kept: list[Recommendation] = []
    best = None if useless is None else sign * useless
    for each in sorted(recommendations, key=lambda each: (each.age_s, -sign * each.replicas)):
        if each.age_s < window_s and (best is None or sign * each.replicas > best):
            kept.append(each)
            best = sign * each.replicas
    return kept


def _readable(events: tuple[ScaleEvent, ...], behavior: Behavior | None) -> tuple[ScaleEvent, ...]:
    """The scale events that some policy may still read, additions first."""
    if behavior is None or not events:
        return ()
    horizon_s = max((_longest_period_s(rules) for rules in behavior if rules.select != "Disabled"), default=0)
    added = tuple(event for event in events if event.change > 0)
    removed = tuple(event for event in events if event.change < 0)
    return _keep(added, behavior.up, horizon_s) + _keep(removed, behavior.down, horizon_s)


def _keep(events: tuple[ScaleEvent, ...], own: ScalingRules, horizon_s: int) -> tuple[ScaleEvent, ...]:
    """Events of one direction up to the horizon of all readers.

    If the direction's own periods are shorter, the place in the list decides which event is overwritten next; then the
    list keeps its order, and an event beyond the horizon remains as a place without meaning.
    """
    if horizon_s <= _longest_period_s(own):
        return tuple(sorted(event for event in events if event.age_s < horizon_s))
    return tuple(e if e.age_s < horizon_s else ScaleEvent(horizon_s, 1 if e.change > 0 else -1) for e in events)


def _longest_period_s(rules: ScalingRules) -> int:
    return max((policy.period_s for policy in rules.policies), default=0)
