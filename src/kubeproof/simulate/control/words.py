"""Steps worth telling, in words: changes of sizes, faults, evictions, nodes that come and go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubeproof.cluster.loops.actions import Verb
from kubeproof.cluster.loops.control import Role
from kubeproof.cluster.loops.meanings import write_out
from kubeproof.cluster.loops.node_verbs import NodeVerb
from kubeproof.events.workload import TrafficShift
from kubeproof.model.by_name.state import Concrete
from kubeproof.simulate.control.walk import Taken
from kubeproof.simulate.outcome import SHIFT, Moment

MOST_NAMES = 3


def describe_shifts(shifts: Iterable[TrafficShift], duration_s: int) -> Iterator[Moment]:
    """When services get more or fewer requests than their streams say, within a run."""
    for shift in shifts:
        if shift.at_s <= duration_s:
            yield Moment(shift.at_s, SHIFT, f"{shift.service} gets {shift.factor:g} times the requests")
        end_s = None if shift.for_s is None else shift.at_s + shift.for_s
        if end_s is not None and end_s <= duration_s:
            yield Moment(end_s, SHIFT, f"{shift.service} gets {shift.factor:g} times the requests no more")


def describe(taken: Taken) -> str:
    """What the step did, if it is worth telling; otherwise nothing."""
    return "; ".join(_words(taken))


def _words(taken: Taken) -> Iterator[str]:
    if taken.decision.role == Role.TIME:
        return
    for concrete in taken.concrete:
        words = _worth_telling(concrete)
        if words:
            yield words


def _worth_telling(concrete: Concrete) -> str:
    verb, *arguments = concrete
    if isinstance(verb, NodeVerb):
        return f"{arguments[0]} {verb.meaning.tells}"
    assert isinstance(verb, Verb)
    return write_out(verb.recorded.tells, arguments, _list)


def _list(names: object) -> str:
    assert isinstance(names, tuple)
    shown = ", ".join(str(name) for name in names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"
