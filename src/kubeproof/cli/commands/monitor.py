"""`kubeproof monitor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kubeproof.cli.monitoring.inputs import is_delivered, source_of
from kubeproof.cli.monitoring.scale import watch_elsewhere, work_command
from kubeproof.cli.monitoring.telling import serve_figures, sinks_of, tell_summary
from kubeproof.cli.options.live import cluster_options
from kubeproof.cli.options.outputs import Output, emit, output_option, write_stdout
from kubeproof.cli.running.interruption import current
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.monitor.rules.rules import RuleSet
    from kubeproof.monitor.run import Watch

FORMAT = click.option(
    "--format", "form", metavar="FORMAT", default="auto", show_default=True,
    help="auto, jsonl, csv, audit, kube (Events, watches), spans (Zipkin, OTLP), or FILE.py:NAME, which is executed.",
)  # fmt: skip


class _Duration(click.ParamType[int]):
    """A duration such as 250ms or 1m30s, in microseconds."""

    name = "DURATION"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The microseconds; 0 is 0."""
        from kubeproof.monitor.times import parse_duration

        duration = 0 if value in (0, "0", "0s") else parse_duration(str(value))
        if duration is None:
            self.fail(f"{value!r} is no duration; write 250ms, 40s or 1m30s", param, ctx)
        return duration


@click.group("monitor")
def monitor_group() -> None:
    """Watch streams of events with rules, and tell how good rules are.

    \b
    Examples:
      kubeproof monitor run --rules rules.yaml events.jsonl
      kubeproof monitor incidents alarms.ndjson -o html=incidents.html
      kubeproof monitor generate shop
      kubeproof monitor evaluate --rules rules.yaml --runs runs/
      kubeproof monitor rules rules.yaml -o epl
    """


monitor_group.add_command(work_command)
_RULES = click.option(
    "--rules", "rules_file", metavar="FILE", help="Rules in YAML, or FILE.py:NAME, which is executed."
)


@monitor_group.command("run", short_help="Raise alarms when a stream breaks rules.")
@click.argument("inputs", metavar="INPUT...", nargs=-1)
@_RULES
@click.option("--scenario", metavar="FILE", help="Judge this Scenario's intents instead; INPUTs are then manifests.")
@click.option("--audit-log", metavar="FILE", help="With --scenario: an audit log, - for stdin.")
@click.option("--watch-log", metavar="FILE", help="With --scenario: objects as kubectl get -w -o json prints them.")
@click.option("--live", is_flag=True, help="With --scenario: watch a running cluster, read-only.")
@cluster_options
@click.option("--within", type=_Duration(), default="10m", show_default=True, help="With --scenario: this is for ever.")
@click.option(
    "--repeats", type=click.IntRange(2), default=3, show_default=True,
    help="With --scenario: a state that comes so often is a loop.",
)  # fmt: skip
@click.option("--for", "duration", type=_Duration(), help="With --live: end after so long; default never.")
@FORMAT
@click.option("--lateness", type=_Duration(), default="0", help="By how much events may be out of order; default 0.")
@click.option("--skew", type=_Duration(), default="0", help="By how much clocks of sources may differ; default 0.")
@click.option(
    "--max-ahead", type=_Duration(),
    help="By how much an event may be ahead before its time is doubted; default: 10 times the longest rule, or 1h.",
)  # fmt: skip
@click.option(
    "--run-idle", type=_Duration(),
    help="After which silence a run is over; default: 10 times the longest rule, or 10m.",
)  # fmt: skip
@click.option(
    "--max-runs", type=click.IntRange(1), default=10_000, show_default=True,
    help="Runs that are watched at once; beyond that, the one that was silent longest is over.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="End at the first record that cannot be read, instead of counting it.")
@click.option("--state", metavar="FILE", help="Remember everything here (SQLite), and go on from it after a crash.")
@click.option(
    "--metrics", metavar="[HOST:]PORT", help="Serve /metrics, /healthz, /readyz, and incidents as a page; on loopback."
)
@click.option("--webhook", metavar="URL", help="Post every alarm there as JSON.")
@click.option("--alertmanager", metavar="URL", help="Tell this Alertmanager of incidents from level warning on.")
@click.option("--since", metavar="TIME", help="Pass over events before this date, or second of the stream.")
@click.option(
    "--open-end/--closed-end", "open_end", default=None,
    help="Whether things go on after the input's end, so that what waits stays open; default: of a broker only.",
)  # fmt: skip
@click.option("--until-idle", type=_Duration(), help="End when a broker has had nothing for so long; default never.")
@click.option("--wall-clock", is_flag=True, help="Let time pass while nothing comes; events carry dates.")
@click.option(
    "--max-pending", type=click.IntRange(1), default=10_000, show_default=True,
    help="Obligations that one rule remembers.",
)  # fmt: skip
@click.option("--executor", metavar="redis://…/NAME", help="Share the work through Redis; default: this process alone.")
@click.option(
    "--workers", type=click.IntRange(0, 256), default=2, show_default=True, help="To start here, with --executor."
)
@click.option(
    "--partitions", type=click.IntRange(1, 1024), default=16, show_default=True, help="To split into, with --executor."
)
@output_option("text", "ndjson")
def run_command(
    *, inputs: tuple[str, ...], rules_file: str | None, form: str, outputs: tuple[Output, ...], **options: Any
) -> int:
    """Raise alarms when a stream of events breaks rules.

    INPUT is a file of events, - for stdin, a queue of RabbitMQ: amqp://[USER:PASSWORD@]HOST:PORT/[VHOST/]QUEUE, or a
    port to which OpenTelemetry posts spans and logs: otlp://[HOST:]PORT. A password can also be given as
    KUBEPROOF_BROKER_PASSWORD. Events of different runs (field run) are watched apart.

    \b
    Examples:
      kubeproof monitor run --rules rules.yaml events.jsonl
      kubeproof monitor run --rules rules.yaml --state monitor.db -o ndjson=alarms.ndjson events.jsonl
      tail -f audit.log | kubeproof monitor run --rules rules.yaml --wall-clock --metrics 9464 -
      kubeproof monitor run --scenario scenario.yaml manifests/ --audit-log audit.log
      kubeproof monitor run --scenario scenario.yaml --live -A
      kubeproof monitor run --rules rules.yaml --state monitor.db --wall-clock amqp://127.0.0.1:5672/events
      kubeproof monitor run --rules rules.yaml --lateness 10s otlp://4318
      kubeproof monitor run --rules rules.yaml --executor redis://127.0.0.1:6379/events --workers 4 events.jsonl

    \b
    Exit codes: 0 quiet, 1 alarms, 2 wrong usage, 3 only unknown, or events
    were lost, 4 input refused, 5 no rules or no events, 6 something outside
    failed.
    """
    import time
    from contextlib import ExitStack
    from dataclasses import replace

    from kubeproof.monitor.metrics import Metrics
    from kubeproof.monitor.run import watch

    if options["scenario"]:
        from kubeproof.cli.monitoring.cluster import run_scenario

        if rules_file is not None:
            raise UsageError("--rules and --scenario exclude each other", "Run two monitors.")
        return run_scenario(options["scenario"], inputs, outputs, options)
    if not inputs:
        raise click.UsageError("missing INPUT...")
    rules = _rules(rules_file)
    names, source = source_of(inputs, form, options["until_idle"], is_strict=options["strict"], since=options["since"])
    wanted = _watch(rules, names, outputs, options)
    metrics = Metrics()
    with ExitStack() as stack:
        wanted = replace(wanted, sinks=(*wanted.sinks, *serve_figures(stack, metrics, options["metrics"])))
        clock = time.time if options["wall_clock"] else None
        if options["executor"]:
            shared = {name: options[name] for name in ("executor", "workers", "partitions")}
            summary = watch_elsewhere(wanted, source, metrics, clock, **shared)
        else:
            with current().gently() as stop:
                summary = watch(wanted, source, metrics, clock, stop)
    return tell_summary(summary, outputs)


def _rules(file: str | None) -> RuleSet:
    from kubeproof.errors import NothingToCheckError
    from kubeproof.monitor.rules.reader import load_rules

    if file is None:
        raise UsageError("no rules", "Name them with --rules FILE; kubeproof mine learns some.")
    rules = load_rules(file)
    if not rules.rules:
        raise NothingToCheckError(f"E301 {file} has no rules.")
    return rules


def _watch(rules: RuleSet, inputs: tuple[str, ...], outputs: tuple[Output, ...], options: dict[str, Any]) -> Watch:
    from kubeproof.monitor.intake.stream import StreamOptions
    from kubeproof.monitor.run import BATCH, Watch
    from kubeproof.report.monitor import alarm_ndjson, alarm_text

    render = {"text": alarm_text, "ndjson": alarm_ndjson}
    return Watch(
        rules,
        (*inputs, f"since {options['since']}") if options["since"] else inputs,
        StreamOptions(
            options["lateness"],
            options["skew"],
            options["max_pending"],
            options["max_runs"],
            options["max_ahead"],
            options["run_idle"],
        ),
        tuple((one.file, render[one.format]) for one in outputs if one.file is not None),
        sinks_of(outputs, render, options, rules),
        options["state"],
        not _is_open(inputs, options["open_end"]),
        BATCH if not is_delivered(inputs[0]) else BATCH // 4,  # well below what brokers hand out unconfirmed
    )


def _is_open(inputs: tuple[str, ...], wanted: bool | None) -> bool:
    """Whether things go on after the end: as the user says, otherwise of brokers."""
    return is_delivered(inputs[0]) if wanted is None else wanted


@monitor_group.command("evaluate", short_help="Tell how good rules are on runs whose outcome is known.")
@_RULES
@click.option("--runs", "directory", metavar="DIR", required=True, help="Events, and runs.csv with their outcomes.")
@click.option("--folds", type=click.IntRange(2, 100), help="Without --rules: mine in all folds but one, judge on that.")
@FORMAT
@output_option("text", "json")
def evaluate_command(
    *, rules_file: str | None, directory: str, folds: int | None, form: str, outputs: tuple[Output, ...]
) -> int:
    """Tell how good rules are on runs whose outcome is known.

    DIR holds files of events and runs.csv (docs/reference/rules.md). A run counts as alarmed if it has an incident of
    level failure. With --rules all runs are judged; those that the rules were mined from tell nothing about false
    alarms. With --folds, rules are mined from the clean runs of the other folds each time, and how much evidence makes
    a failure is learnt from their other runs.

    \b
    Examples:
      kubeproof monitor evaluate --rules rules.yaml --runs runs/
      kubeproof monitor evaluate --folds 5 --runs runs/ -o json

    \b
    Exit codes: 0 evaluated, 2 wrong usage, 4 input refused, 5 no runs.
    """
    from kubeproof.monitor.mining.evaluate import by_run, cross_validate, evaluate
    from kubeproof.monitor.mining.runs import label_events, read_index
    from kubeproof.report.monitor import scores_json, scores_text

    if (rules_file is None) == (folds is None):
        raise UsageError("one of --rules and --folds is needed", "Judge given rules, or mine them in each fold.")
    infos = list(read_index(directory).values())
    if not infos:
        raise UsageError(f"{directory} has no runs.csv", "It tells the outcome of each run: run, label, fault_type.")
    runs = by_run(label_events([directory], form))
    if folds is not None:
        how, scores = f"{folds}-fold cross-validation", cross_validate(infos, runs, folds)
    else:
        how, scores = f"rules of {rules_file}", evaluate(_rules(rules_file), infos, runs)
    return emit(outputs, lambda output: (scores_json if output.format == "json" else scores_text)(scores, how))


@monitor_group.command("generate", short_help="Write recorded runs of a small shop, to try mine and monitor on.")
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False))
@click.option("--clean", type=click.IntRange(0, 100_000), default=120, show_default=True, help="Runs without a fault.")
@click.option("--faulty", type=click.IntRange(0, 100_000), default=40, show_default=True, help="Runs with one fault.")
@click.option(
    "--faults", metavar="NAME,...", default="omission,delay,duplication,disorder,crash", show_default=True,
    help="Which faults are injected, in turn.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same runs for the same seed.")
def generate_command(*, directory: str, clean: int, faulty: int, faults: str, seed: int) -> int:
    """Write recorded runs of a small shop, to try `mine`, `evaluate` and `run` on.

    DIR gets events.jsonl and runs.csv. Faults: omission (a message is lost), delay (a message comes a minute late),
    duplication, disorder (an answer before its question), crash (a service sends nothing any more). Some faults do no
    harm; runs.csv tells which.

    \b
    Examples:
      kubeproof monitor generate shop
      kubeproof monitor generate shop --clean 500 --faulty 100 --faults omission,crash --seed 7

    \b
    Exit codes: 0 written, 2 wrong usage, 6 DIR cannot be written.
    """
    from kubeproof.manifests.yaml.printable import printable
    from kubeproof.monitor.mining.samples import Fault, SampleOptions, record_samples, write_samples

    known = {fault.value: fault for fault in Fault}
    names = faults.split(",")
    wrong = [name for name in names if name not in known]
    if wrong:
        raise UsageError(f"--faults: {wrong[0]!r} is none", f"There are {', '.join(known)}.")
    if not clean + faulty:
        raise UsageError("no runs are asked for", "Take --clean or --faulty above 0.")
    runs = record_samples(SampleOptions(clean, faulty, tuple(known[name] for name in names), seed))
    write_samples(runs, directory)
    failures = sum(run.info.is_failure for run in runs)
    kinds = f"{clean:,} clean, {faulty:,} with a fault, of which {failures:,} fail"
    write_stdout(f"{len(runs):,} runs in {printable(directory)}: {kinds}\n")
    return 0


@monitor_group.command("incidents", short_help="Show alarms that belong together as incidents.")
@click.argument("alarms_file", metavar="ALARMS")
@click.option("--events", "event_files", metavar="FILE", multiple=True, help="Also show the events around; repeatable.")
@click.option("--around", type=_Duration(), default="30s", show_default=True, help="With --events: how long around.")
@click.option(
    "--level", "least", type=click.Choice(["information", "warning", "failure"]), default="information",
    show_default=True, help="Leave out what is less grave.",
)  # fmt: skip
@FORMAT
@output_option("text", "json", "html")
def incidents_command(
    *, alarms_file: str, event_files: tuple[str, ...], around: int, least: str, form: str, outputs: tuple[Output, ...]
) -> int:
    """Show alarms that belong together as incidents: the gravest first, each with its evidence.

    ALARMS is a file that kubeproof monitor run -o ndjson=FILE wrote, - for stdin.

    \b
    Examples:
      kubeproof monitor incidents alarms.ndjson
      kubeproof monitor incidents alarms.ndjson --level failure -o json
      kubeproof monitor incidents alarms.ndjson --events events.jsonl -o html=incidents.html

    \b
    Exit codes: 0 no failure, 1 failures, 2 wrong usage, 4 input refused, 5 no
    alarms.
    """
    from kubeproof.errors import NothingToCheckError
    from kubeproof.monitor.incidents.incident import gather_incidents
    from kubeproof.monitor.incidents.policy import Level
    from kubeproof.monitor.incidents.recorded import find_events, read_alarms
    from kubeproof.monitor.readers.formats import read_events
    from kubeproof.report.incidents import incidents_html, incidents_json, incidents_text

    found = gather_incidents(read_alarms(alarms_file))
    if not found:
        raise NothingToCheckError(f"E301 {alarms_file} has no alarms.")
    order = list(Level)
    shown = [one for one in found if order.index(one.level) >= order.index(Level(least))]
    events = (event for path in event_files for event in read_events(path, form))
    around_events = find_events(shown, events, around) if event_files else {}
    render = {"text": incidents_text, "json": incidents_json, "html": incidents_html}
    emit(outputs, lambda output: render[output.format](shown, around_events))
    return int(any(one.level is Level.FAILURE for one in found))


@monitor_group.command("rules", short_help="Show rules in words, or export them.")
@click.argument("rules_file", metavar="FILE")
@output_option("text", "yaml", "json", "epl")
def rules_command(*, rules_file: str, outputs: tuple[Output, ...]) -> int:
    """Show rules in words, or export them.

    \b
    Examples:
      kubeproof monitor rules rules.yaml
      kubeproof monitor rules rules.yaml -o epl=rules.epl
    """
    from kubeproof.monitor.rules.epl import to_epl
    from kubeproof.monitor.rules.writer import to_yaml
    from kubeproof.report.monitor import rules_json, rules_text

    rules = _rules(rules_file)
    render = {"text": rules_text, "yaml": to_yaml, "json": rules_json, "epl": to_epl}
    return emit(outputs, lambda output: render[output.format](rules))
