"""The traces of an OpenStack fault-injection data set, read in place: its licence keeps it out of this repository.

Looked for in the folder that KUBEPROOF_DATA names, otherwise beside the checkout.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubeproof.monitor.event import Event

_PLACES = [Path(os.environ["KUBEPROOF_DATA"])] if "KUBEPROOF_DATA" in os.environ else []
_PLACES += [above / "shared" / "data" for above in Path(__file__).resolve().parents]
HOUR_US = 3_600_000_000


def folder() -> Path:
    """Where the traces are; a test that asks is skipped if they are not there."""
    for place in _PLACES:
        if (place / "openstack" / "runs.csv").is_file():
            return place / "openstack"
    pytest.skip("the OpenStack traces are not here")


def one_after_the_other(events: list[Event], pause_us: int = HOUR_US) -> list[Event]:
    """All runs as one stream without labels, with a pause between them."""
    found: list[Event] = []
    newest, offset, run = 0, 0, None
    for event in events:
        if event.run != run:
            run, offset = event.run, newest + pause_us - event.time_us
        newest = event.time_us + offset
        found.append(event._replace(time_us=newest, run=""))
    return found
