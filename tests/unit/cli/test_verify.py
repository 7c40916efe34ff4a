import io
import json
import sys
from dataclasses import replace

import pytest

from kubeproof.cli.commands.verify import _after_reading
from kubeproof.cli.main import main
from kubeproof.engine.stopped import INTERRUPTED, StoppedBy, StopReason
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import Trace
from tests.unit.report.results import RESULT, TRACE, VIOLATION


def test_a_violation_is_reported_on_stdout_with_exit_1(fakes, capsys):
    assert main(["verify", "manifests", "-"]) == 1

    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "VIOLATED: 2 properties checked (1 HOLDS, 1 VIOLATED)"
    assert err == ""
    assert fakes.paths == ("manifests", "-")


@pytest.mark.parametrize(
    ("verdicts", "stopped_by", "code"),
    [
        (["HOLDS", "HOLDS-BOUNDED"], None, 0),
        (["HOLDS", "VACUOUS"], None, 0),
        (["VIOLATED", "ERROR", "UNKNOWN"], INTERRUPTED, 1),
        (["ERROR", "HOLDS"], None, 70),
        (["UNKNOWN", "HOLDS"], StoppedBy(StopReason.STATES, 9), 3),
        (["UNKNOWN"], INTERRUPTED, 130),
        (["VACUOUS"], None, 3),
        ([], None, 5),
    ],
)
def test_the_exit_code_follows_the_verdicts(fakes, verdicts, stopped_by, code):
    fakes.answer(*verdicts, stopped_by=stopped_by)

    assert main(["verify", "x", "-q"]) == code


def test_without_flags_the_options_are_the_defaults_and_end_after_a_minute(fakes):
    main(["verify", "x"])

    assert fakes.options == VerifyOptions(timeout_s=60.0, processes=0, has_usual_timeout=True)
    assert not fakes.options.is_limited


def test_a_run_without_end_can_be_asked_for(fakes):
    main(["verify", "x", "--timeout", "inf"])

    assert fakes.options == VerifyOptions(processes=0)


def test_flags_become_options(fakes):
    limits = ["--timeout", "1.5", "--memory", "2", "--max-states", "7"]
    switches = ["--engine", "reference", "--no-reductions", "--check-controllers"]

    main(["verify", "x", *limits, *switches, "--controller", "a.py:A", "--controller", "b.py:B"])

    assert fakes.options == VerifyOptions(
        processes=0,
        engine="reference",
        max_states=7,
        timeout_s=1.5,
        memory_bytes=2_097_152,
        reductions=False,
        check_controllers=True,
        controllers=("a.py:A", "b.py:B"),
    )


def test_stdout_carries_only_the_format(fakes, capsys):
    assert main(["verify", "x", "-o", "json", "--progress", "always"]) == 1

    out, err = capsys.readouterr()
    assert json.loads(out)["verdict"] == "VIOLATED"
    assert err == "searching: 2,000 states, 4,000 states/s, frontier 30, depth 4, 0.5 s\n"


def test_several_formats_go_to_several_places(fakes, capsys, tmp_path):
    assert main(["verify", "x", "-o", "text", "-o", "json=trace.json"]) == 1

    out, _ = capsys.readouterr()
    assert "  Replay: kubeproof replay trace.json\n" in out
    assert json.loads((tmp_path / "trace.json").read_text())["version"] == 1


def test_when_all_reports_go_to_files_the_verdict_is_on_stderr(fakes, capsys):
    main(["verify", "x", "-o", "json=a.json", "-o", "text=a.txt"])

    assert capsys.readouterr() == ("", "VIOLATED: see a.json, a.txt\n")


def test_quiet_and_all_in_files_is_silent(fakes, capsys):
    main(["verify", "x", "-q", "-o", "json=a.json"])

    assert capsys.readouterr() == ("", "")


def test_the_replay_command_can_be_pasted(fakes, capsys):
    main(["verify", "my dir", "--controller", "c.py:C"])

    again = "kubeproof verify 'my dir' --controller c.py:C -o json=trace.json"
    assert f"  Replay: {again}; kubeproof replay trace.json\n" in capsys.readouterr().out


def test_verbose_and_quiet_exclude_each_other(fakes, capsys):
    assert main(["verify", "x", "-v", "-q"]) == 2
    assert "-v and -q exclude each other" in capsys.readouterr().err


@pytest.mark.parametrize(("choice", "coloured"), [("always", True), ("never", False), ("auto", False)])
def test_colour_is_used_when_asked(fakes, capsys, choice, coloured):
    main(["verify", "x", "--color", choice])

    assert ("\x1b[" in capsys.readouterr().out) is coloured


def test_loops_are_drawn_in_ascii_where_the_terminal_has_no_unicode(fakes, monkeypatch):
    looping = replace(VIOLATION, trace=Trace(TRACE.steps, loop_start=0))
    fakes.result = replace(RESULT, results=(looping,))
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))

    main(["verify", "x"])

    assert b"\n  +> 1 " in written.getvalue()


def test_the_time_of_a_run_begins_with_the_command_and_reading_leaves_a_third_of_it():
    usual, given = VerifyOptions(timeout_s=60.0, has_usual_timeout=True), VerifyOptions(timeout_s=30.0)

    assert [_after_reading(usual, spent).spent_s for spent in (0.2, 12.6, 59.0)] == [0.2, 12.6, 40.0]
    assert [_after_reading(given, spent).spent_s for spent in (0.2, 59.0)] == [0.2, 20.0]
    assert _after_reading(usual, 12.6) == usual  # what is told is what was given
    assert _after_reading(VerifyOptions(), 59.0).spent_s == 0.0
