"""CPU time of the ESC sweeps of the shipped cases against Kivi's: `python benchmarks/sweeps.py [CASE...]`.

Each sweep runs in a fresh interpreter with one worker, so that start-up counts and nothing is shared; modules are
compiled to bytecode first, as an installed package is. Kivi's figures
are CPU seconds of its public version (81e6c25, SPIN 6.5.2, gcc 12) on the same kind of machine; C3 and C8 safe are
extrapolated from every 49th size. The bars: safe sweeps 100 times below, violating variants 8 times, geometric mean of
all sixteen 60 times.

To be fair to Kivi: 86 to 91 % of its time is gcc, which compiles a verifier for each size. So a second ratio is told,
to what is left of its time without that. Safe sweeps are also said to search next to nothing where an argument for
every size, or bounds, prove them; and where the intent or the repair is another one than Kivi's, the row says so.
"""

from __future__ import annotations

import argparse
import compileall
import json
import math
import resource
import subprocess
import sys
from pathlib import Path

import kubeproof

KIVI_S = {
    ("c1", "violating"): 5.7, ("c2", "violating"): 4.2, ("c3", "violating"): 122, ("c4", "violating"): 9.4,
    ("c5", "violating"): 4.5, ("c6", "violating"): 4.3, ("c7", "violating"): 4.0, ("c8", "violating"): 146,
    ("c1", "safe"): 293, ("c2", "safe"): 298, ("c3", "safe"): 5500, ("c4", "safe"): 167,
    ("c5", "safe"): 273, ("c6", "safe"): 165, ("c7", "safe"): 271, ("c8", "safe"): 4600,
}  # fmt: skip
COMPILING = 0.885  # of Kivi's time: the middle of 86 to 91 %
OTHERWISE = {  # what is compared, where it is not the same: decision 0013
    ("c1", "violating"): "maxReplicas in place of an oscillation",
    ("c1", "safe"): "Kivi: no intent; here the same intent, scaling up waits for longer than the start",
    ("c2", "safe"): "Kivi: no intent; here the same intent, the manifest says replicas",
    ("c6", "violating"): "Kivi with a one-line repair, it crashes otherwise",
    ("c6", "safe"): "Kivi: at least 0 replicas; here the same intent, with a budget",
    ("c7", "violating"): "requests of 4 of 64, not 8",
    ("c7", "safe"): "requests of 4 of 64, not 8",
    ("c8", "violating"): "1 and 2 nodes as in Kivi's files",
}
BARS = {"violating": 8, "safe": 100}
MEAN_BAR = 60


def main() -> None:
    """Runs the sweeps and prints a row for each."""
    parser = argparse.ArgumentParser(description="CPU time of ESC sweeps against Kivi's.")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--timeout", type=float, default=3600, metavar="S", help="give a sweep up after so long")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    arguments = parser.parse_args()
    compileall.compile_dir(Path(kubeproof.__file__).parent, quiet=1)
    chosen = [key for key in KIVI_S if not arguments.cases or key[0] in arguments.cases]
    rows = [_measured(*key, arguments.timeout) for key in chosen]
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if len(ratios) == len(rows) else 0.0
    print(f"{_met(mean >= MEAN_BAR)}  geometric mean at least {MEAN_BAR} times: {mean:,.0f} (of {len(rows)})")
    print(f"without compiling, {COMPILING:.1%} of Kivi's time: {mean * (1 - COMPILING):,.0f}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"mean": mean, "sweeps": rows}, indent=2), encoding="utf-8")


def _measured(case: str, variant: str, timeout_s: float) -> dict[str, object]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = ["cases", "run", case, "--variant", variant, "--scale", "esc", "--workers", "1", "-o", "json"]
    row: dict[str, object] = {"case": case, "variant": variant, "kivi_s": KIVI_S[case, variant], "ratio": 0.0}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "kubeproof.cli.main", *arguments],
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"{_met(False)}  {case} {variant:10} not done in {timeout_s:g} s", flush=True)
        return row
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (run,) = json.loads(done.stdout)["runs"]
    ratio = KIVI_S[case, variant] / cpu_s if run["as_expected"] else 0.0
    row |= {name: run[name] for name in ("verdict", "sizes", "verified", "states")} | {"cpu_s": cpu_s, "ratio": ratio}
    print(
        f"{_met(ratio >= BARS[variant])}  {case} {variant:10} {run['verdict']:14} {run['verified']:5,} of "
        f"{run['sizes']:5,} sizes {run['states']:10,} states {cpu_s:8.2f} s CPU, Kivi {KIVI_S[case, variant]:g} s: "
        f"{ratio:,.0f} times (bar {BARS[variant]}), {ratio * (1 - COMPILING):,.0f} without compiling; {_how(run)}"
        + (f"; {OTHERWISE[case, variant]}" if (case, variant) in OTHERWISE else ""),
        flush=True,
    )
    return row


def _how(run: dict[str, object]) -> str:
    """How the sweep was decided: Kivi searches every size."""
    if run["verdict"] == "HOLDS":
        return "proved for any size" + ("" if run["states"] else ", no state searched")
    return "sizes searched one by one"


def _met(is_met: bool) -> str:
    return "met    " if is_met else "NOT MET"


if __name__ == "__main__":
    main()
