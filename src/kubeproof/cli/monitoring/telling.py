"""Whom `kubeproof monitor run` tells: terminals and files, webhooks, an Alertmanager, and whoever asks over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kubeproof.cli.options.outputs import Output, write_stdout

if TYPE_CHECKING:
    from contextlib import ExitStack

    from kubeproof.monitor.intake.stream import Numbered
    from kubeproof.monitor.metrics import Metrics
    from kubeproof.monitor.rules.rules import RuleSet
    from kubeproof.monitor.run import Summary
    from kubeproof.monitor.sinks import Sink


def sinks_of(
    outputs: Sequence[Output],
    render: Mapping[str, Callable[[Numbered], str]],
    options: dict[str, Any],
    rules: RuleSet | None = None,
) -> tuple[Sink, ...]:
    """Everybody who is told of alarms one by one; files are not among them."""
    from kubeproof.monitor.alertmanager import Alertmanager
    from kubeproof.monitor.incidents.policy import Policy
    from kubeproof.monitor.sinks import StreamSink, Webhook

    sinks: list[Sink] = [StreamSink(write_stdout, render[one.format]) for one in outputs if one.file is None]
    if options["webhook"]:
        sinks.append(Webhook(options["webhook"]))
    if options["alertmanager"]:
        name, policy = ("intents", Policy()) if rules is None else (rules.name, rules.incidents)
        sinks.append(Alertmanager(options["alertmanager"], name, policy.quiet_us, time.time))
    return tuple(sinks)


def serve_figures(stack: ExitStack, metrics: Metrics, address: str | None) -> tuple[Sink, ...]:
    """Serves figures, health and incidents while the stack is open, if there is an address; gives whom to tell."""
    if not address:
        return ()
    from kubeproof.monitor.incidents.incident import gather_incidents
    from kubeproof.monitor.serving import pages_of, parse_address, serve
    from kubeproof.monitor.sinks import RecentAlarms
    from kubeproof.report.incidents import incidents_html

    recent = RecentAlarms()
    pages = pages_of(metrics, lambda: incidents_html(gather_incidents(recent.list_all())))
    port = stack.enter_context(serve(pages, *parse_address(address)))
    click.echo(f"metrics on port {port}", err=True)
    return (recent,)


def tell_summary(summary: Summary, outputs: Sequence[Output]) -> int:
    """Says how watching ended, beside the alarms or on stderr; gives the exit code."""
    from kubeproof.report.monitor import summary_text

    if any(output.format == "text" and output.file is None for output in outputs):
        write_stdout(summary_text(summary))
    else:
        click.echo(summary_text(summary), err=True, nl=False)
    if summary.refused is not None:
        click.echo(str(summary.refused), err=True)
    return summary.exit_code
