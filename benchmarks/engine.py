"""Speed and size of the engines: `python benchmarks/engine.py [--quick] [--json FILE]`.

Prints, for every workload, states/s and transitions/s of the compiled engine with plain Python controllers (cold), of
the same engine with every answer memorised (warm: no Python runs, the C-speed upper bound), of the Python kernel and
of the reference engine (on a bounded part), bytes per state and the share of controller calls answered from memory.
Then the growth with the number of nodes, and the start-up time of the command line. The last lines compare with the
bars.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from workloads import Benchmark, engine_workloads, growing

from kubeproof.engine.limits import Limits
from kubeproof.engine.reference import reach
from kubeproof.engine.search import explore, find_compiled_kernel, make_kernel
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import make_plan

GROWTH = (3, 10, 30, 100, 300, 1000)
REFERENCE_STATES = 2_000
PYTHON_STATES = 20_000


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of an action, and its result."""
    begun = time.process_time()
    result = action()
    return time.process_time() - begun, result


def measure(benchmark: Benchmark, *, max_states: int | None = None) -> dict[str, Any]:
    """All engines on one workload."""
    plan = make_plan(benchmark.setup, benchmark.events, benchmark.intents)
    system = GroupedSystem(plan)
    kernel = make_kernel(system)
    limits = Limits(max_states=max_states)
    cold_s, search = timed(lambda: explore(system, system.checks, kernel=kernel, limits=limits))
    states, transitions = len(kernel), kernel.transitions
    size = kernel.bytes_used()
    hit_rate = 1 - kernel.misses / kernel.calls
    kernel.clear_states()
    warm_s, _ = timed(lambda: explore(system, (), kernel=kernel, limits=limits))
    return {
        "workload": benchmark.name,
        "engine": kernel.name,
        "states": states,
        "transitions": transitions,
        "complete": not search.stopped_by,
        "verdicts": [finding.verdict for finding in search.findings],
        "cold_s": cold_s,
        "cold_states_per_s": states / cold_s,
        "cold_transitions_per_s": transitions / cold_s,
        "warm_transitions_per_s": transitions / warm_s,
        "bytes_per_state": size / states,
        "memo_hit_rate": hit_rate,
        **python_kernel(system),
        **reference(plan),
    }


def python_kernel(system: GroupedSystem) -> dict[str, float]:
    """The same search without the extension, on a bounded part."""
    kernel = make_kernel(system, engine="python")
    seconds, _ = timed(lambda: explore(system, (), kernel=kernel, limits=Limits(max_states=PYTHON_STATES)))
    return {"python_transitions_per_s": kernel.transitions / seconds}


def reference(plan: Any) -> dict[str, float]:
    """The reference engine on a bounded part."""
    model = IndividualModel(plan)
    seconds, graph = timed(lambda: reach(model, max_states=REFERENCE_STATES))
    return {"reference_transitions_per_s": graph.transitions / seconds}


def growth(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """One Deployment over N equal nodes with one failure, exhaustively."""
    rows = []
    for size in sizes:
        benchmark = growing(size)
        plan = make_plan(benchmark.setup, benchmark.events, benchmark.intents)
        system = GroupedSystem(plan)
        kernel = make_kernel(system)
        seconds, search = timed(lambda s=system, k=kernel: explore(s, s.checks, kernel=k))
        rows.append(
            {
                "nodes": size,
                "pods": 5 * size,
                "verdicts": [finding.verdict for finding in search.findings],
                "states": len(kernel),
                "seconds": seconds,
                "states_per_node": len(kernel) / size,
                "ms_per_node": 1000 * seconds / size,
            }
        )
    return rows


def start_up(runs: int = 15) -> dict[str, float]:
    """Median wall-clock of `kubeproof --help` and of a bare interpreter with argparse."""
    help_command = [sys.executable, "-c", "import sys; from kubeproof.cli.main import main; sys.exit(main(['--help']))"]
    argparse_command = [sys.executable, "-c", "import argparse"]
    return {
        "help_s": statistics.median(wall(help_command) for _ in range(runs)),
        "argparse_s": statistics.median(wall(argparse_command) for _ in range(runs)),
    }


def wall(command: list[str]) -> float:
    """Seconds a command takes."""
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def bars(result: dict[str, Any]) -> list[tuple[str, bool, str]]:
    """The bars of the project: name, whether met, the figure."""
    rows = result["workloads"]
    ratio = min(row["cold_transitions_per_s"] / row["reference_transitions_per_s"] for row in rows)
    largest = max(rows, key=lambda row: row["states"])
    start = result["start_up"]
    allowed = 2 * start["argparse_s"] + 0.060
    found = [
        ("compiled engine at least 20 times the reference's transitions/s", ratio >= 20, f"{ratio:.0f} times"),
        (
            "at most 120 bytes per stored state (largest workload)",
            largest["bytes_per_state"] <= 120,
            f"{largest['bytes_per_state']:.0f} bytes",
        ),
        (
            "--help within 2 times argparse plus 60 ms",
            start["help_s"] <= allowed,
            f"{1000 * start['help_s']:.0f} ms of {1000 * allowed:.0f} ms",
        ),
    ]
    per_node = [row["states_per_node"] for row in result["growth"]]
    found.append(("states grow at most linearly with nodes", per_node[-1] <= per_node[0], f"{per_node[-1]:.1f} a node"))
    return found


def show(result: dict[str, Any]) -> None:
    """The result as a table."""
    print(f"{'workload':10} {'states':>10} {'transitions':>12} {'cold tr/s':>11} {'warm tr/s':>11}", end="")
    print(f" {'python tr/s':>12} {'reference tr/s':>15} {'B/state':>8} {'memo hits':>10}")
    for row in result["workloads"]:
        print(f"{row['workload']:10} {row['states']:10,} {row['transitions']:12,}", end="")
        print(f" {row['cold_transitions_per_s']:11,.0f} {row['warm_transitions_per_s']:11,.0f}", end="")
        print(f" {row['python_transitions_per_s']:12,.0f} {row['reference_transitions_per_s']:15,.0f}", end="")
        print(f" {row['bytes_per_state']:8.0f} {100 * row['memo_hit_rate']:9.2f}%")
    print(f"\n{'nodes':>6} {'pods':>6} {'states':>9} {'states/node':>12} {'seconds':>8} {'ms/node':>8}  verdicts")
    for row in result["growth"]:
        print(f"{row['nodes']:6} {row['pods']:6} {row['states']:9,} {row['states_per_node']:12.1f}", end="")
        print(f" {row['seconds']:8.2f} {row['ms_per_node']:8.2f}  {', '.join(row['verdicts'])}")
    print()
    for name, met, figure in bars(result):
        print(f"{'met    ' if met else 'NOT MET'}  {name}: {figure}")


def main() -> None:
    """Runs everything and prints it."""
    parser = argparse.ArgumentParser(description="Speed and size of the engines.")
    parser.add_argument("--quick", action="store_true", help="at most 50,000 states and 100 nodes")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    arguments = parser.parse_args()
    if find_compiled_kernel() is None:
        print("the compiled engine is not built; figures are those of the Python kernel", file=sys.stderr)
    sizes = GROWTH[:4] if arguments.quick else GROWTH
    limit = 50_000 if arguments.quick else None
    result = {
        "workloads": [measure(benchmark, max_states=limit) for benchmark in engine_workloads()],
        "growth": growth(sizes),
        "start_up": start_up(),
    }
    show(result)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(result, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
