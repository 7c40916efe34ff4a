"""Writes the picture of rooms into docs/explanation/architecture.md, from the import contracts and the code.

python tools/generate_rooms.py           writes the part of the page between the two marks
python tools/generate_rooms.py --check   exit code 1 if the committed page is not current
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
PACKAGE = ROOT / "src" / "kubeproof"
BEGIN = "<!-- rooms: written by tools/generate_rooms.py -->"
END = "<!-- end of rooms -->"
WIDTH = 14


def layers() -> list[list[str]]:
    """The rooms from top to bottom, those of one layer together, as import-linter checks them."""
    contracts = _settings()["contracts"]
    (found,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [[room.strip() for room in layer.split("|")] for layer in found]


def beside() -> list[str]:
    """The modules that every room may import."""
    (found,) = [one["exhaustive_ignores"] for one in _settings()["contracts"] if one["type"] == "layers"]
    return list(found)


def _settings() -> dict[str, list[dict[str, list[str]]]]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings: dict[str, list[dict[str, list[str]]]] = tomllib.loads(text)["tool"]["importlinter"]
    return settings


def rooms_imported_by(room: str) -> list[str]:
    """The rooms that a room really imports, at the top of a module or inside a function."""
    files = sorted((PACKAGE / room).rglob("*.py")) or [PACKAGE / f"{room}.py"]
    found = {name for file in files for name in _imported(file)}
    return [name for layer in layers() for name in layer if name in found - {room}]


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (name.split(".")[1] for name in names if name.startswith("kubeproof."))


def purpose_of(path: Path) -> str:
    """The first line of what a module or package says of itself."""
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return said.splitlines()[0].rstrip(".")


def folders_of(room: str) -> list[Path]:
    """The folders of a room."""
    return sorted(file.parent for file in (PACKAGE / room).glob("*/__init__.py"))


def picture() -> Iterator[str]:
    """The layers as a drawing: no rule between rooms of one layer, and below each room its folders."""
    rule = "-" * 120
    yield "```"
    for layer in layers():
        yield rule
        for room in layer:
            yield f"{room:<{WIDTH}}{purpose_of(PACKAGE / room)}"
            yield from (f"  {f'{folder.name}/':<20}{purpose_of(folder)}" for folder in folders_of(room))
    yield rule
    yield f"{'beside all':<{WIDTH}}{', '.join(beside())}"
    yield "```"


def table() -> Iterator[str]:
    """What each room really imports."""
    yield "| room | imports |"
    yield "|---|---|"
    for room in (room for layer in layers() for room in layer):
        yield f"| `{room}` | {', '.join(rooms_imported_by(room)) or 'nothing'} |"


def page() -> str:
    """The page with the part between the marks as it must be."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return f"{before}{BEGIN}\n\n" + "\n".join((*picture(), "", *table())) + f"\n\n{END}{after}"


def main() -> int:
    """Writes the page, or checks it."""
    if "--check" in sys.argv:
        is_current = PAGE.read_text(encoding="utf-8") == page()
        print("current" if is_current else "stale: run python tools/generate_rooms.py")
        return 0 if is_current else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
