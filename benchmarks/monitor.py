"""Speed of the monitor: `python benchmarks/monitor.py [--data DIR] [--json FILE]`.

On the fault-free traces of an OpenStack data set (not in this repository; see docs/how-to/mine-rules.md), all runs one
after the other with an hour between them. Events per second are CPU time of one core for events that are in memory,
median of the runs; latency is the time that one event takes, measured one by one; memory is what the state of all
rules takes at the end, and its peak. Rules are `every a -> (timer:interval(w) and not b)`, the 19 shortest, and 326.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import tracemalloc
from pathlib import Path
from typing import Any

from kubeproof.monitor.engine import Partition
from kubeproof.monitor.event import Event
from kubeproof.monitor.mining.mine import mine
from kubeproof.monitor.mining.observations import observe_answers, observe_pairs
from kubeproof.monitor.mining.runs import label_events, read_index
from kubeproof.monitor.mining.traces import Trace, traces_of
from kubeproof.monitor.rules.rules import FollowedBy, Matching, Pattern, Rule

BARS = {19: 600_000, 326: 170_000}
ESPER_WARM = {19: 120_000, 326: 34_000}
MINING_BAR_S = 20.0
HOUR_US = 3_600_000_000
RUNS = 5


def one_after_the_other(events: list[Event]) -> list[Event]:
    """All runs as one stream without labels."""
    found: list[Event] = []
    newest, offset, run = 0, 0, None
    for event in events:
        if event.run != run:
            run, offset = event.run, newest + HOUR_US - event.time_us
        newest = event.time_us + offset
        found.append(event._replace(time_us=newest, run=""))
    return found


def rules_of(traces: list[Trace], count: int, matching: Matching) -> list[Rule]:
    """The pairs with the shortest delays, answers after counted pairs; window: longest delay times 1.1 plus 1 s."""
    names = {name for trace in traces for name in trace.times}
    # Only pairs that occur equally often can be counted.
    pairs = {pair: one for pair, one in observe_pairs(traces, len(traces)).items() if one.holds and one.longest}
    answers = observe_answers(traces, len(traces), dict.fromkeys(names, HOUR_US // 30))
    others = {pair: one for pair, one in answers.items() if one.holds and one.longest and pair not in pairs}
    ordered = [
        (max(one.longest.values()), pair)
        for found in ((pairs, others) if matching is Matching.ANY else (pairs,))
        for pair, one in sorted(found.items(), key=lambda entry: (max(entry[1].longest.values()), entry[0]))
    ]
    return [
        Rule(f"{first} {then}", FollowedBy(Pattern(first), Pattern(then), longest * 11 // 10 + 1_000_000, matching))
        for longest, (first, then) in ordered[:count]
    ]


def speed(rules: list[Rule], events: list[Event]) -> tuple[float, int]:
    """Events per second of CPU time, and alarms."""
    times, alarms = [], 0
    for _ in range(RUNS):
        partition = Partition(rules)
        begun = time.process_time()
        partition.feed(events)
        times.append(time.process_time() - begun)
        alarms = len(partition.fetch())
    return len(events) / statistics.median(times), alarms


def latencies(rules: list[Rule], events: list[Event]) -> list[float]:
    """Microseconds per event at the 50th, 99th and 99.9th percentile, and the longest."""
    partition, taken = Partition(rules), []
    for event in events:
        begun = time.perf_counter_ns()
        partition.feed((event,))
        taken.append(time.perf_counter_ns() - begun)
    taken.sort()
    return [taken[int((len(taken) - 1) * share)] / 1000 for share in (0.5, 0.99, 0.999, 1)]


def memory(rules: list[Rule], events: list[Event]) -> tuple[int, int]:
    """Bytes of all rules and their state at the end, and at the peak."""
    tracemalloc.start()
    partition = Partition(rules)
    partition.feed(events)
    partition.fetch()
    found = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return found


def measure(traces: list[Trace], events: list[Event], count: int, matching: Matching) -> dict[str, Any]:
    rules = rules_of(traces, count, matching)
    rate, alarms = speed(rules, events)
    end, peak = memory(rules, events)
    return {
        "rules": len(rules), "matching": matching.value, "events": len(events), "alarms": alarms,
        "events_per_s": rate, "memory_end_bytes": end, "memory_peak_bytes": peak,
        "latency_us": latencies(rules, events),
    }  # fmt: skip


def mine_copies(traces: list[Trace], copies: int) -> None:
    """Mining of millions of events: time must grow as the events do."""
    many = [
        Trace(f"{copy} {one.name}", one.times, one.start_us, one.end_us) for copy in range(copies) for one in traces
    ]
    begun = time.process_time()
    mined = mine(many)
    taken = time.process_time() - begun
    print(f"mining {mined.runs:,} runs, {mined.events:,} events {taken:.1f} s, {len(mined.rules.rules)} rules")


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the monitor.")
    parser.add_argument("--data", default="../shared/data/openstack", help="the traces")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--copies", type=int, default=0, help="also mine the runs so many times over, as one set")
    arguments = parser.parse_args()
    index = read_index(arguments.data)
    if not index:
        raise SystemExit(f"no runs.csv in {arguments.data}")
    begun = time.process_time()
    labelled = list(label_events([str(Path(arguments.data) / "events_faultfree.csv.gz")]))
    reading_s = time.process_time() - begun
    traces = traces_of(event for event in labelled if index[event.run].is_clean)
    begun = time.process_time()
    mined = mine(traces)
    mining_s = time.process_time() - begun
    if arguments.copies:
        mine_copies(traces, arguments.copies)
    events = one_after_the_other(labelled)
    rows = [measure(traces, events, count, matching) for matching in (Matching.ANY, Matching.COUNT) for count in BARS]
    print(f"reading {len(labelled):,} events {reading_s:.1f} s, {len(labelled) / reading_s:,.0f} events/s")
    print(f"mining {mined.runs} runs {mining_s:.1f} s, {len(mined.rules.rules)} rules")
    print("rules  match      events/s  alarms     memory       peak      p50 us    p99 us  p99.9 us    max us")
    for row in rows:
        latency = " ".join(f"{value:9.1f}" for value in row["latency_us"])
        sizes = f"{row['memory_end_bytes'] / 1024:8,.0f} K {row['memory_peak_bytes'] / 1024:8,.0f} K"
        print(
            f"{row['rules']:5}  {row['matching']:5} {row['events_per_s']:13,.0f} {row['alarms']:7} {sizes}  {latency}"
        )
    for row in rows:
        bar, esper = BARS.get(row["rules"], BARS[326]), ESPER_WARM.get(row["rules"], ESPER_WARM[326])
        met = "met    " if row["events_per_s"] >= bar else "NOT MET"
        print(f"{met}  {row['rules']} rules, {row['matching']}: at least {bar:,} events/s (Esper, warm: {esper:,})")
    met = "met    " if reading_s + mining_s <= MINING_BAR_S else "NOT MET"
    print(f"{met}  reading and mining within {MINING_BAR_S:g} s")
    if arguments.json:
        Path(arguments.json).write_text(
            json.dumps({"reading_s": reading_s, "mining_s": mining_s, "rows": rows}, indent=2)
        )


if __name__ == "__main__":
    main()
