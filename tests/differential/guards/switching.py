"""The package with switches: each guard of the reductions can be ignored while the program runs.

A guard is an operand of `and` or `or`, a test that leaves a function early, a filter, or something that is yielded,
added, done, or told beside other facts, in the functions that decide where a reduction applies. Guards are read from
the source: a new one is found by itself.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import kubeproof

PACKAGE = Path(kubeproof.__file__).parent
LEAVING = (ast.Return, ast.Continue, ast.Raise)
FACTS = 4  # elements of a tuple that tells facts; smaller ones are pairs and the like
OFF, STOPS = "_guard_is_off", "_guard_stops"


@dataclass(frozen=True, slots=True, order=True)
class Guard:
    """One condition of a reduction."""

    module: str  # path below the package: "verify/proofs/slicing.py"
    function: str
    text: str  # the condition as it stands in the source, white space made even
    number: int = 0  # of equal texts in one function, which

    def __str__(self) -> str:
        which = f" ({self.number + 1})" if self.number else ""
        return f"{self.module}:{self.function}: {self.text}{which}"


# -- finding guards, and giving them switches -------------------------------------------------------


class _Switches(ast.NodeTransformer):
    """Gives every guard of one function a switch."""

    def __init__(self, module: str, function: str) -> None:
        self._module, self._function = module, function
        self.guards: list[Guard] = []

    def _meet(self, node: ast.AST) -> ast.Constant:
        text = " ".join(ast.unparse(node).split())
        number = sum(guard.text == text for guard in self.guards)
        self.guards.append(Guard(self._module, self._function, text, number))
        return ast.Constant(str(self.guards[-1]))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """An operand that is off counts as if it were not there; `given or ()` is no guard."""
        if isinstance(node.values[-1], ast.Tuple | ast.Constant):
            return self.generic_visit(node)
        keys = [self._meet(one) for one in node.values]
        is_and = isinstance(node.op, ast.And)
        node.values = [_asked(key, self.visit(one), neutral=is_and) for key, one in zip(keys, node.values, strict=True)]
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """A test that is off does not leave the function."""
        leaves = not node.orelse and len(node.body) == 1 and isinstance(node.body[0], LEAVING)
        if leaves and not (isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or)):
            key = self._meet(node.test)
            node.test = _asked(key, self.visit(node.test), neutral=False)
        else:
            node.test = self.visit(node.test)
        node.body = [self.visit(one) for one in node.body]
        node.orelse = [self.visit(one) for one in node.orelse]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """What is off is not added."""
        key = self._meet(node)
        return ast.If(_asked(key, ast.Constant(True), neutral=False), [self.generic_visit(node)], [])

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """A filter that is off lets everything pass."""
        keys = [None if isinstance(one, ast.BoolOp) else self._meet(one) for one in node.ifs]
        visited = [(key, self.visit(one)) for key, one in zip(keys, node.ifs, strict=True)]
        node.ifs = [one if key is None else _asked(key, one, neutral=True) for key, one in visited]
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        """Of what is told in one breath, an element that is off is not told."""
        if not isinstance(node.ctx, ast.Load) or len(node.elts) < FACTS:
            return self.generic_visit(node)
        keys = [self._meet(one) for one in node.elts]
        node.elts = [_asked(key, self.visit(one), neutral=None) for key, one in zip(keys, node.elts, strict=True)]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """What is off is not yielded, or not done."""
        if not isinstance(node.value, ast.Yield | ast.YieldFrom | ast.Call):
            return self.generic_visit(node)
        key = self._meet(node.value)
        return ast.If(_asked(key, ast.Constant(True), neutral=False), [self.generic_visit(node)], [])


def _asked(key: ast.Constant, value: ast.expr, *, neutral: bool | None) -> ast.expr:
    """The value, or the neutral one while the switch is off; whether it stops the reduction is noted."""
    noted = ast.Call(ast.Name(STOPS, ast.Load()), [key, value, ast.Constant(neutral)], [])
    return ast.IfExp(ast.Call(ast.Name(OFF, ast.Load()), [key], []), ast.Constant(neutral), noted)


@cache
def _source(module: str) -> str:
    return (PACKAGE / module).read_text(encoding="utf-8")


def _switched(module: str, functions: Iterable[str]) -> tuple[ast.Module, list[Guard]]:
    """The module's source with switches in these functions, and the guards that have them."""
    tree, found = ast.parse(_source(module)), []
    named = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for function in functions:
        assert function in named, f"{module} has no function {function}"
        switches = _Switches(module, function)
        switches.generic_visit(named[function])
        found += switches.guards
    return ast.fix_missing_locations(tree), found


def guards_in(module: str, functions: Iterable[str]) -> tuple[Guard, ...]:
    """All guards of the functions, in the order of the source."""
    return tuple(_switched(module, functions)[1])


# -- switching --------------------------------------------------------------------------------------


class Switchboard:
    """Which guard is off, and which ones have stopped a reduction since the last look."""

    def __init__(self) -> None:
        self._off: str | None = None
        self._stopping: set[str] = set()

    def is_off(self, key: str) -> bool:
        """True while the guard is ignored."""
        return key == self._off

    def note(self, key: str, value: Any, neutral: bool | None) -> Any:
        """The value itself; one that is not the neutral one has stopped a reduction, or allowed it."""
        if neutral is None or bool(value) != neutral:
            self._stopping.add(key)
        return value

    def switch_off(self, guard: Guard | None) -> None:
        """Ignores this guard from now on; none with None. What the package remembers of before is forgotten."""
        self._off = None if guard is None else str(guard)
        self._stopping.clear()
        _forget()

    def stopping(self) -> frozenset[str]:
        """The guards that have decided something since the last switching."""
        return frozenset(self._stopping)


def _forget() -> None:
    """Empties the caches of the package."""
    for name, module in list(sys.modules.items()):
        if name.startswith("kubeproof"):
            for value in vars(module).values():
                if isinstance(value, _CACHED):
                    value.cache_clear()


_CACHED = type(lru_cache(len))


class _Finder(MetaPathFinder):
    def __init__(self, codes: dict[str, CodeType], board: Switchboard) -> None:
        self._codes, self._board = codes, board

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname in self._codes else None
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin, self._codes[fullname], self._board)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, code: CodeType, board: Switchboard) -> None:
        super().__init__(fullname, path)
        self._code, self._board = code, board

    def get_code(self, fullname: str) -> CodeType:
        return self._code

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update({OFF: self._board.is_off, STOPS: self._board.note})
        super().exec_module(module)


def install(functions: dict[str, Sequence[str]]) -> tuple[Switchboard, tuple[Guard, ...]]:
    """Switches for all guards of these functions, by module; none of the modules may be imported yet."""
    board, guards, codes = Switchboard(), [], {}
    for module, names in functions.items():
        fullname = "kubeproof." + module.removesuffix(".py").replace("/", ".")
        assert fullname not in sys.modules, f"{fullname} is imported already"
        tree, found = _switched(module, names)
        codes[fullname] = compile(tree, str(PACKAGE / module), "exec")
        guards += found
    sys.meta_path.insert(0, _Finder(codes, board))
    return board, tuple(guards)


def iterate(functions: dict[str, Sequence[str]]) -> Iterator[Guard]:
    """All guards of these functions."""
    for module, names in functions.items():
        yield from guards_in(module, names)
