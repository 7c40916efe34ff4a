"""The states of a cluster in which a workload has fewer ready pods than an intent asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.cluster.objects import Setup, workload_number
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.intents.library.service_levels import ABOUT_READY_PODS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.manifests.loaded import Scenario
    from kubeproof.quantify.clusters.values import StateValues


def list_ready_intents(scenario: Scenario) -> list[Intent]:
    """What asks for ready pods: `minReady` intents, and service levels as such."""
    levels = [level for level in scenario.levels if level.kind in ABOUT_READY_PODS]
    asked = [
        Intent(key="minReady", name=one.name, target=one.target, count=Amount(one.count), source=one.source)
        for one in levels
    ]
    return [*(intent for intent in scenario.stated if intent.key == "minReady"), *asked]


def list_shortages(
    setup: Setup, intents: Sequence[Intent], values: StateValues
) -> list[tuple[Intent, NDArray[np.bool_]]]:
    """Per intent about ready pods the states that have too few, whenever the intent is about them or not."""
    found = []
    for intent in intents:
        workload, count = workload_number(setup, str(intent.target)), intent.count or Amount(1)
        wanted = values.read_desired(workload)
        least = -(-count.number * wanted // 100) if count.percent else np.full(len(wanted), count.number)
        found.append((intent, values.ready(workload) < least))
    return found
