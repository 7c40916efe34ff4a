"""`kubeproof network verify --failures`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kubeproof.cli.networks.asked import code_of, load_with_properties
from kubeproof.cli.options.outputs import Output, emit
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.stop import Stop

F = TypeVar("F", bound=Callable[..., object])
_FAILURES = click.option(
    "--failures",
    type=click.IntRange(1, 8),
    metavar="K",
    help="Find the smallest sets of up to K failures that break something.",
)
_OF = click.option(
    "--fail", "fail", type=click.Choice(["links", "nodes", "both"]),
    help="What fails: links (default), nodes that are no ends of traffic, or both.",
)  # fmt: skip
_REROUTE = click.option(
    "--reroute",
    is_flag=True,
    help="Nodes use the strongest rule over a link of theirs that works; default: packets are lost.",
)
_SETS = click.option(
    "--max-sets",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    help="Sets of failures that are checked.",
)


def failure_options(command: F) -> F:
    """The options about failures."""
    for option in (_SETS, _REROUTE, _OF, _FAILURES):
        command = option(command)
    return command


def verify_failures(files: tuple[str, ...], options: dict[str, Any], stop: Stop, outputs: tuple[Output, ...]) -> int:
    """Prints what the last snapshot of a network survives; the exit code."""
    from kubeproof.network.failures.search import FailureOptions, find_breaking
    from kubeproof.network.rollouts.verify import prepare_all
    from kubeproof.report.networks.failures import failures_json, failures_text

    if any(output.format not in ("text", "json") for output in outputs):
        raise UsageError("--failures has no such report", "Write -o text or -o json.")
    networks, wanted = load_with_properties(files, options)
    prepared, notes = prepare_all(wanted, whole=True)
    asked = FailureOptions(options["failures"], options["fail"] or "links", options["reroute"], options["max_sets"])
    result = find_breaking(networks[0], networks[0].snapshots[-1], prepared, asked, stop, notes)
    render = {"json": failures_json, "text": failures_text}
    code = code_of(result.verdict, is_interrupted=result.is_interrupted)
    return emit(outputs, lambda output: render[output.format](result), code, verdict=result.verdict)
