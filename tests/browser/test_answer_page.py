"""The page of an answer to a what-if question in a real browser."""

from pathlib import Path

import pytest

from kubeproof.report.what_if.page import as_page
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.what_if.questions import ask_drain
from kubeproof.verify.what_if.run import answer_question
from tests.unit.verify.what_if.clusters import budget, deployment, load, node

ACCESSIBLE = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")


@pytest.fixture
def opened(show):
    """A page that was opened; at the end it must have complained about nothing and asked nobody."""
    pages = []

    def shown(*parts, **options):
        answer = answer_question(ask_drain(load(*parts), ["a"]), VerifyOptions(timeout_s=None))
        pages.append(show(as_page(answer), **options))
        return pages[-1]

    yield shown
    for one in pages:
        assert one.problems == []
        assert all(url.startswith(("file:", "data:")) for url in one.requests)


NODES = [node("a"), node("b")]
STUCK = (NODES, deployment("web", {"a": 1}), budget("web", minAvailable=1))


def test_the_answer_comes_first_then_who_is_hit_and_how_it_goes(opened):
    page = opened(*STUCK).page

    assert page.locator("h1").inner_text() == "what if: drain a"
    assert page.locator(".banner.bad p").inner_text().startswith("Not safe: if a is drained, Deployment/shop/web")
    assert page.locator("#workloads .pill").all_inner_texts() == ["STUCK"]
    assert page.locator("#pods tbody tr").count() == 1
    assert page.locator("#worst tbody tr").count() > 0
    assert page.locator("#ordinary tbody tr").count() > 0


def test_a_safe_answer_is_green_and_has_no_worst_run(opened):
    page = opened(NODES, deployment("web", {"a": 1, "b": 1}, cpu="100m")).page

    assert page.locator(".banner.good").count() == 1
    assert page.locator("#worst").count() == 0


@pytest.mark.parametrize("colour", ["light", "dark"])
def test_the_page_can_be_used_by_everybody(opened, colour):
    page = opened(*STUCK, color_scheme=colour).page

    assert page.evaluate(ACCESSIBLE) == []


def test_a_narrow_page_does_not_scroll_sideways(opened):
    page = opened(*STUCK, viewport={"width": 360, "height": 700}).page

    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
