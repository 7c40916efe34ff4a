"""Saved results are values again."""

import json
from dataclasses import replace

import pytest

from kubeproof.engine.stopped import INTERRUPTED, StoppedBy, StopReason
from kubeproof.errors import ManifestError
from kubeproof.report.formats.json import render
from kubeproof.verify.findings.saved import read_saved
from kubeproof.verify.result import VerifyResult
from tests.unit.report.results import RESULT
from tests.unit.report.test_heatmap import SWEEP
from tests.unit.verify.inputs import FAILING, LOOP, PENDING, verified


@pytest.fixture
def read_back(tmp_path):
    """A result, written and read."""

    def read(result: VerifyResult) -> VerifyResult:
        path = tmp_path / "result.json"
        path.write_text(render(result), encoding="utf-8")
        return read_saved(str(path)).result

    return read


@pytest.mark.parametrize("documents", [PENDING, LOOP, FAILING], ids=["path", "loop", "deployed"])
def test_a_result_read_back_is_the_one_that_was_written(read_back, documents):
    result = verified(*documents)

    again = read_back(result)

    assert replace(again, scope=()) == replace(result, scope=())
    assert dict(again.scope).keys() == dict(result.scope).keys()


def test_a_sweep_is_read_back(read_back):
    result = replace(RESULT, sweep=SWEEP)

    assert read_back(result) == result


@pytest.mark.parametrize(
    "stopped_by",
    [
        INTERRUPTED,
        StoppedBy(StopReason.TIME, 0.5),
        StoppedBy(StopReason.STATES, 9),
        StoppedBy(StopReason.TOO_MANY_WAYS, problem="more than 2 ways"),
    ],
)
def test_why_a_search_ended_is_read_back(read_back, stopped_by):
    result = replace(RESULT, statistics=replace(RESULT.statistics, stopped_by=stopped_by))

    assert read_back(result) == result


def test_steps_of_a_result_without_parts_keep_their_words(tmp_path):
    document = json.loads(render(RESULT))
    (one,) = [found for found in document["results"] if found["trace"]]
    for step in one["trace"]:
        del step["by"], step["changed"]
    del one["facts"]
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")

    (read,) = [found.trace for found in read_saved(str(path)).result.results if found.trace]
    told = [(step.actor, list(map(str, step.changes))) for step in read.steps]
    assert told == [(step["actor"], step["changes"]) for step in one["trace"]]
    assert list(read.final) == one["final"]


def test_a_result_with_an_unknown_kind_of_actor_is_refused(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(render(RESULT).replace('"kind": "scheduler"', '"kind": "<b>"'), encoding="utf-8")

    with pytest.raises(ManifestError, match="not a result of kubeproof"):
        read_saved(str(path))


def test_a_result_of_before_there_were_reasons_keeps_its_words(tmp_path):
    document = json.loads(render(RESULT))
    document["statistics"] |= {"stopped_by": "60 s"}
    del document["statistics"]["stop_reason"], document["statistics"]["stop_limit"]
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")

    assert str(read_saved(str(path)).result.statistics.stopped_by) == "60 s"


def test_what_is_written_from_a_saved_result_is_what_was_saved(read_back):
    result = verified(*LOOP)

    assert render(read_back(result)) == render(result)


@pytest.mark.parametrize("change", [{"verdict": "\x1b[2J"}, {"id": "<img src=x>"}, {"severity": "fatal"}])
def test_words_that_reports_print_as_they_are_are_ours(read_back, change):
    with pytest.raises(ManifestError, match="not a result of kubeproof"):
        read_back(replace(RESULT, results=(replace(RESULT.results[0], **change),)))


def test_a_sweep_with_unknown_verdicts_is_refused(tmp_path):
    path = tmp_path / "result.json"
    text = render(replace(RESULT, sweep=SWEEP)).replace('"TRIVIAL"', '"<b>"')
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ManifestError, match="is none of VIOLATED"):
        read_saved(str(path))
