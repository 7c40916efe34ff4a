"""The HTML report for everybody: names, contrast, order of focus. With axe-core if KUBEPROOF_AXE names its file."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from kubeproof.report.frame import Frame
from kubeproof.report.html.page import render
from tests.browser.conftest import case, report
from tests.unit.report.test_heatmap import SWEEP

OWN = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")
AXE = os.environ.get("KUBEPROOF_AXE", "")
VIEWS = [
    pytest.param("c1", "violating", 17, "light", id="c1"),
    pytest.param("c3", "violating", 6, "dark", id="c3 dark"),
    pytest.param("c8", "violating", 15, "light", id="loop"),
    pytest.param("c8", "violating", 20, "dark", id="loop dark"),
    pytest.param("c8", "safe", 0, "light", id="holds"),
    pytest.param("c8", "safe", 0, "dark", id="holds dark"),
]


def at(show, name, variant, position, scheme):
    shown = show(report(name, variant), color_scheme=scheme, reduced_motion="reduce")
    if position:
        shown.page.locator("input[type=range]").fill(str(position))
    shown.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return shown


@pytest.mark.parametrize(("name", "variant", "position", "scheme"), VIEWS)
def test_nobody_is_kept_out(show, name, variant, position, scheme):
    shown = at(show, name, variant, position, scheme)

    assert shown.page.evaluate(OWN) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_heat_map_keeps_nobody_out(show, scheme):
    result, films = case("c3")
    shown = show(render(replace(result, sweep=SWEEP), films, Frame()), color_scheme=scheme)

    assert shown.page.locator(".heat g").count() == 6
    assert shown.page.evaluate(OWN) == []


@pytest.mark.skipif(not AXE, reason="KUBEPROOF_AXE names no axe.min.js")
@pytest.mark.parametrize(("name", "variant", "position", "scheme"), VIEWS)
def test_axe_finds_nothing(show, name, variant, position, scheme):
    shown = at(show, name, variant, position, scheme)

    shown.page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found = shown.page.evaluate("axe.run().then((told) => told.violations)")

    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_the_check_itself_finds_what_is_wrong(show):
    page = show(report("c3")).page
    page.evaluate(
        """() => {
          const bad = document.createElement('button');
          bad.id = 'main';
          const faint = document.createElement('p');
          faint.textContent = 'faint';
          faint.style.color = '#ccc';
          document.querySelector('main').append(bad, faint, document.createElement('h6'));
        }"""
    )

    found = " ".join(page.evaluate(OWN))
    assert all(words in found for words in ("id twice: main", "no name: <button", "contrast", "heading jumps to H6"))


def test_focus_goes_through_the_page_from_top_to_bottom(show):
    page = show(report("c8")).page
    places = []

    for _ in range(24):
        page.keyboard.press("Tab")
        at = page.evaluate(
            """() => {
              const one = document.activeElement, box = one.getBoundingClientRect();
              return [one.tagName, one.className, Math.round(box.top + scrollY), box.width > 0];
            }"""
        )
        places.append(at)

    assert places[0][:2] == ["A", "skip"]
    assert all(width for *_, width in places)
    tags = [tag for tag, *_ in places]
    assert tags.index("NAV") if "NAV" in tags else "BUTTON" in tags
    kinds = [kind for _, kind, *_ in places]
    assert kinds.index("theme") < kinds.index("show-run") < kinds.index("steps")
