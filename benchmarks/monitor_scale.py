"""What sharing the work costs and gains: `python benchmarks/monitor_scale.py [--events N] [--json FILE]`.

Starts a Redis of its own on loopback (program `redis-server`, extra `redis`). Synthetic events of 64 runs, judged by
the same rules in one process and by workers through Redis; CPU time of every process, so that other work on the
machine does not count. `light` has 8 pair rules, `heavy` 40 formulas more, which look at every event.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from kubeproof.monitor.brokers.address import parse_address
from kubeproof.monitor.event import Event
from kubeproof.monitor.intake.stream import StreamMonitor
from kubeproof.monitor.rules.rules import FollowedBy, Ltl, Pattern, Rule, RuleSet
from kubeproof.monitor.run import Watch
from kubeproof.monitor.scale.board import Board
from kubeproof.monitor.scale.run import ScaleOut, watch_scaled
from kubeproof.monitor.scale.worker import WorkOptions, work

NAMES = [f"n{number}" for number in range(16)]
WORKERS = (1, 2, 4)
HOST = "127.0.0.1"


def stream(count: int) -> list[Event]:
    chance = random.Random(1)
    now, found = 0, []
    for _ in range(count // 2):
        now += chance.randrange(20_000)
        pair, run = 2 * chance.randrange(8), f"r{chance.randrange(64)}"
        found.append(Event(now, NAMES[pair], key=f"k{chance.randrange(20)}", run=run))
        if chance.random() > 0.001:
            found.append(Event(now + 1, NAMES[pair + 1], key=found[-1].key, run=run))
        now += 1
    return found


def rule_sets() -> dict[str, RuleSet]:
    pairs = [
        Rule(f"p{place}", FollowedBy(Pattern(NAMES[place]), Pattern(NAMES[place + 1]), 1_000_000))
        for place in range(0, 16, 2)
    ]
    where = (("a", f"name == {NAMES[0]}"), ("b", f"name == {NAMES[1]} or name == {NAMES[2]}"))
    formulas = [Rule(f"f{number}", Ltl("G (a -> X (b | !a))", where, by_key=True)) for number in range(40)]
    return {"light": RuleSet(tuple(pairs)), "heavy": RuleSet((*pairs, *formulas))}


def embedded(rules: RuleSet, events: list[Event]) -> tuple[float, int]:
    monitor = StreamMonitor(rules)
    begun = time.process_time()
    found = monitor.feed(events) + monitor.finish(complete=True)
    return time.process_time() - begun, len(found)


def _worker(port: int, name: str, results: Any) -> None:
    begun = time.process_time()
    judged = work(Board(parse_address(f"redis://{HOST}:{port}/bench")), WorkOptions(name))
    results.put((time.process_time() - begun, judged))


def shared(rules: RuleSet, events: list[Event], port: int, workers: int) -> dict[str, Any]:
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    processes = [context.Process(target=_worker, args=(port, f"w{number}", results)) for number in range(workers)]
    for process in processes:
        process.start()
    board = Board(parse_address(f"redis://{HOST}:{port}/bench"))
    cpu, wall = time.process_time(), time.perf_counter()
    summary = watch_scaled(Watch(rules, ("events",)), lambda idle: events, board, ScaleOut())
    feeder, wall = time.process_time() - cpu, time.perf_counter() - wall
    each = [results.get() for _ in processes]
    for process in processes:
        process.join()
    board.close()
    busiest = max(taken for taken, _ in each)
    return {
        "workers": workers, "alarms": summary.violated, "feeder_s": feeder, "busiest_worker_s": busiest,
        "workers_s": sum(taken for taken, _ in each), "wall_s": wall, "entries": [judged for _, judged in each],
    }  # fmt: skip


def started(folder: str) -> tuple[subprocess.Popen[bytes], int]:
    program = shutil.which("redis-server")
    if program is None:
        raise SystemExit("redis-server is not installed")
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    server = subprocess.Popen(
        [program, "--bind", HOST, "--port", str(port), "--dir", folder, "--appendonly", "yes", "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    while True:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
            return server, port
        except OSError:
            time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description="What sharing the work costs and gains.")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    arguments = parser.parse_args()
    events, rows = stream(arguments.events), []
    with tempfile.TemporaryDirectory() as folder:
        server, port = started(folder)
        try:
            for name, rules in rule_sets().items():
                alone, alarms = embedded(rules, events)
                print(f"{name}: one process {alone:.2f} s CPU, {len(events) / alone:,.0f} events/s, {alarms} alarms")
                for workers in WORKERS:
                    row = {"rules": name, "alone_s": alone, **shared(rules, events, port, workers)}
                    rows.append(row)
                    same = "same alarms" if row["alarms"] == alarms else "OTHER ALARMS"
                    taken = f"feeder {row['feeder_s']:.2f} s, busiest worker {row['busiest_worker_s']:.2f} s"
                    print(f"  {workers} workers: {taken}, all workers {row['workers_s']:.2f} s CPU; {same}")
        finally:
            server.terminate()
            server.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"Redis and workers together {usage.ru_utime + usage.ru_stime:.1f} s CPU")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
