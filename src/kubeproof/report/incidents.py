"""Incidents as text, JSON and as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kubeproof import __version__
from kubeproof.monitor.alarms import to_value as alarm_value
from kubeproof.monitor.event import SECOND_US
from kubeproof.monitor.incidents.policy import Level
from kubeproof.monitor.times import show_duration, show_time
from kubeproof.report.escape import escape
from kubeproof.report.html.offline import offline_page

if TYPE_CHECKING:
    from kubeproof.monitor.event import Event
    from kubeproof.monitor.incidents.incident import Evidence, Incident

SCRIPTS = ("dom.js", "theme.js", "frame.js", "incidents.js")
STYLES = ("base.css",)
MOST_SHOWN = 500  # alarms or events of one incident on the page
_KINDS = {Level.FAILURE: "bad", Level.WARNING: "fair", Level.INFORMATION: "plain"}
Around = dict[int, list["Event"]]
Plain = dict[str, object]


def count_levels(levels: Counter[Level]) -> str:
    """So many failures, warnings and so on, the gravest first."""
    words = {Level.FAILURE: "failure", Level.WARNING: "warning", Level.INFORMATION: "information"}
    found = [(levels[level], word) for level, word in words.items() if levels[level]]
    return ", ".join(f"{n:,} {word}{'s' * (n > 1 and word != 'information')}" for n, word in found) or "none"


def incidents_text(incidents: Sequence[Incident], around: Around | None = None) -> str:
    """One block per incident, the gravest first."""

    def lines() -> Iterator[str]:
        for incident in by_gravity(incidents):
            yield from _block(incident, (around or {}).get(incident.number, []))
        yield f"incidents: {count_levels(Counter(one.level for one in incidents))}"

    return "".join(f"{escape(line)}\n" for line in lines())


def by_gravity(incidents: Sequence[Incident]) -> list[Incident]:
    """The gravest first, then the earliest."""
    order = list(Level)
    return sorted(incidents, key=lambda one: (-order.index(one.level), one.first_us, one.number))


def _block(incident: Incident, events: Sequence[Event]) -> Iterator[str]:
    yield f"{incident.level.value.upper()} incident {incident.number}{_whose(incident)}: {_tell_cause(incident)}"
    alarms = _plural(len(incident.alarms), "alarm")
    yield f"  noticed {_span(incident)}, {alarms}; begins {show_time(incident.started_us)}"
    for evidence in incident.evidence:
        yield f"  {_tell(evidence)}"
    number, first = incident.alarms[0]
    yield f"  first alarm {number}: {first.text} [{first.rule}]"
    for event in events[:MOST_SHOWN]:
        yield f"    {show_time(event.time_us)} {event.name}"


def _whose(incident: Incident) -> str:
    return f" of run {incident.run}" * bool(incident.run) + f" of {incident.key}" * bool(incident.key)


def _tell_cause(incident: Incident) -> str:
    evidence = incident.evidence
    if not evidence:
        return f"nothing is missing; {incident.first.kind.value} {incident.culprit}"
    rest = f", then {_plural(len(evidence) - 1, 'more event')}" if len(evidence) > 1 else ""
    return f"begins with {evidence[0].kind.value} {incident.culprit}{rest}"


def _span(incident: Incident) -> str:
    lasted = incident.last_us - incident.first_us
    return f"{show_time(incident.first_us)}{f', for {show_duration(lasted)}' if lasted > 0 else ''}"


def _tell(evidence: Evidence) -> str:
    times = f", {evidence.alarms} times" if evidence.alarms > 1 else ""
    return f"{evidence.kind.value} {evidence.event}{times}"


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def incidents_json(incidents: Sequence[Incident], around: Around | None = None) -> str:
    """All of them with their alarms."""
    rows = [_value(one) | _event_values((around or {}).get(one.number, [])) for one in by_gravity(incidents)]
    return json.dumps({"version": 1, "incidents": rows}, indent=2) + "\n"


def _value(incident: Incident) -> Plain:
    return {
        "number": incident.number,
        "level": incident.level.value,
        "run": incident.run,
        "key": incident.key,
        "culprit": incident.culprit,
        "started_us": incident.started_us,
        "first_us": incident.first_us,
        "last_us": incident.last_us,
        "evidence": [{"event": e.event, "kind": e.kind.value, "alarms": e.alarms} for e in incident.evidence],
        "alarms": [alarm_value(alarm, number) for number, alarm in incident.alarms],
    }


def _event_values(events: Sequence[Event]) -> Plain:
    rows = [{"time_us": one.time_us, "name": one.name, "source": one.source, "target": one.target} for one in events]
    return {"events": rows} if rows else {}


def incidents_html(incidents: Sequence[Incident], around: Around | None = None) -> str:
    """A page that needs nothing else."""
    counts = Counter(one.level for one in incidents)
    title = f"Incidents: {count_levels(counts)}"
    data = {
        "program": __version__,
        "kind": next((kind for level, kind in _KINDS.items() if counts[level]), "good"),
        "headline": title,
        "facts": [(f"{counts[level]:,}", level.value) for level in _KINDS],
        "incidents": [_drawn(one, (around or {}).get(one.number, [])) for one in by_gravity(incidents)],
    }
    text = incidents_text(incidents, around)
    return offline_page(title, data, scripts=SCRIPTS, styles=STYLES, text=text)


def _drawn(incident: Incident, events: Sequence[Event]) -> Plain:
    base_us = incident.started_us
    return {
        "number": incident.number,
        "kind": _KINDS[incident.level],
        "level": incident.level.value,
        "whose": _whose(incident).strip(),
        "cause": _tell_cause(incident),
        "when": f"noticed {_span(incident)}; begins {show_time(base_us)}",
        "evidence": [_tell(one) for one in incident.evidence],
        "rows": sorted(_rows(incident, events)),
        "left": max(0, len(incident.alarms) - MOST_SHOWN) + max(0, len(events) - MOST_SHOWN),
    }


def _rows(incident: Incident, events: Sequence[Event]) -> Iterator[tuple[float, str, str, str]]:
    """What happened when, in seconds from its beginning: events as they came, alarms when they were raised."""
    for event in events[:MOST_SHOWN]:
        yield _seconds(event.time_us, incident), show_time(event.time_us), "event", event.name
    for number, alarm in incident.alarms[:MOST_SHOWN]:
        words = f"{number}: {alarm.kind.value} {alarm.about}; {alarm.text}"
        yield _seconds(alarm.detected_us, incident), show_time(alarm.detected_us), "alarm", words


def _seconds(moment_us: int, incident: Incident) -> float:
    return (moment_us - incident.started_us) / SECOND_US
