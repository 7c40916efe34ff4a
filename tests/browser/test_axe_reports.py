"""Every kind of page that a command writes, for everybody: axe-core finds nothing serious, a phone shows all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.quantify.storm import is_available

ROOT = Path(__file__).parents[2]
MATRIX = ("--faults", "podCrash,drain", "--no-pairs")
PAGES = {
    "verify": ("verify", "examples/01-conflicting-spread"),
    "matrix": ("verify", "examples/09-microservices", *MATRIX),
    "fix": ("fix", "examples/01-conflicting-spread", "--proposals", "1"),
    "simulate": ("simulate", "examples/11-simulated-shop", "--duration", "20s"),
    "what-if": ("what-if", "drain", "general-a", "--on", "examples/09-microservices", "--timeout", "20"),
    "quantify": ("quantify", "cluster", "examples/12-how-likely", "--ask", "within"),
}


QUICK = ("verify", "fix", "matrix")
SCHEMES = [pytest.param("light", id="light"), pytest.param("dark", id="dark", marks=pytest.mark.slow)]
NAMES = [pytest.param(name, id=name, marks=() if name in QUICK else pytest.mark.slow) for name in PAGES]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Writes the page of a command once."""
    folder = tmp_path_factory.mktemp("pages")

    def write(name: str, capsys, monkeypatch) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            monkeypatch.chdir(ROOT)
            assert main([*PAGES[name], "-o", f"html={path}"]) in (0, 1, 3), capsys.readouterr().err
        return path

    return write


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing_serious(name, scheme, browser, axe, pages, capsys, monkeypatch):
    if name == "quantify" and not is_available():
        pytest.skip("Storm has no wheel for this platform")
    path = pages(name, capsys, monkeypatch)
    context = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")

    found = axe(page)

    context.close()
    assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_a_phone_shows_all_of_it(name, browser, pages, capsys, monkeypatch):
    if name == "quantify" and not is_available():
        pytest.skip("Storm has no wheel for this platform")
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(pages(name, capsys, monkeypatch).as_uri())

    width = page.evaluate("document.documentElement.scrollWidth")

    context.close()
    assert width <= 392
