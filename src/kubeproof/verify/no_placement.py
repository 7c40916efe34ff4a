"""A Scenario that wants to start deployed where nothing can be deployed."""

from __future__ import annotations

from kubeproof.errors import ScenarioError
from kubeproof.manifests.loaded import Loaded


class NoPlacement(ScenarioError):
    """`start: deployed` where no stable placement exists."""


def no_placement(loaded: Loaded) -> NoPlacement:
    """What is said when `start: deployed` is impossible."""
    return NoPlacement(
        "start: deployed needs a stable placement, and none exists",
        file=loaded.scenario.source.file,
        line=loaded.scenario.source.line,
        remedy="Use start: empty to see why",
    )
