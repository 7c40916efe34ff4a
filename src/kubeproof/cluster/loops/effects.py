"""What an action changes and which clocks it has, in the words of footprints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from kubeproof.cluster.loops import control as c
from kubeproof.cluster.loops.control import Action
from kubeproof.cluster.loops.footprint import NOTHING, Clocks, Writes
from kubeproof.values import complete

_BY_TYPE: Mapping[type, Writes] = complete(
    set(get_args(Action)) - {c.NodeChange, c.Tick},  # by its verb; nobody decides a tick
    {
        c.SetDesired: Writes.SIZES,
        c.SetReplicas: Writes.REPLICA_SETS,
        c.SetTemplate: Writes.TEMPLATES,
        c.SetCurrent: NOTHING,
        c.SetCondition: NOTHING,
        c.NoteFailed: NOTHING,
        c.NoteCompleted: NOTHING,
        c.CreateObject: Writes.OBJECTS,
        c.DeleteObject: Writes.REMOVALS,
        c.CreatePods: Writes.PODS,
        c.Arrive: Writes.PODS,
        c.DeleteUnbound: Writes.DELETIONS,
        c.Bind: Writes.BINDINGS,
        c.BindPinned: Writes.BINDINGS,
        c.Unnominate: Writes.BINDINGS,
        c.Preempt: Writes.DELETIONS,
        c.Delete: Writes.DELETIONS,
        c.EvictPods: Writes.DELETIONS,
        c.EvictDue: Writes.DELETIONS,
        c.TendJob: NOTHING,
        c.Crash: Writes.CRASHES,
        c.Unroute: Writes.ROUTES,
        c.Advance: Writes.PHASES,
        c.KeepNode: NOTHING,
        c.Remember: NOTHING,
    },
)
_CLOCKS: Mapping[type, Clocks] = {
    c.Advance: Clocks.PHASES,
    c.EvictDue: Clocks.TAINTS,
    c.Crash: Clocks.BACK_OFF,
    c.Unroute: Clocks.OTHER,
    c.TendJob: Clocks.OTHER,
}


def find_writes(action: Action) -> Writes:
    """What an action changes."""
    if isinstance(action, c.NodeChange):
        return action.verb.meaning.writes
    if isinstance(action, c.KeepNode):
        created = Writes.PODS if action.creates is not None else NOTHING
        return created | (Writes.DELETIONS if action.drops or action.losses else NOTHING)
    if isinstance(action, c.TendJob) and action.losses:
        return Writes.DELETIONS
    return _BY_TYPE[type(action)]


def clocks_of(action: Action) -> Clocks:
    """The clocks that an action starts, or waits for."""
    if isinstance(action, c.NodeChange):
        return action.verb.meaning.clocks
    return _CLOCKS.get(type(action), Clocks(0))


def losers(action: Action) -> Iterator[int]:
    """The workloads of which an action deletes pods."""
    if isinstance(action, c.Preempt | c.EvictPods):
        yield from (loss[0] for loss in action.losses)
    elif isinstance(action, c.KeepNode):
        yield from (loss[0] for loss in (*action.drops, *action.losses))
    elif Writes.DELETIONS in find_writes(action):
        yield action.workload  # type: ignore[union-attr]
