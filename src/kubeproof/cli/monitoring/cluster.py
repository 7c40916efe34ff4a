"""`kubeproof monitor run --scenario`: the intents of a Scenario on what a cluster does."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from kubeproof.cli.monitoring.telling import serve_figures, sinks_of, tell_summary
from kubeproof.cli.options.live import Chosen
from kubeproof.cli.options.outputs import Output
from kubeproof.cli.running.interruption import current
from kubeproof.errors import UsageError
from kubeproof.manifests.yaml.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubeproof.monitor.cluster.change import Change
    from kubeproof.monitor.readers.losses import Tally

_ONLY_RULES = (
    "state", "lateness", "skew", "max_ahead", "run_idle", "until_idle", "open_end", "wall_clock", "executor",
    "since",
)  # fmt: skip
_TOLERANCE_S = 3600  # by which the clock of a cluster may be ahead of ours


def run_scenario(
    scenario: str, manifests: tuple[str, ...], outputs: tuple[Output, ...], options: dict[str, Any]
) -> int:
    """Judges the intents, and tells every alarm."""
    from contextlib import ExitStack
    from dataclasses import replace

    from kubeproof.cli.options.inputs import read_stdin
    from kubeproof.manifests.load import load_files
    from kubeproof.monitor.cluster.judges import Patience
    from kubeproof.monitor.cluster.run import ClusterWatch, watch_cluster
    from kubeproof.monitor.metrics import Metrics
    from kubeproof.monitor.readers.losses import Tally
    from kubeproof.report.monitor import alarm_ndjson, alarm_text

    _refuse(options)
    render = {"text": alarm_text, "ndjson": alarm_ndjson}
    texts = load_files((scenario, *manifests), stdin=read_stdin)
    _refuse_without_scenario(scenario, texts)
    wanted = ClusterWatch(
        texts,
        Patience(options["within"], options["repeats"]),
        tuple((one.file, render[one.format]) for one in outputs if one.file is not None),
        sinks_of(outputs, render, options),
        is_seeded=not options["live"],
    )
    metrics = Metrics()
    with ExitStack() as stack:
        wanted = replace(wanted, sinks=(*wanted.sinks, *serve_figures(stack, metrics, options["metrics"])))
        tally = Tally()
        with current().gently() as stop:
            summary = watch_cluster(wanted, _changes(options, tally), metrics, stop, tally)
    return tell_summary(summary, outputs)


def _refuse(options: dict[str, Any]) -> None:
    sources = [name for name in ("audit_log", "watch_log", "live") if options[name]]
    if len(sources) != 1:
        raise UsageError("--scenario needs one source", "Give --audit-log FILE, --watch-log FILE or --live.")
    given = [name for name in _ONLY_RULES if options.get(name) not in (None, 0, "", False)]
    if given:
        flag = f"--{given[0].replace('_', '-')}"
        raise UsageError(f"{flag} is for --rules", "With --scenario the log is read from its beginning.")


def _refuse_without_scenario(path: str, texts: Iterable[tuple[str, str]]) -> None:
    """A file of something else would be taken for manifests, and other intents judged than the user means."""
    from kubeproof.manifests.load import holds_scenario

    place = os.path.normpath(path)
    own = [text for text in texts if path == "-" or text[0] == place or text[0].startswith(place + os.sep)]
    if not holds_scenario(own):
        raise UsageError(f"{path} holds no Scenario", "Name the file that does, and manifests as INPUTs.")


def _changes(options: dict[str, Any], tally: Tally) -> Iterable[Change]:
    """What the source tells; what cannot be read is counted, unless the user wants to end there."""
    from kubeproof.monitor.cluster.audit import changes_of_audit
    from kubeproof.monitor.cluster.watching import changes_of_watch
    from kubeproof.monitor.readers.lines import lines_of
    from kubeproof.monitor.readers.losses import Tolerance, refuse

    if options["live"]:
        return _live(options)
    path = options["audit_log"] or options["watch_log"]
    shown = "<stdin>" if path == "-" else printable(path)
    tolerance = Tolerance(refuse if options["strict"] else tally.add)
    lines = lines_of(path, lost=tolerance.note_loss)
    if options["audit_log"]:
        return tolerance.pass_on(changes_of_audit(lines, shown, tolerance.note_loss), is_good)
    latest_us = int((time.time() + _TOLERANCE_S) * 1_000_000)
    return tolerance.pass_on(changes_of_watch(lines, shown, tolerance.note_loss, latest_us), is_good)


def is_good(change: Change) -> bool:
    """True for what was read, false for what was lost."""
    from kubeproof.monitor.cluster.change import LOST

    return change.what != LOST


def _live(options: dict[str, Any]) -> Iterator[Change]:
    """Notifications of the cluster as changes; the lists at the beginning are one moment."""
    from kubeproof.live.resources import WATCHED
    from kubeproof.live.watching import IDLE, LISTED, RELISTED, watch_all
    from kubeproof.monitor.cluster.live import LiveChanges

    named = ("namespace", "everywhere", "context", "kubeconfig", "read_timeout")
    chosen = Chosen(*(options[name] for name in named))
    client, namespace = chosen.reach()
    source = LiveChanges(len(WATCHED), time.time)
    for notice in watch_all(client, namespace, is_over=lambda: source.has_lasted(options["duration"])):
        if notice.type == IDLE:
            yield from source.tick()
        elif notice.type in (LISTED, RELISTED):
            yield from source.take_listed(notice.kind, notice.objects, is_first=notice.type == LISTED)
        else:
            yield from source.take_notice(notice.type, notice.objects)
