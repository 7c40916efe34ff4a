"""The README sells in one screen: short sentences, short lines, pictures that are there, a verdict that is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURES = re.findall(r'(?:src|srcset)="([^"]+)"', README)
PNG = b"\x89PNG\r\n\x1a\n"


def prose(text: str) -> str:
    """What is read as sentences: without blocks, comments, tables, pictures and targets of links."""
    for left_out in (r"(?ms)^```.*?^```", r"(?s)<!--.*?-->", r"(?m)^\|.*$", r"(?s)<picture>.*?</picture>"):
        text = re.sub(left_out, "", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def sentences(text: str) -> list[str]:
    """Paragraphs, headings and items, split where a sentence ends."""
    paragraphs = re.split(r"\n\s*\n|\n(?=[-#])", text)
    return [" ".join(one.split()) for part in paragraphs for one in re.split(r"(?<=[.?!:])[*]*\s", part) if one.strip()]


def test_sentences_have_fewer_than_25_words():
    assert [one for one in sentences(prose(README)) if len(one.split()) >= 25] == []


def test_the_test_itself_finds_a_long_sentence():
    long = " ".join(["word"] * 25) + ". Short one."

    assert [len(one.split()) for one in sentences(prose(long))] == [25, 2]


def test_lines_have_fewer_than_120_characters():
    assert [line for line in README.splitlines() if len(line) >= 120] == []


def test_what_it_is_stands_on_the_first_screen():
    screen = "\n".join(README.splitlines()[:50])

    assert [sign for sign in ("<picture>", "STUCK", "kubeproof verify") if sign not in screen] == []


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_there_and_can_be_shown(name):
    picture = (ROOT / name).read_bytes()
    width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))

    assert picture.startswith(PNG)
    assert (900 <= width <= 1600, 400 <= height <= 1200) == (True, True)
    assert len(picture) < 300_000


def test_there_is_a_picture_for_light_and_for_dark_pages():
    assert sorted(Path(name).stem for name in PICTURES) == ["report-dark", "report-light"]
