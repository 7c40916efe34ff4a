"""`kubeproof verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import click

from kubeproof.cli.options.acceptance import (
    accept_violations,
    acceptance_options,
    check_accepted,
    soften,
    write_baseline,
)
from kubeproof.cli.options.inputs import (
    allows_outside,
    nodes_option,
    outside_option,
    read_stdin,
    refuse_two_sources_of_nodes,
)
from kubeproof.cli.options.live import cluster_options, snapshot_bytes
from kubeproof.cli.options.matrix import matrix_options, run_surveyed
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.cli.options.request import Input, Request, make_request
from kubeproof.cli.options.settings import use_settings
from kubeproof.cli.options.sweep import (
    all_option,
    checkpoint_option,
    executor_option,
    fast_option,
    refuse_without_sweep,
    resume_option,
    run_swept,
    scale_option,
    sweep_options,
    workers_option,
)
from kubeproof.cli.running.checkpoint import check_checkpoint, run_kept
from kubeproof.cli.running.endings import REFUSED, first_of, say
from kubeproof.cli.running.interruption import GRACE_S, WRITING_S, current
from kubeproof.cli.running.progress import progress_line, telling
from kubeproof.cli.running.reports import RESULT_FORMATS, exit_code, has_refused_part, render_result, report_problem
from kubeproof.cli.running.terminal import WHEN
from kubeproof.errors import KubeproofError, NothingToCheckError, UsageError

if TYPE_CHECKING:
    from kubeproof.cli.running.progress import ProgressLine
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.stop import Stop
    from kubeproof.verify.findings.known import Found
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import VerifyResult

LEAST_LEFT = 3  # one of so many parts of the timeout is left for exploring, however long recipes take to render
_REDUCTIONS = ("symmetry", "unison", "por", "slicing", "abstraction")
_ENGINES = ("auto", "compiled", "python", "reference")


def _names(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    """The reductions named, with commas between them."""
    names = tuple(name for name in value.split(",") if name)
    for name in names:
        if name not in _REDUCTIONS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(_REDUCTIONS)}", ctx, param)
    return names


@click.command("verify", short_help="Prove each intent or show a counterexample.")
@click.argument("paths", nargs=-1, metavar="PATH...")
@outside_option
@click.option("--live", is_flag=True, help="Read a running cluster, too; a run begins with its pods as they are.")
@cluster_options
@click.option("--values", multiple=True, metavar="FILE", help="Values for Helm charts among PATH. Repeatable.")
@nodes_option
@output_option(*RESULT_FORMATS)
@click.option("-v", "--verbose", is_flag=True, help="Show the numbers behind every decision; fold no steps.")
@click.option(
    "--why",
    is_flag=True,
    help="Of each violation find the fields and events that it needs, and the step from which it is lost. Up to 10 s.",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Look for changes that are proved to help, up to 60 s more, and show them beside the violations.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show verdicts only.")
@click.option(
    "--timeout", "timeout_s", type=NumberRange(0, min_open=True), envvar="KUBEPROOF_TIMEOUT",
    metavar="S", help="Stop after so many seconds; 60 unless this says otherwise, inf: never.",
)  # fmt: skip
@click.option(
    "--memory", "memory_mib", type=click.IntRange(1), envvar="KUBEPROOF_MEMORY",
    metavar="MIB", help="Put on disk what a search holds beyond so many mebibytes; stop when that is not enough.",
)  # fmt: skip
@click.option(
    "--spill-dir", "spill_directory", type=click.Path(exists=True, file_okay=False, writable=True),
    envvar="KUBEPROOF_SPILL_DIR", metavar="DIR", help="Where that is put; otherwise where temporary files go.",
)  # fmt: skip
@click.option(
    "--max-states", type=click.IntRange(1), envvar="KUBEPROOF_MAX_STATES",
    metavar="N", help="Stop after so many states.",
)  # fmt: skip
@click.option(
    "--engine", type=click.Choice(_ENGINES), default="auto", envvar="KUBEPROOF_ENGINE", show_default=True,
    help="auto: compiled if installed, otherwise python. reference: naive, for comparison.",
)  # fmt: skip
@click.option(
    "--controller", "controllers", multiple=True, envvar="KUBEPROOF_CONTROLLER", metavar="FILE.py:CLASS",
    help="Verify together with this controller of yours. Repeatable. Runs the file's code.",
)  # fmt: skip
@click.option(
    "--reductions/--no-reductions", default=True, envvar="KUBEPROOF_REDUCTIONS",
    help="Explore fewer equivalent orders (default), or all of them.",
)  # fmt: skip
@click.option(
    "--without", default="", callback=_names, envvar="KUBEPROOF_WITHOUT",
    metavar="NAMES", help="Leave out reductions: symmetry, unison, por, slicing, abstraction; several with commas.",
)  # fmt: skip
@click.option(
    "--find", type=click.Choice(("first", "all")), default="first", envvar="KUBEPROOF_FIND", show_default=True,
    help="Show the first violation of each intent, or all that differ in who does what at the end.",
)  # fmt: skip
@click.option(
    "--check-controllers/--no-check-controllers", default=False, envvar="KUBEPROOF_CHECK_CONTROLLERS",
    help="Ask controllers a sample of questions twice and compare the answers.",
)  # fmt: skip
@matrix_options
@sweep_options(scale_option, all_option, fast_option, workers_option, executor_option, checkpoint_option, resume_option)
@acceptance_options
@click.option(
    "--color", type=click.Choice(WHEN), default="auto", envvar="KUBEPROOF_COLOR", show_default=True,
    help="When to colour text.",
)  # fmt: skip
@click.option(
    "--progress", type=click.Choice(WHEN), default="auto", envvar="KUBEPROOF_PROGRESS", show_default=True,
    help="When to show progress on stderr.",
)  # fmt: skip
@click.option(
    "--config", callback=use_settings, is_eager=True, expose_value=False, metavar="FILE",
    help="Settings file instead of the nearest .kubeproof.yaml.",
)  # fmt: skip
@click.pass_context
def verify_command(ctx: click.Context, /, **given: Any) -> int:
    """Explore every order of controllers and events; prove each intent or show a counterexample.

    PATH is a file, a directory, or - for stdin: Kubernetes manifests, and at most one Scenario. Charts and
    kustomizations are rendered by your own helm and kustomize or kubectl. Without a
    Scenario the question is what each workload survives, one fault at a time; "kubeproof init" writes that down as one.

    \b
    Examples:
      kubeproof verify manifests/
      kubeproof verify manifests/ --nodes 6x4cpu,16Gi,zones=3
      kubeproof verify manifests/ --faults rollout,drain --grade steady
      kubeproof verify nodes.yaml web.yaml scenario.yaml -v
      kubectl get nodes,deployments -A -o yaml | kubeproof verify -
      kubeproof verify manifests/ -o text -o json=trace.json
      kubeproof verify --live -A scenario.yaml
      kubeproof verify manifests/ --timeout 60 --max-states 1000000
      kubeproof verify manifests/ --write-baseline known.json
      kubeproof verify manifests/ --baseline known.json -o sarif=kubeproof.sarif
      kubeproof verify manifests/ --scale esc --checkpoint run/ -o html=sweep.html

    \b
    Exit codes: 0 all hold, 1 violated, 2 wrong usage, 3 inconclusive,
    4 input refused, 5 nothing to check, 6 environment, 70 internal error,
    130 interrupted.
    """
    request = make_request(ctx, given)
    try:
        if request.showing.why or request.showing.fix:
            from kubeproof.manifests.editing.splicing import require_editor

            require_editor()
        check_accepted(request.acceptance)
        loaded, found = _run(request)
    except KubeproofError as problem:
        report_problem(problem, request.showing.outputs)
        raise
    if request.showing.why:
        from kubeproof.verify.reasons.causes import with_causes

        found = with_causes(loaded, found, request.options)
    if request.showing.fix:
        from kubeproof.cli.running.repairs import add_repairs

        found = add_repairs(loaded, found, request.options, request.surveyed.faults)
    return _show(request, accept_violations(found, loaded, request.acceptance), ctx)


def _show(request: Request, result: VerifyResult, ctx: click.Context) -> int:
    """Writes the reports; the exit code."""
    shown, acceptance = request.showing, request.acceptance
    hint, fix = _replay_command(ctx, request), _fix_command(ctx, request)

    def render(output: Output) -> str:
        return render_result(
            result,
            output,
            shown.color,
            verbose=shown.verbose,
            quiet=shown.quiet,
            hint=hint,
            fix=fix,
            options=request.options,
        )

    code = soften(exit_code(result), result, acceptance)
    code = first_of((code, REFUSED)) if has_refused_part(result) else code
    code = emit(shown.outputs, render, code, verdict=None if shown.quiet else result.verdict)
    return write_baseline(result, acceptance, code, quiet=shown.quiet)


def _run(request: Request) -> tuple[Loaded, VerifyResult]:
    """Loads and verifies, at one size or at all, with progress on stderr."""
    check_checkpoint(*request.keeping)
    loaded = _load(request.input)
    request = request._replace(options=_after_reading(request.options, current().elapsed_s))
    way = _choose_way(request, loaded)
    line = progress_line(request.showing.progress, request.showing.quiet)
    found = telling(line, request.showing.quiet)
    try:
        with current().gently(GRACE_S if request.keeping.directory is None else WRITING_S) as stop:
            return loaded, way(request, loaded, line, stop=stop, found=found)
    except NothingToCheckError as problem:
        return loaded, _report_checks(loaded, problem)
    finally:
        if line is not None:
            line.close()


def _load(source: Input) -> Loaded:
    from functools import partial

    from kubeproof.manifests.late import render_recipe
    from kubeproof.manifests.load import load

    given = () if source.cluster is None else (snapshot_bytes(source.cluster),)
    loaded = load(
        source.paths,
        stdin=read_stdin,
        given=given,
        render=partial(render_recipe, values=source.values),
        pools=source.pools,
        allow_outside=allows_outside(),
        is_tolerant=True,
    )
    refuse_two_sources_of_nodes(loaded, source.pools)
    return loaded


class _Way(Protocol):
    """One of the questions that an input may be."""

    def __call__(
        self, request: Request, loaded: Loaded, line: ProgressLine | None, *, stop: Stop, found: Found | None
    ) -> VerifyResult: ...


def _choose_way(request: Request, loaded: Loaded) -> _Way:
    """All sizes, the matrix, or one Scenario; refuses options that are about another one."""
    from kubeproof.verify.matrix import asks_for_matrix
    from kubeproof.verify.scaling.plan import is_swept

    chosen, is_pictured = request.sweep.options, request.showing.is_pictured
    is_sweep = is_swept(loaded, chosen)
    is_matrix = not is_sweep and asks_for_matrix(loaded, request.options)
    if not is_sweep and not (is_matrix and not is_pictured and not chosen.every and not chosen.fast_find):
        refuse_without_sweep(loaded, chosen, pictured=is_pictured, elsewhere=request.sweep.elsewhere)
    if request.surveyed.words() and not is_matrix:
        remedy = "Leave it out, or leave out the Scenario."
        raise UsageError(f"{request.surveyed.words()[0]} is about the matrix of an input without a Scenario", remedy)
    return _sweep if is_sweep else _survey if is_matrix else _verify


def _sweep(
    request: Request, loaded: Loaded, line: ProgressLine | None, *, stop: Stop, found: Found | None
) -> VerifyResult:
    from dataclasses import replace

    options = request.options
    each = replace(options, spent_s=0.0, processes=1)  # a timeout that is given is one for every size
    unlimited = replace(each, timeout_s=None) if options.has_usual_timeout else each
    return run_swept(loaded, unlimited, request.sweep.options, line, *request.keeping, stop=stop, found=found)


def _survey(
    request: Request, loaded: Loaded, line: ProgressLine | None, *, stop: Stop, found: Found | None
) -> VerifyResult:
    from dataclasses import replace

    asked, chosen = request.surveyed, request.sweep.options
    each = replace(request.options, processes=1)  # it has a process for every cell
    return run_surveyed(loaded, each, asked, chosen, line, *request.keeping, stop=stop, found=found)


def _verify(
    request: Request, loaded: Loaded, line: ProgressLine | None, *, stop: Stop, found: Found | None
) -> VerifyResult:
    from kubeproof.verify.run import verify

    directory, resume = request.keeping
    if directory is not None:
        return run_kept(loaded, request.options, line, directory, resume, stop=stop, found=found)
    return verify(loaded, request.options, line, stop=stop, found=found)


def _after_reading(options: VerifyOptions, spent_s: float) -> VerifyOptions:
    """The options of what follows: the time of a run begins with the command, of which so much is over."""
    from dataclasses import replace

    if options.timeout_s is None:
        return options
    return replace(options, spent_s=min(spent_s, options.timeout_s - options.timeout_s / LEAST_LEFT))


def _report_checks(loaded: Loaded, problem: NothingToCheckError) -> VerifyResult:
    """What checks found in an input without anything to verify; that there is nothing is told beside it."""
    from kubeproof.verify.checks.alone import check_alone

    result = check_alone(loaded)
    if result is None:
        raise problem
    say(f"error: {problem}")
    return result


def _replay_command(ctx: click.Context, request: Request) -> str:
    """What to type to replay a counterexample of this run."""
    import shlex

    program = ctx.find_root().info_name or "kubeproof"
    outputs = request.showing.outputs
    written = next((output.file for output in outputs if output.format == "json" and output.file), None)
    if written is not None:
        return f"{program} replay {shlex.quote(written)}"
    again = shlex.join(["verify", *request.input.paths, *request.flags(), "-o", "json=trace.json"])
    return f"{program} {again}; {program} replay trace.json"


def _fix_command(ctx: click.Context, request: Request) -> str:
    """What to type to look for a repair; "" where the input is no files."""
    import shlex

    if not request.input.paths or "-" in request.input.paths:
        return ""
    return f"{ctx.find_root().info_name or 'kubeproof'} {shlex.join(['fix', *request.input.paths])}"
