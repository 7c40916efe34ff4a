"""Time to check networks: `python benchmarks/network.py [--quick] [--json FILE]`.

Then updates of single rules, answered one by one: on fat trees, and on the tables of 20 routers with 100,000 rules in
all, which look like routing tables on the internet. An update sends what one rule is about elsewhere, or back again.

The home network with four snapshots, and fat trees with six different ones, waypoint through the dedicated cores for
all pairs across the halves. Measured is CPU time of checking in this process, from the network as a value to the
verdict: rules are compiled anew in every run, reading files and preparing the property are not counted. Median of the
runs. The last lines compare with the bars; the published tool's times are given for orientation.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from kubeproof.network.check import check
from kubeproof.network.files.generate import DEDICATED, fat_tree, fib, home, with_fault
from kubeproof.network.model import Network
from kubeproof.network.properties.library import reach, waypoint
from kubeproof.network.properties.machine import Prepared, prepare
from kubeproof.network.updates.incremental import Update, Watch
from kubeproof.report.networks.updates import percentiles

BARS_S = {"home": 0.0005, "k=4": 0.005, "k=8": 0.06, "k=16": 1.0, "k=32": 20.0}
PUBLISHED_S = {"home": 0.0035, "k=4": 0.036, "k=8": 3.3}
RUNS = {"home": 200, "k=4": 50, "k=8": 20, "k=16": 5, "k=32": 3}


def instances(quick: bool) -> list[tuple[str, Network, Prepared]]:
    through_ap, through_cores = prepare(waypoint(["ap"], "gateway")), prepare(waypoint([DEDICATED]))
    # Four snapshots of which no two neighbours are alike, so that each is checked.
    varied = with_fault(with_fault(home(), "blackhole", "ap", first=0, last=0), "blackhole", "ap", first=2, last=2)
    found = [("home", varied, through_ap)]
    return found + [(f"k={k}", fat_tree(k), through_cores) for k in ((4, 8) if quick else (4, 8, 16, 32))]


def measure(name: str, network: Network, prepared: Prepared) -> dict[str, Any]:
    times = []
    for _ in range(RUNS[name]):
        begun = time.process_time()
        result = check(network, prepared)
        times.append(time.process_time() - begun)
    rules = sum(len(table) for table in network.snapshots[0].tables.values())
    return {
        "instance": name,
        "nodes": len(network.nodes),
        "rules": rules,
        "pairs": result.pairs,
        "walks": result.pairs * len(network.snapshots),
        "states": result.states,
        "verdict": result.verdict,
        "median_s": statistics.median(times),
        "bar_s": BARS_S[name],
        "published_s": PUBLISHED_S.get(name),
    }


UPDATES = 2_000
BAR_UPDATE_S = 0.001  # half of the updates, on 100,000 rules


def update_instances(quick: bool) -> list[tuple[str, Network, Prepared]]:
    trees = [(f"k={k}", fat_tree(k, 1), prepare(waypoint([DEDICATED]))) for k in (4, 8)]
    return [*trees, ("fib", fib(20, 10_000 if quick else 100_000), prepare(reach()))]


def measure_updates(name: str, network: Network, prepared: Prepared) -> dict[str, Any]:
    random = Random(1)
    snapshot = network.snapshots[0]
    begun = time.process_time()
    watch = Watch(network, snapshot, [prepared], final=True)
    first_s = time.process_time() - begun
    switches = [node for node in sorted(snapshot.tables) if len(snapshot.tables[node]) > 1]
    times = []
    for _ in range(UPDATES // (4 if name == "fib" else 20)):
        node = random.choice(switches)
        old = random.choice(snapshot.tables[node])
        new = replace(old, to=(random.choice(network.neighbours[node]),))
        steps = (("remove", old), ("add", new), ("remove", new), ("add", old))
        for verb, rule in steps:
            begun = time.process_time()
            watch.apply(Update(verb, node, rule))
            times.append(time.process_time() - begun)
    rules = sum(len(table) for table in snapshot.tables.values())
    return {
        "instance": name,
        "rules": rules,
        "first_s": first_s,
        "updates_s": len(times) / sum(times),
        **percentiles(times),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Time to check networks.")
    parser.add_argument("--quick", action="store_true", help="only up to k=8")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    arguments = parser.parse_args()
    rows = [measure(*instance) for instance in instances(arguments.quick)]
    print("instance    nodes    rules       pairs  path walks   states         time   us/state  published")
    for row in rows:
        published = f"{row['published_s']:g} s" if row["published_s"] else "-"
        sizes = f"{row['nodes']:8,} {row['rules']:8,} {row['pairs']:11,} {row['walks']:11,} {row['states']:8,}"
        times = f"{row['median_s'] * 1000:9.3f} ms {row['median_s'] / row['states'] * 1e6:8.1f}"
        print(f"{row['instance']:8} {sizes} {times}  {published:>9}")
    for row in rows:
        met = "met    " if row["median_s"] <= row["bar_s"] and row["verdict"] == "HOLDS-BOUNDED" else "NOT MET"
        time_ms, bar_ms = row["median_s"] * 1000, row["bar_s"] * 1000
        print(f"{met}  {row['instance']} within {bar_ms:g} ms: {time_ms:.3f} ms, {row['verdict']}")
    updates = [measure_updates(*instance) for instance in update_instances(arguments.quick)]
    print("updates        rules   first answer   updates/s        p50        p90        p99        max")
    for row in updates:
        shares = " ".join(f"{row[name]:7.3f} ms" for name in ("p50", "p90", "p99", "max"))
        print(f"{row['instance']:8} {row['rules']:11,} {row['first_s']:12.2f} s {row['updates_s']:11,.0f} {shares}")
    met = "met    " if updates[-1]["p50"] <= BAR_UPDATE_S * 1000 else "NOT MET"
    print(f"{met}  half of the updates of {updates[-1]['rules']:,} rules within {BAR_UPDATE_S * 1000:g} ms")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows + updates, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
