"""Prints what changed between two upstream versions: `python conformance/changes.py FROM TO [CORPUS ...]`.

FROM and TO are module folders, such as kubernetes-1.26 and kubernetes-1.37. Reads the recorded corpora; needs no Go.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.conformance.corpora import CORPORA  # noqa: E402  # the path is set up above
from tests.conformance.corpus import compact, read_lines  # noqa: E402

SHOWN = 3


def main() -> int:
    """Compares the recorded decisions of two versions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("corpora", nargs="*")
    parser.add_argument("--show", type=int, default=SHOWN, help="so many changed decisions of each corpus")
    options = parser.parse_args()
    for corpus in CORPORA:
        files = [corpus.decisions_file(upstream) for upstream in (options.before, options.after)]
        if (not options.corpora or corpus.name in options.corpora) and all(file.exists() for file in files):
            old, new = (list(read_lines(file)) for file in files)
            changed = [number for number, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
            print(f"{corpus.name}: {len(changed)} of {len(new)} differ")
            for number in changed[: options.show]:
                print(f"  case {number}\n    {compact(old[number])}\n    {compact(new[number])}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
