"""Replays one corpus: `python -m tests.conformance.replay CORPUS UPSTREAM [--first N] [--stop]`.

Prints the tally and the first differences; exits with 1 if one is not explained.
The mutants run this on changed sources.
"""

from __future__ import annotations

import argparse
import sys

from tests.conformance.corpora import CORPORA, by_name
from tests.conformance.corpus import compact, compare

SHOWN = 3


def main() -> int:
    """Replays what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("upstream")
    parser.add_argument("--first", type=int, default=None, help="only the first N cases")
    parser.add_argument("--stop", action="store_true", help="stop at the first unexplained difference")
    arguments = parser.parse_args()
    if arguments.corpus not in {corpus.name for corpus in CORPORA}:
        parser.error(f"unknown corpus {arguments.corpus}; known: {', '.join(corpus.name for corpus in CORPORA)}")
    if arguments.upstream not in by_name(arguments.corpus).upstreams:
        parser.error(f"{arguments.corpus} is recorded from {', '.join(by_name(arguments.corpus).upstreams)}")
    tally = compare(
        by_name(arguments.corpus), arguments.upstream, first=arguments.first, stop_at_difference=arguments.stop
    )
    print(f"{arguments.corpus} {arguments.upstream}: {tally.agreed} of {tally.compared} agree", file=sys.stdout)
    for name, count in tally.explained:
        print(f"  explained: {count} {name}")
    for difference in tally.unexplained[:SHOWN]:
        print(f"  case {difference.number}: {compact(difference.case)}")
        print(f"    recorded {compact(difference.recorded)}")
        print(f"    ours     {compact(difference.ours)}")
    print(f"  unexplained: {len(tally.unexplained)}")
    return 1 if tally.unexplained else 0


if __name__ == "__main__":
    raise SystemExit(main())
