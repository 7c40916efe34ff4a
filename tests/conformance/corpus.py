"""Recorded decisions of the real components: what a corpus is, and how its files are read and written.

A corpus is two kinds of files under `data/`: `<name>.inputs.jsonl.xz`, one generated case a line, and for each
upstream module `<name>.<upstream>.jsonl.xz`, one decision a line in the same order. The first line of
each file is a header: what was recorded, from which seed, with which version.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

DATA = Path(__file__).parent / "data"

Case = Mapping[str, Any]  # one input, as JSON
Decision = Any  # what a component decides about it, as JSON


def _one(_: Decision) -> int:
    return 1


def _nothing(_case: Case, _upstream: str, _recorded: Decision, _ours: Decision) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Cases of one kind, what upstream decided about them, and how our model decides."""

    name: str  # of the files
    controller: str  # as the fidelity report calls it
    upstreams: tuple[str, ...]  # module folders under conformance/, such as "kubernetes-1.37"
    program: str  # command of those modules: cmd/<program>
    generate: Callable[[Random], Case]  # one case; deterministic for a given Random
    count: int
    seed: int = 1
    decide: Callable[[Case, str], Decision] | None = None  # (case, upstream); None: recorded, not modelled yet
    explain: Callable[[Case, str, Decision, Decision], str | None] = _nothing  # name of a known difference
    decisions: Callable[[Decision], int] = _one  # how many decisions one line holds
    differences: tuple[tuple[str, str], ...] = ()  # known differences: the name that `explain` gives, and why
    unit: str = "decisions"

    def cases(self) -> Iterator[Case]:
        """The cases that the seed stands for."""
        return (self.generate(Random(f"{self.name}/{self.seed}/{number}")) for number in range(self.count))

    @property
    def inputs_file(self) -> Path:
        return DATA / f"{self.name}.inputs.jsonl.xz"

    def decisions_file(self, upstream: str) -> Path:
        return DATA / f"{self.name}.{upstream}.jsonl.xz"


@dataclass(frozen=True, slots=True)
class Difference:
    """A case that our model decides differently."""

    number: int  # of the case, from 0
    case: Case
    recorded: Decision
    ours: Decision
    explanation: str | None  # name of a known difference, or None


@dataclass(frozen=True, slots=True)
class Tally:
    """The outcome of a comparison."""

    compared: int  # decisions
    agreed: int
    explained: tuple[tuple[str, int], ...]  # name of the difference, decisions
    unexplained: tuple[Difference, ...]


def read_header(path: Path) -> dict[str, Any]:
    """The first line of a corpus file."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        header: dict[str, Any] = json.loads(next(lines))
    return header


def read_lines(path: Path) -> Iterator[Any]:
    """The lines after the header."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            yield json.loads(line)


def write_lines(path: Path, header: Mapping[str, Any], lines: Iterable[Any]) -> None:
    """Writes a corpus file; equal content gives equal bytes."""
    text = "".join(compact(line) + "\n" for line in (header, *lines))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def compact(value: Any) -> str:
    """JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def digest(cases: Iterable[Case]) -> str:
    """Binds decisions to the cases that they are about."""
    total = hashlib.sha256()
    for case in cases:
        total.update(compact(case).encode())
    return total.hexdigest()[:16]


def compare(corpus: Corpus, upstream: str, *, first: int | None = None, stop_at_difference: bool = False) -> Tally:
    """Replays the recorded cases (or the `first` ones) against our model."""
    if corpus.decide is None:
        raise ValueError(f"{corpus.name} is recorded for later; nothing decides it yet")
    compared = agreed = 0
    explained: dict[str, int] = {}
    unexplained: list[Difference] = []
    pairs = zip(read_lines(corpus.inputs_file), read_lines(corpus.decisions_file(upstream)), strict=True)
    for number, (case, recorded) in enumerate(islice(pairs, first)):
        weight = corpus.decisions(recorded)
        compared += weight
        ours = corpus.decide(case, upstream)
        if ours == recorded:
            agreed += weight
            continue
        name = corpus.explain(case, upstream, recorded, ours)
        if name is not None:
            explained[name] = explained.get(name, 0) + weight
            continue
        unexplained.append(Difference(number, case, recorded, ours, None))
        if stop_at_difference:
            break
    return Tally(compared, agreed, tuple(sorted(explained.items())), tuple(unexplained))
