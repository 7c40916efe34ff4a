"""Records what the real components decide: `python conformance/record.py [CORPUS ...] [--upstream MODULE]`.

Generates the cases from their seed, builds the Go program of each upstream module, runs it on the cases
and writes the corpora that the tests replay. Needs Go; nothing else in Kubeproof does. Run it from anywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.conformance.corpora import CORPORA  # noqa: E402  # the path is set up above
from tests.conformance.corpus import Case, Corpus, compact, digest, read_header, read_lines, write_lines  # noqa: E402

CONFORMANCE = ROOT / "conformance"
# Programs may reach unexported functions of upstream by go:linkname, so that decisions are taken by the real
# code and not by a copy of it; the linker must be told.
BUILD = ("go", "build", "-ldflags=-checklinkname=0")


def main(arguments: Sequence[str] | None = None) -> int:
    """Records the corpora that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help="names; all if none is given")
    parser.add_argument("--upstream", action="append", help="only these module folders; also new ones")
    parser.add_argument("--count", type=int, help="only so many cases, printed instead of written")
    options = parser.parse_args(arguments)
    known = {corpus.name for corpus in CORPORA}
    unknown = sorted(set(options.corpora) - known)
    if unknown:
        parser.error(f"unknown corpus {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    for upstream in options.upstream or ():
        if not (CONFORMANCE / upstream / "go.mod").exists():
            parser.error(f"there is no module folder conformance/{upstream}")
    for corpus in CORPORA:
        if not options.corpora or corpus.name in options.corpora:
            record(corpus, upstreams_for(corpus, options.upstream), options.count)
    return 0


def upstreams_for(corpus: Corpus, wanted: Sequence[str] | None) -> list[str]:
    """The module folders to record a corpus from: of the wanted ones those of its own project, also new ones."""
    projects = {upstream.rpartition("-")[0] for upstream in corpus.upstreams}
    return [one for one in wanted or corpus.upstreams if one.rpartition("-")[0] in projects]


def record(corpus: Corpus, upstreams: Sequence[str], count: int | None) -> None:
    """Writes the inputs and the decisions of each upstream, and says what changed."""
    if not upstreams:
        return
    cases = list(corpus.cases())[:count]
    header = {"corpus": corpus.name, "seed": corpus.seed, "count": len(cases), "digest": digest(cases)}
    if count is None:
        write_lines(corpus.inputs_file, header, cases)
    for upstream in upstreams:
        begun = time.monotonic()
        decisions = decide(corpus, upstream, cases)
        said = f"{corpus.name} {upstream} {version(upstream)}: {len(decisions)} lines"
        print(f"{said} in {time.monotonic() - begun:.0f} s", file=sys.stderr)
        if count is not None:
            print("\n".join(compact(decision) for decision in decisions))
            continue
        path = corpus.decisions_file(upstream)
        if path.exists() and read_header(path)["digest"] == header["digest"]:
            tell_changes(list(read_lines(path)), decisions, f"{corpus.name} {upstream}, before and now")
        write_lines(path, {**header, "upstream": version(upstream), "module": upstream}, decisions)


def decide(corpus: Corpus, upstream: str, cases: Sequence[Case]) -> list[object]:
    """What the upstream module's program says about the cases, in their order."""
    module = CONFORMANCE / upstream
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / corpus.program
        subprocess.run([*BUILD, "-o", str(program), f"./cmd/{corpus.program}"], cwd=module, check=True)
        lines = "".join(compact(case) + "\n" for case in cases)
        environment = {**os.environ, "CORPUS": corpus.name}
        done = subprocess.run(
            [str(program)], input=lines, stdout=subprocess.PIPE, text=True, check=True, env=environment
        )
    decisions = [json.loads(line) for line in done.stdout.splitlines()]
    if len(decisions) != len(cases):
        raise SystemExit(f"{corpus.name}: {upstream} answered {len(decisions)} of {len(cases)} cases")
    return decisions


def version(upstream: str) -> str:
    """The upstream module and version that a folder's go.mod requires, such as `k8s.io/kubernetes v1.37.1`."""
    for line in (CONFORMANCE / upstream / "go.mod").read_text().splitlines():
        words = line.replace("require", "").split()
        if len(words) >= 2 and words[0] in ("k8s.io/kubernetes", "sigs.k8s.io/descheduler"):
            return f"{words[0]} {words[1]}"
    raise SystemExit(f"{upstream}/go.mod requires neither k8s.io/kubernetes nor sigs.k8s.io/descheduler")


def tell_changes(before: Sequence[object], after: Sequence[object], what: str) -> None:
    """Prints how many decisions differ, and the first of them."""
    changed = [number for number, (old, new) in enumerate(zip(before, after, strict=False)) if old != new]
    print(f"{what}: {len(changed)} of {len(after)} lines differ", file=sys.stderr)
    for number in changed[:3]:
        print(f"  case {number}\n    {compact(before[number])}\n    {compact(after[number])}", file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
