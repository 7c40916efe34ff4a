"""`kubeproof what-if`: one question to a running cluster, a snapshot, or manifests."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from math import isinf
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kubeproof.cli.options.inputs import (
    allows_outside,
    nodes_option,
    outside_option,
    read_stdin,
    refuse_two_sources_of_nodes,
    tell_refusals,
)
from kubeproof.cli.options.live import Chosen, cluster_file, cluster_options
from kubeproof.cli.options.matrix import GRADES, describe
from kubeproof.cli.options.outputs import Output, emit, output_option
from kubeproof.cli.options.ranges import NumberRange
from kubeproof.cli.options.request import USUAL_TIMEOUT_S
from kubeproof.cli.running.endings import INTERRUPTED, first_of
from kubeproof.cli.running.interruption import GRACE_S, current
from kubeproof.cli.running.progress import progress_line
from kubeproof.cli.running.reports import text_style
from kubeproof.cli.running.terminal import WHEN
from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.manifests.folders.files import InputFile
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.verify.matrix.run import MatrixProgress
    from kubeproof.verify.what_if.answer import Answer
    from kubeproof.verify.what_if.questions import Question

F = TypeVar("F", bound=Callable[..., int])
Ask = Callable[["Loaded"], "Question"]
_CODES: dict[str, int] = {Verdict.VIOLATED: 1, Verdict.UNKNOWN: 3, Verdict.ERROR: 70}
_SHARE = re.compile(r"([+-]\d{1,4})%", re.ASCII)
_SIZE = re.compile(r"(.+)=(\d{1,6})", re.ASCII)


@click.group("what-if", short_help="Ask what becomes of a cluster if nodes are drained, fail, or load rises.")
def what_if_group() -> None:
    """Ask one thing of a cluster before it is done: a sentence, who is hit and for how long, how it goes.

    The cluster is --live, a snapshot, or manifests, named with --on. Nothing is configured, and nothing is changed.

    \b
    Examples:
      kubeproof what-if drain node-7 --live -A
      kubeproof what-if fail zone-a --on snap.yaml
      kubeproof what-if upgrade --surge 1 --on k8s/ --nodes 6x4cpu,16Gi,zones=3
      kubeproof what-if apply -f new/ --live -A
      kubeproof what-if scale shop/web=5 --on snap.yaml
      kubeproof what-if load +50% --on snap.yaml

    \b
    Exit codes: 0 safe in the end, 1 something may get stuck (with --grade steady: or falls below its minimum),
    2 wrong usage, 3 not decided, 4 input refused, 5 nothing to check, 6 environment.
    """


def _asking(command: F) -> F:
    """The options that all questions have: of which cluster, how long, in which format."""
    for option in reversed(
        (
            click.option(
                "--on", "paths", multiple=True, metavar="PATH",
                help="Manifests, a snapshot, or - for stdin. Repeatable.",
            ),
            click.option("--live", is_flag=True, help="Read a running cluster, with GET requests only."),
            cluster_options,
            click.option("--values", multiple=True, metavar="FILE", help="Values for Helm charts. Repeatable."),
            nodes_option,
            outside_option,
            click.option(
                "--timeout", "timeout_s", type=NumberRange(0, min_open=True), envvar="KUBEPROOF_TIMEOUT", metavar="S",
                help="Answer after so many seconds with what is known; 60 unless this says otherwise, inf: never.",
            ),
            click.option(
                "--grade", type=click.Choice(GRADES), default="dips", show_default=True,
                help="The least grade of a workload; what is worse ends with exit code 1.",
            ),
            output_option("text", "json", "html"),
            click.option("-v", "--verbose", is_flag=True, help="Show every step, and the scope."),
            click.option("-q", "--quiet", is_flag=True, help="Show the sentence only."),
            click.option("--color", type=click.Choice(WHEN), default="auto", show_default=True, help="When to colour."),
            click.option(
                "--progress", type=click.Choice(WHEN), default="auto", show_default=True,
                help="When to show progress on stderr.",
            ),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@what_if_group.command("drain", short_help="Nodes are drained, and stay cordoned.")
@click.argument("names", nargs=-1, required=True, metavar="NODE...")
@_asking
def drain_command(names: tuple[str, ...], **given: Any) -> int:
    """Nodes are drained like by kubectl drain, one after the other: which pods go, what holds them, until when.

    \b
    Example:
      kubeproof what-if drain node-7 --live -A
    """
    from kubeproof.verify.what_if.questions import ask_drain

    return _answer(given, partial(ask_drain, names=names))


@what_if_group.command("remove", short_help="Nodes are drained and deleted.")
@click.argument("names", nargs=-1, required=True, metavar="NODE...")
@_asking
def remove_command(names: tuple[str, ...], **given: Any) -> int:
    """Nodes are drained and deleted, to consolidate: is there room for their pods on the others?

    \b
    Example:
      kubeproof what-if remove node-7 node-8 --on snap.yaml
    """
    from kubeproof.verify.what_if.questions import ask_removal

    return _answer(given, partial(ask_removal, names=names))


@what_if_group.command("fail", short_help="Nodes or a zone fail for good.")
@click.argument("names", nargs=-1, required=True, metavar="NODE|ZONE...")
@_asking
def fail_command(names: tuple[str, ...], **given: Any) -> int:
    """Nodes, or all nodes of a zone, fall silent at once and stay down.

    \b
    Example:
      kubeproof what-if fail zone-a --live -A
    """
    from kubeproof.verify.what_if.questions import ask_failure

    return _answer(given, partial(ask_failure, names=names))


@what_if_group.command("cordon", short_help="Nodes are cordoned.")
@click.argument("names", nargs=-1, required=True, metavar="NODE...")
@_asking
def cordon_command(names: tuple[str, ...], **given: Any) -> int:
    """Nodes are cordoned. No pod moves by that; asked is what could not be rolled out meanwhile.

    \b
    Example:
      kubeproof what-if cordon node-7 --live -A
    """
    from kubeproof.verify.what_if.questions import ask_cordon

    return _answer(given, partial(ask_cordon, names=names))


@what_if_group.command("upgrade", short_help="All nodes are drained and rebooted, one after the other.")
@click.option(
    "--surge", type=click.IntRange(0, 100), default=0, show_default=True, metavar="N",
    help="So many nodes more are there meanwhile.",
)  # fmt: skip
@_asking
def upgrade_command(surge: int, **given: Any) -> int:
    """All nodes are drained, rebooted and uncordoned, in any order; the next one when the cluster is at rest.

    \b
    Example:
      kubeproof what-if upgrade --surge 1 --live -A
    """
    from kubeproof.verify.what_if.questions import ask_upgrade

    return _answer(given, partial(ask_upgrade, surge=surge))


@what_if_group.command("scale", short_help="Workloads get another number of replicas.")
@click.argument("sizes", nargs=-1, required=True, metavar="TARGET=N...")
@_asking
def scale_command(sizes: tuple[str, ...], **given: Any) -> int:
    """Somebody writes spec.replicas. TARGET is a name, namespace/name or Kind/namespace/name.

    \b
    Example:
      kubeproof what-if scale shop/web=5 --on snap.yaml
    """
    from kubeproof.verify.what_if.questions import ask_scale

    wanted = []
    for size in sizes:
        found = _SIZE.fullmatch(size)
        if found is None:
            raise UsageError(f"{size!r} is no TARGET=N", "Write the name of a workload and its replicas: shop/web=5.")
        wanted.append((found[1], int(found[2])))
    return _answer(given, partial(ask_scale, sizes=wanted))


@what_if_group.command(
    "load", short_help="The load of autoscaled workloads changes.", context_settings={"ignore_unknown_options": True}
)
@click.argument("share", metavar="+N%|-N%")
@_asking
def load_command(share: str, **given: Any) -> int:
    """The CPU load of all workloads with an autoscaler changes by a share, from what their autoscalers aim at.

    \b
    Example:
      kubeproof what-if load +50% --on snap.yaml
    """
    from kubeproof.verify.what_if.questions import ask_load

    found = _SHARE.fullmatch(share)
    if found is None:
        raise UsageError(f"{share!r} is no share of the load", "Write load +50% or load -30%.")
    return _answer(given, partial(ask_load, percent=int(found[1])))


@what_if_group.command("apply", short_help="Manifests are applied to what runs now.")
@click.option(
    "-f", "--file", "files", multiple=True, required=True, metavar="PATH", help="What is applied. Repeatable."
)
@_asking
def apply_command(files: tuple[str, ...], **given: Any) -> int:
    """Manifests are applied: workloads that differ roll out, new ones come. The cluster must be --live or --on.

    \b
    Example:
      kubeproof what-if apply -f new/web.yaml --live -A
    """
    from kubeproof.verify.what_if.questions import ask_apply

    def ask(loaded: Loaded) -> Question:
        return ask_apply(loaded, _load(given, files, ()), ", ".join(files))

    return _answer(given, ask)


# -- what all have in common ------------------------------------------------------------------------


def _answer(given: dict[str, Any], ask: Ask) -> int:
    """Reads the cluster, asks, and writes the answer."""
    if given["verbose"] and given["quiet"]:
        raise click.UsageError("-v and -q exclude each other")
    if not given["paths"] and not given["live"]:
        raise click.UsageError("name the cluster: --live, or --on PATH")
    cluster = ("namespace", "everywhere", "context", "kubeconfig", "read_timeout")
    chosen = Chosen(*(given[name] for name in cluster)) if given["live"] else None
    loaded = _load(given, given["paths"], () if chosen is None else (cluster_file(chosen),))
    if not loaded.scenario.is_default:
        told = "a Scenario says what may happen, and so does the question"
        raise UsageError(told, "Leave the Scenario out, or verify it: kubeproof verify PATH.")
    refuse_two_sources_of_nodes(loaded, given["pools"])
    refused = tell_refusals(loaded)
    _refuse_nothing(loaded)
    answer = _find(given, ask(loaded))
    ended = INTERRUPTED if answer.statistics.is_interrupted else 0
    code = first_of((_CODES.get(answer.verdict, 0), ended, *refused))
    return emit(given["outputs"], partial(_render, answer, given), code, verdict=None if given["quiet"] else "")


def _refuse_nothing(loaded: Loaded) -> None:
    from kubeproof.manifests.scenarios.matrix_columns import rows_of

    if not rows_of(loaded.setup):
        remedy = "Name files with a Deployment, StatefulSet, Job or other workload that has pods."
        raise NothingToCheckError(f"E301 the input holds no workload that anything could happen to. {remedy}")


def _load(given: dict[str, Any], paths: tuple[str, ...], more: tuple[InputFile, ...]) -> Loaded:
    from kubeproof.manifests.late import render_recipe
    from kubeproof.manifests.load import load

    return load(
        paths,
        stdin=read_stdin,
        more=more,
        render=partial(render_recipe, values=given["values"]),
        pools=given["pools"],
        allow_outside=allows_outside(),
        is_tolerant=True,
        is_for_checks=False,
    )


def _find(given: dict[str, Any], question: Question) -> Answer:
    from kubeproof.verify.matrix.result import Grade
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.what_if.run import answer_question

    limit = given["timeout_s"]
    timeout_s = USUAL_TIMEOUT_S if limit is None else None if isinf(limit) else limit
    spent_s = 0.0 if timeout_s is None else min(current().elapsed_s, timeout_s / 2)
    options = VerifyOptions(timeout_s=timeout_s, has_usual_timeout=limit is None, spent_s=spent_s)
    line = progress_line(given["progress"], given["quiet"])

    def show(progress: MatrixProgress) -> None:
        if line is not None:
            line.show_simulated(progress.elapsed_s, lambda: describe(progress))

    try:
        with current().gently(GRACE_S) as stop:
            return answer_question(question, options, least_grade=Grade(given["grade"]), progress=show, stop=stop)
    finally:
        if line is not None:
            line.close()


def _render(answer: Answer, given: dict[str, Any], output: Output) -> str:
    if output.format == "json":
        from kubeproof.report.what_if.json import as_json

        return as_json(answer)
    from kubeproof.report.what_if.text import as_text

    if output.format == "html":
        from kubeproof.report.what_if.page import as_page

        return as_page(answer)
    return as_text(answer, text_style(output, given["color"], verbose=given["verbose"], quiet=given["quiet"]))
