"""The table of versions is complete: nothing compares with a version that is not in it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import kubeproof
from kubeproof.cluster.api import versions
from kubeproof.cluster.api.versions import RULES, in_words

SOURCE = Path(kubeproof.__file__).parent
TABLE = SOURCE / "cluster" / "api" / "versions.py"
ASKS = {"kubernetes_version", "descheduler_version", "version", "_version"}  # names under which versions travel
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != TABLE)


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


OTHER_VERSIONS = {"network", "live", "monitor"}  # of addresses, of API resources, of lists


def is_version(node: ast.AST) -> bool:
    """True for a tuple of two numbers that looks like a version of Kubernetes or of the descheduler."""
    if not isinstance(node, ast.Tuple) or len(node.elts) != 2:
        return False
    values = [element.value for element in node.elts if isinstance(element, ast.Constant)]
    return len(values) == 2 and values[0] in (0, 1) and isinstance(values[1], int) and 20 <= values[1] <= 60


def test_no_version_is_written_outside_of_the_table() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.Tuple) and is_version(node)
    ]

    assert found == []


def asked_names(path: Path) -> set[str]:
    """The rules of the table that a module names."""
    names = {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)}
    return names | {alias.name for node in nodes_of(path) if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_every_rule_is_asked_or_says_which_fields_are_dropped() -> None:
    asked = set().union(*(asked_names(path) for path in MODULES))

    assert [name for name, rule in RULES.items() if name not in asked and not rule.fields] == []


def test_versions_are_compared_with_the_table_alone() -> None:
    read = [path for path in MODULES if path.relative_to(SOURCE).parts[0] not in OTHER_VERSIONS]

    assert [found for path in read for found in undeclared(path)] == []


def undeclared(path: Path) -> list[str]:
    """The comparisons of versions with something that is not from the table."""
    known = {
        target.id
        for node in nodes_of(path)
        if isinstance(node, ast.Assign) and "versions." in ast.unparse(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return [
        ast.unparse(node)
        for node in nodes_of(path)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.GtE | ast.LtE | ast.Gt)
        if any(getattr(side, "attr", getattr(side, "id", "")) in ASKS for side in (node.left, *node.comparators))
        if not any(getattr(side, "id", "") in known or _is_known(side) for side in (node.left, *node.comparators))
    ]


def _is_known(node: ast.AST) -> bool:
    """True for a name that another module has from the table."""
    name = getattr(node, "id", "")
    return name.endswith(("_SINCE", "_BEFORE")) or name in ("oldest", "newest", "skipped_since")


def test_a_rule_of_a_gate_names_what_holds_in_words() -> None:
    assert in_words(versions.UNHEALTHY_EVICTION.since) == "1.27"
    assert versions.UNHEALTHY_EVICTION.newest_without == (1, 26)
    assert {rule.component for rule in RULES.values()} == {"Kubernetes", "descheduler"}
