"""Which tags the actions of a step have."""

from __future__ import annotations

from kubeproof.cluster.loops.actions import Action
from kubeproof.cluster.loops.meanings import MEANINGS, tag
from kubeproof.cluster.loops.tags import Tag


def tags_of(actions: tuple[Action, ...]) -> int:
    """The tags of a step, overall and per workload."""
    tags = int(Tag.STEP)
    for action in actions:
        told = MEANINGS[type(action)].tags
        if callable(told):
            tags |= told(action)
        elif told:
            tags |= tag(action.workload, told)  # type: ignore[union-attr]
    return tags
