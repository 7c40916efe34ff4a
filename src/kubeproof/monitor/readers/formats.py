"""Which reader reads a file: by name, by what its first line looks like, or one of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from kubeproof.errors import EventError, UsageError
from kubeproof.manifests.printable import printable
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.audit import is_audit, read_audit
from kubeproof.monitor.readers.csv_rows import read_csv
from kubeproof.monitor.readers.jsonl import parsed, read_jsonl
from kubeproof.monitor.readers.kube import is_kube, read_kube
from kubeproof.monitor.readers.lines import Idle, lines_of
from kubeproof.monitor.readers.spans import looks_like_spans, read_spans
from kubeproof.user_code import load_module

Reader = Callable[[Iterable[str], str], Iterable[Event]]  # lines and the file's name for messages, to events
AUTO = "auto"
READERS: dict[str, Reader] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "audit": read_audit,
    "spans": read_spans,
    "kube": read_kube,
}


def read_events(path: str, form: str = AUTO, idle: Idle | None = None) -> Iterator[Event]:
    """The events of a file (`-`: standard input) as they are read; `form` is a name of READERS or FILE.py:NAME.

    `idle` is called while standard input has nothing to read.
    """
    return read_lines(lines_of(path, idle), "<stdin>" if path == "-" else printable(path), form)


def read_lines(lines: Iterator[str], shown: str, form: str = AUTO) -> Iterator[Event]:
    """The events of lines that come from anywhere; `shown` names the place in messages."""
    if form != AUTO:
        return checked(reader_of(form)(lines, shown), shown, form)
    first = next((line for line in lines if not line.isspace()), None)
    if first is None:
        return iter(())
    return iter(_guessed(first, shown)(chain((first,), lines), shown))


def reader_of(form: str) -> Reader:
    """The reader of a format, or a function of the user's that has the same shape."""
    if form in READERS:
        return READERS[form]
    path, _, name = form.rpartition(":")
    if not path.endswith(".py"):
        raise UsageError(
            f"--format {printable(form)!r} is unknown", f"There are {', '.join(READERS)}, or FILE.py:NAME."
        )
    found = getattr(load_module(path, "--format"), name, None)
    if not callable(found):
        raise UsageError(f"--format: {printable(path)} has no function {printable(name)!r}", "Define it there.")
    own: Reader = found
    return own


def _guessed(first: str, shown: str) -> Reader:
    """The reader for a file that begins like this."""
    start = first.lstrip("\ufeff \t")
    if start.startswith("["):
        return read_spans
    if not start.startswith("{"):
        return read_jsonl if shown.removesuffix(".gz").endswith((".jsonl", ".ndjson")) else read_csv
    try:
        record = parsed(first, file=shown, line=1)
    except EventError:
        return read_spans if start.strip() == "{" else read_jsonl
    if isinstance(record, dict) and is_audit(record):
        return read_audit
    if isinstance(record, dict) and is_kube(record):
        return read_kube
    return read_spans if looks_like_spans(record) else read_jsonl


def checked(events: Iterable[Event], shown: str, form: str) -> Iterator[Event]:
    """What a reader of the user's yields, if they are events; its mistakes are told as such."""
    if form in READERS:
        yield from events
        return
    count = 0
    try:
        for event in events:
            count += 1
            if not isinstance(event, Event):
                raise UsageError(
                    f"--format {form}: yields {type(event).__name__}", "Yield kubeproof.monitor.event.Event."
                )
            yield event
    except (EventError, UsageError):
        raise
    except Exception as problem:
        what = f"fails after {count} events: {type(problem).__name__}: {problem}"
        raise UsageError(f"--format {form}: {shown}: {printable(what)}", "Correct the reader.") from problem
