"""Schedules of CronJobs: gaps between runs."""

from __future__ import annotations

import pytest

from kubeproof.manifests.kinds.cron import gaps_of

MINUTE, HOUR, DAY = 60, 3600, 86_400


@pytest.mark.parametrize(
    ("schedule", "gaps"),
    [
        ("* * * * *", (MINUTE,)),
        ("*/5 * * * *", (5 * MINUTE,)),
        ("0 * * * *", (HOUR,)),
        ("@hourly", (HOUR,)),
        ("30 3 * * *", (DAY,)),
        ("@daily", (DAY,)),
        ("@weekly", (7 * DAY,)),
        ("@every 90m", (90 * MINUTE,)),
        ("*/25 * * * *", (10 * MINUTE, 25 * MINUTE)),  # at 0, 25 and 50
        ("0 9,17 * * *", (8 * HOUR, 16 * HOUR)),
        ("0 9 * * 1-5", (DAY, 3 * DAY)),
        ("0 9 * * MON-FRI", (DAY, 3 * DAY)),
        ("0 0 1 * *", (28 * DAY, 29 * DAY, 30 * DAY, 31 * DAY)),
        ("@yearly", (365 * DAY, 366 * DAY)),
        ("0 0 1,15 * 1", (1 * DAY, 2 * DAY, 3 * DAY, 4 * DAY, 5 * DAY, 6 * DAY, 7 * DAY)),  # either kind of day
        ("0 0 ? JAN,jul *", (DAY, 151 * DAY, 152 * DAY, 154 * DAY)),  # 31 January to 1 July, 31 July to 1 January
        ("0 0 30 2 *", ()),  # never
        ("  15  10  *  *  *  ", (DAY,)),
    ],
)
def test_the_gaps_of_a_schedule(schedule: str, gaps: tuple[int, ...]) -> None:
    assert gaps_of(schedule) == gaps


@pytest.mark.parametrize(
    "schedule",
    [
        "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7",
        "*/0 * * * *", "5-1 * * * *", "a * * * *", "*-5 * * * *", "1,,2 * * * *", "@often", "@every 0s", "@every 5",
        "TZ=UTC 0 * * * *", "0 0 * xxx *", "\u0661 * * * *", "* " * 200,
    ],
)  # fmt: skip
def test_a_malformed_schedule_has_no_gaps(schedule: str) -> None:
    assert gaps_of(schedule) is None
