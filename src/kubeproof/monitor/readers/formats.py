"""Which reader reads a file: by name, by what its first line looks like, or one of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from kubeproof.errors import EventError, UsageError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.audit import is_audit, read_audit
from kubeproof.monitor.readers.csv_rows import read_csv
from kubeproof.monitor.readers.jsonl import parse_value, read_jsonl
from kubeproof.monitor.readers.kube import is_kube, read_kube
from kubeproof.monitor.readers.lines import Idle, lines_of
from kubeproof.monitor.readers.losses import Lost, Tolerance, refuse
from kubeproof.monitor.readers.record import TIME_UNITS
from kubeproof.monitor.readers.spans import looks_like_spans, read_spans
from kubeproof.user_code import load_module

Reader = Callable[[Iterable[str], str], Iterable[Event]]  # lines and the file's name for messages, to events
AUTO = "auto"
READERS: dict[str, Callable[[Iterable[str], str, Lost], Iterable[Event]]] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "audit": read_audit,
    "spans": read_spans,
    "kube": read_kube,
}


def read_events(path: str, form: str = AUTO, idle: Idle | None = None, tell: Lost | None = None) -> Iterator[Event]:
    """The events of a file (`-`: standard input) as they are read; `form` is a name of READERS or FILE.py:NAME.

    `idle` is called while standard input has nothing to read. `tell` hears of every record that cannot be read; without
    it, and for readers of the user's, the first one is the end. So is a file that has no other.
    """
    shown = "<stdin>" if path == "-" else printable(path)
    if tell is None or (form != AUTO and form not in READERS):
        return read_lines(lines_of(path, idle), shown, form)
    tolerance = Tolerance(tell)
    lines = lines_of(path, idle, tolerance.note_loss)
    return tolerance.pass_on(read_lines(lines, shown, form, tolerance.note_loss))


def read_lines(lines: Iterator[str], shown: str, form: str = AUTO, lost: Lost = refuse) -> Iterator[Event]:
    """The events of lines that come from anywhere; `shown` names the place in messages."""
    if form in READERS:
        yield from READERS[form](lines, shown, lost)
    elif form != AUTO:
        yield from check_events(own_reader(form)(lines, shown), shown, form)
    else:
        begin = _beginning(lines)
        if begin:
            yield from READERS[_guess(begin, shown)](chain(begin, lines), shown, lost)


def _beginning(lines: Iterator[str]) -> list[str]:
    """The lines by which a format is known: up to the first that is not empty, or the next if that is cut off."""
    found: list[str] = []
    for line in lines:
        found.append(line)
        if not line.isspace() and (_starts_json(line) or _names_times(line) or sum(map(_is_text, found)) == 2):
            break
    return found if any(map(_is_text, found)) else []


def _is_text(line: str) -> bool:
    return not line.isspace()


def _starts_json(line: str) -> bool:
    return line.lstrip("\ufeff \t").startswith(("{", "["))


def _names_times(line: str) -> bool:
    """True for the header of a table."""
    return any(name.strip(' "\r\n\ufeff') in TIME_UNITS for name in line.split(","))


def own_reader(form: str) -> Reader:
    """A function of the user's that reads events."""
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


def _guess(begin: Sequence[str], shown: str) -> str:
    """The format of a file that begins like this."""
    texts = [line for line in begin if _is_text(line)]
    first = next((line for line in texts if _starts_json(line)), None)
    if first is None:
        return "jsonl" if shown.removesuffix(".gz").endswith((".jsonl", ".ndjson")) else "csv"
    start = first.lstrip("\ufeff \t")
    if start.startswith("["):
        return "spans"
    try:
        record = parse_value(first, file=shown, line=1)
    except EventError:
        return "spans" if start.strip() == "{" else "jsonl"
    if isinstance(record, dict) and is_audit(record):
        return "audit"
    if isinstance(record, dict) and is_kube(record):
        return "kube"
    return "spans" if looks_like_spans(record) else "jsonl"


def check_events(events: Iterable[Event], shown: str, form: str) -> Iterator[Event]:
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
