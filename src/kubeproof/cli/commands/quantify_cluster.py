"""`kubeproof quantify cluster` and `kubeproof quantify compare`."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kubeproof.cli.options.inputs import allows_outside, outside_option, read_stdin
from kubeproof.cli.options.outputs import Decorator, Output, emit, output_option
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.cli.running.endings import first_of
from kubeproof.cli.running.progress import progress_line
from kubeproof.errors import UsageError
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubeproof.cli.running.limited import Reached
    from kubeproof.engine.system import Progress
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.quantify.clusters.compare_result import Comparison
    from kubeproof.quantify.clusters.options import ClusterOptions, Variation
    from kubeproof.quantify.clusters.result import ClusterResult
    from kubeproof.quantify.clusters.space import Report

Result = TypeVar("Result")
_MEBIBYTE = 1_048_576
_EXIT_CODES: dict[str, int] = {Verdict.VIOLATED: 1, Verdict.UNKNOWN: 3}
SMALLER = 'see "When there are too many states" in docs/how-to/quantify-a-cluster.md'
_QUESTIONS = ("within", "ever", "first", "amounts", "short", "long-run", "recovery")
_PARTS = 8  # of the horizon, of pictures
_IN_STEPS = ("within", "ever", "first", "amounts", "long-run")  # unless others are asked for


def process_options(command: Any) -> Any:
    """The options about the process and what is asked of it, the same for all commands."""
    options: list[Decorator] = [
        click.option(
            "--order", type=click.Choice(("open", "uniform")), default="open", show_default=True,
            help="open: least and greatest over all orders of loops; uniform: each loop with work equally likely.",
        ),
        click.option("--within", metavar="DURATION", help="How far to look ahead, such as 6h or 1y; default: 1h."),
        click.option(
            "--ask", "questions", type=click.Choice(_QUESTIONS), multiple=True, help="Only this question. Repeatable."
        ),
        click.option("--precision", type=float, default=1e-6, show_default=True, help="Relative precision of a value."),
        click.option("--exact", is_flag=True, help="Compute with fractions; for small clusters."),
        click.option("--max-states", type=click.IntRange(1), metavar="N", help="Give up beyond so many states."),
        click.option(
            "--timeout", "timeout_s", type=NumberRange(0, min_open=True), metavar="S",
            help="Give up after so many seconds.",
        ),
        click.option(
            "--memory", "memory_mib", type=click.IntRange(16), metavar="MIB",
            help="Give up rather than take more memory.",
        ),
        click.option(
            "--engine", type=click.Choice(("auto", "compiled", "python")), default="auto", show_default=True,
            help="What explores.",
        ),
        click.option(
            "--progress", type=click.Choice(("auto", "always", "never")), default="auto", show_default=True,
            help="When to show progress on stderr.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def options_of(given: dict[str, Any]) -> ClusterOptions:
    """The options that were given."""
    from kubeproof.manifests.yaml.durations import parse_long_seconds
    from kubeproof.quantify.clusters.options import ClusterOptions
    from kubeproof.quantify.clusters.space import SpaceOptions
    from kubeproof.quantify.methods import CheckSettings

    within = None if given["within"] is None else parse_long_seconds(given["within"])
    if within == 0 or (within is None and given["within"] is not None):
        raise UsageError(f"--within {given['within']!r} is not a duration above zero", "Write --within 6h, 30d or 1y.")
    if not 0 < given["precision"] < 1:
        raise UsageError(f"--precision {given['precision']:g} is not between 0 and 1", "The default is 1e-6.")
    memory = None if given["memory_mib"] is None else given["memory_mib"] * _MEBIBYTE
    return ClusterOptions(
        order=given["order"],
        horizon_s=within,
        questions=given["questions"] or (_QUESTIONS if given.get("rates") else _IN_STEPS),
        at_most=given.get("at_most"),
        space=SpaceOptions(
            engine=given["engine"], max_states=given["max_states"], timeout_s=given["timeout_s"], memory_bytes=memory
        ),
        check=CheckSettings(given["precision"]),
        exact=given["exact"],
    )


@click.command("cluster", short_help="How likely an intent is violated, and what running costs.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@outside_option
@click.option(
    "--at-most", type=NumberRange(0, 1), metavar="P",
    help="Exit with 1 if an intent may be violated within the horizon with a greater probability.",
)  # fmt: skip
@click.option(
    "--rates",
    is_flag=True,
    help="In continuous time: failures and repairs at their rates, waits as they are, no ticks; for days to years.",
)
@click.option(
    "--sensitivity", is_flag=True,
    help="Also how much each rate of the Scenario matters; asks two more times per rate.",
)  # fmt: skip
@click.option(
    "--vary", "varied", metavar="EVENT=TIMES", multiple=True,
    help="Also with other mean times of an event: nodeFailure-1=30d,90d,1y; or of its end: nodeFailure-1/mttr=10m,1h.",
)  # fmt: skip
@click.option("--log", "is_log", is_flag=True, help="Charts with powers of ten upwards.")
@process_options
@output_option("text", "json", "html", "svg")
def cluster_command(*, paths: tuple[str, ...], outputs: tuple[Output, ...], **given: Any) -> int:
    """Weigh the runs that verify explores: probabilities of violations, expected pod-hours, node-hours, energy, cost.

    PATH as for verify: manifests, and a Scenario whose events have probabilities. Needs the extra "quantify".

    \b
    Examples:
      kubeproof quantify cluster manifests/
      kubeproof quantify cluster manifests/ --within 24h --order uniform -o json
      kubeproof quantify cluster manifests/ --ask within --at-most 0.001
      kubeproof quantify cluster manifests/ --rates --within 1y
      kubeproof quantify cluster manifests/ --rates --within 1y --sensitivity -o text -o html=chances.html

    \b
    Exit codes: 0 answered, 1 more likely than --at-most, 2 wrong usage, 3 a limit was reached, a question is too
    large or --at-most too close to tell, 4 input refused, 5 nothing to check, 6 Storm is missing.
    """
    from dataclasses import replace
    from functools import partial

    from kubeproof.report.quantify import cluster_page
    from kubeproof.report.quantify.cluster import as_json, as_text

    is_drawn = any(output.format in ("html", "svg") for output in outputs)
    options = replace(
        options_of(given),
        parts=_PARTS if is_drawn else 0,
        is_sensitive=given["sensitivity"],
        variations=tuple(map(_read_variation, given["varied"])),
    )
    if given["rates"] and options.order != "open":
        raise UsageError("--order is about the process in steps", "With --rates loops with work are equally likely.")
    run = _quantify_rates if given["rates"] else _quantify
    result = _run_limited(lambda reached: run(paths, options, given["progress"], reached), given)
    render: dict[str, Callable[[ClusterResult], str]] = {
        "json": as_json,
        "text": as_text,
        "html": partial(cluster_page.as_html, is_log=given["is_log"]),
        "svg": partial(cluster_page.as_svg, is_log=given["is_log"]),
    }
    return emit(outputs, lambda output: render[output.format](result), exit_code(result), verdict=result.verdict)


def _read_variation(text: str) -> Variation:
    """EVENT=TIMES or EVENT/mttr=TIMES."""
    from kubeproof.manifests.yaml.durations import parse_long_seconds
    from kubeproof.quantify.clusters.options import Variation

    name, _, listed = text.partition("=")
    seconds = [parse_long_seconds(part.strip()) for part in listed.split(",")]
    if not name or any(not one for one in seconds):
        raise UsageError(f"--vary {text!r} has no mean times", "Write --vary nodeFailure-1=30d,90d,1y.")
    event = name.strip().removesuffix("/mttr")
    return Variation(event, event != name.strip(), tuple(sorted({one for one in seconds if one})))


def _run_limited(ask: Callable[[Reached], Result], given: dict[str, Any]) -> Result:
    """The answers, unless a limit is passed; what is missing is told before the work, not after."""
    from kubeproof.cli.running.limited import Reached, ask_storm
    from kubeproof.quantify.storm import check_installed, check_numpy

    if given.get("rates"):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: more threads only wait for each other
        check_numpy()
    else:
        check_installed()
    import kubeproof.manifests.load  # before memory is limited: modules and NumPy take some to begin with
    import kubeproof.quantify.clusters.run
    import kubeproof.quantify.clusters.sensitivity  # noqa: F401

    reached = Reached()
    limits = {"timeout_s": given["timeout_s"], "memory_mib": given["memory_mib"]}
    return ask_storm(lambda: ask(reached), **limits, reached=reached, remedy=f"Allow more --timeout, or {SMALLER}")


def _quantify(paths: tuple[str, ...], options: ClusterOptions, progress: str, reached: Reached) -> ClusterResult:
    """Loads and quantifies, in steps, with progress on stderr."""
    from dataclasses import replace

    from kubeproof.manifests.load import load
    from kubeproof.quantify.clusters.run import quantify_cluster
    from kubeproof.quantify.clusters.sensitivity import ask_again

    loaded = load(paths, stdin=read_stdin, allow_outside=allows_outside())
    with reporting(progress, reached) as (report, tell):
        return with_scope(loaded, ask_again(loaded, replace(options, tell=tell), quantify_cluster, report))


def _quantify_rates(paths: tuple[str, ...], options: ClusterOptions, progress: str, reached: Reached) -> ClusterResult:
    """Loads and quantifies, in continuous time, with progress on stderr."""
    from dataclasses import replace

    from kubeproof.manifests.load import load
    from kubeproof.quantify.clusters.sensitivity import ask_again
    from kubeproof.quantify.rates.run import quantify_rates

    loaded = load(paths, stdin=read_stdin, allow_outside=allows_outside())
    with reporting(progress, reached) as (report, tell):
        return with_scope(loaded, ask_again(loaded, replace(options, tell=tell), quantify_rates, report))


@contextmanager
def reporting(choice: str, reached: Reached) -> Iterator[tuple[Report, Callable[[str], None]]]:
    """Where exploring tells how far it is, and answering what it is at, while it lasts."""
    from time import monotonic

    line = progress_line(choice, quiet=False)
    begin = monotonic()

    def report(progress: Progress) -> None:
        reached.tell(f"{progress.phase}: {progress.states:,} states")
        if line is not None:
            line.show_explored(progress)

    def tell(question: str) -> None:
        reached.tell(f"answering: {question}")
        if line is not None:
            line.show_simulated(monotonic() - begin, lambda: f"answering: {question}")

    try:
        yield report, tell
    finally:
        if line is not None:
            line.close()


def with_scope(loaded: Loaded, result: ClusterResult) -> ClusterResult:
    """The result with what it is about and what was left out, told as verify tells it."""
    from dataclasses import replace

    from kubeproof.quantify.clusters.space import plan_to_quantify
    from kubeproof.verify.findings.left_out import find_left_out
    from kubeproof.verify.result import Statistics
    from kubeproof.verify.words.summary import abstractions, scope

    plan = plan_to_quantify(loaded)
    omitted = [f"{omission.what}: {omission.why} ({omission.source})" for omission in loaded.omissions]
    told = [pair for pair in scope(loaded, plan, Statistics(states=result.size.states)) if pair[0] != "service levels"]
    notes = tuple(("abstraction", note) for note in abstractions(loaded, plan))
    return replace(result, scope=(*told, *notes), not_modelled=(*omitted, *find_left_out(plan)))


def exit_code(result: ClusterResult) -> int:
    """The exit code of the contract; without a safety intent there may be nothing to answer."""
    if not result.spans:
        return 5
    incomplete = 3 if any(span.skipped for span in result.spans) else 0
    return _EXIT_CODES.get(result.verdict, incomplete)


@click.command("compare", short_help="Variants of a cluster on the same load, side by side.")
@click.argument("variants", nargs=-1, required=True, metavar="A B...")
@click.option("--with", "shared", multiple=True, metavar="PATH", help="Input that all variants share. Repeatable.")
@click.option("--risk", metavar="INTENT", default="", help="The intent in the plot; default the first.")
@click.option(
    "--against", type=click.Choice(("energy", "cost", "nodes", "pods")),
    help="What the plot shows it against; default the first of these that the Scenario gives.",
)  # fmt: skip
@process_options
@output_option("text", "json", "svg", "html")
def compare_command(
    *, variants: tuple[str, ...], shared: tuple[str, ...], risk: str, against: str | None,
    outputs: tuple[Output, ...], **given: Any,
) -> int:  # fmt: skip
    """Compare variants of a cluster, such as two HPA behaviours, on the same load model.

    A and B are files or directories. Each is read together with all PATHs of --with; the Scenarios may differ in
    controllers alone.

    \b
    Examples:
      kubeproof quantify compare slow.yaml quick.yaml --with cluster/
      kubeproof quantify compare today/ tomorrow/ --within 24h -o text -o html=compare.html
      kubeproof quantify compare a.yaml b.yaml c.yaml --with cluster/ --against cost -o svg=cost.svg

    \b
    Exit codes: as of quantify cluster.
    """
    if len(variants) < 2:
        raise click.UsageError("one variant is nothing to compare; name at least two")
    from kubeproof.report.quantify import compare as report

    options = options_of(given)
    plot = (risk, against or "")
    found = _run_limited(lambda told: _compare(variants, shared, options, plot, given["progress"], told), given)
    render = {"text": report.as_text, "json": report.as_json, "svg": report.as_svg, "html": report.as_html}
    code = first_of(exit_code(variant.result) for variant in found.variants)
    return emit(outputs, lambda output: render[output.format](found), code, verdict="")


def _compare(
    variants: tuple[str, ...],
    shared: tuple[str, ...],
    options: ClusterOptions,
    plot: tuple[str, str],
    progress: str,
    reached: Reached,
) -> Comparison:
    """Loads and compares, with progress on stderr; the plot shows a risk against an amount."""
    from dataclasses import replace

    from kubeproof.manifests.load import load
    from kubeproof.quantify.clusters.compare import compare

    loaded = [(variant, load((variant, *shared), stdin=read_stdin)) for variant in variants]
    with reporting(progress, reached) as (report, tell):
        return compare(loaded, replace(options, tell=tell), risk=plot[0], against=plot[1], progress=report)
