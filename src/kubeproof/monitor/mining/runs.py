"""A directory of recorded runs: files of events, and `runs.csv`, which tells how each run ended.

Columns of `runs.csv` that are read, all but the first optional: `run`; `label` (FAILURE or NO_FAILURE); `injected` or
`fault_type` (not empty: a fault was injected); `api_error` (not empty: the failure showed itself); `first_symptom_s`,
`first_activation_s` and `workload_end_s` (seconds on the clock of the events); `group`, or `subsystem` and `test`
(runs of one experiment, which are never separated).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubeproof.errors import EventError, UsageError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.formats import AUTO, read_events
from kubeproof.monitor.readers.lines import lines_of
from kubeproof.monitor.times import parse_time
from kubeproof.values import dataclass

INDEX = "runs.csv"
FAILURE, NO_FAILURE = "FAILURE", "NO_FAILURE"
_ENDINGS = (".csv", ".jsonl", ".ndjson", ".json", ".log")


@dataclass(frozen=True, slots=True)
class RunInfo:
    """How one run went."""

    name: str
    group: str
    is_failure: bool
    is_injected: bool
    is_silent: bool  # it failed, and nobody was told
    symptom_us: int | None
    activation_us: int | None
    end_us: int | None

    @property
    def is_clean(self) -> bool:
        return not self.is_failure and not self.is_injected


def read_index(directory: str) -> dict[str, RunInfo]:
    """The runs that `runs.csv` of the directory lists; empty if there is no such file."""
    path = os.path.join(directory, INDEX)
    if not os.path.isfile(path):
        return {}
    rows = csv.DictReader(lines_of(path), strict=True)
    try:
        return {info.name: info for info in (_info(row, path, rows.line_num) for row in rows)}
    except csv.Error:
        remedy = "Separate by commas, quote with double quotes"
        raise EventError("not valid CSV", file=printable(path), line=rows.reader.line_num, remedy=remedy) from None


def _info(row: dict[str, str | None], path: str, line: int) -> RunInfo:
    name, label = row.get("run") or "", row.get("label") or NO_FAILURE
    if not name or label not in (FAILURE, NO_FAILURE):
        remedy = f"Each row has run, and a label {FAILURE} or {NO_FAILURE}"
        raise EventError("not a run", file=printable(path), line=line, remedy=remedy)
    group = row.get("group") or "/".join(filter(None, (row.get("subsystem"), row.get("test")))) or name
    moments = [
        _moment(row.get(column), path, line) for column in ("first_symptom_s", "first_activation_s", "workload_end_s")
    ]
    is_failure = label == FAILURE
    is_injected = bool(row.get("injected") or row.get("fault_type"))
    return RunInfo(name, group, is_failure, is_injected, is_failure and not row.get("api_error"), *moments)


def _moment(text: str | None, path: str, line: int) -> int | None:
    if not text:
        return None
    moment = parse_time(text)
    if moment is None:
        raise EventError("not a time", file=printable(path), line=line, remedy="Write seconds, or leave it empty")
    return moment


def event_files(paths: Sequence[str]) -> list[str]:
    """The files of events that the paths name; of a directory those that end like one, sorted, without its index."""
    files: list[str] = []
    for path in paths:
        files += _inside(path) if os.path.isdir(path) else [path]
    return files


def _inside(directory: str) -> list[str]:
    try:
        names = sorted(os.listdir(directory))
    except OSError as problem:
        remedy = "Check the path and its permissions"
        raise EventError(
            f"cannot be read: {problem.strerror}", file=printable(directory), line=0, remedy=remedy
        ) from None
    wanted = [name for name in names if name.removesuffix(".gz").endswith(_ENDINGS) and name != INDEX]
    if not wanted:
        raise UsageError(f"no file of events in {printable(directory)}", f"They end in {', '.join(_ENDINGS)}, or .gz.")
    return [os.path.join(directory, name) for name in wanted]


def label_events(paths: Sequence[str], form: str = AUTO) -> Iterator[Event]:
    """The events of all files; those without a run belong to the run that is named like their file."""
    for path in event_files(paths):
        name = os.path.basename(path).removesuffix(".gz").rpartition(".")[0] or path
        for event in read_events(path, form):
            yield event if event.run else event._replace(run=name)


def split_injected(
    events: Iterable[Event], known: Mapping[str, RunInfo], injected: dict[str, list[Event]]
) -> Iterator[Event]:
    """The events to learn rules from, as they come; those of runs with injected faults are put aside."""
    for event in events:
        info = known.get(event.run)
        if info is None or info.is_clean:
            yield event
        elif info.is_injected:
            injected.setdefault(event.run, []).append(event)


def read_known_runs(paths: Sequence[str]) -> dict[str, RunInfo]:
    """What the indexes of all directories among the paths tell."""
    return {name: info for path in paths if os.path.isdir(path) for name, info in read_index(path).items()}
