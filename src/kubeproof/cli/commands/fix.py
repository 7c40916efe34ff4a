"""`kubeproof fix`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from kubeproof.cli.options.inputs import (
    allows_outside,
    nodes_option,
    outside_option,
    read_stdin,
    refuse_two_sources_of_nodes,
    tell_refusals,
)
from kubeproof.cli.options.matrix import parse_faults
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.cli.options.settings import working_directory
from kubeproof.cli.options.sweep import checkpoint_option, resume_option
from kubeproof.cli.running.changes import write_changes
from kubeproof.cli.running.checkpoint import check_checkpoint, tell_how_to_resume, tell_on_interrupt
from kubeproof.cli.running.endings import INCONCLUSIVE, INTERRUPTED, OK, VIOLATED, first_of
from kubeproof.cli.running.interruption import current
from kubeproof.cli.running.reports import text_style
from kubeproof.cli.running.terminal import WHEN
from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.manifests.assumed.node_pools import Pool
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.verify.fix.kept import Record
    from kubeproof.verify.fix.result import FixResult, Proposal
    from kubeproof.verify.fix.run import FixOptions

_MEBIBYTE = 1_048_576


def _names(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    """Kinds of edits, with commas between them."""
    from kubeproof.verify.fix.choice import check_kinds

    names = tuple(name for name in value.split(",") if name)
    check_kinds(names)
    return names


def _tell_kinds(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Lists the kinds of edits and ends."""
    if value:
        from kubeproof.verify.fix.choice import KINDS

        click.echo("".join(f"{kind:22} {about}\n" for kind, about in KINDS.items()), nl=False)
        ctx.exit()


@click.command("fix", short_help="Find the smallest change of the manifests that is proved to help.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@outside_option
@click.option("--values", multiple=True, metavar="FILE", help="Values for Helm charts among PATH. Repeatable.")
@nodes_option
@output_option("text", "json", "diff", "markdown", "github", "review", "html")
@click.option(
    "--timeout", "timeout_s", type=NumberRange(0, min_open=True), default=60.0, show_default=True, metavar="S",
    help="Look for so many seconds; what is proved by then is shown.",
)  # fmt: skip
@click.option("--memory", "memory_mib", type=click.IntRange(1), metavar="MIB", help="Of each verification.")
@click.option("--write", is_flag=True, help="Change the files as the first proposal says.")
@click.option("--choose", type=click.IntRange(1), default=1, metavar="N", help="With --write: the proposal to take.")
@click.option("--proposals", "wanted", type=click.IntRange(1, 20), default=3, show_default=True, help="How many.")
@click.option("--allow", "allowed", default="", callback=_names, metavar="KINDS", help="Only edits of these kinds.")
@click.option("--deny", "denied", default="", callback=_names, metavar="KINDS", help="No edits of these kinds.")
@click.option(
    "--kinds", is_flag=True, is_eager=True, expose_value=False, callback=_tell_kinds, help="List the kinds of edits."
)
@click.option(
    "--faults", default="", callback=parse_faults, metavar="NAMES",
    help="Without a Scenario: only these faults, with commas between them, such as rollout,drain,nodeLoss.",
)  # fmt: skip
@checkpoint_option
@resume_option
@click.option("--color", type=click.Choice(WHEN), default="auto", show_default=True, help="When to colour text.")
def fix_command(
    *,
    paths: tuple[str, ...],
    values: tuple[str, ...],
    pools: tuple[Pool, ...],
    outputs: tuple[Output, ...],
    timeout_s: float,
    memory_mib: int | None,
    write: bool,
    choose: int,
    wanted: int,
    allowed: tuple[str, ...],
    denied: tuple[str, ...],
    faults: tuple[str, ...],
    checkpoint: str | None,
    resume: bool,
    color: str,
) -> int:
    """Find the smallest change of the manifests for which all that is violated is proved, and nothing gets worse.

    The question is that of "kubeproof verify": the intents of a Scenario, or without one what each workload survives.
    Neither is ever changed, but for manifests that its events apply. Objects with the annotation
    kubeproof.dev/do-not-touch stay as they are. Files keep every byte that the change is not about; those that cannot
    be changed in place get a patch for kustomize.

    \b
    Examples:
      kubeproof fix manifests/
      kubeproof fix manifests/ scenario.yaml --timeout 300
      kubeproof fix manifests/ scenario.yaml --deny replicas,moreRequests
      kubeproof fix manifests/ scenario.yaml --allow budget,newBudget,rollout
      kubeproof fix manifests/ scenario.yaml --write --choose 2
      kubeproof fix manifests/ scenario.yaml -o json=fix.json
      kubeproof fix manifests/ scenario.yaml -o diff | git apply
      kubeproof fix manifests/ -o html=report.html
      kubeproof fix manifests/ --timeout 600 --checkpoint run/ --resume

    \b
    Exit codes: 0 nothing is violated, or all that is violated has a proved
    repair; 1 something violated has none; 3 nothing is violated and something
    is not decided; others as for verify.
    """
    check_checkpoint(checkpoint, resume)
    loaded = _load(paths, values, pools)
    options = _options(timeout_s, memory_mib, wanted, (allowed, denied), faults)
    found = _find(loaded, options) if checkpoint is None else _find_kept(loaded, options, checkpoint, resume)
    command = _command(paths, values, allowed, denied, faults, loaded)

    def render(output: Output) -> str:
        if output.format == "html":
            return _page(loaded, found, faults, timeout_s)
        return _render(found, output, color, command)

    code = emit(outputs, render, _exit_code(found))
    if write and found.proposals:
        _write(found, choose)
    return first_of((code, *tell_refusals(loaded)))


def _render(found: FixResult, output: Output, color: str, command: str) -> str:
    """The proposals in the format of an output."""
    from kubeproof.report import fix
    from kubeproof.report.frame import Frame
    from kubeproof.report.review import as_review

    frame = Frame(base=working_directory())
    if output.format == "text":
        return fix.as_text(found, text_style(output, color), frame, command)
    ways = {
        "json": fix.as_json,
        "diff": fix.as_diff,
        "markdown": fix.as_markdown,
        "github": fix.as_annotations,
        "review": as_review,
    }
    return ways[output.format](found, frame)


def _page(loaded: Loaded, found: FixResult, faults: tuple[str, ...], timeout_s: float) -> str:
    """The report of a verification with the proposals beside what they mend; its runs are searched for once more."""
    from kubeproof.cli.running.reports import render_page
    from kubeproof.report.frame import Frame
    from kubeproof.report.verification.repairs import with_repairs
    from kubeproof.verify.matrix import asks_for_matrix
    from kubeproof.verify.matrix.options import MatrixOptions
    from kubeproof.verify.matrix.run import run_matrix
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.run import verify

    options = VerifyOptions(timeout_s=timeout_s)
    if asks_for_matrix(loaded, options):
        result = run_matrix(loaded, options, MatrixOptions(faults=faults, pairs=False))
    else:
        result = verify(loaded, options)
    return render_page(with_repairs(result, found, Frame(base=working_directory())), "", options)


def _load(paths: tuple[str, ...], values: tuple[str, ...], pools: tuple[Pool, ...]) -> Loaded:
    from functools import partial

    from kubeproof.manifests.late import render_recipe
    from kubeproof.manifests.load import load

    rendering = partial(render_recipe, values=values)
    loaded = load(
        paths, stdin=read_stdin, render=rendering, pools=pools, allow_outside=allows_outside(), is_tolerant=True
    )
    refuse_two_sources_of_nodes(loaded, pools)
    return loaded


def _options(
    timeout_s: float,
    memory_mib: int | None,
    wanted: int,
    kinds: tuple[tuple[str, ...], tuple[str, ...]],
    faults: tuple[str, ...],
) -> FixOptions:
    from kubeproof.verify.fix.choice import Limits
    from kubeproof.verify.fix.run import FixOptions
    from kubeproof.verify.options import VerifyOptions

    return FixOptions(
        verify=VerifyOptions(memory_bytes=None if memory_mib is None else memory_mib * _MEBIBYTE),
        budget_s=timeout_s,
        limits=Limits(*kinds),
        faults=faults,
        wanted=wanted,
    )


def _find(loaded: Loaded, options: FixOptions, record: Record | None = None) -> FixResult:
    from kubeproof.verify.fix.run import find_repairs

    with current().gently() as stop:
        return find_repairs(loaded, options, stop=stop, record=record)


def _find_kept(loaded: Loaded, options: FixOptions, directory: str, resume: bool) -> FixResult:
    """The same, written down as it goes on."""
    from kubeproof.verify.fix.kept import open_journal

    with (
        tell_on_interrupt(directory),
        open_journal(directory, loaded, options.verify, options.faults, resume=resume) as journal,
    ):
        found = _find(loaded, options, journal)
    if found.ended_by:
        tell_how_to_resume(directory)
    return found


def _command(
    paths: tuple[str, ...],
    values: tuple[str, ...],
    allowed: tuple[str, ...],
    denied: tuple[str, ...],
    faults: tuple[str, ...],
    loaded: Loaded,
) -> str:
    """What to type for the same again."""
    words = ["kubeproof", "fix", *paths]
    for option, given in (("--allow", allowed), ("--deny", denied), ("--faults", faults)):
        words += [option, ",".join(given)] if given else []
    words += ["--nodes", "..."] if loaded.given else []
    return shlex.join([*words, *(word for file in values for word in ("--values", file))])


def _write(found: FixResult, number: int) -> None:
    """Changes the files, unless somebody else has in the meantime."""
    if number > len(found.proposals):
        raise UsageError(f"there is no proposal {number}", f"There are {len(found.proposals)}.")
    chosen: Proposal = found.proposals[number - 1]
    write_changes(chosen.files, chosen.patch_only)


def _exit_code(found: FixResult) -> int:
    if found.ended_by == "interrupted" and not found.proposals:
        return INTERRUPTED
    if found.unrepaired:
        return VIOLATED
    return INCONCLUSIVE if found.undecided and not found.violated else OK
