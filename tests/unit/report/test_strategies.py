"""Who answered an intent, in reports."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.report.formats.json import document
from kubeproof.report.style import Style
from kubeproof.report.verification.strategies import strategy_document, strategy_lines
from kubeproof.report.verification.text import render
from kubeproof.verify.answered import Answered, Declined, Reason
from kubeproof.verify.models import MODELS
from tests.unit.report.formats import VERIFY
from tests.unit.report.results import PROOF, RESULT

ANSWERED = Answered(
    "search",
    "full",
    (
        Declined(Reason.NOT_ASKED).by("reference"),
        Declined(Reason.SWITCHED_OFF, "--without slicing").by("slices"),
        Declined(Reason.NO_BOUND).by("bounds"),
        Declined(Reason.NO_PARTS).by("first-look"),
        Declined(Reason.NO_PARTS).by("alone"),
        Declined(Reason.LIMIT, "256 states").by("small"),
    ),
)
LINES = [
    "decided by search, full model",
    "  not by slices: switched off: --without slicing",
    "  not by bounds: sizes and budgets alone do not decide it",
    "  not by first-look, alone: the input has no parts to look at alone",
    "  not by small: it came to a limit: 256 states",
]


def test_the_strategy_is_told_with_the_reasons_of_those_before() -> None:
    assert list(strategy_lines(ANSWERED, Style())) == LINES


def test_an_open_intent_is_decided_by_no_strategy() -> None:
    assert next(strategy_lines(Answered(before=ANSWERED.before[-1:]), Style())) == "decided by no strategy"


def test_names_from_a_file_are_escaped() -> None:
    (line,) = strategy_lines(Answered("a\x1b[31m"), Style())
    assert "\x1b" not in line


def test_text_has_it_where_everything_is_asked_for() -> None:
    result = replace(RESULT, results=(replace(PROOF, strategy=ANSWERED),))

    assert f"  {LINES[0]}\n    not by slices" in render(result, Style(verbose=True))
    assert "decided by" not in render(result, Style())


def test_the_schema_knows_all_reasons_and_models() -> None:
    told = VERIFY["$defs"]["strategy"]["properties"]

    assert told["before"]["items"]["properties"]["reason"]["enum"] == [str(reason) for reason in Reason]
    assert told["model"]["enum"] == ["", *(model.name for model in MODELS)]


def test_json_has_names_and_reasons() -> None:
    result = replace(RESULT, results=(replace(PROOF, strategy=ANSWERED),))
    (one,) = document(result)["results"]

    assert one["strategy"] == strategy_document(ANSWERED)
    assert one["strategy"]["before"][1] == {"name": "slices", "reason": "switched-off", "detail": "--without slicing"}
