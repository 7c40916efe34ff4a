"""The page of a simulation in a real browser: plots are drawn, lines switched, values read, time looked into."""

from pathlib import Path

import pytest

from kubeproof.report.simulate import published as experiments
from kubeproof.report.simulate.cluster import RENDERERS
from kubeproof.report.simulate.rare import as_html
from kubeproof.simulate.published.experiments import find_published
from kubeproof.simulate.published.run import simulate
from kubeproof.simulate.rare import RareIntent, RareResult
from kubeproof.simulate.statistics.intervals import Interval
from tests.unit.report.simulations import comparison, simulation

RARE = RareIntent("S001", "minReady web", "minReady", "web", Interval(2e-4, 1.8e-4, 2.2e-4), 60, 4)
ACCESSIBLE = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")


@pytest.fixture
def opened(show):
    """A page that was opened; at the end it must have complained about nothing and asked nobody."""
    pages = []

    def shown(result, renderers=RENDERERS, **options):
        pages.append(show(renderers["html"](result), **options))
        pages[-1].page.locator("svg.plot path.line").first.wait_for(state="attached")
        return pages[-1]

    yield shown
    for one in pages:
        assert one.problems == []
        assert all(url.startswith(("file:", "data:")) for url in one.requests)
        assert len(one.requests) == 1 + sum(url.startswith("data:") for url in one.requests)


def plot(shown, title):
    return shown.page.locator("figure.plot-box", has=shown.page.locator("figcaption strong", has_text=title)).first


def lines(box):
    return box.locator("path.line")


def test_every_panel_is_drawn_with_its_lines(opened):
    shown = opened(simulation())

    assert shown.page.locator("svg.plot").count() == 10
    assert lines(plot(shown, "Pods")).count() == 3
    box = plot(shown, "CPU").locator("svg.plot")
    paths = [one.get_attribute("d") for one in lines(box).all()]
    assert all(path.startswith("M") and path.count("L") >= 30 for path in paths)
    size = lines(box).first.bounding_box()
    assert size["width"] > 300
    assert size["height"] > 80


def test_a_gap_is_left_where_nothing_was_answered(opened):
    shown = opened(simulation())

    assert lines(plot(shown, "Response time")).first.get_attribute("d").count("M") == 2


def test_ticks_of_pods_are_whole_and_none_is_cut_off(opened):
    shown = opened(simulation())

    axis = plot(shown, "Pods").locator("text.axis[text-anchor=end]").all_text_contents()
    assert [text for text in axis if "." in text and ":" not in text] == []
    cut = shown.page.evaluate(
        """() => [...document.querySelectorAll("svg.plot")].flatMap((svg) => {
          const box = svg.getBoundingClientRect();
          return [...svg.querySelectorAll("text.axis")].filter((text) => {
            const own = text.getBoundingClientRect();
            return own.left < box.left - 0.5 || own.right > box.right + 0.5;
          }).map((text) => text.textContent);
        })"""
    )
    assert cut == []


def test_lines_are_switched_off_and_on(opened):
    shown = opened(simulation())
    box = plot(shown, "Pods")
    button = box.get_by_role("button", name="ready")

    button.click()
    assert lines(box).count() == 2
    assert button.get_attribute("aria-pressed") == "false"
    assert lines(plot(shown, "CPU")).count() == 2  # the other plots keep theirs

    button.focus()
    shown.press("Enter")
    assert lines(box).count() == 3
    assert button.get_attribute("aria-pressed") == "true"


def test_the_cursor_reads_all_plots_at_the_same_moment(opened):
    shown = opened(simulation())
    area = plot(shown, "Pods").locator("svg.plot").bounding_box()

    shown.page.mouse.move(area["x"] + area["width"] - 13, area["y"] + 60)

    assert plot(shown, "Pods").locator(".reading").inner_text().split("\n")[0].startswith("09:")
    assert plot(shown, "CPU").locator(".cursor circle").count() == 2
    readings = {one.split()[0] for one in shown.page.locator(".reading").all_inner_texts()}
    assert len(readings) == 1  # one moment everywhere


def test_keys_read_and_zoom(opened):
    shown = opened(simulation(runs=20))
    box = plot(shown, "Pods")
    box.locator("svg.plot").focus()

    shown.press("Home", "ArrowRight")
    assert "00:15" in box.locator(".reading").inner_text()
    assert "pods 2 (1.6 to 2.4)" in " ".join(box.locator(".reading").inner_text().split())

    shown.press("+")
    assert shown.page.get_by_role("status").inner_text() == "00:07.500 to 05:00"
    shown.press("0")
    assert shown.page.get_by_role("status").inner_text() == "whole run"


def test_dragging_zooms_all_plots_and_a_double_click_goes_back(opened):
    shown = opened(simulation())
    area = plot(shown, "Pods").locator("svg.plot").bounding_box()
    before = lines(plot(shown, "CPU")).first.get_attribute("d")

    shown.page.mouse.move(area["x"] + 200, area["y"] + 60)
    shown.page.mouse.down()
    shown.page.mouse.move(area["x"] + 320, area["y"] + 60, steps=4)
    shown.page.mouse.up()

    assert " to " in shown.page.get_by_role("status").inner_text()
    assert lines(plot(shown, "CPU")).first.get_attribute("d") != before
    shown.page.mouse.dblclick(area["x"] + 200, area["y"] + 60)
    assert lines(plot(shown, "CPU")).first.get_attribute("d") == before


def test_bands_and_violations_are_drawn(opened):
    shown = opened(simulation(runs=20))

    assert plot(shown, "Pods").locator("path.band").count() == 3
    assert plot(shown, "Pods").locator(".marks title").text_content() == "S001 minReady is violated"
    assert shown.page.get_by_text("bands reach from the 5th to the 95th percentile").count() == 1


def test_variants_are_compared_and_share_plots(opened):
    shown = opened(comparison())

    assert shown.page.get_by_role("heading", level=1).inner_text() == "2 variants"
    assert shown.page.get_by_role("row").filter(has_text="1 of 2").count() == 2
    assert plot(shown, "Pods").get_by_role("button").all_inner_texts() == ["hpa.targetCPU=60", "hpa.targetCPU=80"]


def test_an_experiment_has_its_plots(opened):
    shown = opened(simulate(find_published("abs-1")), experiments.RENDERERS)

    assert shown.page.locator("svg.plot").count() == 3


def test_names_stay_names(opened):
    shown = opened(simulation())

    assert shown.page.locator("img").count() == 0
    assert shown.page.locator("summary", has_text="cart</script><img").count() == 1


def test_subjects_are_drawn_when_they_are_opened(opened):
    shown = opened(simulation())
    details = shown.page.locator("details.subject").first

    details.locator("summary").click()
    assert not lines(plot(shown, "Pods")).first.is_visible()
    details.locator("summary").click()
    assert lines(plot(shown, "Pods")).first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_kept_out(opened, scheme):
    shown = opened(simulation(runs=20), color_scheme=scheme)

    assert shown.page.evaluate(ACCESSIBLE) == []


def test_a_narrow_window_shows_plots_below_each_other(opened):
    shown = opened(simulation(), viewport={"width": 400, "height": 900})

    first, second = (plot(shown, title).bounding_box() for title in ("Pods", "CPU"))
    assert first["y"] + first["height"] <= second["y"]
    assert shown.page.evaluate("document.documentElement.scrollWidth <= 400")


def test_the_chosen_colours_are_used(opened):
    shown = opened(simulation(), color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = shown.page.evaluate(ground)

    button = shown.page.locator("button.theme")
    button.click()
    button.click()

    assert button.inner_text() == "☾ Dark"
    assert shown.page.evaluate(ground) != light


def test_the_page_of_rare_violations_has_no_curves(show, tmp_path):
    found = RareResult("web", 3600, 0, 100, 50.0, 160, 0.95, (RARE,), 1.0)

    shown = show(as_html(found), viewport={"width": 900, "height": 700})

    assert shown.page.locator("h1").inner_text() == "How likely violations are"
    assert "0.0002 (0.00018 to 0.00022) within 1h" in shown.page.locator("#properties").inner_text()
    assert shown.page.locator("svg.plot").count() == 0
    assert shown.page.evaluate(ACCESSIBLE) == []
    assert shown.problems == []
