"""`kubeproof network updates`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import click

from kubeproof.cli.networks.asked import code_of, load_with_properties, property_options
from kubeproof.cli.options.outputs import Output, output_option, write_stdout
from kubeproof.cli.running.interruption import current
from kubeproof.errors import ManifestError, UsageError
from kubeproof.stop import until

if TYPE_CHECKING:
    from kubeproof.network.updates.incremental import Watch


@click.command("updates", short_help="Answer a stream of rule updates, one by one.")
@click.argument("file")
@click.argument("updates")
@property_options
@click.option("--final", is_flag=True, help="What is not delivered after an update is violated, not open.")
@click.option("--timing", is_flag=True, help="Say at the end how much processor time updates took.")
@output_option("text", "ndjson")
def updates_command(
    *, file: str, updates: str, final: bool, timing: bool, outputs: tuple[Output, ...], **options: Any
) -> int:
    """Answer every update of the rules in FILE: what it breaks and what it repairs.

    FILE is a network; its last snapshot is where it begins. UPDATES is a file, or - for stdin, one JSON object a line:
    {"add": {"node": N, "rule": {...}}}, {"remove": {...}} with the same, {"down": [A, B]} or {"up": [A, B]} for links.
    Only the packets that an update concerns are checked again.

    \b
    Examples:
      kubeproof network updates network.yaml changes.jsonl
      tail -f changes.jsonl | kubeproof network updates network.yaml - -o ndjson
      kubeproof network updates network.yaml changes.jsonl -p noDrop --timing

    \b
    Exit codes: 0 all hold after every update, 1 violated after some update,
    2 wrong usage, 3 open after some update, 4 input refused, 5 nothing asked.
    """
    from kubeproof.errors import NothingToCheckError
    from kubeproof.network.rollouts.verify import prepare_all
    from kubeproof.network.updates.incremental import Watch

    if len(outputs) != 1 or outputs[0].file is not None:
        raise UsageError("-o: updates are answered on stdout", "Write -o text or -o ndjson.")
    networks, wanted = load_with_properties((file,), options)
    prepared, notes = prepare_all(wanted, whole=True)
    if not prepared:
        raise NothingToCheckError(
            "E301 no property. Add spec.properties to the file, or --property, --ltl, --automaton."
        )
    network = networks[0]
    watch = Watch(network, network.snapshots[-1], prepared, final=final)
    session = _Session(watch, outputs[0].format, timing=timing)
    session.begin(notes)
    with current().gently() as stop, _Opened(updates) as lines:
        from kubeproof.network.updates.reader import read_updates

        shown = "<stdin>" if updates == "-" else updates
        for update in until(stop, read_updates(lines, shown, network)):
            session.answer(update)
        return session.end(is_interrupted=stop.is_asked)


class _Session:
    """Prints answers as they come."""

    def __init__(self, watch: Watch, form: str, *, timing: bool) -> None:
        from kubeproof.report.networks.updates import ndjson, text

        self._watch = watch
        self._words = ndjson if form == "ndjson" else text
        self._timing = timing
        self._times: list[float] = []
        self._number = 0
        self._worst = 0

    def begin(self, notes: tuple[str, ...]) -> None:
        self._judge()
        write_stdout(self._words.begin(self._watch, notes))

    def answer(self, update: Any) -> None:
        self._number += 1
        begun = time.process_time()
        deltas = self._watch.apply(update)
        self._times.append(time.process_time() - begun)
        if deltas:
            self._judge()
            write_stdout(self._words.answer(self._watch, self._number, update, deltas))

    def _judge(self) -> None:
        codes = [code_of(self._watch.verdict(answer)) for answer in self._watch.answers]
        self._worst = 1 if 1 in (*codes, self._worst) else max(*codes, self._worst)

    def end(self, *, is_interrupted: bool) -> int:
        write_stdout(self._words.end(self._watch, self._number, self._times if self._timing else []))
        if is_interrupted and self._worst != 1:
            from kubeproof.cli.running.endings import INTERRUPTED

            return INTERRUPTED
        return self._worst


class _Opened:
    """The lines of a file or of stdin."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def __enter__(self) -> Iterator[str]:
        if self._path == "-":
            if sys.stdin is None:
                raise UsageError("stdin is closed", "Name a file instead of -.")
            return _read_lines(sys.stdin)
        try:
            self._file = open(self._path, encoding="utf-8", errors="replace")
        except OSError as problem:
            reason = str(problem.strerror)
            raise ManifestError(reason, file=self._path, line=0, remedy="Name a file of updates") from None
        return _read_lines(self._file)

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _read_lines(stream: IO[str]) -> Iterator[str]:
    """The lines, of which no more is held than the reader takes."""
    from kubeproof.network.updates.reader import MOST_CHARACTERS

    return iter(lambda: stream.readline(MOST_CHARACTERS + 1), "")
