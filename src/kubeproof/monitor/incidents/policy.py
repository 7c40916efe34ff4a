"""When alarms are one incident, and how much of them makes a failure."""

from __future__ import annotations

from enum import Enum

from kubeproof.errors import UsageError
from kubeproof.monitor.event import SECOND_US
from kubeproof.values import dataclass

QUIET_US = 600 * SECOND_US
MOST_NEEDED = 1000


class Level(Enum):
    """How sure it is that something failed."""

    INFORMATION = "information"  # odd, but nothing is missing: a single event without the one before it, say
    WARNING = "warning"  # something is missing or too much, and not enough of it to call it a failure
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Policy:
    """A failure takes `failure_at` different events that are wrong; silence for `quiet_us` ends an incident."""

    failure_at: int = 1
    quiet_us: int = QUIET_US

    def __post_init__(self) -> None:
        if not 1 <= self.failure_at <= MOST_NEEDED or self.quiet_us <= 0:
            raise UsageError(
                "incidents need evidence and an end", f"Take 1 to {MOST_NEEDED} events, and a quiet time above 0."
            )
