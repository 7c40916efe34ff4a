"""One search in several processes, or in little memory: `python benchmarks/parallel.py [--rows NAME...] [--json FILE]`.

Every row has more than a million states and is searched in each of the ways asked for, in a process of its own. All
must find the same: a digest of states, parents and edges is compared. `speed-up` is the processor time of one process
divided by the longest of several; on idle processors it is what a user sees, and the column of seconds on the wall
tells how idle they were. Reading the input and the search for a deployed start are left out.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from kubeproof.engine.limits import Limits
    from kubeproof.engine.search import Store
    from kubeproof.model.grouped import GroupedSystem

BLOCK = 65536  # states of which the digest is made at once
MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class Figures:
    """One search."""

    row: str
    processes: int
    memory_mib: int  # that it may take; 0: all
    states: int
    transitions: int
    digest: str
    verdicts: tuple[str, ...]
    stopped_by: str
    own_s: float  # processor time of the process that stores
    helper_s: float  # of the busiest of the others, as if all were equally busy
    wall_s: float
    peak_mib: int
    disk_mib: int


def rollout(nodes: int) -> GroupedSystem:
    """A rollout and the failure of a node at any moment, with a budget."""
    from ordinary import rollout as text

    return _system(text(nodes))


def autoscaled(nodes: int) -> GroupedSystem:
    """An autoscaler under load that changes as often as it likes: controllers have most of the time."""
    from ordinary import autoscaled as text

    return _system(text(nodes))


def services() -> GroupedSystem:
    """Two services on equal nodes: storing states has most of the time."""
    from workloads import engine_workloads

    from kubeproof.model.grouped import GroupedSystem
    from kubeproof.model.plan import make_plan

    chosen = engine_workloads()[2]
    return GroupedSystem(make_plan(chosen.setup, chosen.events, chosen.intents))


ROWS: dict[str, tuple[Callable[[], GroupedSystem], int | None]] = {
    "services": (services, None),
    "rollout-5": (lambda: rollout(5), None),
    "autoscaled-8": (lambda: autoscaled(8), 2_000_000),
}


def _system(text: str) -> GroupedSystem:
    """The full model of an input, in its deployed states."""
    from kubeproof.manifests.load import load_texts
    from kubeproof.model.grouped import GroupedSystem
    from kubeproof.model.plan import make_plan
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.searching import Watch, begin

    loaded = load_texts([("input.yaml", text)])
    plan = make_plan(loaded.setup, loaded.scenario.events, loaded.scenario.intents)
    system, beginning = GroupedSystem(plan), begin(loaded, plan, VerifyOptions(), Watch())
    system.initial = tuple(system.with_nurseries(cells) for cells in beginning.cells)
    return system


def digest(store: Store) -> str:
    """A number for all that was stored."""
    found = 0
    for first in range(0, len(store), BLOCK):
        last = min(first + BLOCK, len(store))
        for part in (store.rows(first, last)[1], store.parents(first, last)):
            found = zlib.crc32(part, found)
    for first in range(0, store.expanded, BLOCK):
        for part in store.edges(first, min(first + BLOCK, store.expanded)):
            found = zlib.crc32(part, found)
    return f"{found:08x}"


def measure(row: str, processes: int, memory_mib: int) -> Figures:
    """One row, in this process."""
    from kubeproof.engine.limits import Limits
    from kubeproof.engine.search import explore, make_kernel
    from kubeproof.engine.sharing import Sharing
    from kubeproof.engine.spill import find_disk

    make, states = ROWS[row]
    system = make()
    kernel, disk = make_kernel(system, engine="compiled"), find_disk()
    limits: Limits = Limits(
        states, memory_bytes=memory_mib * MEBIBYTE or None, sharing=Sharing(processes), find_disk=lambda: disk
    )
    wall, cpu = time.perf_counter(), time.process_time()
    search = explore(system, system.checks, kernel=kernel, limits=limits, stop_early=False)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    of_helpers = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Figures(
        row,
        processes,
        memory_mib,
        len(kernel),
        kernel.transitions,
        digest(kernel),
        tuple(finding.verdict for finding in search.findings),
        str(search.stopped_by or ""),
        round(cpu, 2),
        round((of_helpers.ru_utime + of_helpers.ru_stime) / max(1, processes - 1), 2),
        round(wall, 2),
        peak,
        disk.bytes // MEBIBYTE if disk is not None else 0,
    )


def run(row: str, processes: int, memory_mib: int) -> Figures:
    """One row, in a process of its own."""
    command = [sys.executable, __file__, "--one", row, str(processes), str(memory_mib)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return Figures(**json.loads(found.stdout))


def show(figures: Figures, alone: Figures) -> str:
    """A row of the table."""
    speed_up = alone.own_s / max(figures.own_s, figures.helper_s)
    is_same = (figures.digest, figures.verdicts) == (alone.digest, alone.verdicts)
    cells = [
        figures.row,
        str(figures.processes),
        str(figures.memory_mib or "-"),
        f"{figures.states:,}",
        f"{figures.own_s:.1f}",
        f"{figures.helper_s:.1f}",
        f"{figures.wall_s:.1f}",
        f"{speed_up:.2f}",
        f"{figures.peak_mib:,}",
        f"{figures.disk_mib:,}",
        "yes" if is_same else "NO",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Searches every row in every way and prints a table; 1 if two ways differ in what they find."""
    parser = argparse.ArgumentParser(description="One search in several processes, or in little memory.")
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--processes", nargs="*", type=int, default=[2])
    parser.add_argument("--memory", nargs="*", type=int, default=[], metavar="MIB", help="also with so much memory")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--one", nargs=3, metavar=("ROW", "PROCESSES", "MIB"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        row, processes, memory_mib = arguments.one
        print(json.dumps(asdict(measure(row, int(processes), int(memory_mib)))))
        return 0
    found = []
    print(
        "| row | processes | MiB | states | own CPU s | helper CPU s | wall s | speed-up | peak MiB | disk MiB | same |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for row in arguments.rows:
        alone = run(row, 1, 0)
        ways = [(processes, 0) for processes in arguments.processes] + [(1, mib) for mib in arguments.memory]
        found += [alone, *(run(row, *way) for way in ways)]
        for figures in found[-1 - len(ways) :]:
            print(show(figures, alone), flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([asdict(one) for one in found], indent=2), encoding="utf-8")
    return int(len({(one.row, one.digest, tuple(one.verdicts)) for one in found}) > len(arguments.rows))


if __name__ == "__main__":
    sys.exit(main())
