"""Streams of updates on the command line: what is answered, and what is refused."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from kubeproof.cli.main import main
from kubeproof.network.check import check
from kubeproof.network.files.generate import fib
from kubeproof.network.properties.library import reach
from kubeproof.network.properties.machine import prepare
from kubeproof.verdicts import Verdict

NETWORK = """\
apiVersion: kubeproof.dev/v1alpha1
kind: Network
metadata: {name: small}
spec:
  nodes: [pc, a, web]
  links: [[pc, a], [a, web]]
  traffic:
  - {sources: [pc], destinations: [web]}
  snapshots:
  - tables: {pc: [{forward: a}], a: [{forward: web}]}
  properties:
  - reach: {}
"""


@pytest.fixture
def network(tmp_path: Path) -> str:
    file = tmp_path / "network.yaml"
    file.write_text(NETWORK, encoding="utf-8")
    return str(file)


@pytest.fixture
def answers(network: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The exit code and the objects that lines of updates are answered with."""

    def run(*lines: str, options: tuple[str, ...] = ()):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
        code = main(["network", "updates", network, "-", "-o", "ndjson", *options])
        out, err = capsys.readouterr()
        return code, [json.loads(line) for line in out.splitlines()], err

    return run


def test_links_that_fail_and_work_again_are_answered(answers) -> None:
    code, lines, _ = answers('{"down": ["a", "web"]}', "", '{"up": ["web", "a"]}')

    assert code == 3
    assert [line["kind"] for line in lines] == ["begin", "update", "update", "end"]
    (worse,), (better,) = lines[1]["changed"], lines[2]["changed"]
    assert (worse["verdict"], worse["worse"]) == ("UNKNOWN", [{"source": "pc", "destination": "web", "how": "unmet"}])
    assert (better["verdict"], better["better"]) == ("HOLDS-BOUNDED", [{"source": "pc", "destination": "web"}])
    assert lines[2]["location"]["line"] == 3
    assert lines[3]["updates"] == 2


def test_a_loop_is_a_violation_and_unchanged_answers_are_silent(answers) -> None:
    harmless = '{"add": {"node": "web", "rule": {"drop": true}}}'
    code, lines, _ = answers(harmless, '{"add": {"node": "a", "rule": {"forward": "pc", "priority": 1}}}')

    assert code == 1
    assert [line["kind"] for line in lines] == ["begin", "update", "end"]
    assert lines[1]["changed"][0]["worse"][0]["how"] == "endless"


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("{", 4, "<stdin>:2"),
        ("[1]", 4, "no update"),
        ('{"add": 1, "up": 2}', 4, "2 verbs"),
        ('{"add": {"node": "b", "rule": {"drop": true}}}', 4, "no node 'b'"),
        ('{"add": {"node": "pc", "rule": {"forward": "web"}}}', 4, "has no link to"),
        ('{"remove": {"node": "pc", "rule": {"drop": true}}}', 2, "pc has no such rule"),
        ('{"down": ["pc", "web"]}', 4, "is no link"),
        ('{"down": ["pc"]}', 4, "no link"),
        ("[" * 60_000, 4, "no JSON"),
        ('{"down": "' + "a" * 100_000 + '"}', 4, "100,000 characters"),
        ('{"down": ' + "[" * 30 + "]" * 30 + "}", 4, "no link"),
    ],
)
def test_a_line_that_is_no_update_is_refused_at_its_place(answers, line: str, code: int, message: str) -> None:
    ended, lines, err = answers('{"down": ["a", "web"]}', line)

    assert ended == code
    assert message in err
    assert len(lines) == 2  # what came before is answered


def test_text_tells_timing_on_request(network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "updates.jsonl"
    file.write_text('{"down": ["a", "web"]}\n', encoding="utf-8")

    assert main(["network", "updates", network, str(file), "--timing", "--final"]) == 1
    out = capsys.readouterr().out
    assert "worse: pc to web is lost" in out
    assert "updates/s of processor time: p50" in out


@pytest.mark.parametrize(
    "more", [["missing.jsonl"], ["-", "-o", "text=out.txt"]], ids=["no file of updates", "a file for answers"]
)
def test_wrong_wishes_are_refused(network: str, more: list[str]) -> None:
    assert main(["network", "updates", network, *more]) in (2, 4)


def test_generated_routing_tables_reach_nearly_everything() -> None:
    network = fib(6, 600)
    found = check(network, prepare(reach()), final=True)

    assert sum(map(len, network.snapshots[0].tables.values())) == 600
    assert found.pairs == 600
    assert found.verdict in (Verdict.HOLDS, Verdict.VIOLATED)
    assert found.snapshots[0].unmet + found.snapshots[0].endless < 30
