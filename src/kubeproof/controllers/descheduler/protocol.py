"""What a descheduler plugin is given and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

from kubeproof.controllers.descheduler.arguments import Arguments
from kubeproof.controllers.descheduler.evicting import Evictions
from kubeproof.controllers.descheduler.evictor import Evictor
from kubeproof.controllers.descheduler.ledger import Ledger, Limits, NodeState, alive
from kubeproof.controllers.descheduler.scene import Scene
from kubeproof.controllers.descheduler.values import PodGroup
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """Everything a plugin works with: the cluster, its arguments, its profile's evictor, and the hand that evicts."""

    scene: Scene
    arguments: Arguments
    evictor: Evictor
    evictions: Evictions
    limits: Limits

    def admits(self, group: PodGroup) -> bool:
        """True if the plugin's namespaces and labelSelector let the pods through."""
        if not self.arguments.admits_namespace(self.scene.workload(group.workload).namespace):
            return False
        selector = self.arguments.selector("labelSelector")
        return selector is None or selector.matches(self.scene.labels(group.workload))

    def evictable(self, state: NodeState) -> Iterator[tuple[int, PodGroup, int]]:
        """Groups of a ready node that pass namespaces, labelSelector and both filters, with what is left of them."""
        if state.entry not in self.scene.ready:
            return
        for index, group, left in alive(self.scene, state):
            if not (self.admits(group) and self.evictor.may_evict(group)):
                continue
            if self.evictor.may_evict_now(group, state.entry):
                yield index, group, left


class Plugin(Protocol):
    """One plugin at one extension point."""

    def run(self, ledger: Ledger) -> frozenset[Ledger]:
        """All possible ledgers after the plugin has run."""

    def explain(self, ledger: Ledger) -> Iterator[str]:
        """The numbers behind what it does."""


@runtime_checkable
class Restful(Protocol):
    """A plugin that knows placements which it leaves alone at any size of the cluster; others may evict anything."""

    def never_evicts(self) -> bool:
        """True if it evicts nothing, wherever which pods are."""

    def keeps_even(self) -> bool:
        """True if it evicts nothing while the pods of each owner are spread evenly: counts that differ by 1 at most."""


Builder = Callable[[Context], Plugin]
