"""Which pods go when a ReplicaSet shrinks: one choice among equals, drawn, where `verify` follows all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from kubeproof.controllers.workloads.victims import Loss, Tier


class Draw:
    """Takes pods of lower keys first; of those with equal keys each is equally likely."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def __call__(self, tiers: Sequence[Tier], count: int) -> Iterator[tuple[Loss, ...]]:
        """One of the ways that `kubeproof.controllers.workloads.victims.choices` lists."""
        losses: list[Loss] = []
        for key in sorted({tier.key for tier in tiers}):
            tied = [tier for tier in tiers if tier.key == key]
            pods = [
                (at, node) for at, tier in enumerate(tied) for node in range(tier.nodes) for _ in range(tier.per_node)
            ]
            lost = Counter(self._rng.sample(pods, min(max(count, 0), len(pods))))
            for at, tier in enumerate(tied):
                parts = sorted((number for (owner, _), number in lost.items() if owner == at), reverse=True)
                losses += [(tier, tuple(parts))] if parts else []
            count -= len(pods)
        yield tuple(losses)
