import os
import stat
import sys
from types import SimpleNamespace

import click
import pytest

from kubeproof.cli.options.outputs import Output, emit, parse_output, without_clash, write_file, write_stdout
from kubeproof.errors import EnvironmentProblem

FORMATS = ("text", "json")


def test_a_format_may_name_a_file(tmp_path):
    assert parse_output("json", FORMATS) == Output("json")
    assert parse_output(f"json={tmp_path}/a=b", FORMATS) == Output("json", f"{tmp_path}/a=b")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("sarif", "unknown format 'sarif'; there are: text, json"),
        ("", "unknown format"),
        ("json=", "not a file"),
        ("json=/", "not a file"),
        ("json=/no/such/place/a.json", "not a file in an existing directory"),
    ],
)
def test_a_wrong_output_is_refused_before_any_work(value, said):
    with pytest.raises(click.BadParameter, match=said):
        parse_output(value, FORMATS)


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ((Output("text"), Output("json")), "only one format can go to stdout"),
        ((Output("text", "a"), Output("json", "./a")), "same file"),
    ],
)
def test_two_outputs_in_one_place_are_refused(outputs, said):
    with pytest.raises(click.BadParameter, match=said):
        without_clash(outputs)


def test_without_outputs_text_goes_to_stdout():
    assert without_clash(()) == (Output("text"),)


def test_files_are_written_before_stdout(monkeypatch, tmp_path):
    order = []

    def render(output):
        order.append(output.format)
        return ""

    emit((Output("text"), Output("json", str(tmp_path / "a"))), render)

    assert order == ["json", "text"]


def test_a_file_is_replaced_as_a_whole_and_nothing_else_is_left(tmp_path):
    file = tmp_path / "report"
    file.write_text("old and longer")

    write_file(str(file), "nü")

    assert file.read_text(encoding="utf-8") == "nü"
    assert os.listdir(tmp_path) == ["report"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("")
    (tmp_path / "link").symlink_to("real")

    write_file(str(tmp_path / "link"), "x")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "x"


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path, monkeypatch):
    file = tmp_path / "report"
    file.write_text("old")

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)

    with pytest.raises(EnvironmentProblem, match=r"cannot write .*report: No space left on device"):
        write_file(str(file), "new")
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["report"]


def test_a_device_is_written_directly():
    write_file(os.devnull, "x")

    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


class Stream:
    """A stdout that fails, with or without a file behind it."""

    encoding = "ascii"

    def __init__(self, problem):
        self.problem = problem

    def write(self, text):
        raise self.problem

    def fileno(self):
        raise ValueError("no file")


def test_a_reader_who_left_is_no_error(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Stream(BrokenPipeError()))

    write_stdout("x")


def test_a_full_disk_is_the_environments_problem(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Stream(OSError(28, "No space left on device")))

    with pytest.raises(EnvironmentProblem, match="cannot write to stdout: No space left on device"):
        write_stdout("x")


def test_a_closed_stdout_is_silent(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)

    write_stdout("x")


def test_characters_that_stdout_cannot_show_are_spelled_out(monkeypatch):
    written = []
    stream = SimpleNamespace(encoding="ascii", write=written.append, flush=lambda: None)
    monkeypatch.setattr(sys, "stdout", stream)

    write_stdout("größe\ud800")

    assert written == ["gr\\xf6\\xdfe\\ud800"]


def test_a_file_keeps_the_rights_that_it_had(tmp_path):
    file = tmp_path / "secret.yaml"
    file.write_text("old")
    file.chmod(0o640)

    write_file(str(file), "new")

    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o640)
