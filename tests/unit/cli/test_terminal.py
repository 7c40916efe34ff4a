"""What the terminal is asked to show."""

from __future__ import annotations

import io
import os

import pytest

from kubeproof.cli.main import main
from kubeproof.cli.running.terminal import columns, wants_colour


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "on_terminal", "in_pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"CLICOLOR_FORCE": "0"}, True, False),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False, False),
        ({"CLICOLOR": "0"}, False, False),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_says_otherwise(environment, on_terminal, in_pipe):
    assert wants_colour("auto", Terminal(), environment) is on_terminal
    assert wants_colour("auto", io.StringIO(), environment) is in_pipe


def test_the_width_is_that_of_the_terminal_or_what_columns_says():
    controller, terminal = os.openpty()
    with os.fdopen(controller), os.fdopen(terminal, "w") as stream:
        assert columns(stream, {"COLUMNS": "66"}) == 66
        assert columns(stream, {"COLUMNS": "no"}) in (None, os.get_terminal_size(stream.fileno()).columns or None)
    assert columns(io.StringIO(), {"COLUMNS": "66"}) is None
    assert columns(None) is None


def test_a_pipe_gets_whole_lines(fakes, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    main(["verify", "x"])

    assert "     1      0s  replicaset  creates shop/web-1\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["explain", "S005"], 0, "S005 property: schedulable"),
        (["explain", "drain", "E101"], 0, "E101 error: A manifest could not be used"),
        (["explain", "E101", "-o", "json"], 0, '"name": "E101"'),
        (["explain"], 0, "VACUOUS"),
        (["explain"], 0, "property  spread: Pods run in at least `domains` domains of `topologyKey`."),
        (["properties", "show", "minReady"], 0, "S001 property: minReady"),
        (["properties", "show", "S001", "-o", "json"], 0, '"title": "minReady"'),
    ],
)
def test_things_are_explained(capsys, words, code, said):
    assert main(words) == code
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["explain", "S5"], "Did you mean S005?"),
        (["explain", "\x1bnothing-like-it"], "kubeproof explain lists what there is"),
        (["properties", "show", "drain"], "is no property"),
    ],
)
def test_an_unknown_word_is_wrong_usage(capsys, words, said):
    assert main(words) == 2
    assert said in capsys.readouterr().err
