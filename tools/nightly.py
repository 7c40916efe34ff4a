"""What is too slow for every change, in shards, with a new seed for random inputs:

    python -m tools.nightly                       all shards, one after the other
    python -m tools.nightly --shard 2/6           one of six, for six machines
    python -m tools.nightly --seed 12345          the same random inputs again
    python -m tools.nightly --record --coverage   writes what was measured to docs/reference/nights.jsonl

A shard has 60 minutes (`--minutes`) and is ended then, which counts as a failure. Files are dealt by how long they took
last time (`.nightly-times.json`), before that by how many tests they have. The seed is told first and last.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import kubeproof
from tools.site.quality import NIGHTS

ROOT = Path(__file__).resolve().parents[1]
TIMES = ROOT / ".nightly-times.json"
PER_TEST_S = 60.0  # of a slow test that nobody has timed
SHARDS, MINUTES = 6, 60.0
NOTHING_COLLECTED = 5  # pytest's exit code


class Result(NamedTuple):
    """What came of a shard."""

    code: int
    tests: int
    failed: int
    seconds: float
    times: dict[str, float]  # by file


def slow_files() -> list[str]:
    """The files with slow tests."""
    found = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.slow" in path.read_text("utf-8")]
    return [str(path.relative_to(ROOT)) for path in found]


def expected_s(file: str, times: Mapping[str, float]) -> float:
    """How long a file may take."""
    return times.get(file) or PER_TEST_S * (ROOT / file).read_text("utf-8").count("mark.slow")


def deal(files: Sequence[str], shards: int, times: Mapping[str, float]) -> list[list[str]]:
    """Shards of about the same length: the longest file goes where least is, and so on."""
    dealt: list[list[str]] = [[] for _ in range(shards)]
    lengths = [0.0] * shards
    for file in sorted(files, key=lambda name: (-expected_s(name, times), name)):
        at = lengths.index(min(lengths))
        dealt[at].append(file)
        lengths[at] += expected_s(file, times)
    return dealt


def run_shard(files: Sequence[str], seed: int, *, minutes: float, coverage: bool, workers: str) -> Result:
    """Runs the slow tests of the files; all that it started is ended when its time is over."""
    if not files:
        return Result(NOTHING_COLLECTED, 0, 0, 0.0, {})
    report = ROOT / f".nightly-{os.getpid()}.xml"
    command = [sys.executable, "-m", "pytest", "-m", "slow", "-n", workers, f"--hypothesis-seed={seed}", "-q"]
    command += [
        "-o",
        "junit_family=xunit1",
        f"--junitxml={report}",
        *(["--cov", "--cov-append"] if coverage else []),
        *files,
    ]
    begun_s = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        code = process.wait(timeout=minutes * 60)
    except subprocess.TimeoutExpired:
        code = -1
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    seconds = time.monotonic() - begun_s
    tests, failed, times = read_report(report)
    report.unlink(missing_ok=True)
    return Result(code, tests, failed + (code == -1), seconds, times)


def read_report(path: Path) -> tuple[int, int, dict[str, float]]:
    """Tests, failures, and seconds by file, of a report in the format of JUnit; nothing if there is none."""
    if not path.exists():
        return 0, 0, {}
    times: dict[str, float] = {}
    failed = 0
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    for case in cases:
        file = case.get("file", "")
        times[file] = times.get(file, 0.0) + float(case.get("time", 0))
        failed += case.find("failure") is not None or case.find("error") is not None
    return len(cases), failed, times


def read_coverage() -> float | None:
    """The share of lines and branches that ran, in per cent."""
    done = subprocess.run(
        [sys.executable, "-m", "coverage", "report", "--format=total", "--precision=1"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return float(done.stdout) if done.returncode == 0 else None


def record(results: Sequence[Result], seed: int, share: float | None) -> None:
    """Adds a line to the nights that the site shows."""
    night = {
        "day": date.today().isoformat(), "version": kubeproof.__version__, "seed": seed,
        "tests": sum(one.tests for one in results), "failed": sum(one.failed for one in results),
        "seconds": round(sum(one.seconds for one in results), 1), "coverage": share,
    }  # fmt: skip
    with NIGHTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(night) + "\n")


def main(words: Sequence[str] | None = None) -> int:
    """Runs shards; 1 if a test failed or time was over."""
    chosen = _parse(words)
    times = json.loads(TIMES.read_text("utf-8")) if TIMES.exists() else {}
    number, total = chosen.shard
    shards = deal(slow_files(), total, times)
    wanted = shards if number == 0 else [shards[number - 1]]
    print(f"seed {chosen.seed}; {sum(map(len, wanted))} files in {len(wanted)} shard(s)", flush=True)
    if chosen.list:
        for at, files in enumerate(wanted, start=number or 1):
            print(f"{at}/{total}", *files)
        return 0
    options = {"minutes": chosen.minutes, "coverage": chosen.coverage, "workers": chosen.workers}
    results = [run_shard(files, chosen.seed, **options) for files in wanted]
    for result in results:
        times |= result.times
    TIMES.write_text(json.dumps(times, indent=1, sort_keys=True), encoding="utf-8")
    if chosen.record:
        record(results, chosen.seed, read_coverage() if chosen.coverage else None)
    failed = [one for one in results if one.code not in (0, NOTHING_COLLECTED)]
    print(f"seed {chosen.seed}: {sum(one.tests for one in results)} tests, {sum(one.failed for one in results)} failed")
    return 1 if failed else 0


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the slow tests in shards.")
    parser.add_argument("--shard", type=_shard, default=(0, SHARDS), metavar="N/M", help="only this one of M")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32), help="of random inputs")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="that a shard may take")
    parser.add_argument("--workers", default="2", help="processes of pytest")
    parser.add_argument("--coverage", action="store_true", help="measure what ran")
    parser.add_argument("--record", action="store_true", help="write what was measured for the site")
    parser.add_argument("--list", action="store_true", help="only tell which files each shard has")
    return parser.parse_args(words)


def _shard(text: str) -> tuple[int, int]:
    number, _, total = text.partition("/")
    found = int(number), int(total or 0)
    if not 1 <= found[0] <= found[1]:
        raise argparse.ArgumentTypeError(f"{text} is no shard: write 2/6")
    return found


if __name__ == "__main__":
    sys.exit(main())
