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
from tests.conformance.corpus import Corpus, compact, read_header, read_lines  # noqa: E402

SHOWN = 3


def tell(corpus: Corpus, before: str, after: str, shown: int) -> None:
    """Prints how many decisions of a corpus differ, and the first of them."""
    files = [corpus.decisions_file(upstream) for upstream in (before, after)]
    if len({read_header(file)["digest"] for file in files}) > 1:
        raise SystemExit(f"{corpus.name}: the two were recorded on different cases; record it again")
    old, new = (list(read_lines(file)) for file in files)
    changed = [number for number, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    print(f"{corpus.name}: {len(changed)} of {len(new)} differ")
    for number in changed[:shown]:
        print(f"  case {number}\n    {compact(old[number])}\n    {compact(new[number])}")


def main() -> int:
    """Compares the recorded decisions of two versions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("corpora", nargs="*")
    parser.add_argument("--show", type=int, default=SHOWN, help="so many changed decisions of each corpus")
    options = parser.parse_args()
    compared = [corpus for corpus in CORPORA if not options.corpora or corpus.name in options.corpora]
    compared = [corpus for corpus in compared if {options.before, options.after} <= set(corpus.upstreams)]
    if not compared:
        parser.error(f"no corpus was recorded from both {options.before} and {options.after}")
    for corpus in compared:
        tell(corpus, options.before, options.after, options.show)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
