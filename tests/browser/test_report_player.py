"""The HTML report in a browser: stepping, scrubbing, playing, filtering."""

import re

import pytest

from kubeproof.verify.words.pictures import PENDING
from tests.browser.conftest import case, report, rows_that_differ

CASES = [("c1", "violating"), ("c3", "violating"), ("c8", "violating"), ("c8", "safe")]


@pytest.mark.parametrize(("name", "variant"), CASES, ids=["c1", "c3", "c8", "holds"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_opens_without_complaint_and_without_the_network(show, name, variant, scheme):
    shown = show(report(name, variant), color_scheme=scheme)

    verdict = case(name, variant)[0].verdict
    assert shown.page.locator("h1").inner_text() == verdict
    assert shown.page.locator("#run").is_visible() == (verdict == "VIOLATED")
    assert rows_that_differ(shown.page.screenshot()) > 200
    ground = shown.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) > 382) == (scheme == "light")
    assert shown.problems == []
    assert [url.partition(":")[0] for url in shown.requests if not url.startswith("data:")] == ["file"]


@pytest.mark.parametrize("name", ["c1", "c3", "c8"])
def test_every_scene_is_drawn_as_it_is_and_back_again(show, name):
    shown = show(report(name), reduced_motion="reduce")
    result, films = case(name)
    (number,) = (place for place, one in enumerate(result.results) if one.trace)
    scenes = list(films[number].scenes())
    actors = [step.actor for step in result.results[number].trace.steps]

    for position, scene in enumerate(scenes):
        assert shown.position() == position
        assert drawn_pods(shown.page) == {pod: (kept.phase, place_of(kept)) for pod, kept in scene.pods.items()}
        acting = shown.page.locator(".chip.acting title").all_text_contents()
        assert acting == (actors[position - 1 : position] if position else [])
        if position < len(scenes) - 1:
            shown.press("ArrowRight")
    for position in range(len(scenes) - 2, -1, -1):
        shown.press("ArrowLeft")
        assert set(drawn_pods(shown.page)) == set(scenes[position].pods)
    assert shown.problems == []


def place_of(pod):
    return -1 if pod.phase == PENDING else pod.node


def drawn_pods(page):
    """Every pod of the drawing: its phase, and the number of the node in whose frame it stands."""
    return {
        name: (phase, node)
        for name, phase, node in page.evaluate(
            """() => {
              const frames = [...document.querySelectorAll('.node .frame')].map((one) => one.getBoundingClientRect());
              return [...document.querySelectorAll('.cluster .pod')].map((pod) => {
                const [name, phase] = pod.querySelector('title').textContent.split('\\n');
                const at = pod.querySelector('.body').getBoundingClientRect();
                const x = at.x + at.width / 2, y = at.y + at.height / 2;
                const inside = (box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
                return [name, phase.split(':')[0], frames.findIndex(inside)];
              });
            }"""
        )
    }


def test_buttons_keys_and_the_scrubber_move_through_the_run(show):
    shown = show(report("c8"))
    page, last = shown.page, 20

    page.get_by_role("button", name="Step forward").click()
    assert shown.position() == 1
    page.get_by_role("button", name="To the end").click()
    assert shown.position() == last
    page.get_by_role("button", name="Step back").click()
    assert shown.position() == last - 1
    page.get_by_role("button", name="To the start").click()
    assert shown.position() == 0
    page.locator("#run-title").focus()
    shown.press("End", "ArrowLeft", "Home", "ArrowRight")
    assert shown.position() == 1
    page.locator("input[type=range]").fill("13")
    assert page.locator(".details h3").inner_text().startswith("descheduler evicts pod web-1 from on-demand-1")
    assert page.locator(".steps [aria-selected=true]").get_attribute("id") == "step-12"
    page.locator("input[type=range]").focus()
    shown.press("ArrowRight")
    assert shown.position() == 14
    page.locator("#step-13").scroll_into_view_if_needed()
    page.locator("#step-10").click()
    assert shown.position() == 11
    page.locator(".steps").focus()
    shown.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert shown.position() == 12
    assert page.url.endswith("#run=0&step=12")


def test_an_address_leads_to_its_step(show):
    shown = show(report("c8"))
    page = shown.page

    page.goto(page.url.partition("#")[0] + "#run=0&step=7")
    page.locator(".where", has_text="7 / 20").wait_for()
    page.set_viewport_size({"width": 700, "height": 900})
    page.locator(".cluster[width^='5']").wait_for()
    page.reload()

    assert shown.position() == 7


def test_playing_goes_round_the_loop_until_it_is_stopped(show):
    shown = show(report("c8"))
    page = shown.page
    page.locator("select[aria-label=Speed]").select_option("50")
    page.locator("#run-title").focus()

    shown.press(" ")
    page.locator(".rounds", has_text="Round 2").wait_for()
    shown.press(" ")

    assert page.get_by_role("button", name="Play").is_visible()
    assert shown.position() > 13


def test_the_loop_is_drawn_as_a_loop(show):
    shown = show(report("c8"))
    page = shown.page
    page.locator("#run-title").focus()

    shown.press("End", "ArrowRight")

    assert shown.position() == 14
    assert page.locator(".ring").get_attribute("aria-label").endswith("steps 14 to 20")
    assert page.locator(".ring .dot").count() == 7
    page.locator(".steps").evaluate("list => { list.scrollTop = list.scrollHeight; }")
    assert page.locator(".back").inner_text() == "↻ back to step 14, for ever"
    assert page.locator(".step.loop-last").get_attribute("id") == "step-19"


def test_playing_a_run_that_ends_stops_at_its_end(show):
    shown = show(report("c3"))
    shown.page.locator("select[aria-label=Speed]").select_option("50")

    shown.page.get_by_role("button", name="Play").click()
    shown.page.locator(".where", has_text="6 / 6").wait_for()
    shown.page.get_by_role("button", name="Play").wait_for()

    assert shown.position() == 6


def test_steps_are_filtered_by_controller_and_by_word(show):
    shown = show(report("c8"))
    page = shown.page

    page.get_by_label("Steps of", exact=True).select_option(label="descheduler")
    assert page.locator(".count").inner_text() == "2 of 20 steps"
    page.locator("#run-title").focus()
    shown.press("ArrowRight", "ArrowRight")
    assert shown.position() == 20
    page.get_by_label("Steps of", exact=True).select_option(label="everybody")
    page.get_by_label("Filter steps by object or word").fill("SPOT-2")
    assert page.locator(".count").inner_text() == "2 of 20 steps"
    page.get_by_label("Filter steps by object or word").fill("nothing like it")
    assert page.locator(".step").count() == 0
    shown.press("Home", "ArrowRight")
    assert shown.problems == []


def test_a_step_shows_its_difference_and_the_numbers_behind_it(show):
    shown = show(report("c8"))
    page = shown.page

    page.locator("input[type=range]").fill("3")
    assert page.locator(".diff tbody tr").all_inner_texts() == [
        "Pod web-1\tphase\tPending\tStarting",
        "Pod web-1\tnode\t—\ton-demand-1",
    ]
    cells = page.locator(".numbers tbody tr").first.locator("th, td").all_inner_texts()
    assert cells == ["on-demand-1", "chosen", "862", "100", "100", "87", "100", "75"]


def test_an_autoscaler_shows_its_calculation(show):
    shown = show(report("c3"))

    shown.page.locator("input[type=range]").fill("3")

    figure = shown.page.locator(".details .numbers")
    assert "from 5 to 6 replicas (allowed: 5 to 6)" in figure.inner_text()
    assert figure.locator("tbody th, tbody td").all_inner_texts()[:6] == ["cpu", "75 %", "50 %", "1.5", "5", "8"]
    assert "limited to maxReplicas 6" in figure.inner_text()


def test_colours_are_switched_and_the_command_is_there_to_copy(show):
    shown = show(report("c3"), color_scheme="light")
    page = shown.page
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)

    page.locator("button.theme").click()
    assert page.evaluate(ground) == light
    page.locator("button.theme").click()
    assert page.evaluate(ground) != light
    assert page.locator(".command code").inner_text() == "kubeproof replay trace.json"
    page.get_by_role("button", name="Copy").click()
    page.locator(".command [role=status]", has_text="e").wait_for()


def test_the_lines_that_declare_objects_are_shown(show):
    shown = show(report("c3"))

    first = shown.page.locator(".sources details").first
    assert re.search(r"Deployment/shop/web .*deployment\.yaml:1$", first.locator("summary").inner_text())
    assert first.locator(".gutter").first.inner_text() == "1"
    assert first.locator(".line").first.inner_text() == "1apiVersion: apps/v1\n"
