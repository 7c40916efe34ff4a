"""Nothing is kept that no run reaches: oracles belong to tests/oracles, and what nobody calls goes."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
FILES = sorted(path for kind in ("py", "pyx", "pxd") for path in SOURCE.rglob(f"*.{kind}"))
TEXTS = {path: path.read_text(encoding="utf-8") for path in FILES}
DOORS = {"kubeproof.cli.main", "kubeproof.api.pytest_plugin"}  # where users come in
FROM = re.compile(r"^from (kubeproof[\w.]*) c?import ", re.MULTILINE)
FOR_USERS = {  # what authors of loops follow, and what pytest calls; nobody need name it
    "PeriodicController", "pytest_addoption", "pytest_collection_modifyitems", "pytest_report_header",
}  # fmt: skip


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def named_in(text: str) -> Iterator[str]:
    """The modules, and what is taken of them, that a module imports or names in a text: late classes, commands."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    yield from re.findall(r"[\"'](kubeproof\.[\w.]+)[\"']", text)


def test_every_module_is_imported_by_another() -> None:
    named = {name for path, text in TEXTS.items() if path.suffix == ".py" for name in named_in(text)}
    named |= {name for path, text in TEXTS.items() if path.suffix == ".pyx" for name in FROM.findall(text)}
    quoted = set(re.findall(r"[\"'](\w+)[\"']", "".join(TEXTS.values())))  # plugins and commands, in tables
    modules = [name_of(path) for path in TEXTS if path.suffix == ".py" and path.name != "__init__.py"]

    assert [name for name in modules if name not in named | DOORS and name.split(".")[-1] not in quoted] == []


def test_every_function_and_class_of_a_module_is_named_somewhere_else_in_the_product() -> None:
    words = Counter(word for text in TEXTS.values() for word in re.findall(r"\w+", text))
    defined = [
        node.name
        for path, text in TEXTS.items()
        if path.suffix == ".py"
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not _is_command(node)
    ]

    assert [name for name in defined if words[name] == 1 and name not in FOR_USERS] == []


def _is_command(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """True of what a decorator registers."""
    return any("command" in ast.unparse(one) for one in node.decorator_list)
