"""Builds the documentation site: the pages of `docs/`, the gallery of cases, and what is written from code.

    python -m tools.site.build OUTPUT                 everything
    python -m tools.site.build OUTPUT --reports c1    the rendered reports of some cases only

Needs `pip install 'zensical>=0.0.73'`. What pages link to outside `docs/` comes along under `repository/`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from tools.site import commands, gallery, quality

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = ("tutorial", "how-to", "gallery", "reference", "explanation", "decisions")
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
LINKED = re.compile(r"\[([^\]]*)\]\([^)\s:]+\)")  # to another file; copies stand elsewhere
FIRST = "what-survives.md"  # of all tutorials
HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


def build(output: Path, *, reports_of: frozenset[str] | None = None) -> None:
    """Writes the site to a folder that does not exist yet or is replaced."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        write_pages(stage / "docs", reports_of=reports_of)
        settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
        settings["nav"] = navigation(stage / "docs")
        (stage / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=stage, check=True)
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(stage / "site", output)


def write_pages(docs: Path, *, reports_of: frozenset[str] | None = None) -> None:
    """All pages of the site as Markdown, with what they show."""
    shutil.copytree(ROOT / "docs", docs)
    (docs / "reference" / "commands.md").write_text(commands.page(), encoding="utf-8")
    (docs / "reference" / "quality.md").write_text(quality.page(), encoding="utf-8")
    gallery.write(docs / "gallery", reports_of=reports_of)
    for page in sorted(docs.rglob("*.md")):
        page.write_text(_inside(page, docs), encoding="utf-8")


def navigation(docs: Path) -> list[dict[str, object]]:
    """Sections in the order of a reader's questions, pages by their headings."""
    sections: list[dict[str, object]] = [{"Home": "index.md"}]
    first = docs / "tutorial" / FIRST
    for section in SECTIONS:
        pages = sorted((docs / section).glob("*.md"), key=lambda page: (page != first, _place(page)))
        title = section.replace("-", " ").capitalize()
        sections.append({title: [{_title(page): str(page.relative_to(docs))} for page in pages]})
    return sections


def _place(page: Path) -> tuple[bool, list[int | str], str]:
    """Overviews first, c2 before c10."""
    words = [int(word) if word.isdigit() else word for word in re.findall(r"\d+|\D+", page.stem)]
    return page.stem != "index", [word if isinstance(word, int) else 0 for word in words], page.stem


def _title(page: Path) -> str:
    found = HEADING.search(page.read_text(encoding="utf-8"))
    assert found is not None, page
    return found.group(1).replace("`", "")


def _inside(page: Path, docs: Path) -> str:
    """The text of a page, its links to other parts of the repository led to copies inside the site."""

    def led(link: re.Match[str]) -> str:
        begin, target, end = link.groups()
        path = Path(os.path.normpath(page.parent / target))
        if path.is_relative_to(docs):
            return link.group(0)
        copy = _brought(ROOT / path.relative_to(docs.parent), docs)
        return f"{begin}{os.path.relpath(copy, page.parent)}{end}"

    return LINK.sub(led, page.read_text(encoding="utf-8"))


def _brought(original: Path, docs: Path) -> Path:
    """A copy of a file of the repository, shown as a page; of a folder its README and its files."""
    copy = docs / "repository" / original.relative_to(ROOT)
    if original.is_dir():
        page = copy / "README.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("\n".join(_listed(original)), encoding="utf-8")
        return page
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(_unlinked(original), encoding="utf-8")
    return copy


def _unlinked(page: Path) -> str:
    return LINKED.sub(r"\1", page.read_text(encoding="utf-8"))


def _listed(folder: Path) -> Iterator[str]:
    readme = folder / "README.md"
    yield _unlinked(readme) if readme.exists() else f"# {folder.name}\n"
    for file in sorted(folder.glob("*.yaml")):
        yield f"\n## {file.name}\n\n```yaml\n{file.read_text(encoding='utf-8').rstrip()}\n```"


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("output", type=Path)
    parser.add_argument("--reports", nargs="*", metavar="CASE", help="render reports of these cases only")
    chosen = parser.parse_args()
    build(chosen.output, reports_of=None if chosen.reports is None else frozenset(chosen.reports))


if __name__ == "__main__":
    main()
