"""No function over 60 lines, no module over 500: what grows beyond is split by idea."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"
MAX_LINES = 500  # of a module
MAX_FUNCTION = 60


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, int]]:
    """Every function with its number of lines, decorators aside."""
    for node in ast.iter_child_nodes(tree):
        name = f"{within}{getattr(node, 'name', '')}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, (node.end_lineno or node.lineno) - node.lineno + 1
        is_named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from functions(node, f"{name}." if is_named else within)


def too_large() -> Iterator[str]:
    """Modules and functions above the bounds."""
    for path in sorted(SRC.rglob("*.py")):
        text, shown = path.read_text(encoding="utf-8"), path.relative_to(SRC).as_posix()
        if len(text.splitlines()) > MAX_LINES:
            yield shown
        yield from (f"{shown} {name}" for name, lines in functions(ast.parse(text)) if lines > MAX_FUNCTION)


def test_modules_and_functions_keep_to_their_bounds() -> None:
    assert list(too_large()) == []
