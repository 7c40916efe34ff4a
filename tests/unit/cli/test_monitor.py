"""`kubeproof mine` and `kubeproof monitor` say what they find, and end with the code of the contract."""

from __future__ import annotations

import io
import json

import pytest

from kubeproof.cli.main import main

RULES = """apiVersion: kubeproof.dev/v1alpha1
kind: MonitorRules
spec:
  rules:
  - name: answered
    followedBy: {first: ask, then: answer, within: 5s}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text(RULES)
    (tmp_path / "good.jsonl").write_text('{"time": 1, "name": "ask"}\n{"time": 2, "name": "answer"}\n')
    (tmp_path / "bad.jsonl").write_text('{"time": 1, "name": "ask"}\n{"time": 20, "name": "other"}\n')
    lost = '{"time": 1, "name": "ask", "seq": 1}\n{"time": 20, "name": "other", "seq": 3}\n'
    (tmp_path / "lost.jsonl").write_text(lost)
    return tmp_path


@pytest.fixture
def runs(folder):
    """Thirty clean runs, and two with a fault, of which one failed."""
    directory = folder / "runs"
    directory.mkdir()
    rows = ["run,label,fault_type,api_error,first_symptom_s,workload_end_s"]
    events = ["run,time,name"]
    for number in range(32):
        name, failed = f"r{number:02}", number == 30
        rows.append(
            f"{name},{'FAILURE' if failed else 'NO_FAILURE'},{'X' if number >= 30 else ''},,{30 if failed else ''},60"
        )
        events += [f"{name},1,ask"] + ([] if failed else [f"{name},{2 + number / 100},answer"]) + [f"{name},10,end"]
    (directory / "runs.csv").write_text("\n".join(rows) + "\n")
    (directory / "events.csv").write_text("\n".join(events) + "\n")
    return directory


def test_a_quiet_stream_ends_with_0(folder, capsys):
    assert main(["monitor", "run", "--rules", "rules.yaml", "good.jsonl"]) == 0
    assert capsys.readouterr().out == "quiet: 0 alarms, 0 unknown, 2 events\n"


def test_an_alarm_ends_with_1_and_says_what_is_missing(folder, capsys):
    assert main(["monitor", "run", "--rules", "rules.yaml", "bad.jsonl"]) == 1
    assert capsys.readouterr().out == (
        "VIOLATED 6.000s missing answer: ask at 1.000s was not followed by answer within 5s "
        "[answered; evidence from 1.000s, detected after 5s, alarm 1, incident 1 failure]\n"
        "incidents: 1 failure\n"
        "VIOLATED: 1 alarms, 0 unknown, 2 events\n"
    )


def test_what_depended_on_lost_events_is_unknown_and_ends_with_3(folder, capsys):
    assert main(["monitor", "run", "--rules", "rules.yaml", "lost.jsonl"]) == 3
    assert "UNKNOWN 6.000s missing answer" in capsys.readouterr().out


def test_an_open_end_leaves_what_waits_open(folder, capsys):
    (folder / "short.jsonl").write_text('{"time": 1, "name": "ask"}\n')

    assert main(["monitor", "run", "--rules", "rules.yaml", "--open-end", "short.jsonl"]) == 0
    assert main(["monitor", "run", "--rules", "rules.yaml", "short.jsonl"]) == 1


def test_ndjson_has_one_alarm_per_line_and_nothing_else(folder, capsys):
    assert main(["monitor", "run", "--rules", "rules.yaml", "-o", "ndjson", "bad.jsonl"]) == 1
    out, err = capsys.readouterr()

    (alarm,) = [json.loads(line) for line in out.splitlines()]
    assert (alarm["id"], alarm["rule"], alarm["about"], alarm["time_to_detect_us"]) == (
        1,
        "answered",
        "answer",
        5_000_000,
    )
    assert err == "incidents: 1 failure\nVIOLATED: 1 alarms, 0 unknown, 2 events\n"


def test_standard_input_is_read(folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((folder / "bad.jsonl").read_bytes())))
    monkeypatch.setattr("kubeproof.monitor.readers.lines.select.select", lambda *lists: (lists[0], [], []))

    assert main(["monitor", "run", "--rules", "rules.yaml", "-"]) == 1


def test_with_a_state_a_second_run_adds_nothing(folder, capsys):
    arguments = ["monitor", "run", "--rules", "rules.yaml", "--state", "s.db", "-o", "ndjson=a.ndjson", "bad.jsonl"]

    assert (main(arguments), main(arguments)) == (1, 1)
    assert len((folder / "a.ndjson").read_text().splitlines()) == 1


def test_metrics_and_durations_are_options(folder, capsys):
    arguments = ["--metrics", "0", "--lateness", "250ms", "--skew", "1s"]

    assert main(["monitor", "run", "--rules", "rules.yaml", *arguments, "good.jsonl"]) == 0
    assert capsys.readouterr().err.startswith("metrics on port ")


def test_a_webhook_that_does_not_answer_is_told_and_the_alarm_counts(folder, capsys, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    assert main(["monitor", "run", "--rules", "rules.yaml", "--webhook", "http://127.0.0.1:9/", "bad.jsonl"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "note: 1 alarms could not be delivered" in lines
    assert (
        sum("alarm 1, incident 1 failure]" in line for line in lines) == 1
    )  # told once, however often the webhook is tried


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["run", "good.jsonl"], 2, "E202 no rules"),
        (["run", "--rules", "rules.yaml", "--lateness", "soon", "good.jsonl"], 2, "is no duration"),
        (["run", "--rules", "none.yaml", "good.jsonl"], 4, "E101 none.yaml: cannot be read"),
        (["run", "--rules", "rules.yaml", "none.jsonl"], 4, "E103 none.jsonl: cannot be read"),
        (["run", "--rules", "empty.yaml", "good.jsonl"], 5, "E301 empty.yaml has no rules"),
        (["run", "--rules", "rules.yaml", "--metrics", "x", "good.jsonl"], 2, "E202 --metrics 'x' is no address"),
        (["evaluate", "--runs", "."], 2, "one of --rules and --folds is needed"),
        (["evaluate", "--runs", ".", "--folds", "5"], 2, "has no runs.csv"),
    ],
)
def test_mistakes_are_one_line_with_their_code(folder, capsys, arguments, code, problem):
    (folder / "empty.yaml").write_text("apiVersion: kubeproof.dev/v1alpha1\nkind: MonitorRules\nspec: {rules: []}\n")

    assert main(["monitor", *arguments]) == code
    assert problem in capsys.readouterr().err


def test_mining_prints_rules_in_words(runs, capsys):
    assert main(["mine", "runs"]) == 0
    out = capsys.readouterr().out

    assert "chain from ask to end: every ask is followed by answer within 4.87s, then end within 25s" in out
    assert "Learned from 90 events of 30 fault-free runs: 1 rules.\n" in out


def test_mined_rules_are_used_and_judged(runs, capsys):
    assert main(["mine", "runs", "-o", "yaml=mined.yaml", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 30
    assert main(["monitor", "evaluate", "--rules", "mined.yaml", "--runs", "runs", "-o", "json"]) == 0
    figures = json.loads(capsys.readouterr().out)

    assert (figures["recall"], figures["precision"], figures["clean_alarmed"], figures["early"]) == (1.0, 1.0, 0, 1)
    assert len(figures["caveats"]) == 3


def test_cross_validation_tells_its_caveats(runs, capsys):
    assert main(["monitor", "evaluate", "--folds", "5", "--runs", "runs"]) == 0
    out = capsys.readouterr().out

    assert out.startswith(
        "5-fold cross-validation; up to 1 rules; a failure takes 1 event that is wrong\n"
        "recall             1.000  (1 of 1 failures)\n"
    )
    assert out.count("caveat: ") == 3


def test_mining_nothing_ends_with_5(folder, capsys):
    (folder / "none.jsonl").write_text("")

    assert main(["mine", "none.jsonl"]) == 5


def test_rules_are_shown_and_exported(folder, capsys):
    assert main(["monitor", "rules", "rules.yaml"]) == 0
    assert capsys.readouterr().out == "answered: every ask is followed by answer within 5s, the i-th by the i-th\n"
    assert main(["monitor", "rules", "rules.yaml", "-o", "epl"]) == 0
    assert "timer:interval(5 sec)" in capsys.readouterr().out
    assert main(["monitor", "rules", "rules.yaml", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rules"][0]["followedBy"]["within"] == "5s"


def test_incidents_of_a_file_of_alarms_are_shown(folder, capsys):
    main(["monitor", "run", "--rules", "rules.yaml", "-o", "ndjson=alarms.ndjson", "bad.jsonl"])
    capsys.readouterr()

    command = ["monitor", "incidents", "alarms.ndjson", "--events", "bad.jsonl"]
    assert main([*command, "-o", "text", "-o", "html=page.html"]) == 1

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("FAILURE incident 1: begins with missing ")
    assert lines[-2:] == ["    20.000s other", "incidents: 1 failure"]
    assert "<!DOCTYPE html>" in (folder / "page.html").read_text()


@pytest.mark.parametrize(("content", "code"), [("", 5), ("{}\n", 4)])
def test_files_without_alarms_are_told_apart(folder, capsys, content, code):
    (folder / "alarms.ndjson").write_text(content)

    assert main(["monitor", "incidents", "alarms.ndjson"]) == code
    assert "alarm" in capsys.readouterr().err
