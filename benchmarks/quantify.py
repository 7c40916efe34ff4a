"""Time and memory of probabilistic checking: `python benchmarks/quantify.py [--quick|--overhead|--small] [--runs N]`.

Full-size Base 1 and Full 4, build and four properties, each variant in a process of its own: Storm called naively on
the same program, Kubeproof, and Kubeproof with bisimulation. Measured is from the program's text to the last value:
wall clock, CPU time and peak memory of the process; the least of the runs. The last lines compare with the bars: at
most 1.15 times plain Storm, and at least 5 and 8 times below the paper's times. Storm computes in one thread, so that
CPU time is the wall clock of a machine that does nothing else.

`--overhead` compares medians of CPU time (of five runs each unless `--runs` says otherwise, alternating): Base 1,
Latency 1 and Full 1 at most 1.10 times plain Storm; `--small` all five models with a clock of 20, at most 1.2 times.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from kubeproof.quantify.published.run import AutoscalingOptions, check_autoscaling, properties_of, source_of

PAPER_S = {"base 1": 145.891, "full 4": 4256.112}
BARS = {"base 1": 5.0, "full 4": 8.0}
NAMES = ("energy_max", "energy_min", "high_scalability", "low_scalability")
VARIANTS = ("plain", "kubeproof", "bisimulation")
MOST = 1.15
LARGE, MOST_LARGE = ("base 1", "latency 1", "full 1"), 1.10
SMALL, MOST_SMALL = ("base 1 20", "latency 1 20", "energy 1 20", "scalability 1 20", "full 1 20"), 1.2  # with a horizon


def options(instance: str, reduce: bool = False) -> AutoscalingOptions:
    model, setting, *horizon = instance.split()
    changes = {"horizon": horizon[0]} if horizon else {}
    return AutoscalingOptions((model,), (int(setting),), names=NAMES, reduce=reduce, changes=changes)


def plain(instance: str) -> tuple[int, list[float]]:
    """States and values as one gets them from Storm by its first tutorial."""
    import stormpy

    wanted_of = options(instance)
    with tempfile.NamedTemporaryFile("w", suffix=".prism") as file:
        file.write(source_of(wanted_of))
        file.flush()
        program = stormpy.parse_prism_program(file.name)
    wanted = [text for text in properties_of(wanted_of).splitlines() if text.split('"')[1] in NAMES]
    properties = stormpy.parse_properties("\n".join(wanted), program)
    built = stormpy.build_model(program, properties)
    values = []
    for one in properties:
        values.append(float(stormpy.model_checking(built, one).get_value(built.initial_states[0])))
    return built.nr_states, values


def ours(instance: str, reduce: bool) -> tuple[int, list[float]]:
    """States and values as `kubeproof quantify autoscaling` finds them."""
    found = check_autoscaling(options(instance, reduce)).models[0]
    return found.states, [float(one.answer.value or 0) for one in found.results]


def measure_here(instance: str, variant: str) -> dict[str, Any]:
    begun = time.perf_counter()
    states, values = plain(instance) if variant == "plain" else ours(instance, variant == "bisimulation")
    wall = time.perf_counter() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    memory = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "instance": instance, "variant": variant, "states": states, "values": values,
        "wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime, "memory_bytes": memory,
    }  # fmt: skip


def measure(instance: str, variant: str, runs: int) -> dict[str, Any]:
    """The best of the runs, each in a process of its own."""
    rows = []
    for _ in range(runs):
        words = [sys.executable, __file__, "--only", instance, variant]
        rows.append(json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout))
    least = {key: min(row[key] for row in rows) for key in ("wall_s", "cpu_s", "memory_bytes")}
    return {**rows[0], **least}


def compare(rows: dict[str, dict[str, Any]], instance: str) -> None:
    storm, found = rows["plain"], rows["kubeproof"]
    differs = max(
        abs(a - b) / abs(b) for row in rows.values() for a, b in zip(row["values"], storm["values"], strict=True)
    )
    figures = (
        ("time of plain Storm (CPU)", found["cpu_s"] / storm["cpu_s"], MOST, False),
        ("memory of plain Storm", found["memory_bytes"] / storm["memory_bytes"], MOST, False),
        ("times below the paper (CPU)", PAPER_S[instance] / found["cpu_s"], BARS[instance], True),
        ("greatest relative difference of a value", differs, 1e-9, False),
    )
    for what, figure, bar, is_least in figures:
        met = "met    " if (figure >= bar if is_least else figure <= bar) else "NOT MET"
        print(f"{met}  {instance}: {what} {figure:.3g} ({'at least' if is_least else 'at most'} {bar:g})")


def compare_medians(instance: str, runs: int, most: float) -> dict[str, Any]:
    """CPU seconds of plain Storm and of Kubeproof, their runs taking turns, each in a process of its own."""
    found: dict[str, list[float]] = {"plain": [], "kubeproof": []}
    for _ in range(runs):
        for variant, spent in found.items():
            spent.append(measure(instance, variant, 1)["cpu_s"])
    storm, ours_s = (median(spent) for spent in found.values())
    met = "met    " if ours_s <= most * storm else "NOT MET"
    print(
        f"{met}  {instance}: {ours_s:.2f} s, plain Storm {storm:.2f} s: {ours_s / storm:.3f} times (at most {most:g})"
    )
    return {"instance": instance, "kubeproof_s": ours_s, "storm_s": storm}


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of probabilistic checking.")
    parser.add_argument("--quick", action="store_true", help="only Base 1")
    parser.add_argument("--overhead", action="store_true", help="medians of CPU time on Base 1, Latency 1 and Full 1")
    parser.add_argument("--small", action="store_true", help="the same on five small instances")
    parser.add_argument("--runs", type=int, help="1, or 5 for medians")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure_here(*arguments.only)))
        return
    if arguments.overhead or arguments.small:
        chosen = [(one, MOST_LARGE) for one in LARGE if arguments.overhead]
        chosen += [(one, MOST_SMALL) for one in SMALL if arguments.small]
        rows = [compare_medians(one, arguments.runs or 5, most) for one, most in chosen]
        if arguments.json:
            Path(arguments.json).write_text(json.dumps(rows, indent=2), encoding="utf-8")
        return
    print("instance  variant           states      wall       CPU   memory  paper/wall")
    everything = []
    for instance in ("base 1",) if arguments.quick else ("base 1", "full 4"):
        rows = {variant: measure(instance, variant, arguments.runs or 1) for variant in VARIANTS}
        for row in rows.values():
            sizes = f"{row['states']:9,} {row['wall_s']:8.1f} s {row['cpu_s']:7.1f} s {row['memory_bytes'] >> 20:5} MiB"
            print(f"{instance:9} {row['variant']:13} {sizes} {PAPER_S[instance] / row['wall_s']:8.1f}x")
        everything += rows.values()
        compare(rows, instance)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(everything, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
