"""What a monitor says: one alarm per event that is missing, or one too many."""

from __future__ import annotations

from enum import Enum
from typing import Any

from kubeproof.monitor.incidents.policy import Level
from kubeproof.named_tuples import NamedTuple
from kubeproof.verdicts import Verdict


class Kind(Enum):
    """What is wrong."""

    MISSING = "missing"  # an event did not come in time
    UNEXPECTED = "unexpected"  # an event came, but not the one before it
    TOO_MANY = "too-many"
    UNEQUAL = "unequal"
    FORBIDDEN = "forbidden"
    SILENT = "silent"  # a heartbeat stopped
    FORMULA = "formula"
    INTENT = "intent"  # of a Scenario, not so in the real cluster
    OVERFLOW = "overflow"  # more obligations than are remembered


class Alarm(NamedTuple):
    """One violation, or one that cannot be judged because events were lost. Times in microseconds of the stream.

    `about` is the missing or excess event. The evidence lies between `start_us` and `end_us`; `detected_us` is the
    first moment at which the monitor could know. `incident` is the number of what it belongs to, 0 until that is known,
    and `level` how grave that is by now.
    """

    rule: str
    kind: Kind
    about: str
    text: str
    start_us: int
    end_us: int
    detected_us: int
    severity: str = "warning"
    verdict: Verdict = Verdict.VIOLATED
    run: str = ""
    key: str = ""
    at_end: bool = False  # known only because the run was over
    incident: int = 0
    level: Level = Level.WARNING

    @property
    def time_to_detect_us(self) -> int:
        return self.detected_us - self.start_us


def to_value(alarm: Alarm, number: int) -> dict[str, Any]:
    """The alarm as JSON can hold it; the number is the same whenever the stream is read again."""
    return {
        "id": number,
        **alarm._asdict(),
        "kind": alarm.kind.value,
        "level": alarm.level.value,
        "time_to_detect_us": alarm.time_to_detect_us,
    }


def from_value(value: dict[str, Any]) -> Alarm:
    """The alarm that `to_value` wrote."""
    fields = {name: value[name] for name in Alarm._fields}
    return Alarm(**{**fields, "kind": Kind(value["kind"]), "level": Level(value["level"])})
