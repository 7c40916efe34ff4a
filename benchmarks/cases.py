"""Time of all shipped cases at the scale of their reports: `python benchmarks/cases.py [--workers N] [--json FILE]`.

The bar: all sixteen main variants within 20 s in one process pool of two.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

from kubeproof.cases.library import list_cases
from kubeproof.cases.run import run_cases

BAR_S = 20.0


def main() -> None:
    """Runs the variants and prints a row for each."""
    parser = argparse.ArgumentParser(description="Time of the shipped cases.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    arguments = parser.parse_args()
    chosen = [(case, variant) for case in list_cases() for variant in case.variants if not variant.is_extra]
    begun = time.perf_counter()
    runs = run_cases(chosen, workers=arguments.workers)
    total_s = time.perf_counter() - begun
    for run in runs:
        speed = run.states / run.elapsed_s if run.elapsed_s else 0.0
        print(f"{run.case} {run.variant:10} {run.verdict:9} {run.states:8,} states {run.elapsed_s:7.2f} s", end="")
        print(f" {speed:10,.0f} states/s{'' if run.as_expected else '   NOT AS EXPECTED'}")
    print(f"{'met    ' if total_s <= BAR_S else 'NOT MET'}  all within {BAR_S:g} s: {total_s:.2f} s")
    if arguments.json:
        rows = [{key: value for key, value in asdict(run).items() if key != "result"} for run in runs]
        Path(arguments.json).write_text(json.dumps({"total_s": total_s, "runs": rows}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
