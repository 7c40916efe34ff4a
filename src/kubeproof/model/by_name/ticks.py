"""Nodes as time passes."""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.cluster.state import NEVER, NodeCell, Nodes, PodKind, add_pods, holds_up_zone

Pods = tuple[tuple[PodKind, int], ...]
Ages = tuple[tuple[int, ...], ...]  # per workload, the ages in seconds at which something about a pod changes


def next_due(cell: NodeCell, ages: Ages, spare_ages: tuple[int, ...] = (), lives: Ages = ()) -> int:
    """Seconds until the next clock of the node runs out or a pod reaches an age that matters; NEVER if none runs."""
    clocks = [cell.least_s, cell.most_s]
    if cell.spare_s != NEVER:
        clocks += [age - cell.spare_s for age in spare_ages]
    for kind, _ in cell.pods:
        clocks += (*kind[2:5], kind.route_s)
        if kind.age_s != NEVER:
            clocks += [age - kind.age_s for age in ages[kind.workload]]
        if kind.life_s != NEVER:
            clocks += [life - kind.life_s for life in lives[kind.workload]]
    return min((clock for clock in clocks if clock > 0), default=NEVER)


def tick(cell: NodeCell, seconds: int, ages: Ages, spare_ages: tuple[int, ...] = (), lives: Ages = ()) -> NodeCell:
    """The node `seconds` later."""

    def later(kind: PodKind) -> PodKind:
        age_s = kind.age_s if kind.age_s == NEVER else min(kind.age_s + seconds, ages[kind.workload][-1])
        life_s = kind.life_s if kind.life_s == NEVER else min(kind.life_s + seconds, lives[kind.workload][-1])
        return PodKind(
            workload=kind.workload,
            phase=kind.phase,
            least_s=_later(kind.least_s, seconds),
            most_s=_later(kind.most_s, seconds),
            evict_s=_later(kind.evict_s, seconds),
            age_s=age_s,
            restarts=kind.restarts,
            preempted=kind.preempted,
            route_s=_later(kind.route_s, seconds),
            life_s=life_s,
        )

    pods = map_pods(cell.pods, later)
    spare_s = cell.spare_s if cell.spare_s == NEVER else min(cell.spare_s + seconds, spare_ages[-1])
    least_s, most_s = _later(cell.least_s, seconds), _later(cell.most_s, seconds)
    if least_s == 0 and holds_up_zone(cell):
        least_s = most_s = NEVER  # nobody waits for it any more
    return cell._replace(least_s=least_s, most_s=most_s, pods=pods, spare_s=spare_s)


def _later(clock: int, seconds: int) -> int:
    return clock if clock < 0 else max(0, clock - seconds)


def all_ticked(nodes: Nodes, seconds: int, ages: Ages, spare_ages: tuple[int, ...] = (), lives: Ages = ()) -> Nodes:
    """All nodes `seconds` later; clocks only fall, so distinct nodes may become equal."""
    amounts: dict[NodeCell, int] = {}
    for cell, count in nodes:
        later = tick(cell, seconds, ages, spare_ages, lives)
        amounts[later] = amounts.get(later, 0) + count
    return tuple(sorted(amounts.items()))


def map_pods(pods: Pods, change: Callable[[PodKind], PodKind]) -> Pods:
    """The pods, each changed so; kinds that become equal are one."""
    result: Pods = ()
    for kind, count in pods:
        result = add_pods(result, change(kind), count)
    return result
