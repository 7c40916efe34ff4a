"""The words that recorded runs and counterexamples share: actions of control loops on single objects.

A step of the model may act on several pods at once; here it is one action per pod, as the API server sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kubeproof.model.by_name.state import Concrete
from tests.conformance.controlplane.runs import Recorded

# Who decides in a real control plane. Kubelets are simulated, and operators are the driver's own: both are left out
# of matching rates.
DECIDERS = ("deployment", "replicaset", "hpa", "scheduler", "descheduler", "taint-eviction")


class Word(NamedTuple):
    """One action without names of pods."""

    who: str
    verb: str  # create, delete, bind, evict, scale, apply, cpu, cordon, uncordon
    where: str = ""  # the node of the pod
    amount: int | None = None


class Said(NamedTuple):
    """A word and the pod it is about, if any."""

    word: Word
    pod: str = ""


def said_by_run(action: Recorded) -> Said:
    """A recorded action as a word."""
    if action.object.startswith("Pod/"):
        return Said(Word(action.who, action.verb, action.node), action.object)
    if action.object.startswith("Node/"):
        return Said(Word(action.who, action.verb, action.node))
    who = "event" if action.who == "user" else action.who
    return Said(Word(who, action.verb, "", action.amount))


def said_by_model(controller: str, concrete: Sequence[object], homes: dict[str, str]) -> list[Said]:
    """A step of the model as words; `homes` has the nodes of pods before the step. Empty for steps nobody records."""
    who = controller.split()[0]
    return [said for one in concrete if isinstance(one, tuple) for said in _said(who, one, homes)]


def _said(who: str, concrete: Concrete, homes: dict[str, str]) -> Iterable[Said]:
    verb, *rest = concrete
    if verb == "set-replicas":
        return [Said(Word("deployment", "scale", "", _number(rest[1])))]
    if verb == "set-desired":
        return [Said(Word(who, "apply" if who == "event" else "scale", "", _number(rest[1])))]
    if verb == "create":
        return [Said(Word(who, "create"), pod) for pod in _names(rest[1])]
    if verb == "arrive":
        return [Said(Word(who, "create", str(rest[1])), pod) for pod in _names(rest[2])]
    if verb == "bind":
        return [Said(Word(who, "bind", str(rest[1])), str(rest[0]))]
    if verb == "delete":
        deed = "evict" if who == "drain" else "delete"
        return [Said(Word(who, deed, homes.get(pod, "")), pod) for pod in _names(rest[0])]
    if verb == "evict-pods":
        return [Said(Word(who, "evict", str(rest[0])), pod) for pod in _names(rest[1])]
    if verb == "evict":
        return [Said(Word(who, "delete", str(rest[0])), pod) for pod in _names(rest[1])]
    if verb in ("maintain", "return"):
        return [Said(Word("drain", "cordon" if verb == "maintain" else "uncordon", str(rest[0])))]
    return []


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no number")
    return value


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, tuple | list):
        raise TypeError(f"{value!r} is no list of names")
    return tuple(str(name) for name in value)
