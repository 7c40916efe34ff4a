"""Which guards the reductions have, read from their source, and the package without one of them.

A guard is an operand of `and` or `or`, a test that leaves a function early, or a relation that is yielded, in the functions
that decide where a reduction applies. A new one is found here by itself, and a test asks for its witness.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import kubeproof

PACKAGE = Path(kubeproof.__file__).parent
LEAVING = (ast.Return, ast.Continue, ast.Raise)
Function = ast.FunctionDef


@dataclass(frozen=True, slots=True, order=True)
class Guard:
    """One condition of a reduction."""

    module: str  # path below the package: "verify/slicing.py"
    function: str
    text: str  # the condition as it stands in the source, white space made even
    number: int = 0  # of equal texts in one function, which

    def __str__(self) -> str:
        which = f" ({self.number + 1})" if self.number else ""
        return f"{self.module}:{self.function}: {self.text}{which}"


class _Pieces(ast.NodeTransformer):
    """Meets all pieces of a function that are guards, and takes one of them out."""

    def __init__(self, taken_out: int | None = None) -> None:
        self.texts: list[str] = []
        self._taken_out = taken_out

    def _meet(self, text: str) -> bool:
        self.texts.append(" ".join(text.split()))
        return len(self.texts) - 1 == self._taken_out

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        left = [one for one in node.values if not self._meet(ast.unparse(one))]
        node.values = [self.visit(one) for one in left]
        return node if len(node.values) > 1 else node.values[0]

    def visit_If(self, node: ast.If) -> ast.AST:
        leaves = not node.orelse and len(node.body) == 1 and isinstance(node.body[0], LEAVING)
        if leaves and self._meet(f"if {ast.unparse(node.test)}"):
            kept = [ast.Expr(one) for one in ast.walk(node.test) if isinstance(one, ast.NamedExpr)]
            return ast.If(ast.Constant(False), [*kept, ast.Pass()], [])
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Yield | ast.YieldFrom) and self._meet(ast.unparse(node.value)):
            return ast.If(ast.Constant(False), [node], [])
        return self.generic_visit(node)


def _functions(tree: ast.Module) -> Iterator[Function]:
    yield from (node for node in ast.walk(tree) if isinstance(node, Function))


@cache
def _source(module: str) -> str:
    return (PACKAGE / module).read_text(encoding="utf-8")


def guards_in(module: str, function: str) -> tuple[Guard, ...]:
    """All guards of a function, in the order of the source."""
    found = [one for one in _functions(ast.parse(_source(module))) if one.name == function]
    assert len(found) == 1, f"{module}: {len(found)} functions are called {function}"
    pieces = _Pieces()
    pieces.visit(found[0])
    texts = pieces.texts
    return tuple(Guard(module, function, text, texts[:place].count(text)) for place, text in enumerate(texts))


def compile_without(guard: Guard) -> CodeType:
    """The guard's module without it."""
    place = guards_in(guard.module, guard.function).index(guard)
    tree = ast.parse(_source(guard.module))
    (function,) = (one for one in _functions(tree) if one.name == guard.function)
    _Pieces(place).visit(function)
    return compile(ast.fix_missing_locations(tree), str(PACKAGE / guard.module), "exec")


class _Finder(MetaPathFinder):
    def __init__(self, name: str, code: CodeType) -> None:
        self._name, self._code = name, code

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname == self._name else None
        if spec is not None and spec.origin is not None:
            spec.loader = _Compiled(fullname, spec.origin, self._code)
        return spec


class _Compiled(SourceFileLoader):
    def __init__(self, fullname: str, path: str, code: CodeType) -> None:
        super().__init__(fullname, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


def remove(guard: Guard) -> None:
    """From now on the guard's module is imported without it."""
    name = "kubeproof." + guard.module.removesuffix(".py").replace("/", ".")
    assert name not in sys.modules, f"{name} is imported already"
    sys.meta_path.insert(0, _Finder(name, compile_without(guard)))
