"""Alarms that were written to a file, and the events around the incidents that they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kubeproof.errors import EventError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.monitor.alarms import Alarm, from_value
from kubeproof.monitor.event import Event
from kubeproof.monitor.incidents.incident import Incident
from kubeproof.monitor.readers.jsonl import objects
from kubeproof.monitor.readers.lines import lines_of
from kubeproof.verdicts import Verdict

MOST_AROUND = 500  # events of one incident
_TEXTS = ("rule", "about", "text", "severity", "verdict", "run", "key")
_NUMBERS = ("id", "start_us", "end_us", "detected_us", "incident")


def read_alarms(path: str) -> Iterator[tuple[int, Alarm]]:
    """The numbered alarms of a file that `monitor run -o ndjson` wrote."""
    shown = "<stdin>" if path == "-" else printable(path)
    for line, value in objects(lines_of(path), shown):
        try:
            found = _numbered(value)
        except (KeyError, ValueError, TypeError):
            remedy = "Give a file that kubeproof monitor run -o ndjson=FILE wrote"
            raise EventError("not an alarm", file=shown, line=line, remedy=remedy) from None
        yield found


def _numbered(value: dict[str, Any]) -> tuple[int, Alarm]:
    """The alarm of a record, whose numbers are texts still."""
    if not all(isinstance(value[name], str) for name in _TEXTS):
        raise TypeError
    numbers = {name: int(value[name]) for name in _NUMBERS}
    alarm = from_value(value | numbers | {"verdict": Verdict(value["verdict"]), "at_end": value["at_end"] is True})
    return numbers["id"], alarm


def find_events(incidents: Sequence[Incident], events: Iterable[Event], around_us: int) -> dict[int, list[Event]]:
    """The first events of each incident's run, from so long before its evidence to so long after its last alarm."""
    by_run: dict[str, list[Incident]] = {}
    for incident in incidents:
        by_run.setdefault(incident.run, []).append(incident)
    found: dict[int, list[Event]] = {incident.number: [] for incident in incidents}
    for event in events:
        for incident in by_run.get(event.run, ()):
            is_near = incident.started_us - around_us <= event.time_us <= incident.last_us + around_us
            if is_near and len(found[incident.number]) < MOST_AROUND:
                found[incident.number].append(event)
    return found
