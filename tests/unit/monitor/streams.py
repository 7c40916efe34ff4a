"""Short ways to write streams and to watch them."""

from __future__ import annotations

from kubeproof.monitor.engine import Partition
from kubeproof.monitor.event import Event
from kubeproof.monitor.rules.rules import Rule

SECOND = 1_000_000


def stream(text):
    """Events written as `name@second`, with `/key` where they have one."""
    found = []
    for word in text.split():
        name, _, rest = word.partition("@")
        second, _, key = rest.partition("/")
        found.append(Event(int(float(second) * SECOND), name, key=key))
    return found


def watched(body, text, *, complete=True, **options):
    """The alarms of one rule on a stream, as (kind, about, start, detected) in seconds."""
    partition = Partition([Rule("r", body)], **options)
    partition.feed(stream(text))
    partition.finish(complete=complete)
    return [short(alarm) for alarm in partition.fetch()]


def short(alarm):
    return (alarm.kind.value, alarm.about, alarm.start_us / SECOND, alarm.detected_us / SECOND)
