"""CPU time of starting up: `python benchmarks/startup.py [--runs N] [--against SRC]`.

Each row is a whole process, interpreter included: the median of several runs, and how many modules it imports.
Modules are compiled to bytecode first, as an installed package is, and read from there also where
PYTHONDONTWRITEBYTECODE is set. `--against` names the `src` folder of another version, which is measured in turn with
this one, so that a busy machine slows both alike; the ratio is then of medians of the same minutes.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

HERE = str(Path(__file__).parents[1] / "src")
COMMANDS = {
    "the interpreter alone": None,
    "kubeproof --help": ["--help"],
    **{
        f"{case} violating to the ESC": ["cases", "run", case, "--scale", "esc", "--workers", "1", "-o", "json"]
        for case in ("c1", "c2", "c5", "c6", "c7")
    },
}
COUNT = "import sys; from kubeproof.cli.main import main; main(sys.argv[1:]); print(len(sys.modules), file=sys.stderr)"


def main() -> None:
    """Measures every command and prints a row for each."""
    parser = argparse.ArgumentParser(description="CPU time of starting up.")
    parser.add_argument("--runs", type=int, default=9, metavar="N", help="runs of each command; the median counts")
    parser.add_argument("--against", metavar="SRC", help="also measure the version in this src folder, in turn")
    arguments = parser.parse_args()
    sources = [HERE, *([str(Path(arguments.against).resolve())] if arguments.against else [])]
    for source in sources:
        compileall.compile_dir(source, quiet=1)
    for name, words in COMMANDS.items():
        print(_row(name, words, sources, arguments.runs), flush=True)


def _row(name: str, words: list[str] | None, sources: list[str], runs: int) -> str:
    program = ["-c", "pass"] if words is None else ["-m", "kubeproof.cli.main", *words]
    taken = [[_cpu_s(source, program) for source in sources] for _ in range(runs)]
    here, *other = (statistics.median(times) for times in zip(*taken, strict=True))
    modules = "" if words is None else f", {_modules(words)} modules"
    against = "".join(f", there {cpu_s:.3f} s: {cpu_s / here:.2f} times" for cpu_s in other)
    return f"{name:28} {here:.3f} s CPU{modules}{against}"


def _cpu_s(source: str, program: list[str]) -> float:
    """User and system time of one run; a violation, exit code 1, is what some are meant to find."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *program], capture_output=True, env=_environment(source), check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{program} ended with {done.returncode}: {done.stderr.decode()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _modules(words: list[str]) -> int:
    done = subprocess.run(
        [sys.executable, "-c", COUNT, *words], capture_output=True, text=True, env=_environment(HERE), check=True
    )
    return int(done.stderr)


def _environment(source: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": source, "PYTHONHASHSEED": "0"}


if __name__ == "__main__":
    main()
