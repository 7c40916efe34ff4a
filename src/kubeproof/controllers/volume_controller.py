"""The volume controller: gives claims that do not wait for a pod their volume.

Mirrors `syncUnboundClaim` of `pkg/controller/volume/persistentvolume`: the smallest volume that fits, or else one that
is provisioned. Where a provisioner puts it nobody knows beforehand, so every place that the class allows is possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.loops.actions import Action, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import NOTHING, QUIET, Among
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.cluster.volumes import Volume, open_claims, possible_volumes, provision, suitable, with_bindings
from kubeproof.controllers.scheduler.mentions import mention_volumes
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class VolumeController:
    """The loop for one claim."""

    layout: Layout
    position: int  # of the claim among the open ones
    memories: tuple[int, ...]  # of all open claims
    stage: int = Stage.ALWAYS

    reads_nodes = mention_volumes
    footprint = replace(QUIET, writes=NOTHING, among=Among.BY_ITSELF)  # which volume a claim has is a memory of its own

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.PERSISTENT_VOLUME, self._key)

    @property
    def _key(self) -> str:
        setup = self.layout.setup
        return setup.claims[open_claims(setup)[self.position]].key

    @property
    def reads(self) -> Reads:
        return Reads(memories=self.memories)

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> None:
        """Never looks at nodes."""

    def act(self, seen: Seen[None, Groups[None]]) -> tuple[Decision, ...]:
        """Each volume that the claim may get, while it has none."""
        bound = tuple(memory[0] for memory in seen.memories)
        if bound[self.position]:
            return ()
        numbers = volume_numbers(self.layout)
        found = dict.fromkeys(numbers[volume.name] for volume in self._volumes(bound))
        memory = self.memories[self.position]
        return tuple(Decision((Remember(memory, (number,)),)) for number in found)

    def _volumes(self, bound: tuple[int, ...]) -> Iterator[Volume]:
        setup = with_bindings(self.layout.setup, bound)
        claim = setup.claims[open_claims(self.layout.setup)[self.position]]
        volumes = suitable(setup, claim, None, frozenset())
        if not volumes:
            made = (provision(setup, claim, node.label_map) for node in setup.nodes)
            volumes = [volume for volume in made if volume is not None]
        yield from volumes

    def tells(self, actions: tuple[Action, ...]) -> str:
        """The binding in words."""
        return "; ".join(bindings_in_words(self.layout, self.memories, actions))


def volume_numbers(layout: Layout) -> dict[str, int]:
    """The number, from 1, of every volume that a run may know."""
    return {volume.name: number for number, volume in enumerate(possible_volumes(layout.setup), start=1)}


def bindings_in_words(layout: Layout, memories: tuple[int, ...], actions: tuple[Action, ...]) -> Iterator[str]:
    """One sentence per claim that an action gives a volume."""
    setup = layout.setup
    possible, waiting = possible_volumes(setup), open_claims(setup)
    for action in actions:
        if isinstance(action, Remember) and action.memory in memories and action.value[0]:
            claim = setup.claims[waiting[memories.index(action.memory)]]
            yield f"binds claim {claim.key} to volume {possible[action.value[0] - 1].name}"
