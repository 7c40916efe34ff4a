"""Every format with every verdict: stdout is the format and nothing else, the exit code that of the contract."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.cli.main import main
from kubeproof.cli.running.reports import RESULT_FORMATS
from kubeproof.cluster.objects import Source
from kubeproof.verify.result import Suppression
from tests.unit.report.formats import READERS
from tests.unit.report.results import PROOF, RESULT, VIOLATION

CODES = {
    "HOLDS": 0,
    "HOLDS-BOUNDED": 0,
    "SAMPLED-OK": 0,
    "VIOLATED": 1,
    "VACUOUS": 3,
    "UNKNOWN": 3,
    "ERROR": 70,
    "SUPPRESSED": 0,
}
ACCEPTED = Suppression("exemption", "known, see ticket 7", Source(".kubeproof.yaml", 3), "2030-01-01")


def ended(verdict: str):
    """A verification whose only result has this verdict."""
    if verdict in ("VIOLATED", "SUPPRESSED"):
        given = ACCEPTED if verdict == "SUPPRESSED" else None
        one = replace(VIOLATION, id="S005", verdict=verdict, suppression=given)
    else:
        one = replace(PROOF, id="L002", verdict=verdict)
    return replace(RESULT, verdict=verdict, results=(one,))


def test_every_format_has_a_reader():
    assert {*RESULT_FORMATS} == {*READERS, "svg"}


@pytest.mark.parametrize("verdict", CODES)
@pytest.mark.parametrize("name", READERS)
def test_stdout_is_the_format_alone_and_the_exit_code_follows_the_verdict(fakes, capsys, name, verdict):
    fakes.result = ended(verdict)

    assert main(["verify", "x", "-o", name, "--progress", "always"]) == CODES[verdict]

    out, err = capsys.readouterr()
    READERS[name](out)
    assert verdict in out
    assert err.startswith("searching: ")


@pytest.mark.parametrize("name", READERS)
def test_a_suppressed_violation_is_told_with_its_reason(fakes, capsys, name):
    fakes.result = ended("SUPPRESSED")

    main(["verify", "x", "-o", name])

    reason = "known, see ticket 7" if name != "mermaid" else "SUPPRESSED"
    assert reason in capsys.readouterr().out or name in ("itf", "html")


@pytest.mark.parametrize("name", READERS)
def test_input_that_is_refused_leaves_stdout_to_annotations(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: A%B}\n")

    assert main(["verify", "in.yaml", "-o", name]) == 4

    out, err = capsys.readouterr()
    assert err.startswith("error: E101 in.yaml:3: ")
    told = READERS["github"](out) if name == "github" else out
    assert not told or told[0].startswith(
        "::error file=in.yaml,line=3,title=Kubeproof E101::E101 in.yaml:3: Node/A%25B"
    )


def test_all_formats_can_be_written_at_once(fakes, capsys, tmp_path):
    fakes.result = ended("VIOLATED")
    outputs = [word for name in READERS for word in ("-o", f"{name}={name}.out")]

    assert main(["verify", "x", "-q", *outputs]) == 1

    assert capsys.readouterr() == ("", "")
    for name, read in READERS.items():
        if name != "text":  # -q leaves verdicts only
            read((tmp_path / f"{name}.out").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["json", "mermaid", "itf"])
def test_a_replay_has_formats_too(fakes, capsys, name):
    assert main(["replay", "trace.json", "-o", name]) == 1

    out, err = capsys.readouterr()
    assert "binds" in out
    assert err == ""


@pytest.mark.parametrize("name", sorted({*READERS} - {"text", "json"}))
def test_a_format_of_one_verification_is_refused_for_several_cases(capsys, name):
    assert main(["cases", "run", "c7", "c8", "-o", name]) == 2

    assert f"{name} is the report of a single case" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted({*READERS} - {"text", "json"}))
def test_a_single_case_is_reported_in_every_format(capsys, name):
    assert main(["cases", "run", "c7", "-o", name]) == 0

    out, err = capsys.readouterr()
    READERS[name](out)
    assert err == ""
