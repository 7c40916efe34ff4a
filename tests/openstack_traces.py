"""The traces of an OpenStack fault-injection data set, read in place: its licence keeps it out of this repository.

Looked for in the folder that KUBEPROOF_DATA names, otherwise beside the checkout.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_NAMED = os.environ.get("KUBEPROOF_DATA")
_PLACES = [Path(_NAMED)] if _NAMED else [above / "shared" / "data" for above in Path(__file__).resolve().parents]


def folder() -> str:
    """Where the traces are; a test that asks is skipped if they are not there."""
    for place in _PLACES:
        if (place / "openstack" / "runs.csv").is_file():
            return str(place / "openstack")
    pytest.skip("the OpenStack traces are not here")
