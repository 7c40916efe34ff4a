"""A number that a predicate measures, and whom its call speaks of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kubeproof.cluster.api.selector_text import selector_from
from kubeproof.cluster.loops.actions import Arrive, CreatePods, KeepNode
from kubeproof.cluster.objects import Setup, family
from kubeproof.cluster.state import NodeCell, Nodes, WorkloadCell
from kubeproof.intents.predicates.asked import find_targeted
from kubeproof.intents.predicates.expressions import Call
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Observable:
    """A number (or 0 and 1) that is put together from what is seen of workloads and of places."""

    workloads: tuple[int, ...]  # in the order in which `total` gets them
    places: tuple[int, ...]
    of_workload: Callable[[int, WorkloadCell], Any]
    of_place: Callable[[int, Nodes], Any]
    total: Callable[[tuple[Any, ...], tuple[Any, ...]], int]
    pods: bool = True  # looks at pods, or at what makes them


@dataclass(frozen=True, slots=True)
class Happening:
    """What a step did: some of these tags, or an action that creates pods of these workloads."""

    tags: int = 0
    created: frozenset[int] = frozenset()

    def happens_in(self, tags: int, actions: Iterable[object]) -> bool:
        """True for a step with these tags and actions."""
        if tags & self.tags:
            return True
        return any(
            isinstance(a, CreatePods | Arrive | KeepNode)
            and a.workload in self.created
            and not (isinstance(a, KeepNode) and a.creates is None)
            for a in actions
        )


def find_meant(setup: Setup, call: Call) -> tuple[int, ...]:
    """The workloads whose pods a call is about, with their later revisions."""
    target, selector = call.text("target"), call.text("selector")
    if call.name in ("on", "shared"):
        selector = None  # of nodes, and of the others
    if target is not None and selector is None:
        return tuple(m for index in find_targeted(setup.workloads, target) for m in family(setup, index))
    if selector is None:
        return tuple(range(len(setup.workloads)))
    return find_selected(setup, call)


def find_selected(setup: Setup, call: Call) -> tuple[int, ...]:
    """The workloads whose pods the call's selector matches; in the target's namespace unless another is named."""
    target, selector = call.text("target"), selector_from(call.text("selector") or "")
    namespace = call.text("namespace")
    if namespace is None and target is not None:
        namespace = next((setup.workloads[i].namespace for i in find_targeted(setup.workloads, target)), None)
    return tuple(
        index
        for index, w in enumerate(setup.workloads)
        if namespace in (None, w.namespace) and selector.matches(dict(w.template.labels))
    )


def count_on(cell: NodeCell, members: frozenset[int], phases: tuple[int, ...]) -> int:
    """Pods of some workloads in some phases on one node."""
    return sum(n for kind, n in cell.pods if kind.workload in members and kind.phase in phases)


def add_all(ones: tuple[int, ...], others: tuple[int, ...]) -> int:
    """The sum of what is seen of workloads and of places."""
    return sum(ones) + sum(others)


def see_nothing(_: int, __: Any) -> int:
    """What is seen of a place or a workload that does not count."""
    return 0
