"""The page of numbers in a real browser: charts are drawn within their frames, in light and dark, and read aloud."""

from pathlib import Path

import pytest

from kubeproof.report.charts.page import Page, Table, write_page
from kubeproof.report.charts.plots import Cell, Curve, Labels, draw_bars, draw_cells, draw_curves, draw_front

ACCESSIBLE = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")
HOSTILE = '</script><script>alert(1)</script>"&'


@pytest.fixture
def opened(show):
    """The page; at the end it must have complained about nothing and asked nobody."""
    pages = []

    def shown(**options):
        charts = (
            draw_curves(
                Labels("Violated by then", "days", "probability"),
                [Curve(HOSTILE, ((0, 0), (1, 0.2))), Curve("b", ((0, 0), (1, 0.4)))],
            ),
            draw_curves(Labels("Pods", "minutes", "pods"), [Curve("pods", ((0, 1), (3, 2)))], is_whole=True),
            draw_front(Labels("Front", "risk", "cost"), [(0.1, 5.0), (0.4, 3.0)], ["a", "b"], [(0.1, 4.9), (0.4, 2.9)]),
            draw_cells(Labels("Regions", "p", "q"), [Cell((0, 1), (0, 1), "good", "HOLDS: p 0 to 1")]),
            draw_bars(Labels("What matters", "percent", ""), [("often", 2.28), ("fast", -1.17)]),
        )
        table = Table("Answers", ("", "value"), (("P(" + HOSTILE + ")", "0.25"),))
        page = Page(headline="Chances", subject=HOSTILE, how="over 1 d", tables=(table,), charts=charts, notes=("a",))
        pages.append(show(write_page(page, "text"), **options))
        pages[-1].page.locator("svg.chart").first.wait_for(state="attached")
        return pages[-1]

    yield shown
    for one in pages:
        assert one.problems == []
        assert all(url.startswith(("file:", "data:")) for url in one.requests)


def test_every_chart_is_drawn_and_nothing_leaves_its_frame(opened):
    shown = opened()

    charts = shown.page.locator("svg.chart")
    assert charts.count() == 5
    for chart in charts.all():
        frame = chart.bounding_box()
        for shape in chart.locator(".text, .line, .box, .dot").all():
            box = shape.bounding_box()
            assert box["x"] >= frame["x"] - 2
            assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 2
            assert box["y"] >= frame["y"] - 2
            assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 2


def test_pods_are_counted_in_whole_numbers(opened):
    shown = opened()

    ticks = shown.page.locator("svg.chart[aria-label='Pods'] text.faint").all_text_contents()
    assert all(tick.isdigit() for tick in ticks[4:])


def test_names_stay_names(opened):
    shown = opened()

    assert shown.page.locator(".banner .scenario").text_content() == HOSTILE
    assert HOSTILE in shown.page.locator("svg.chart").first.text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out(opened, scheme):
    shown = opened(color_scheme=scheme)

    assert shown.page.evaluate(ACCESSIBLE) == []


def test_a_narrow_window_has_no_bar_to_scroll_sideways(opened):
    shown = opened(viewport={"width": 360, "height": 700})

    assert shown.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
