"""What the runs on a real control plane need from Python.

python tools/control_plane.py plan CASE [VARIANT]    prints what conformance/controlplane/run does with a case
python tools/control_plane.py page                   writes the tables of docs/reference/control-plane-runs.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.conformance.controlplane.page import page  # noqa: E402  # the path is set up above
from tests.conformance.controlplane.planning import plan_of  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "control-plane-runs.md"
BEGIN = "<!-- begin: written by tools/control_plane.py -->\n"
END = "<!-- end -->\n"


def main(arguments: list[str]) -> int:
    """Does what the arguments ask for; 2 for anything else."""
    match arguments:
        case ["plan", case]:
            print(json.dumps(plan_of(case.lower(), ROOT), indent=1))
        case ["plan", case, variant]:
            print(json.dumps(plan_of(case.lower(), ROOT, variant), indent=1))
        case ["page"]:
            before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
            _, after = rest.split(END)
            PAGE.write_text(f"{before}{BEGIN}{page()}{END}{after}", encoding="utf-8")
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
