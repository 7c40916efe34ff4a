"""The pictures of the README come from a real run: made anew they show the same things, as large."""

import shutil

import pytest

from tests.browser.conftest import CHROMIUM, rows_that_differ
from tools import generate_pictures

pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or not shutil.which(CHROMIUM), reason="needs Chromium"),
]


def size_of(picture: bytes) -> tuple[int, int]:
    width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    return width, height


def test_pictures_made_anew_are_as_large_as_those_that_are_shown(tmp_path):
    made = generate_pictures.generate(tmp_path)
    shown = [generate_pictures.PICTURES / path.name for path in made]

    for new, old in zip(made, shown, strict=True):
        picture = new.read_bytes()
        assert rows_that_differ(picture) > 100
        assert size_of(picture) == pytest.approx(size_of(old.read_bytes()), rel=0.1)
