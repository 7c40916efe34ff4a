"""Writes docs/reference/fidelity.md from the recorded corpora: `python tools/generate_fidelity.py`."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.conformance.fidelity import page  # noqa: E402  # the path is set up above

PAGE = ROOT / "docs" / "reference" / "fidelity.md"
BEGIN = "<!-- begin: written by tools/generate_fidelity.py -->\n"
END = "<!-- end -->\n"


def main() -> int:
    """Replaces the generated part of the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}{page()}{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
