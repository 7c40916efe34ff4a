"""Incidents for Prometheus' Alertmanager (API v2), which groups, silences, inhibits and routes them.

An alert is known by its labels, so that telling it again changes nothing. The labels of an incident hold its severity:
when it grows, the milder alert ends and the graver one begins. An alert that is not told again ends by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from kubeproof.errors import UsageError
from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.event import SECOND_US
from kubeproof.monitor.incidents.policy import Level
from kubeproof.monitor.intake.stream import Numbered
from kubeproof.monitor.sinks import Poster

PATH = "/api/v2/alerts"
NAME = "KubeproofIncident"
_SEVERITIES = {Level.WARNING: "warning", Level.FAILURE: "critical"}  # information is nothing to be woken for
_LONGEST = 1024  # characters of a label or annotation


class Alertmanager:
    """Tells an Alertmanager of incidents from level warning on."""

    def __init__(
        self, url: str, name: str, quiet_us: int, clock: Callable[[], float], poster: Poster | None = None
    ) -> None:
        if url.rstrip("/").endswith(PATH):
            raise UsageError("--alertmanager: name the server alone", f"Leave out {PATH}.")
        self._poster = poster or Poster(url.rstrip("/") + PATH, "--alertmanager")
        self._name, self._quiet, self._clock = name, timedelta(microseconds=quiet_us), clock

    def tell(self, alarms: Sequence[Numbered]) -> int:
        """Posts what these alarms make of their incidents, all at once."""
        latest = {alarm.incident: alarm for _, alarm in alarms if alarm.level in _SEVERITIES}
        now = datetime.fromtimestamp(self._clock(), UTC)
        alerts = [alert for alarm in latest.values() for alert in self._alerts(alarm, now)]
        return len(alarms) if not alerts or self._poster.post(alerts, {}) else 0

    def _alerts(self, alarm: Alarm, now: datetime) -> list[dict[str, Any]]:
        found = [self._alert(alarm, alarm.level, now + self._quiet)]
        if alarm.level is Level.FAILURE:
            found.append(self._alert(alarm, Level.WARNING, now))
        return found

    def _alert(self, alarm: Alarm, level: Level, end: datetime) -> dict[str, Any]:
        labels = {
            "alertname": NAME, "severity": _SEVERITIES[level], "rules": self._name, "incident": str(alarm.incident),
            "run": alarm.run, "key": alarm.key,
        }  # fmt: skip
        return {
            "labels": {name: value[:_LONGEST] for name, value in labels.items() if value},
            "annotations": {
                "summary": f"{alarm.kind.value} {alarm.about}"[:_LONGEST],
                "description": f"{alarm.text} [{alarm.rule}]"[:_LONGEST],
            },
            "endsAt": end.isoformat(),
        } | _start(alarm, end)


def _start(alarm: Alarm, end: datetime) -> dict[str, str]:
    """When it began, if the stream has dates and they lie before its end."""
    is_date = 10**14 <= alarm.start_us < end.timestamp() * SECOND_US
    return {"startsAt": datetime.fromtimestamp(alarm.start_us / SECOND_US, UTC).isoformat()} if is_date else {}
