"""Options for sweeps over sizes, shared by the commands that run them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from kubeproof.cli.running.progress import ProgressLine
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.stop import Stop
    from kubeproof.verify.executors.session import Executor
    from kubeproof.verify.findings.known import Found
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.result import VerifyResult
    from kubeproof.verify.scaling.plan import SweepOptions

Decorator = Callable[[Callable[..., int]], Callable[..., int]]
_LIMIT = re.compile(r"([1-9][0-9]{0,4}),([1-9][0-9]{0,4})", re.ASCII)


def parse_scale(ctx: click.Context, param: click.Parameter, value: str | None) -> str | tuple[int, int] | None:
    """`esc`, `none`, or a limit of nodes and pods per node."""
    if value in (None, "esc", "none"):
        return value
    found = _LIMIT.fullmatch(value or "")
    if found is None:
        raise click.BadParameter(f"{value!r} is not esc, none or NODES,PODS-PER-NODE")
    return int(found[1]), int(found[2])


scale_option = click.option(
    "--scale", "scale", callback=parse_scale, metavar="esc|none|N,P",
    help="Limit of the sweep over spec.scale instead of the Scenario's: esc; none: only the size in the manifests; "
    "N nodes of each kind and P pods per node.",
)  # fmt: skip
all_option = click.option("--all", "every", is_flag=True, help="Sweep on after the first violated size.")
fast_option = click.option("--fast-find", is_flag=True, help="Sweep in steps of 2, doubling: a violation sooner.")
workers_option = click.option(
    "--workers", type=click.IntRange(1), envvar="KUBEPROOF_WORKERS", metavar="N",
    help="Processes of a sweep, of many runs or of one long search; default: one per processor.",
)  # fmt: skip
executor_option = click.option(
    "--executor", envvar="KUBEPROOF_EXECUTOR", metavar="WHERE",
    help="Where a sweep runs: auto (here, then a pool), inprocess, pool, or dask://HOST:PORT.",
)  # fmt: skip
checkpoint_option = click.option(
    "--checkpoint", metavar="DIR", help="Write down what is finished, so that --resume can continue.",
)  # fmt: skip
resume_option = click.option("--resume", is_flag=True, help="Continue the run whose --checkpoint DIR this is.")


def sweep_options(*options: Callable[..., object]) -> Decorator:
    """All of the options, in the order in which help shows them."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def choose_sweep(
    scale: str | tuple[int, int] | None, every: bool, fast_find: bool, workers: int | None, executor: str | None
) -> SweepOptions:
    """What the flags ask for."""
    from kubeproof.cluster.scale import Limit
    from kubeproof.verify.scaling.plan import SweepOptions

    limit = Limit(*scale) if isinstance(scale, tuple) else scale
    return SweepOptions(limit=limit, every=every, fast_find=fast_find, executor=choose_executor(executor, workers))


def choose_executor(executor: str | None, workers: int | None) -> Executor:
    """What is named, otherwise this process and then a pool."""
    from kubeproof.verify.executors.choice import parse_executor

    return parse_executor(executor or "auto", workers)


def run_swept(
    loaded: Loaded,
    options: VerifyOptions,
    chosen: SweepOptions,
    line: ProgressLine | None,
    checkpoint: str | None = None,
    resume: bool = False,
    *,
    stop: Stop | None = None,
    found: Found | None = None,
) -> VerifyResult:
    """Every size that the Scenario's scale stands for, with the ESC of the shipped cases where it is the limit."""
    from kubeproof.cases.esc import read_shipped_esc
    from kubeproof.verify.scaling.plan import plan_sweep
    from kubeproof.verify.scaling.sweep import run_sweep

    plan = plan_sweep(loaded, options, chosen, read_shipped_esc())
    progress = None if line is None else line.sweep
    if checkpoint is None:
        return run_sweep(plan, chosen, progress=progress, stop=stop, found=found)
    from kubeproof.cli.running.checkpoint import tell_how_to_resume, tell_on_interrupt
    from kubeproof.verify.scaling.checkpoint import sweep_journal

    with tell_on_interrupt(checkpoint), sweep_journal(checkpoint, plan, chosen, resume=resume) as journal:
        result = run_sweep(plan, chosen, journal=journal, progress=progress, stop=stop, found=found)
    if result.statistics.is_interrupted:
        tell_how_to_resume(checkpoint)
    return result


def refuse_without_sweep(loaded: Loaded, chosen: SweepOptions, *, pictured: bool, elsewhere: str = "") -> None:
    """Flags that only a sweep has are wrong usage without one; told before a search, not after it."""
    flag = "--all" if chosen.every else "--fast-find" if chosen.fast_find else "-o svg" if pictured else ""
    flag = flag or (f"--executor {elsewhere}" if elsewhere else "")
    if not flag:
        return
    from kubeproof.verify.scaling.plan import can_grow

    grown = "Name a limit other than none with --scale, such as --scale esc."
    remedy = grown if can_grow(loaded) else "Say in spec.scale of a Scenario which nodes and workloads grow."
    raise UsageError(f"{flag} is about a sweep, and this verifies one size", remedy)


def name_executor(ctx: click.Context) -> str:
    """The executor that this command line names, unless it is the process itself; environment and settings hold for
    the sweeps among all runs."""
    is_typed = ctx.get_parameter_source("executor") == click.core.ParameterSource.COMMANDLINE
    executor: str = ctx.params.get("executor") or ""
    return executor if is_typed and executor not in ("auto", "inprocess") else ""


def sweep_flags(scale: str | tuple[int, int] | None, every: bool, fast_find: bool) -> list[str]:
    """The options of a sweep as a user types them."""
    text = ",".join(map(str, scale)) if isinstance(scale, tuple) else scale
    words = [] if text is None else ["--scale", text]
    return words + (["--all"] if every else []) + (["--fast-find"] if fast_find else [])
