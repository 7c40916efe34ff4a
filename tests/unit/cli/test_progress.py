import io
import sys

import pytest

from kubeproof.cli.running.progress import ProgressLine, describe, progress_line
from kubeproof.cli.running.terminal import shows_unicode, wants_colour
from kubeproof.verify.options import SearchProgress


class Terminal(io.StringIO):
    encoding = "UTF-8"

    def isatty(self):
        return True


class Broken(Terminal):
    def write(self, text):
        raise BrokenPipeError


def at(elapsed_s, phase="searching"):
    return SearchProgress(10, 20, 3, 4, elapsed_s, phase)


def test_progress_tells_states_rate_frontier_and_depth():
    assert (
        describe(SearchProgress(2_000_000, 1, 1_500, 12, 4.0, "searching"))
        == "searching: 2,000,000 states, 500,000 states/s, frontier 1,500, depth 12, 4.0 s"
    )
    assert "0 states/s" in describe(at(0.0))


def test_on_a_terminal_one_line_is_rewritten_and_wiped_in_the_end():
    stream = Terminal()
    line = ProgressLine(stream)

    line(at(0.0, "looking for loops"))
    line(at(0.1))
    line(at(0.2))
    line.close()

    first, second = describe(at(0.0, "looking for loops")), describe(at(0.2))
    width = len(first)
    assert stream.getvalue() == f"\r{first}\r{second:<{width}}\r{'':{len(second)}}\r"


def test_elsewhere_a_line_is_written_every_five_seconds():
    stream = io.StringIO()
    line = ProgressLine(stream)

    for elapsed_s in (0.0, 4.9, 5.0, 9.9, 10.0):
        line(at(elapsed_s))
    line.close()

    assert stream.getvalue().splitlines() == [describe(at(s)) for s in (0.0, 5.0, 10.0)]


def test_losing_the_terminal_does_not_end_the_verification():
    line = ProgressLine(Broken())

    line(at(0.0))
    line.close()


@pytest.mark.parametrize(
    ("choice", "quiet", "stream", "shown"),
    [
        ("auto", False, Terminal(), True),
        ("auto", True, Terminal(), False),
        ("auto", False, io.StringIO(), False),
        ("always", True, io.StringIO(), True),
        ("never", False, Terminal(), False),
        ("always", False, None, False),
    ],
)
def test_progress_is_shown_when_wanted(monkeypatch, choice, quiet, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream)

    assert (progress_line(choice, quiet) is not None) is shown


@pytest.mark.parametrize(
    ("choice", "stream", "environment", "coloured"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("auto", io.StringIO(), {}, False),
        ("auto", None, {}, False),
        ("always", None, {"NO_COLOR": "1"}, True),
        ("never", Terminal(), {}, False),
    ],
)
def test_colour_needs_a_willing_terminal_or_an_order(choice, stream, environment, coloured):
    assert wants_colour(choice, stream, environment) is coloured


def test_unicode_needs_an_encoding_that_has_it():
    assert shows_unicode(Terminal())
    assert not shows_unicode(io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    assert not shows_unicode(None)
