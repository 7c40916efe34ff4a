"""Where the pairs from failure reports lie: beside the folder that KUBEPROOF_DATA names, or beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

_NAMED = os.environ.get("KUBEPROOF_DATA")
_BESIDE = Path(_NAMED).parent if _NAMED else Path(__file__).resolve().parents[3] / "shared"
PAIRS = _BESIDE / "example-cases"
