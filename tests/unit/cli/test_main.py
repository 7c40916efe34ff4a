import io
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from kubeproof import __version__
from kubeproof.cli.main import cli, main
from kubeproof.errors import InternalError, ManifestError, NothingToCheckError, UsageError

SOURCE = Path(__file__).parents[3] / "src"


@pytest.mark.parametrize(
    ("problem", "code", "line"),
    [
        (
            ManifestError("bad", file="a.yaml", line=3, remedy="Fix it."),
            4,
            "error: E101 a.yaml:3: bad. Fix it.\n",
        ),
        (UsageError("wrong", "Do right."), 2, "error: E202 wrong. Do right.\n"),
        (UsageError("a\x1b\nE202 b"), 2, "error: E202 a\\x1b\nerror: E202 b.\n"),
        (NothingToCheckError("E301 nothing"), 5, "error: E301 nothing\n"),
        (InternalError("E700 engines disagree"), 70, "error: E700 engines disagree\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (PermissionError(13, "denied", "x"), 6, "error: E401 [Errno 13] denied: 'x'\n"),
        (
            MemoryError(),
            3,
            "error: out of memory. Set --memory or --max-states to stop in time.\n",
        ),
    ],
)
def test_every_ending_has_its_exit_code_and_one_line(fakes, capsys, problem, code, line):
    fakes.problem = problem

    assert main(["verify", "x"]) == code
    assert capsys.readouterr() == ("", line)


def test_an_unexpected_problem_is_one_line_that_says_how_to_report_it(fakes, capsys):
    fakes.problem = ValueError("\x1b[2Jsurprise")

    assert main(["verify", "x"]) == 70
    assert capsys.readouterr().err == (
        "internal error: ValueError: \\x1b[2Jsurprise. This is a fault of Kubeproof: please report "
        "the command, its input and the traceback that KUBEPROOF_DEBUG=1 shows.\n"
    )


def test_the_traceback_is_shown_when_asked_for(fakes, capsys, monkeypatch):
    fakes.problem = ValueError("surprise")
    monkeypatch.setenv("KUBEPROOF_DEBUG", "1")

    assert main(["verify", "x"]) == 70
    assert capsys.readouterr().err.startswith("Traceback (most recent call last):\n")


@pytest.mark.parametrize(
    "words",
    [[], ["bogus"], ["verify"], ["verify", "x", "--bogus"], ["replay"], ["verify", "x", "--timeout", "0"]],
)
def test_wrong_usage_is_exit_2_and_leaves_stdout_empty(fakes, capsys, words):
    assert main(words) == 2
    assert capsys.readouterr().out == ""


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"kubeproof, version {__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["verify"],
        ["replay"],
        ["doctor"],
        ["init"],
        ["mcp"],
        ["properties"],
        ["properties", "list"],
        ["quantify"],
        ["mine"],
        [],
    ],
)
def test_every_help_has_examples(capsys, words):
    assert main([*words, "--help"]) == 0
    assert "Examples:\n" in capsys.readouterr().out


def test_the_commands_are_those_that_exist():
    context = cli.make_context("kubeproof", [], resilient_parsing=True)
    names = [
        "admit",
        "cases",
        "completion",
        "diff",
        "doctor",
        "explain",
        "fix",
        "init",
        "mcp",
        "mine",
        "monitor",
        "network",
        "properties",
        "quantify",
        "replay",
    ]
    names += ["report", "simulate", "snapshot", "tune", "verify", "what-if"]

    assert cli.list_commands(context) == names
    assert [cli.get_command(context, name).name for name in names] == names


def test_as_a_plug_in_the_program_names_itself_as_typed(fakes, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-proof"])

    assert main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: kubectl proof [OPTIONS]")


class Closed(io.StringIO):
    """A stdout whose reader has gone, or whose disk is full."""

    def __init__(self, problem):
        super().__init__()
        self.problem = problem

    def flush(self):
        raise self.problem


@pytest.mark.parametrize(("problem", "code"), [(BrokenPipeError(), 0), (OSError(28, "full"), 6)])
def test_help_that_cannot_be_written_is_no_internal_error(monkeypatch, problem, code):
    monkeypatch.setattr(sys, "stdout", Closed(problem))

    assert main(["--help"]) == code


def test_help_without_any_stdout_is_silent(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)

    assert main(["--help"]) == 0


def test_a_reader_that_leaves_early_gets_no_traceback():
    reader, writer = os.pipe()
    os.close(reader)

    outcome = subprocess.run(
        [sys.executable, "-m", "kubeproof.cli.main", "doctor"],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        check=False,
    )
    os.close(writer)

    assert (outcome.returncode, outcome.stderr) == (0, b"")


def test_a_misspelt_command_is_told_with_the_one_that_is_meant(capfd):
    assert main(["verfy"]) == 2
    assert "No such command 'verfy'. Did you mean 'verify'?" in capfd.readouterr().err
