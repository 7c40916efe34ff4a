"""The documentation is true: its commands run, its links resolve, its lists are complete.

Conventions in Markdown files, each an HTML comment before what it is about:

    <!-- exit: 1 -->         the `kubeproof` commands (`$ kubeproof …`) of the next console block end with this code;
                             every other line of the block is a line of the output; `…` stands for
                             any rest of a line, or alone for any lines
    <!-- file: NAME -->      the next block is written to this file
    <!-- from: FILE -->      the lines of the next block stand in this file of the repository, in this order; `…` alone
                             stands for any lines
    <!-- edit: FILE | OLD | NEW -->  OLD is replaced in the file; \\n in NEW is a line break

All of one page run in order, in a directory of their own that holds a copy of `examples/`.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kubeproof import errors
from kubeproof.cli.main import main
from kubeproof.events.declarations import manuals
from kubeproof.intents.catalogue import catalogue
from kubeproof.quantify.storm import is_available
from tools import (
    generate_api_types,
    generate_checks,
    generate_decisions,
    generate_modelled,
    generate_rooms,
    generate_schemas,
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
REFERENCE = ROOT / "docs" / "reference"
DIRECTIVE = re.compile(r"<!-- (exit|file|edit): (.+?) -->")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


class Part(NamedTuple):
    """One thing to do on a page."""

    verb: str
    argument: str
    block: str = ""


def parts_of(page: Path) -> list[Part]:
    """What a page asks to be done, in order."""
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    found = []
    for line in lines:
        directive = DIRECTIVE.fullmatch(line.strip())
        if directive is not None:
            verb, argument = directive.groups()
            found.append(Part(verb, argument, "" if verb == "edit" else _block(lines)))
    return found


def _block(lines: Iterator[str]) -> str:
    """The text of the fenced block that follows at once."""
    assert next(lines).startswith("```")
    taken = []
    for line in lines:
        if line.startswith("```"):
            return "\n".join(taken) + "\n"
        taken.append(line)
    raise AssertionError("the block has no end")


def shown_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


RUNNABLE = [page for page in PAGES if parts_of(page)]


QUOTED = re.compile(r"^<!-- from: ([^\n]+) -->\n```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if "<!-- from: " in page.read_text("utf-8")], ids=shown_name)
def test_quoted_code_is_that_of_the_repository(page: Path) -> None:
    for file, block in QUOTED.findall(page.read_text(encoding="utf-8")):
        rest = (ROOT / file).read_text(encoding="utf-8")
        for part in block.split("…\n"):
            assert part in rest, file
            rest = rest.partition(part)[2]


@pytest.mark.parametrize("page", RUNNABLE, ids=shown_name)
def test_commands_end_and_say_as_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not is_available() and any("$ kubeproof quantify" in part.block for part in parts_of(page)):
        pytest.skip("Storm has no wheel for this platform")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for part in parts_of(page):
        if part.verb == "file":
            Path(part.argument).write_text(part.block, encoding="utf-8")
        elif part.verb == "edit":
            file, old, new = (word.strip() for word in part.argument.split("|"))
            replace_in(Path(file), old, new.replace("\\n", "\n"))
        else:
            run_block(part, capsys)


def replace_in(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def run_block(part: Part, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs the one command of a block and compares its code and its output with what is shown."""
    command, *shown = part.block.splitlines()
    assert command.startswith("$ kubeproof ")
    words = shlex.split(command)[2:]
    redirected = words[words.index(">") + 1] if ">" in words else None
    code = main(words[: words.index(">")] if redirected else words)
    output = capsys.readouterr().out
    assert code == int(part.argument), command
    if redirected:
        Path(redirected).write_text(output, encoding="utf-8")
    printed = [line.strip() for line in output.splitlines()]
    assert [line for line in shown if not any(is_shown_as(line.strip(), real) for real in printed)] == [], command


def is_shown_as(line: str, printed: str) -> bool:
    """True if a line of a page stands for a line of the output."""
    return printed.startswith(line.removesuffix("…")) if line.endswith("…") else line in ("", printed)


@pytest.mark.parametrize("page", PAGES, ids=shown_name)
def test_links_inside_the_repository_resolve(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]

    assert [link for link in links if not _resolves(page, link)] == []


def _resolves(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path) if path else page
    return target.exists() and (not anchor or anchor in _anchors(target))


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_page_of_what_is_modelled_is_current() -> None:
    assert generate_modelled.PAGE.read_text(encoding="utf-8") == generate_modelled.page()


def test_the_table_of_api_fields_is_current() -> None:
    assert generate_api_types.PAGE.read_text(encoding="utf-8") == generate_api_types.page()


def test_the_page_of_checks_is_current() -> None:
    assert generate_checks.PAGE.read_text(encoding="utf-8") == generate_checks.page()


@pytest.mark.parametrize(
    "path", [generate_schemas.SETTINGS, generate_schemas.RESULTS, generate_schemas.SCENARIO], ids=lambda path: path.name
)
def test_schemas_tell_all_settings_and_reasons(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == generate_schemas.schemas()[path]


def test_the_picture_of_rooms_is_current() -> None:
    assert generate_rooms.PAGE.read_text(encoding="utf-8") == generate_rooms.page()


def test_the_index_of_decisions_is_current() -> None:
    assert generate_decisions.PAGE.read_text(encoding="utf-8") == generate_decisions.page()


def test_what_the_page_of_the_architecture_names_is_there() -> None:
    text = generate_rooms.PAGE.read_text(encoding="utf-8")
    files = [name for name in re.findall(r"`([\w/]+/[\w/]+\.(?:py|yaml))`", text) if "NAME" not in name]
    rooms = "|".join(room for layer in generate_rooms.layers() for room in layer)
    modules = re.findall(rf"`((?:{rooms})(?:\.[a-z_]+)+)", text)

    assert [
        name for name in files if not any((place / name).exists() for place in (ROOT, generate_rooms.PACKAGE))
    ] == []
    assert [name for name in modules if not _is_importable(name)] == []


def _is_importable(name: str) -> bool:
    """True of a module, and of what a module holds."""
    places = [generate_rooms.PACKAGE.joinpath(*part.split(".")) for part in (name, name.rpartition(".")[0])]
    return any(place.with_suffix(".py").exists() or place.is_dir() for place in places)


def test_fragments_of_the_change_log_are_named_as_the_release_reads_them() -> None:
    kinds = "added|changed|deprecated|removed|fixed|security"
    names = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]

    assert [name for name in names if not re.fullmatch(rf"\+[a-z0-9-]+\.(?:{kinds})\.md", name)] == []


def test_every_page_is_linked_from_the_readme_or_another_page() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in link
    }
    decisions = set((ROOT / "docs" / "decisions").glob("*.md"))

    assert [shown_name(p) for p in PAGES if p not in linked | decisions | {ROOT / "README.md"}] == []


def test_every_intent_is_in_the_reference() -> None:
    text = (REFERENCE / "intents.md").read_text(encoding="utf-8")

    assert [e.key for e in catalogue() if f"`{e.key}`" not in text or e.id not in text or e.text not in text] == []


def test_every_event_is_in_the_reference() -> None:
    text = (REFERENCE / "events.md").read_text(encoding="utf-8")

    assert [key for key in sorted(manuals()) if f"`{key}`" not in text] == []


def test_every_error_code_is_in_the_reference() -> None:
    text = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.KubeproofError)]

    rows = [f"| {c.code} | `{c.__name__}` | {c.exit_code} |" for c in classes]
    assert [row for row in rows if row not in text] == []


def test_every_field_of_a_scenario_is_in_the_reference() -> None:
    text = (REFERENCE / "scenario.md").read_text(encoding="utf-8")
    read = {"kubernetesVersion", "deschedulerVersion", "start", "controllers", "events", "intents", "scale"}

    assert [key for key in sorted(read) if f"`spec.{key}`" not in text] == []


def test_every_setting_of_controllers_is_in_the_reference() -> None:
    text = (REFERENCE / "scenario.md").read_text(encoding="utf-8")
    keys = generate_modelled.settings_with_defaults()

    assert [key for key in keys if f"`{key}`" not in text and f"`{key.partition('.')[2]}" not in text] == []
