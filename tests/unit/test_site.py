"""The documentation site is built from the pages, the cases and the code, without a broken link."""

import re
from pathlib import Path

import pytest

from kubeproof.cases.library import list_cases
from kubeproof.cli.main import cli
from tools.site import build, commands

pytest.importorskip("zensical", reason="the site is built with zensical, of the extra dev")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("site") / "out"
    build.build(output, reports_of=frozenset({"c1"}))  # strict: a link that leads nowhere ends the build
    return output


def test_every_page_of_the_documentation_is_in_the_site(site):
    pages = [page.relative_to(build.ROOT / "docs") for page in (build.ROOT / "docs").rglob("*.md")]

    assert [page for page in pages if not (site / page).with_suffix(".html").exists()] == []


def test_every_case_has_a_page_with_its_counterexample(site):
    pages = {case.name: (site / "gallery" / f"{case.name}.html").read_text(encoding="utf-8") for case in list_cases()}

    assert [name for name, text in pages.items() if "VIOLATED" not in text or "What happens" not in text] == []


def test_a_rendered_report_stands_beside_its_case(site):
    page = (site / "gallery" / "c1.html").read_text(encoding="utf-8")

    assert [name for name in ("c1-violating.html", "c1-safe.html") if f'href="{name}"' not in page] == []
    assert "maxReplicas" in (site / "gallery" / "c1-violating.html").read_text(encoding="utf-8")


def test_pages_load_nothing_from_elsewhere(site):
    loaded = re.compile(
        r'<(?:script|img|iframe)[^>]+src="?(?:https?:)?//|<link[^>]+stylesheet[^>]+href="?(?:https?:)?//'
    )

    assert [page.name for page in site.rglob("*.html") if loaded.search(page.read_text(encoding="utf-8"))] == []


def test_every_command_is_in_the_reference():
    page = commands.page()

    assert [name for name in cli.list_commands(None) if f"## kubeproof {name}" not in page] == []
