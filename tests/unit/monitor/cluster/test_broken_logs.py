"""Logs of clusters with records that cannot be read, or that are dated wrongly."""

from __future__ import annotations

import json

import pytest

from kubeproof.cli.main import main
from kubeproof.monitor.cluster.change import LOST, TIME, Change
from kubeproof.monitor.cluster.steady import SteadyTimes

HOUR = 3_600_000_000
START = 500_000 * HOUR
CLUSTER = "examples/01-conflicting-spread"


def passed_on(hours, steady):
    changes = [Change(START + round(hour * HOUR), TIME) for hour in hours]
    return [(change.time_us - START) / HOUR for change in steady.pass_on(changes)]


@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("wrong", [900_000, -400_000])
def test_one_wrong_date_lets_no_time_pass(place, wrong):
    hours = [0, 0.1, 0.2, 0.3, 0.4, 0.5]
    steady = SteadyTimes(0)
    found = passed_on([*hours[:place], wrong, *hours[place:]], steady)

    assert max(found) == 0.5
    if wrong > 0:
        assert steady.outliers == 1


def test_a_night_without_changes_is_no_mistake():
    steady, hours = SteadyTimes(0), [0, 0.1, 0.2, 9, 9.1, 9.2, 9.3]

    assert (passed_on(hours, steady), steady.outliers) == (hours, 0)


def test_what_was_lost_has_the_time_of_what_came_before_it():
    changes = [Change(0, LOST), *(Change(START + n, TIME) for n in range(3)), Change(0, LOST)]
    steady = SteadyTimes(0)

    assert [change.time_us - START for change in steady.pass_on(changes)] == [1, 0, 1, 2, 2]
    assert steady.outliers == 0


def recorded(tmp_path):
    """The audit log of a violation, as `verify` found it."""
    result, log = tmp_path / "result.json", tmp_path / "audit.log"
    main(["verify", CLUSTER, "-o", f"json={result}"])
    main(["replay", str(result), "--as-audit", str(log)])
    return log


def watched(log, capsys, *options):
    capsys.readouterr()
    code = main(
        ["monitor", "run", "--scenario", f"{CLUSTER}/scenario.yaml", CLUSTER, "--audit-log", str(log), *options]
    )
    return code, capsys.readouterr()


def test_a_broken_line_of_an_audit_log_is_told_and_the_rest_is_judged(tmp_path, capsys):
    log = recorded(tmp_path)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:1], "oops\n", *lines[1:]]))

    code, told = watched(log, capsys)
    assert (code, "VIOLATED 2026" in told.out) == (1, True)
    assert "note: 1 records could not be read and count as lost\n" in told.out
    assert "audit.log:2: not valid JSON" in told.out
    code, told = watched(log, capsys, "--strict")
    assert (code, "E103" in told.err) == (4, True)


def test_an_audit_event_of_the_year_2100_violates_nothing(tmp_path, capsys):
    log = recorded(tmp_path)
    first, *others = log.read_text().splitlines(keepends=True)
    record = json.loads(first)
    record["stageTimestamp"] = "2100-01-01T00:00:00.000000Z"
    log.write_text("".join([first, *others[:3], json.dumps(record) + "\n", others[3]]))

    code, told = watched(log, capsys)
    assert (code, "VIOLATED" in told.out) == (3, False)
    assert "note: 1 events are dated far from the rest" in told.out
