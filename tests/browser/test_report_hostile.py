"""Names that want to be more than names: no element, no script, no complaint comes of them."""

from collections import Counter
from dataclasses import fields, is_dataclass, replace
from enum import Enum

import pytest

from kubeproof.report.frame import Frame
from kubeproof.report.html.page import render
from kubeproof.report.verification.checks import SEVERITIES
from kubeproof.verify.words.pictures import NodePicture, PodPicture
from tests.browser.conftest import case, report
from tests.unit.report.test_heatmap import SWEEP

PAYLOADS = {
    "script": "<script>window.hacked=1</script>",
    "end of the data": "</script><script>window.hacked=1</script><!--",
    "image": "\"><img src=x onerror='window.hacked=1'>",
    "quotes": "'\"`\\&quot;&lt;${window.hacked=1}",
    "direction": "\u202egnp.\u2066cod\u2069 \u05d0\u05d1\u05d2 \u0627\u0644\u0639",
    "separators": "a\u2028b\u2029c\x00d\x1b[31me\x7f\r\n\tf",
    "a thousand characters": "W" * 1000,
    "address": "javascript:window.hacked=1//",
    "markup of pictures": "</title></svg><svg onload=window.hacked=1><style>*{display:none}</style>",
    "not a character": "\ud800 \U0001f600 \ufeff",
}


def spoiled(value, spoil):
    """The value with every text in it changed, whatever field it is in; the model's own words stay."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str) and type(value) is not str:  # a text that knows its parts
        return type(value)(*(spoiled(part, spoil) for part in value.__getnewargs__()))
    if isinstance(value, str):
        return spoil(value)
    if isinstance(value, PodPicture | NodePicture):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(spoiled(item, spoil) for item in value))
    if isinstance(value, tuple):
        return tuple(spoiled(item, spoil) for item in value)
    if isinstance(value, dict):
        return {spoiled(key, spoil): spoiled(item, spoil) for key, item in value.items()}
    if is_dataclass(value):
        return replace(value, **{field.name: spoiled(getattr(value, field.name), spoil) for field in fields(value)})
    return value


def page_with(spoil):
    """The report of a loop, every text in it spoiled, and every field that has none filled."""
    result, films = case("c8")
    result = replace(result, not_modelled=("kind Service (web.yaml:40)",), sweep=replace(SWEEP, bound="bound"))
    one = result.results[0]
    one = replace(one, trace=replace(one.trace, propositions=(("p", "ready"),), begins_with=("p",)))
    result = replace(result, results=(one,))
    words = {"VIOLATED", *(line.verdict for line in SWEEP.sizes), *SEVERITIES}
    numbered: dict[str, str] = {}

    def once(text):
        if text in words or not text:
            return text
        return numbered.setdefault(text, f"{spoil}{len(numbered)}")

    return render(spoiled(result, once), spoiled(films, once), Frame(replay_command=once("kubeproof replay")))


def plain(payload):
    """As many letters and lines, and nothing else."""
    return "".join("x" if char.isprintable() or char == "\ud800" else char for char in payload)


def elements(page):
    names = page.evaluate("[...document.querySelectorAll('*')].map((one) => one.tagName.toLowerCase())")
    return Counter(name for name in names if name != "wbr")


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_hostile_name_in_every_field_stays_a_name(show, payload):
    harmless, hostile = show(page_with(plain(payload))), show(page_with(payload))

    for position in ("0", "3", "13", "20"):
        for shown in (harmless, hostile):
            shown.page.locator("input[type=range]").fill(position)
        assert elements(hostile.page) == elements(harmless.page)
    assert hostile.page.evaluate("typeof window.hacked") == "undefined"
    assert hostile.page.evaluate("document.documentElement.scrollWidth") <= 1400
    assert hostile.problems == []
    assert len([url for url in hostile.requests if not url.startswith("data:")]) == 1


def test_the_policy_stops_what_should_ever_slip_through(show):
    shown = show(report("c3"))

    shown.page.evaluate(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'window.hacked = 1';
          const image = document.createElement('img');
          image.setAttribute('onerror', 'window.hacked = 1');
          image.src = 'https://example.invalid/x.png';
          document.body.append(script, image);
        }"""
    )

    assert shown.page.evaluate("typeof window.hacked") == "undefined"
    complaints = " ".join(shown.problems)
    assert "Loading the image 'https://example.invalid/x.png' violates" in complaints
    assert complaints.count("Content Security Policy") >= 2
