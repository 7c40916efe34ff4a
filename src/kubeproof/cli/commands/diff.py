"""`kubeproof diff`."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import click

from kubeproof.cli.options.inputs import nodes_option, refuse_two_sources_of_nodes
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.cli.options.revisions import Side, extract, split_revision
from kubeproof.cli.options.settings import find_settings, working_directory
from kubeproof.cli.running.endings import say
from kubeproof.cli.running.interruption import current
from kubeproof.cli.running.reports import text_style
from kubeproof.cli.running.terminal import WHEN
from kubeproof.errors import NothingToCheckError
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubeproof.manifests.assumed.node_pools import Pool
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.stop import Stop
    from kubeproof.verify.findings.compare import Difference
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import VerifyResult

_MEBIBYTE = 1_048_576


@click.command("diff", short_help="Tell which intents a change newly violates or fixes.")
@click.argument("paths", nargs=-1, required=True, metavar="BASE HEAD | --rev REV PATH...")
@click.option("--rev", metavar="REV", help="Compare PATH... in this git revision with PATH... as they are.")
@click.option("--with", "shared", multiple=True, metavar="PATH", help="Also read for both sides, such as nodes.")
@click.option("--values", multiple=True, metavar="FILE", help="Values for Helm charts. Repeatable.")
@nodes_option
@click.option("--timeout", "timeout_s", type=NumberRange(0, min_open=True), metavar="S", help="Per side.")
@click.option("--memory", "memory_mib", type=click.IntRange(1), metavar="MIB", help="Per side.")
@click.option("--max-states", type=click.IntRange(1), metavar="N", help="Per side.")
@click.option("-v", "--verbose", is_flag=True, help="List unchanged intents, too, and the numbers behind decisions.")
@click.option(
    "--color",
    type=click.Choice(WHEN),
    default="auto",
    envvar="KUBEPROOF_COLOR",
    show_default=True,
    help="When to colour text.",
)
@output_option("text", "json", "markdown")
def diff_command(
    *,
    paths: tuple[str, ...],
    rev: str | None,
    shared: tuple[str, ...],
    values: tuple[str, ...],
    pools: tuple[Pool, ...],
    timeout_s: float | None,
    memory_mib: int | None,
    max_states: int | None,
    verbose: bool,
    color: str,
    outputs: tuple[Output, ...],
) -> int:
    """Verify two states of the manifests and tell which intents are newly violated, fixed, or as before.

    BASE and HEAD are files, directories, or REV:path for a path in a git revision. Accepted violations (annotations,
    exemptions) are not violations here either.

    \b
    Examples:
      kubeproof diff old/ new/
      kubeproof diff main:k8s k8s --with nodes.yaml
      kubeproof diff --rev origin/main k8s/ -o markdown=comment.md

    \b
    Exit codes: 0 nothing newly violated, 1 newly violated, 3 no longer decided,
    others as for verify.
    """
    if rev is None and len(paths) != 2:
        raise click.UsageError("name BASE and HEAD, or --rev REV and PATH...")
    from kubeproof.verify.options import VerifyOptions

    memory = None if memory_mib is None else memory_mib * _MEBIBYTE
    options = VerifyOptions(timeout_s=timeout_s, memory_bytes=memory, max_states=max_states)
    with tempfile.TemporaryDirectory(prefix="kubeproof-") as room:
        base, head = _sides(paths, rev, room)
        with current().gently() as stop:
            found = _compare(base, head, shared, values, options, pools, stop)
        return emit(outputs, lambda output: _render(found, output, color, verbose, (base, head)), _exit_code(found))


def _sides(paths: tuple[str, ...], rev: str | None, room: str) -> tuple[Side | None, Side]:
    """What to load for each side; None for a base that the revision does not have."""
    if rev is not None:
        there = [_relative(path) for path in paths]
        return _at(rev, tuple(there), f"{room}/base"), Side(paths, working_directory())
    base, head = (_side(text, f"{room}/{name}") for text, name in zip(paths, ("base", "head"), strict=True))
    if head is None:
        raise NothingToCheckError(f"E301 {paths[1]} does not exist in that revision. Name a path that it has.")
    return base, head


def _relative(path: str) -> str:
    """The path marked as one of the working directory."""
    return os.path.join(".", os.path.relpath(path))


def _side(text: str, into: str) -> Side | None:
    revision = split_revision(text)
    return Side((text,), working_directory()) if revision is None else _at(revision[0], (revision[1],), into)


def _at(rev: str, paths: tuple[str, ...], into: str) -> Side | None:
    found = [extract(rev, path, into) for path in paths]
    known = tuple(path for path in found if path is not None)
    return Side(known, into) if known else None


def _compare(
    base: Side | None,
    head: Side,
    shared: tuple[str, ...],
    values: tuple[str, ...],
    options: VerifyOptions,
    pools: tuple[Pool, ...],
    stop: Stop,
) -> Difference:
    """What changes; nothing can be said of that before both sides are decided, but what the head shows is told."""
    from kubeproof.verify.findings.compare import compare

    changed = _load(head, shared, values, pools)
    refuse_two_sources_of_nodes(changed, pools)
    after = _verify(changed, options, stop)
    # Both sides on the same nodes: otherwise a change of requests would bring other nodes with it.
    nodes = pools or changed.assumed
    try:
        if stop.is_asked:
            raise KeyboardInterrupt
        before = None if base is None else _verify(_load(base, shared, values, nodes), options, stop)
        if stop.is_asked:
            raise KeyboardInterrupt
    except NothingToCheckError:
        before = None
    except KeyboardInterrupt:
        _tell_head(after)
        raise
    return compare(before, after)


def _tell_head(after: VerifyResult) -> None:
    """The verdicts of the head that are known, in lines on stderr: what they are compared with is not known."""
    from kubeproof.report.sentences import title

    for one in after.results:
        say(f"head: {one.verdict} {title(one)}")


def _load(side: Side, shared: tuple[str, ...], values: tuple[str, ...], pools: Sequence[Pool]) -> Loaded:
    from functools import partial

    from kubeproof.manifests.late import render_recipe
    from kubeproof.manifests.load import load

    return load((*side.paths, *shared), render=partial(render_recipe, values=values), pools=pools)


def _verify(loaded: Loaded, options: VerifyOptions, stop: Stop) -> VerifyResult:
    from kubeproof.api.verification import verify

    return verify(loaded, options, settings=find_settings(working_directory()), stop=stop)


def _render(found: Difference, output: Output, color: str, verbose: bool, sides: tuple[Side | None, Side]) -> str:
    from kubeproof.report.frame import Frame
    from kubeproof.report.verification import diff

    before, frame = (Frame("" if side is None else side.base) for side in sides)
    if output.format == "json":
        return diff.as_json(found, before, frame)
    if output.format == "markdown":
        return diff.as_markdown(found, frame)
    return diff.as_text(found, text_style(output, color, verbose=verbose), frame)


def _exit_code(found: Difference) -> int:
    if found.of("newly violated"):
        return 1
    opened = [change.head for change in found.of("no longer decided") if change.head is not None]
    if any(one.verdict == Verdict.ERROR for one in opened):
        return 70
    return 3 if opened else 0
