"""The page of incidents in a real browser."""

from pathlib import Path

from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.event import Event
from kubeproof.monitor.incidents.book import IncidentBook
from kubeproof.monitor.incidents.incident import gather_incidents
from kubeproof.report.incidents import incidents_html

SECOND = 1_000_000
ACCESSIBLE = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")


def page(count=5):
    book = IncidentBook()
    alarms = [
        Alarm(
            "r", Kind.MISSING, f"event-{n}", "late <b>", n * SECOND, (n + 5) * SECOND, (n + 5) * SECOND, run=f"run-{n}"
        )
        for n in range(count)
    ]
    around = {1: [Event(SECOND, "<img src=x onerror=alert(1)>")]}
    return incidents_html(gather_incidents(enumerate(map(book.take, alarms), 1)), around)


def test_incidents_are_shown_and_what_happened_opens(show):
    shown = show(page())

    cards = shown.page.locator("section.card")
    assert cards.count() == 5
    assert shown.page.locator("details[open]").count() == 3
    assert shown.page.locator("bdi", has_text="<img src=x onerror=alert(1)>").count() == 1
    cards.nth(4).locator("summary").click()
    cards.nth(4).locator("td", has_text="1: ").or_(cards.nth(4).locator("td bdi")).first.wait_for()
    assert cards.nth(4).locator("tbody tr").count() == 1
    assert shown.problems == []
    assert all(url.startswith(("file:", "data:")) for url in shown.requests)


def test_the_page_fits_a_phone_and_can_be_read_in_both_themes(show):
    for theme in ("light", "dark"):
        shown = show(page(), viewport={"width": 360, "height": 740}, color_scheme=theme)
        shown.page.locator("section.card").first.wait_for()
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360
        assert shown.page.evaluate(ACCESSIBLE) == []
