"""What outlives a call: every cache of the package is known, and none holds what an output reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "kubeproof"
CACHING = ("cache", "lru_cache")
FUNCTIONS_OF_THEIR_ARGUMENTS = {  # and of nothing else: a result that is found again is the one worked out again
    "cluster/objects.py",  # of the very same setup
    "cluster/api/quantity.py",
    "controllers/descheduler/plugins/topology_spread.py",  # within one call
    "controllers/hpa/ahead.py",
    "controllers/scheduler/attempts.py",  # within one call
    "intents/predicates/expressions.py",
    "logic/alphabet.py",
    "logic/formula.py",
    "logic/normal.py",
    "logic/automata/tableau.py",  # as long as its tableau
    "manifests/editing/places.py",  # of a file's name and text
    "manifests/editing/splicing.py",  # of the text that is changed; nobody writes into what is kept
    "manifests/validation/strict.py",  # a table that the module holds as text
    "manifests/yaml/tree.py",
    "model/by_name/state.py",
    "monitor/watches/formulas.py",
    "network/properties/patterns.py",
    "simulate/published/arrivals.py",
    "simulate/serving/numbers.py",  # a module
    "named_tuples.py",  # of how many fields there are
    "values.py",  # of the shape of a class
    "verify/executors/dask_cluster.py",  # what a worker was sent
}
TABLES_THAT_GROW = {  # of objects that remember answers; each answer is a function of the question
    "logic/machine.py",
    "model/loops/shared.py",
}

FILLED_BY_DECLARATIONS = {"cluster/loops/meanings.py"}  # while modules are imported, and never after


def caching(tree: ast.Module) -> Iterator[str]:
    """The names of the caches that a module makes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in CACHING and isinstance(node.ctx, ast.Load):
            yield node.id
        if isinstance(node, ast.Attribute) and node.attr in CACHING:
            yield node.attr


def test_every_cache_is_known_to_hold_nothing_that_an_output_reads() -> None:
    sources = {file.relative_to(SOURCE).as_posix(): file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")}
    found = {name for name, text in sources.items() if any(caching(ast.parse(text)))}

    assert found == FUNCTIONS_OF_THEIR_ARGUMENTS | TABLES_THAT_GROW


def test_no_module_holds_something_that_grows() -> None:
    """Constants are never changed: no function declares a global, and no module's empty container is filled later."""
    for file in SOURCE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        empty = [one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign) and is_empty(one.value)]
        if file.relative_to(SOURCE).as_posix() not in FILLED_BY_DECLARATIONS:
            assert not empty, f"{file.name}: line {empty[0].lineno}"
        assert not any(isinstance(node, ast.Global) for node in ast.walk(tree)), file.name


def is_empty(value: ast.expr | None) -> bool:
    """True for a container that only makes sense if it is filled later."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("dict", "list", "set", "defaultdict", "Counter") and not value.args
    return (isinstance(value, ast.Dict) and not value.keys) or (isinstance(value, ast.List) and not value.elts)
