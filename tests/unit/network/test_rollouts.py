"""Rollouts and plans on networks that fit on a page: exact runs, exact rounds, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeproof.cli.main import main

TWO_WAYS = """\
apiVersion: kubeproof.dev/v1alpha1
kind: Network
metadata: {name: two ways}
spec:
  nodes: [pc, a, b, web]
  links: [[pc, a], [a, b], [a, web], [b, web], [pc, b]]
  traffic:
  - {sources: [pc], destinations: [web]}
  snapshots:
  - name: old
    tables: {OLD}
  properties:
  - reach: {}
"""
BY_A = "{pc: [{forward: a}], a: [{forward: web}]}"
BY_B = "{pc: [{forward: b}], b: [{forward: web}]}"
A_THEN_B = "{pc: [{forward: a}], a: [{forward: b}], b: [{forward: web}]}"
B_THEN_A = "{pc: [{forward: b}], b: [{forward: a}], a: [{forward: web}]}"
PASS_BOTH = ("--ltl", '!"DELIVERED" W "CURRENT_NODE == a"', "--ltl", '!"DELIVERED" W "CURRENT_NODE == b"')


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Runs a command on two configurations; its exit code and its document."""

    def run(command: str, old: str, new: str, *more: str):
        files = [tmp_path / "old.yaml", tmp_path / "new.yaml"]
        for file, tables in zip(files, (old, new), strict=True):
            file.write_text(TWO_WAYS.replace("{OLD}", tables), encoding="utf-8")
        code = main(["network", command, *map(str, files), *more, "-o", "json"])
        return code, json.loads(capsys.readouterr().out or "null")

    return run


def texts(events) -> list[str]:
    return [f"{event.get('node', '')} {event['text']}".strip() for event in events]


def test_the_shortest_bad_run_of_a_rollout_is_shown(ask) -> None:
    code, document = ask("rollout", BY_A, BY_B)
    (example,) = document["results"][0]["counterexamples"]

    assert (code, document["verdict"], document["changes"]) == (1, "VIOLATED", 3)
    assert (example["when"], example["ending"], example["steps"]) == ("during", "dropped", 2)
    assert texts(example["events"]) == [
        "pc: everything to b, instead of everything to a",
        "pc forwards to b",
        "b has no rule for it and drops it",
    ]


def test_a_plan_adds_first_and_waits_before_it_removes(ask) -> None:
    code, document = ask("plan", BY_A, BY_B)

    assert (code, document["verdict"]) == (0, "HOLDS")
    assert [([one["text"] for one in each["changes"]], each["wait"]) for each in document["rounds"]] == [
        (["b: + everything to web"], False),
        (["pc: everything to b, instead of everything to a"], True),
        (["a: - everything to web"], False),
    ]


def test_that_there_is_no_plan_is_proved_with_a_packet_against_every_next_change(ask) -> None:
    code, document = ask("plan", A_THEN_B, B_THEN_A, *PASS_BOTH)

    assert (code, document["verdict"], document["stuck"]) == (1, "VIOLATED", [])
    assert [(one["change"]["nodes"], one["counterexample"]["ending"]) for one in document["refusals"]] == [
        (["pc"], "here"),
        (["a"], "here"),
        (["b"], "loop"),
    ]
    assert "every order of 3 changes was excluded" in document["reason"]


def test_packets_that_go_round_during_a_rollout_are_told_though_nothing_asks(ask) -> None:
    code, document = ask("rollout", A_THEN_B, B_THEN_A, "--per-packet")
    (loop,) = document["loops"]

    assert code == 1
    assert loop["ending"] == "loop"
    assert texts(loop["events"])[-2:] == ["b forwards to a", "a forwards to b"]


def test_a_flow_that_lasts_meets_both_configurations(ask) -> None:
    code, document = ask("rollout", BY_A, BY_B, "--per-flow", "--unit", "snapshot")
    flow = document["results"][1]

    assert (code, flow["verdict"], len(flow["counterexamples"])) == (1, "VIOLATED", 2)


def test_all_at_once_each_packet_that_passes_one_switch_meets_one_configuration(ask) -> None:
    code, document = ask("rollout", BY_A, BY_A.replace("a: [{forward: web}]", "a: [{forward: b}], b: [{forward: web}]"),
                         "--per-packet", "--unit", "snapshot")  # fmt: skip

    assert (code, [one["verdict"] for one in document["results"]]) == (0, ["HOLDS", "HOLDS"])


def test_an_old_configuration_that_violates_has_no_plan(ask) -> None:
    code, document = ask("plan", "{}", BY_B)

    assert (code, document["reason"]) == (1, "the old configuration itself violates it")


def test_a_limit_makes_a_plan_unknown(ask) -> None:
    code, document = ask("plan", BY_A, BY_B, "--max-configurations", "1")

    assert (code, document["verdict"]) == (3, "UNKNOWN")
    assert "more than 1 configurations" in document["reason"]


def test_a_limit_makes_a_rollout_unknown(ask) -> None:
    code, document = ask("rollout", BY_A, BY_A, "--max-states", "1")

    assert (code, document["results"][0]["verdict"]) == (3, "UNKNOWN")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("[pc, a, b, web]", "[pc, a, b, web, more]"), "differ in nodes"),
        (("sources: [pc]", "sources: [a]"), "differ in traffic"),
    ],
)
def test_networks_that_differ_in_more_than_rules_are_refused(
    tmp_path: Path, edit: tuple[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(TWO_WAYS.replace("{OLD}", BY_A), encoding="utf-8")
    new.write_text(TWO_WAYS.replace("{OLD}", BY_A).replace(*edit), encoding="utf-8")

    assert main(["network", "plan", str(old), str(new)]) == 2
    assert message in capsys.readouterr().err


def test_one_snapshot_is_no_rollout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(TWO_WAYS.replace("{OLD}", BY_A), encoding="utf-8")

    assert main(["network", "rollout", str(file)]) == 2
    assert "has one snapshot" in capsys.readouterr().err
    assert main(["network", "rollout", str(file), str(file), str(file)]) == 2


def test_facts_about_all_packets_are_refused(ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("rollout", BY_A, BY_B, "-p", "resilience")[0] == 2


def test_text_names_files_and_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(TWO_WAYS.replace("{OLD}", BY_A), encoding="utf-8")
    new.write_text(TWO_WAYS.replace("{OLD}", BY_B), encoding="utf-8")

    assert main(["network", "plan", str(old), str(new)]) == 0
    out = capsys.readouterr().out
    assert "then wait until packets that are on their way have left" in out
    assert f"({new}:11)" in out
    assert (
        out.splitlines()[-1] == "PLAN: 3 changes, 3 rounds, 1 wait; kept in every interleaving: reach their destination"
    )
    assert main(["network", "plan", str(new), str(old), "--unit", "table", "-p", "avoid:nodes=a"]) == 1
    assert "NO PLAN: the new configuration itself violates it" in capsys.readouterr().out
