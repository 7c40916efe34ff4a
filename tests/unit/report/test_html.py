"""The HTML report as text: what is in the file before any browser reads it."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

from kubeproof.cluster.objects import Source
from kubeproof.report.frame import Frame
from kubeproof.report.html.offline import offline_page
from kubeproof.report.html.page import document, render
from kubeproof.report.matrix.page import choose_drawn
from kubeproof.report.verification.excerpts import MOST_LINES, excerpt
from kubeproof.verify.result import Suppression
from tests.unit.report.results import MATRIX_RESULT, RESULT, VIOLATION

NOT_DRAWN = ("not drawn",) * len(RESULT.results)
HOSTILE = '</script><script>alert("x")</script>\u2028\u202e<!--'


class Elements(HTMLParser):
    """The elements of a page, with what is inside scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], {}
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] in ("script", "style"):
            self.texts.setdefault(len(self.tags) - 1, data)


def hashed(text):
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def test_only_the_scripts_and_styles_of_the_page_may_run():
    page = Elements(render(RESULT))

    (policy,) = (attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    styles = [page.texts[place] for place, (tag, _) in enumerate(page.tags) if tag == "style"]
    scripts = [page.texts[place] for place, (tag, attrs) in enumerate(page.tags) if tag == "script" and not attrs]
    assert policy == (
        f"default-src 'none'; script-src '{hashed(scripts[0])}'; style-src '{hashed(styles[0])}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert (len(scripts), len(styles)) == (1, 1)


def test_nothing_is_loaded_from_elsewhere():
    page = Elements(render(RESULT))

    addresses = [value for _, attrs in page.tags for name, value in attrs.items() if name in ("src", "href")]
    assert [address.partition(",")[0] for address in addresses] == ["data:image/svg+xml"]


def test_text_of_the_input_cannot_end_the_element_of_the_data():
    page = render(replace(RESULT, scenario=HOSTILE))

    (data,) = re.findall(r'<script type="application/json" id="report">(.*?)</script>', page, re.DOTALL)
    assert data.isascii()
    assert not set("<>&") & set(data)
    assert json.loads(data)["scenario"] == HOSTILE.replace("\u2028", "\\u2028").replace("\u202e", "\\u202e")
    assert [tag for tag, _ in Elements(page).tags] == [tag for tag, _ in Elements(render(RESULT)).tags]


def test_without_scripts_the_text_report_is_shown():
    page = render(RESULT, frame=Frame(replay_command="kubeproof replay it.json"))

    (text,) = re.findall("<noscript><pre>(.*?)</pre></noscript>", page, re.DOTALL)
    assert "VIOLATED S004 schedulable" in text
    assert "kubeproof replay it.json" in text


def test_a_page_tells_what_was_not_checked_and_what_it_rests_on():
    told = document(RESULT, NOT_DRAWN, Frame())

    assert told["unchecked"] == ["kind Service (web.yaml:40)"]
    assert told["coverage"]["idle"] == ("taint-eviction",)
    assert told["coverage"]["acted"] == [("replicaset web", "creates pods")]


def test_an_accepted_violation_tells_why_and_until_when():
    given = Suppression("exemption", "known", Source("/repo/.kubeproof.yaml", 3), "2027-01-01")
    accepted = replace(VIOLATION, verdict="SUPPRESSED", suppression=given)

    told = document(replace(RESULT, results=(accepted,)), ("not drawn",), Frame(base="/repo"))

    assert told["properties"][0]["accepted"] == "known (exemption, .kubeproof.yaml:3, until 2027-01-01)"
    assert told["unchecked"][0].startswith("SUPPRESSED S004 web fits: ")


def test_an_excerpt_goes_from_its_line_to_the_end_of_the_document():
    texts = {"web.yaml": "a: 1\n---\nkind: Deployment\n\tname: x\n\n---\nkind: Service\n", "long.yaml": "x: 1\n" * 500}

    assert excerpt(texts, Source("web.yaml", 3)) == ("kind: Deployment", "    name: x")
    assert excerpt(texts, Source("web.yaml", 2))[0] == "---"
    assert len(excerpt(texts, Source("long.yaml", 7))) == MOST_LINES
    assert excerpt(texts, Source("other.yaml", 3)) == ()
    assert excerpt(texts, Source()) == ()


def test_any_page_can_be_put_together_from_parts():
    page = offline_page("a < b", {"n": 1}, scripts=("dom.js",), styles=("base.css",), text="x\ny")

    assert "<title>a &lt; b</title>" in page
    assert '<script type="application/json" id="report">{"n":1}</script>' in page


def test_a_matrix_has_rows_worst_first_whose_cells_name_their_runs():
    told = document(MATRIX_RESULT, ("not drawn",) * len(MATRIX_RESULT.results), Frame())["matrix"]

    assert [row["name"] for row in told["rows"]] == ["api", "cart", "web"]
    assert [(cell["grade"], cell["word"], cell["run"]) for cell in told["rows"][0]["cells"]] == [
        ("steady", "ok", -1),
        ("stuck", "STUCK", 1),
        ("dips", "0 6m", 2),
    ]
    assert [(one["grade"], one["targets"], one["run"]) for one in told["findings"]] == [
        ("stuck", ["api", "cart"], 1),
        ("dips", ["api", "cart", "web"], 2),
    ]
    assert told["first"].startswith("api: Give it another node. The same for cart.")


def test_of_a_large_matrix_one_run_of_each_cause_and_fault_is_drawn_and_the_others_are_short():
    many = replace(MATRIX_RESULT, results=MATRIX_RESULT.results * 5)

    assert choose_drawn(MATRIX_RESULT) is None
    assert choose_drawn(many) == {1, 2}
    properties = document(many, ("not drawn",) * len(many.results), Frame())["properties"]
    assert len(properties[1]["run"]["steps"]) == 5
    assert len(properties[4]["run"]["steps"]) == 4
    assert properties[4]["run"]["notDrawn"].startswith("a run like it, of another workload, is drawn")
    assert properties[1]["when"] == "api: a node fails and stays down"
