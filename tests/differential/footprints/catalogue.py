"""All inputs on which lines of footprints are tried: golden cases, witnesses of guards, and those made for it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from tests.differential.footprints.inputs import INPUTS
from tests.differential.guards import (
    witnesses_crowd,
    witnesses_nodes,
    witnesses_parts,
    witnesses_sizes,
    witnesses_time,
)
from tests.golden.cases import EXPECTED, HERE, case_names

GOLDEN, WITNESS, MADE, GUARDED = "golden: ", "witness: ", "made: ", "with a budget: "
DESCHEDULED = "packing-evictor-against-spreading-scheduler"
_WITNESSES = {
    name: make
    for part in (witnesses_crowd, witnesses_nodes, witnesses_parts, witnesses_sizes, witnesses_time)
    for name, make in part.WITNESSES.items()
}


def names() -> tuple[str, ...]:
    """The names of all inputs."""
    golden = (GOLDEN + name for name in case_names() if not name.startswith("own-"))
    return (*golden, GUARDED + DESCHEDULED, *(WITNESS + name for name in _WITNESSES), *(MADE + name for name in INPUTS))


@cache
def input_called(name: str) -> Loaded:
    """The input of this name."""
    if name.startswith(GOLDEN):
        folder = HERE / name.removeprefix(GOLDEN)
        return load([str(file) for file in sorted(folder.glob("*.yaml")) if file.name != EXPECTED])
    if name.startswith(GUARDED):
        return _with_budget(input_called(GOLDEN + name.removeprefix(GUARDED)))
    if name.startswith(WITNESS):
        return _WITNESSES[name.removeprefix(WITNESS)]()
    return INPUTS[name.removeprefix(MADE)]()


def _with_budget(loaded: Loaded) -> Loaded:
    """The input with a budget for the pods of its first workload."""
    first = loaded.setup.workloads[0]
    guard = PodDisruptionBudget(first.namespace, "guard", first.selector, (1, False), None)
    return replace(loaded, setup=replace(loaded.setup, budgets=(guard,)))
