"""Recorded decisions of the real components: what a corpus is, and how its files are read and written.

A corpus is two kinds of files under `data/`: `<name>.inputs.jsonl.xz`, one generated case a line, and for each
upstream module `<name>.<upstream>.jsonl.xz`, one decision a line in the same order. The first line of
each file is a header: what was recorded, from which seed, with which version.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    """A case that our model decides differently, without a known reason."""

    number: int  # of the case, from 0
    case: Case
    recorded: Decision
    ours: Decision


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


def version_of(upstream: str) -> tuple[int, int]:
    """The version in a module folder's name: kubernetes-1.37 is (1, 37)."""
    major, minor = upstream.rpartition("-")[2].split(".")
    return int(major), int(minor)


def compare(corpus: Corpus, upstream: str, *, first: int | None = None, stop_at_difference: bool = False) -> Tally:
    """Replays the recorded cases (or the `first` ones) of one upstream against our model."""
    return compare_all(corpus, (upstream,), first=first, stop_at_difference=stop_at_difference)[upstream]


def compare_all(
    corpus: Corpus, upstreams: Sequence[str], *, first: int | None = None, stop_at_difference: bool = False
) -> dict[str, Tally]:
    """Replays the recorded cases for several upstreams in one pass, so that each case is read once."""
    if corpus.decide is None:
        raise ValueError(f"{corpus.name} is recorded for later; nothing decides it yet")
    counts = {upstream: _Count() for upstream in upstreams}
    recorded = [read_lines(corpus.decisions_file(upstream)) for upstream in upstreams]
    lines = zip(read_lines(corpus.inputs_file), *recorded, strict=True)
    for number, (case, *decisions) in enumerate(islice(lines, first)):
        for upstream, decision in zip(upstreams, decisions, strict=True):
            counts[upstream].add(corpus, upstream, number, case, decision)
        if stop_at_difference and any(count.unexplained for count in counts.values()):
            break
    return {upstream: count.tally() for upstream, count in counts.items()}


@dataclass(slots=True)
class _Count:
    """A tally in the making."""

    compared: int = 0
    agreed: int = 0
    explained: dict[str, int] = field(default_factory=dict)
    unexplained: list[Difference] = field(default_factory=list)

    def add(self, corpus: Corpus, upstream: str, number: int, case: Case, recorded: Decision) -> None:
        """Compares one case."""
        assert corpus.decide is not None
        weight = corpus.decisions(recorded)
        self.compared += weight
        ours = corpus.decide(case, upstream)
        if ours == recorded:
            self.agreed += weight
            return
        name = corpus.explain(case, upstream, recorded, ours)
        if name is None:
            self.unexplained.append(Difference(number, case, recorded, ours))
        else:
            self.explained[name] = self.explained.get(name, 0) + weight

    def tally(self) -> Tally:
        return Tally(self.compared, self.agreed, tuple(sorted(self.explained.items())), tuple(self.unexplained))
