"""The documentation site in a real browser: no dead link, readable by everybody, on a phone, searchable from a folder.

With axe-core if KUBEPROOF_AXE names its file.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

from tests.browser.conftest import rows_that_differ

pytest.importorskip("zensical", reason="the site is built with zensical, of the extra dev")
build = pytest.importorskip("tools.site.build")

SHOWN = (
    "index.html",
    "tutorial/what-survives.html",
    "reference/cli.html",
    "explanation/comparison.html",
    "gallery/c1.html",
)
REPORTS = ("gallery/c1-violating.html", "gallery/c1-safe.html")
LINKS = """() => [...document.querySelectorAll('a[href], img[src], source[srcset]')].map(
  (one) => one.href || one.currentSrc || one.src || new URL(one.srcset, document.baseURI).href)"""
ANCHORS = "() => [...document.querySelectorAll('[id], a[name]')].map((one) => one.id || one.name)"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("site") / "out"
    build.build(output, reports_of=frozenset({"c1"}))
    return output


@pytest.fixture
def page(browser):
    """Opens pages of the site in windows of their own."""
    contexts = []

    def opened(path: Path | None, **options):
        contexts.append(browser.new_context(**{"viewport": {"width": 1200, "height": 900}} | options))
        found = contexts[-1].new_page()
        if path is not None:
            found.goto(path.as_uri(), wait_until="domcontentloaded")
        return found

    yield opened
    for context in contexts:
        context.close()


def crawl(page, site: Path) -> tuple[set[str], list[str], list[str]]:
    """All pages that are reached from the first one, links that lead nowhere, pages wider than a phone."""
    anchors: dict[Path, set[str]] = {}
    wanted: list[tuple[Path, Path, str]] = []
    wide, waiting = [], [site / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in anchors:
            continue
        page.goto(path.as_uri(), wait_until="domcontentloaded")
        anchors[path] = set(page.evaluate(ANCHORS))
        if page.evaluate("document.documentElement.scrollWidth") > 392:
            wide.append(str(path.relative_to(site)))
        for link in page.evaluate(LINKS):
            bare, fragment = urldefrag(link)
            if urlparse(bare).scheme == "file":
                target = Path(unquote(urlparse(bare).path))
                wanted.append((path, target, unquote(fragment)))
                waiting += [target] if target.suffix == ".html" and target.exists() else []
    dead = [
        f"{path.relative_to(site)} -> {target.name}#{fragment}"
        for path, target, fragment in wanted
        if not target.exists() or (fragment and target in anchors and fragment not in anchors[target])
    ]
    return {str(path.relative_to(site)) for path in anchors}, dead, wide


@pytest.mark.slow
def test_every_page_is_reached_no_link_is_dead_and_a_phone_shows_all(page, site):
    reached, dead, wide = crawl(page(site / "index.html", viewport={"width": 390, "height": 800}), site)

    made = {str(path.relative_to(site)) for path in site.rglob("*.html")} - {"404.html"}
    assert dead == []
    assert sorted(made - reached) == []
    assert wide == []


@pytest.mark.parametrize("name", SHOWN)
def test_a_page_fits_a_phone_and_complains_of_nothing(page, site, name):
    complaints = []
    shown = page(None, viewport={"width": 390, "height": 800})
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("requestfailed", lambda request: complaints.append(request.url))
    shown.goto((site / name).as_uri())

    assert shown.evaluate("document.documentElement.scrollWidth") <= 392
    assert complaints == []
    assert rows_that_differ(shown.screenshot()) > 100


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious(page, site, axe, scheme):
    names = ("index.html", "explanation/reductions.html", *REPORTS)  # the second has a wide table

    found = {name: axe(page(site / name, color_scheme=scheme, reduced_motion="reduce")) for name in names}

    assert {name: serious for name, serious in found.items() if serious} == {}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(page, site, axe, scheme):
    found = {}
    for path in sorted(site.rglob("*.html")):
        shown = page(path, color_scheme=scheme, reduced_motion="reduce")
        found[path.name] = axe(shown)
        shown.context.close()

    assert {name: serious for name, serious in found.items() if serious} == {}


def test_light_and_dark_differ(page, site):
    grounds = [
        page(site / "index.html", color_scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]

    assert grounds[0] != grounds[1]


def test_search_finds_a_page_from_a_folder_without_a_server(page, site):
    shown = page(site / "how-to" / "fix.html")
    asked = []
    shown.on("request", lambda request: asked.append(request.url))

    shown.locator(".md-search__button").click()
    shown.locator("input[placeholder=Search]").fill("survival matrix")
    result = shown.get_by_role("link", name="Read the survival matrix").first
    result.wait_for(timeout=30_000)

    assert [url for url in asked if not url.startswith("file:") and not url.startswith("data:")] == []
    assert result.get_attribute("href") == "./read-the-matrix.html"
