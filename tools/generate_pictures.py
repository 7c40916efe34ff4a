"""Makes the pictures of the report that the README and the pages show, from a real run in a real browser.

    python -m tools.generate_pictures                writes docs/pictures/
    python -m tools.generate_pictures --output DIR   writes somewhere else

Needs Chromium and playwright (extra `dev`). Two pictures, one for light pages and one for dark ones: on the left the
survival matrix, on the right the run of its worst cell, at its last step.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kubeproof.cli.main import main as kubeproof

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
COMMAND = ("verify", "examples/09-microservices", "--faults", "nodeLoss,drain,podCrash", "--no-pairs")
SCHEMES = {"light": "#ffffff", "dark": "#0d1117"}  # with what a forge shows behind a page
NARROW, WIDE = 640, 1180
STUCK = 1  # exit code of a run with a violation
SIDE_BY_SIDE = """
<body style="margin:0;background:{ground};display:flex;gap:16px;padding:12px;width:max-content">
<img alt="" src="data:image/png;base64,{left}" style="align-self:start"><img alt="" src="data:image/png;base64,{right}">
"""


def generate(folder: Path) -> list[Path]:
    """Writes a picture for each colour scheme and returns their paths."""
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        report = Path(scratch) / "report.html"
        write_report(report)
        folder.mkdir(parents=True, exist_ok=True)
        return [draw(browser, report, scheme, folder / f"report-{scheme}.png") for scheme in SCHEMES]


def write_report(path: Path) -> None:
    """The report of the run that the README shows as text."""
    here = Path.cwd()
    os.chdir(ROOT)  # file names in the report are those that a reader sees
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = kubeproof([*COMMAND, "-o", f"html={path}"])
    finally:
        os.chdir(here)
    if code != STUCK:
        raise RuntimeError(f"kubeproof {' '.join(COMMAND)} ended with {code}")


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("Chromium is needed (Debian: apt install chromium)")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"], headless=True)
        yield browser
        browser.close()


def draw(browser: Browser, report: Path, scheme: str, picture: Path) -> Path:
    """One picture: matrix and run side by side."""
    matrix = open_page(browser, report, scheme, NARROW).locator("#matrix").screenshot()
    page = open_page(browser, report, scheme, WIDE)
    page.locator(".show-run").first.click()
    steps = page.locator("input[type=range]")
    steps.fill(str(steps.get_attribute("max")))
    run = page.locator("#run .view").screenshot()
    both = browser.new_page()
    left, right = (base64.b64encode(one).decode() for one in (matrix, run))
    both.set_content(SIDE_BY_SIDE.format(ground=SCHEMES[scheme], left=left, right=right))
    both.locator("body").screenshot(path=picture)
    return picture


def open_page(browser: Browser, report: Path, scheme: str, width: int) -> Page:
    """The report in a window of that width, nothing of it covered by the bar at its top."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    page.goto(report.as_uri())
    page.evaluate("document.querySelector('.bar, header').style.position = 'static'")
    return page


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description="Make the pictures of the documentation.")
    parser.add_argument("--output", type=Path, default=PICTURES)
    for path in generate(parser.parse_args().output):
        print(path)


if __name__ == "__main__":
    main()
