"""Wrong rules: each is one small change of a controller's source that the recorded corpora must catch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong rule."""

    name: str  # what is wrong, in words: "percentages of maxSurge round down"
    module: str  # path below src/kubeproof: "controllers/rollout/sync.py"
    before: str  # text that occurs exactly once
    after: str
    corpus: str  # name of the corpus that must notice
    upstream: str = "kubernetes-1.37"
