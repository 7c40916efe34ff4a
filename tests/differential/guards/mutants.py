"""The guards that are removed one by one, each with the cluster that misses it: those of each family in a module."""

from __future__ import annotations

from tests.differential.guards.mutants_crowd import CROWD
from tests.differential.guards.mutants_nodes import NODES
from tests.differential.guards.mutants_parts import PARTS
from tests.differential.guards.mutants_pods import POD_BY_POD
from tests.differential.guards.switching import Guard

REDUCTIONS: tuple[tuple[Guard, str, bool], ...] = (  # guard, witness, whether looked at in parts
    (
        Guard("model/reductions/persistent_steps.py", "find_taken_alone", "number in seen"),
        "somebody scales before the first sync",
        False,
    ),
    (
        Guard(
            "model/reductions/starts_in_unison.py",
            "check_untouched",
            "workload in waiting",
        ),
        "pods are deleted while some start",
        False,
    ),
    (
        Guard("model/reductions/loosened.py", "_empty", "not around.drains_end"),
        "others never leave a drained node",
        True,
    ),
    (
        Guard("model/reductions/loosened.py", "_fill", "_short(plan, scheduler.workload, around)"),
        "a daemon pod comes too late",
        True,
    ),
    (
        Guard(
            "model/reductions/loosened.py",
            "_find_forgotten",
            "any((_asks_for_pods(setup, workload.template) for workload in setup.workloads))",
        ),
        "a pod that never ends keeps its successor out of a zone",
        True,
    ),
)
MUTANTS = (*REDUCTIONS, *NODES, *PARTS, *CROWD, *POD_BY_POD)
