"""The survival matrix in a real browser: cells play their runs, by mouse and by keyboard, for everybody."""

import re
from functools import cache

import pytest

from kubeproof.report.frame import Frame
from kubeproof.report.html.page import render
from kubeproof.report.matrix.page import choose_drawn
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.words.pictures import films_of
from tests.browser.test_report_access import OWN
from tests.unit.report.results import MATRIX_RESULT
from tests.unit.verify.matrix.test_matrix import NODES, load, survey, workload


@cache
def page() -> str:
    """One pod on three nodes, under three faults."""
    result = survey(load(NODES, workload()), "rollout", "nodeLoss", "podCrash")
    return render(result, films_of(result, VerifyOptions(), only=choose_drawn(result)), Frame())


def test_a_cell_plays_its_run_from_where_everything_is_deployed(show):
    shown = show(page())
    cells = shown.page.locator(".matrix tbody button")

    assert cells.evaluate_all("all => all.map((one) => one.innerText.trim())") == ["↓\n0 6m", "↓\n0 5s"]
    cells.nth(1).click()
    shown.page.locator(".where", has_text=re.compile(r"^(\d+) / \1 ")).wait_for()  # it plays to the end
    assert shown.page.locator("#run-title").inner_text() == "web: a container of one of its pods exits"
    assert shown.page.locator(".node, svg").count() > 0
    assert shown.problems == []


def test_arrow_keys_go_from_cell_to_cell_and_tab_leaves_the_map(show):
    shown = show(page(), reduced_motion="reduce")
    focused = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
    shown.page.locator(".matrix tbody button").first.focus()

    shown.press("ArrowRight")
    assert shown.page.evaluate(focused).startswith("web, a container of one of its pods exits: dips 0 5s")
    shown.press("ArrowRight", "ArrowDown", "ArrowLeft")
    assert shown.page.evaluate(focused).startswith("web, a node fails and stays down: dips")
    shown.press("Tab")
    assert shown.page.evaluate("document.activeElement.closest('.matrix')") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_the_matrix_keeps_nobody_out(show, scheme, width):
    text = render(MATRIX_RESULT)
    shown = show(text, color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce")
    shown.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")

    assert shown.page.locator(".matrix .grade-stuck").count() == 2
    assert shown.page.evaluate(OWN) == []
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.problems == []
