"""Pages in a real browser; without one these tests are skipped."""

import os
import shutil
import zlib
from functools import cache
from pathlib import Path

import pytest

from kubeproof.cases.library import load_case
from kubeproof.manifests.load import load
from kubeproof.report.frame import Frame
from kubeproof.report.html.page import render
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from kubeproof.verify.words.pictures import films_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
COMMAND = "kubeproof replay trace.json"


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium. Not for the whole session: its event loop would be in the way of other tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    if CHROMIUM is None:
        pytest.skip("the browser tests need Chromium (Debian: apt install chromium)")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], headless=True)
        yield chromium
        chromium.close()


class Shown:
    """A page that was opened, and whatever it complained about or asked the network for."""

    def __init__(self, page, path: Path):
        self.page, self.problems, self.requests = page, [], []
        page.on("console", lambda message: self.problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())

    def position(self) -> int:
        """How many steps were taken."""
        return int(self.page.locator("input[type=range]").input_value())

    def count(self) -> int:
        """How many elements the page has."""
        return self.page.evaluate("document.querySelectorAll('*').length")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


@pytest.fixture
def show(browser, tmp_path):
    """Opens a page from its text; options go to the browser's context."""
    contexts = []

    def shown(text: str, **options) -> Shown:
        path = tmp_path / f"report-{len(contexts)}.html"
        path.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(**{"viewport": {"width": 1400, "height": 900}} | options))
        return Shown(contexts[-1].new_page(), path)

    yield shown
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe():
    """What axe-core finds on a page that is serious; tests that ask are skipped unless KUBEPROOF_AXE names its file."""
    named = os.environ.get("KUBEPROOF_AXE")
    if not named:
        pytest.skip("KUBEPROOF_AXE names no axe.min.js")
    script = Path(named).read_text(encoding="utf-8")

    def look(page) -> list[tuple[str, str]]:
        page.evaluate(script)
        violations = page.evaluate("axe.run().then((told) => told.violations)")
        return [(one["id"], one["nodes"][0]["html"]) for one in violations if one["impact"] in ("serious", "critical")]

    return look


@cache
def case(name: str, variant: str = "violating"):
    """The result of a shipped case, and its counterexamples by pictures."""
    result = verify(load(load_case(name, variant)))
    return result, films_of(result, VerifyOptions())


def report(name: str, variant: str = "violating") -> str:
    """The page of a shipped case."""
    return render(*case(name, variant), Frame(replay_command=COMMAND))


def rows_that_differ(picture: bytes) -> int:
    """How many different rows of dots a PNG has; an empty one has a single one."""
    width = int.from_bytes(picture[16:20], "big") * (4 if picture[25] == 6 else 3) + 1
    place, packed = 8, b""
    while place < len(picture):
        size = int.from_bytes(picture[place : place + 4], "big")
        if picture[place + 4 : place + 8] == b"IDAT":
            packed += picture[place + 8 : place + 8 + size]
        place += size + 12
    dots = zlib.decompress(packed)
    return len({dots[first : first + width] for first in range(0, len(dots), width)})
