"""Where things stand, on a desk and on a phone; long runs; large clusters."""

import pytest

from kubeproof.report.frame import Frame
from kubeproof.report.html.page import render
from kubeproof.verify.result import Change as Moved
from kubeproof.verify.result import IntentResult, Statistics, Trace, TraceStep, VerifyResult
from kubeproof.verify.words.pictures import (
    Change,
    Film,
    NodeCard,
    NodePicture,
    PodPicture,
    Scene,
    WorkloadCard,
    WorkloadPicture,
)
from tests.browser.conftest import report, rows_that_differ
from tests.unit.report.results import named

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def box(page, selector):
    return page.locator(selector).first.bounding_box()


def test_on_a_desk_the_steps_stand_beside_the_drawing(show):
    page = show(report("c8")).page

    stage, steps, controls = (box(page, selector) for selector in (".stage", ".steps", ".controls"))
    assert stage["x"] + stage["width"] < steps["x"]
    assert stage["y"] + stage["height"] <= controls["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1400
    assert rows_that_differ(page.locator(".stage").screenshot()) > 60


@pytest.mark.parametrize("name", ["c1", "c3", "c8"])
def test_on_a_phone_everything_stands_in_one_column(show, name):
    shown = show(report(name), **PHONE)
    page = shown.page

    stage, steps = box(page, ".stage"), box(page, ".steps")
    assert stage["y"] + stage["height"] < steps["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.querySelector('.cluster').getBoundingClientRect().width") <= 390
    buttons = [button.bounding_box() for button in page.locator(".controls button").all()]
    assert all(min(button["width"], button["height"]) >= 36 for button in buttons)
    assert all(button["x"] >= 0 and button["x"] + button["width"] <= 390 for button in buttons)
    page.locator("button[aria-label^='Step forward']").tap()
    assert shown.position() == 1
    assert rows_that_differ(page.locator(".stage").screenshot()) > 60


def test_the_drawing_follows_the_width_and_the_grouping(show):
    shown = show(report("c3"))
    page = shown.page
    assert page.locator(".zone").count() == 2

    page.set_viewport_size({"width": 500, "height": 900})
    page.locator(".cluster[width^='4']").wait_for()
    page.get_by_label("Nodes together by").select_option(label="nothing")

    assert page.locator(".zone").count() == 1
    assert page.locator(".cluster .pod").count() == 5
    assert shown.problems == []


LONG = 20_000


def long_run(nodes=3, pods=1, steps=LONG):
    """A pod that never comes to rest, on a cluster of any size."""
    ready = NodePicture("Ready")
    first = Scene(
        (ready,) * nodes,
        (WorkloadPicture(True, pods, pods),),
        {f"web-{number}": PodPicture(0, number % nodes, "Ready") for number in range(pods)},
    )
    phases = ("Terminating", "Starting", "Running", "Ready")
    changes = tuple(
        Change(pods=((f"web-{n % pods}", PodPicture(0, (n // 4) % nodes, phases[n % 4])),)) for n in range(steps)
    )
    taken = tuple(
        TraceStep(
            named(("descheduler", "scheduler web", "kubelet")[n % 3]),
            f"moves web-{n % pods}, time {n}",
            f"Pod/shop/web-{n % pods}",
            (Moved(f"Pod/shop/web-{n % pods}", "", "moved"),),
            n,
        )
        for n in range(steps)
    )
    cards = tuple(NodeCard(f"node-{number}", (), 4000, 2**33, 110) for number in range(nodes))
    film = Film(
        (), cards, (WorkloadCard("Deployment/shop/web", "web", 0, 100, 2**20),), first, changes, (None,) * steps
    )
    one = IntentResult(
        "L001", "x", "settles", "", "VIOLATED", "it never ends", nodes, pods, 1, 1, Trace(taken, steps // 2, "possible")
    )
    return render(VerifyResult("long", "VIOLATED", (), (one,), (), Statistics()), (film,), Frame())


def test_a_run_of_twenty_thousand_steps_keeps_the_page_small(show):
    shown = show(long_run())
    page = shown.page
    counts = [shown.count()]

    for position in ("19999", "3", "12345", "20000"):
        page.locator("input[type=range]").fill(position)
        counts.append(shown.count())
    shown.press("Home", *["ArrowRight"] * 30)
    counts.append(shown.count())
    page.locator(".steps").evaluate("list => { list.scrollTop = list.scrollHeight / 3; }")
    page.locator("#step-6670").wait_for()
    counts.append(shown.count())
    page.get_by_label("Filter steps by object or word").fill("time 1999")

    assert page.locator(".count").inner_text() == "11 of 20,000 steps"
    assert max(counts) < 700
    assert shown.position() == 30
    assert shown.problems == []


def test_a_jump_far_back_draws_the_scene_that_stepping_draws(show):
    shown = show(long_run(steps=1000, pods=5))
    page = shown.page
    titles = "[...document.querySelectorAll('.cluster .pod title')].map((one) => one.textContent).sort()"

    page.locator("input[type=range]").fill("640")
    jumped = page.evaluate(titles)
    page.locator("input[type=range]").fill("636")
    page.locator("#run-title").focus()
    shown.press(*["ArrowRight"] * 4)
    stepped = page.evaluate(titles)
    page.locator("input[type=range]").fill("1000")
    page.locator("input[type=range]").fill("640")

    assert jumped == stepped == page.evaluate(titles)


def test_a_large_cluster_is_drawn_in_part_and_says_so(show):
    shown = show(long_run(nodes=1000, pods=3000, steps=20))

    assert shown.page.locator(".node").count() == 60
    assert "940 more nodes not drawn" in shown.page.locator(".view").inner_text()
    assert shown.count() < 3000
    assert shown.problems == []
