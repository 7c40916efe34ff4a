"""What is said of an intent, by whichever way it was judged: the one list of verdicts."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """An answer. Its value is the word that reports, exit codes and saved results use."""

    HOLDS = "HOLDS"  # proved: every run, exhaustively or by an argument
    HOLDS_BOUNDED = "HOLDS-BOUNDED"  # proved up to a bound that is printed
    SAMPLED_OK = "SAMPLED-OK"  # nothing found in what was looked at
    VIOLATED = "VIOLATED"
    VACUOUS = "VACUOUS"  # no run comes to what the intent speaks of
    UNKNOWN = "UNKNOWN"  # not decided
    ERROR = "ERROR"  # not judged: a fault of ours
    SUPPRESSED = "SUPPRESSED"  # violated, and somebody gave a reason to accept that
