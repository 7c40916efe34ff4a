"""What each rung of the ladder brings: `python benchmarks/rungs.py [--rungs NAME...] [--rows NAME...] [--json FILE]`.

Every row is verified with all rungs, and without each of them: ordinary clusters (`ordinary.py`), shipped cases that
have grown (`growth.py`), teams on nodes of their own (`reductions.py`). A run is a process of its own with a limit on
its processor time. A rung that no row misses, by a verdict or by twice the time or states, may be one to be removed;
`reductions.py` tells what the switches of `--without` bring, each of which has several rungs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubeproof.manifests.loaded import Loaded

LIMIT_S = 15  # processor seconds of a run
MISSED = 2.0  # times the time with all rungs
NOTICED_S = 0.3  # less than that more is noise
FEW_STATES = 20  # likewise
NOTHING: Callable[..., Any] = lambda *_, **__: frozenset()  # noqa: E731
ROWS = (
    "spread-1000", "autoscaled-15", "rollout-6", "services-10", "troubled-2", "uneven-20",
    "pair-rollout-drain", "pair-drain-podCrash", "pair-upgrade-zoneFailure",
)  # fmt: skip
APART = ("teams-empty", "teams-drained")  # of `reductions.py`
GROWN = {f"{case}-{nodes}": (case, nodes) for case in ("c1", "c3", "c6", "c8") for nodes in (6, 30)}
REDUCTIONS, PROOFS = "kubeproof.model.reductions", "kubeproof.verify.proofs"
RUNGS: dict[str, tuple[tuple[str, str, Callable[..., Any]], ...]] = {  # what takes the place of which functions
    "starts in unison": ((f"{REDUCTIONS}.partial_order", "find_unwatched", NOTHING),),
    "ends in unison": ((f"{REDUCTIONS}.partial_order", "ending_unseen", NOTHING),),
    "starts that are due": ((f"{REDUCTIONS}.partial_order", "find_immediate", NOTHING),),
    "young pods": ((f"{REDUCTIONS}.partial_order", "countable", NOTHING),),
    "no clocks": ((f"{REDUCTIONS}.partial_order", "gains_without_clocks", lambda plan: False),),
    "steps taken alone": ((f"{REDUCTIONS}.persistent_steps", "find_taken_alone", lambda *_: ()),),
    "bounds": ((f"{PROOFS}.bounds", "prove_by_bounds", lambda *_: {}),),
    "pod by pod": ((f"{PROOFS}.crowd.pod_by_pod", "follow_one_pod", lambda *_: None),),
    "flattened parts": ((f"{PROOFS}.crowd.proving", "flatten", lambda *_: None),),
    "own scores": ((f"{PROOFS}.crowd.proving", "find_sway", lambda *_: {}),),
    "nodes of nearly the same size": ((f"{PROOFS}.near_nodes", "MOST_ANSWERS", 0),),  # type: ignore[dict-item]
    "slices": ((f"{PROOFS}.slicing", "_find_reason_whole", lambda *_: "switched off"),),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """One run."""

    row: str
    rung: str  # that was left out; "": none
    verdicts: str
    cpu_s: float


def switch_off(rung: str) -> None:
    """Replaces what makes a rung, wherever its module or others hold it."""
    for module, name, replacement in RUNGS.get(rung, ()):
        held = import_module(module)
        real = getattr(held, name)
        for other in [one for one in sys.modules.values() if getattr(one, "__name__", "").startswith("kubeproof")]:
            if getattr(other, name, None) is real:
                setattr(other, name, replacement)


def measure(row: str, rung: str) -> str:
    """The verdicts of a row without a rung, in this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 5))
    import_module("kubeproof.verify.run")
    switch_off(rung)
    if row in GROWN:
        from growth import grown  # beside this file, as the others

        return _verify(grown(*GROWN[row]))
    if row in APART:
        from reductions import TEXTS

        from kubeproof.manifests.load import load_texts

        return _verify(load_texts([(f"{row}.yaml", TEXTS[row]())]))
    from ordinary import measure as measure_ordinary

    found = measure_ordinary(row, 10.0 * LIMIT_S)
    return f"{found.verdicts}, {found.states:,} states"


def _verify(loaded: Loaded) -> str:
    """What a single verification says."""
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.run import verify

    result = verify(loaded, VerifyOptions(timeout_s=10.0 * LIMIT_S))
    return f"{result.verdict}, {result.statistics.states + result.statistics.start_states:,} states"


def _measure_apart(row: str, rung: str) -> Figures:
    """The figures of a process of its own, which the system ends at its limit."""
    before_s = _cpu_s()
    command = [sys.executable, __file__, "--one", row, rung]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    verdicts = (
        run.stdout.strip()
        if run.returncode == 0
        else f"not in {LIMIT_S} s"
        if run.returncode < 0
        else run.stderr.strip().splitlines()[-1]
    )
    return Figures(row, rung, verdicts, round(_cpu_s() - before_s, 2))


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def misses(whole: Figures, without: Figures) -> bool:
    """True if a row needs the rung that was left out: another answer, far more time, or far more states."""
    is_other = _without_states(without) != _without_states(whole)
    is_longer = without.cpu_s > MISSED * whole.cpu_s and without.cpu_s - whole.cpu_s > NOTICED_S
    return is_other or is_longer or _count_states(without) > MISSED * _count_states(whole) + FEW_STATES


def _without_states(one: Figures) -> str:
    return one.verdicts.rpartition(", ")[0]


def _count_states(one: Figures) -> int:
    told = one.verdicts.rpartition(", ")[2].partition(" states")[0].replace(",", "")
    return int(told) if told.isdigit() else 0


def main() -> int:
    """Runs every row with and without each rung, and tells which rows miss which."""
    parser = argparse.ArgumentParser(description="What each rung of the ladder brings.")
    parser.add_argument("--rungs", nargs="*", default=list(RUNGS), choices=list(RUNGS), metavar="NAME")
    parser.add_argument(
        "--rows", nargs="*", default=[*ROWS, *GROWN, *APART], choices=[*ROWS, *GROWN, *APART], metavar="NAME"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--one", nargs=2, metavar=("ROW", "RUNG"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(measure(*chosen.one))
        return 0
    whole = {row: _measure_apart(row, "") for row in chosen.rows}
    found = [*whole.values()]
    print("| without | rows that miss it |\n|---|---|")
    for rung in chosen.rungs:
        without = [_measure_apart(row, rung) for row in chosen.rows]
        found += without
        told = [
            f"{one.row} ({one.verdicts}, {one.cpu_s:.1f} s; {whole[one.row].cpu_s:.1f} s)"
            for one in without
            if misses(whole[one.row], one)
        ]
        print(f"| {rung} | {'; '.join(told) or 'none'} |", flush=True)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
