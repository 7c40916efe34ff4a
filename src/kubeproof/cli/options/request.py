"""What `kubeproof verify` was asked for: its options, gathered by what they are about."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Any

import click

from kubeproof.cli.options.acceptance import EXEMPTIONS, Acceptance
from kubeproof.cli.options.inputs import allows_outside
from kubeproof.cli.options.live import Chosen
from kubeproof.cli.options.matrix import Asked
from kubeproof.cli.options.outputs import Output
from kubeproof.cli.options.sweep import choose_sweep, name_executor, sweep_flags
from kubeproof.named_tuples import NamedTuple

if TYPE_CHECKING:
    from kubeproof.manifests.assumed.node_pools import Pool
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.scaling.plan import SweepOptions

_MEBIBYTE = 1_048_576
USUAL_TIMEOUT_S = 60.0  # of a run whose --timeout nobody gives: it ends by itself
Given = dict[str, Any]  # options by the names that the command gives them


class Input(NamedTuple):
    """Where the manifests come from."""

    paths: tuple[str, ...]
    values: tuple[str, ...]  # files for charts
    pools: tuple[Pool, ...]  # nodes that no object tells of
    cluster: Chosen | None  # a running one


class Keeping(NamedTuple):
    """Where a run is kept, so that it can be continued."""

    directory: str | None
    resume: bool


class Sweeping(NamedTuple):
    """Which sizes are looked at."""

    options: SweepOptions
    flags: tuple[str, ...]  # that ask for the same again
    elsewhere: str  # where else somebody asked for a sweep: an environment variable, the settings file


class Showing(NamedTuple):
    """How the answer is shown."""

    outputs: tuple[Output, ...]
    verbose: bool
    why: bool
    fix: bool
    quiet: bool
    color: str
    progress: str

    @property
    def is_pictured(self) -> bool:
        """True if somebody asks for a picture, which only a sweep has."""
        return any(output.format == "svg" for output in self.outputs)


class Request(NamedTuple):
    """One call of the command."""

    input: Input
    options: VerifyOptions
    surveyed: Asked
    sweep: Sweeping
    keeping: Keeping
    showing: Showing
    acceptance: Acceptance

    def flags(self) -> list[str]:
        """The options that decide which counterexample is found, to be given again."""
        words = [*_flags(self.options), *self.surveyed.words(), *self.sweep.flags]
        words += self.input.cluster.words() if self.input.cluster is not None else []
        return words + (["--allow-outside"] if allows_outside() else [])


def make_request(ctx: click.Context, given: Given) -> Request:
    """The request; refuses options that exclude each other."""
    if given["verbose"] and given["quiet"]:
        raise click.UsageError("-v and -q exclude each other")
    if not given["paths"] and not given["live"]:
        raise click.UsageError("missing PATH...; name manifests, or --live")
    return Request(
        _input(given),
        _options(given),
        Asked.of(given),
        _sweeping(ctx, given),
        Keeping(given["checkpoint"], given["resume"]),
        Showing(
            given["outputs"],
            given["verbose"],
            given["why"],
            given["fix"],
            given["quiet"],
            given["color"],
            given["progress"],
        ),
        Acceptance(
            ctx.meta.get(EXEMPTIONS),
            given["baseline"],
            given["write_baseline"],
            given["fail_on"],
            given["soft_fail"],
        ),
    )


def _input(given: Given) -> Input:
    cluster = ("namespace", "everywhere", "context", "kubeconfig", "read_timeout")
    chosen = Chosen(*(given[name] for name in cluster)) if given["live"] else None
    return Input(given["paths"], given["values"], given["pools"], chosen)


def _options(given: Given) -> VerifyOptions:
    from kubeproof.verify.options import VerifyOptions

    timeout_s, memory_mib = given["timeout_s"], given["memory_mib"]
    return VerifyOptions(
        engine=given["engine"],
        max_states=given["max_states"],
        timeout_s=USUAL_TIMEOUT_S if timeout_s is None else None if isinf(timeout_s) else timeout_s,
        has_usual_timeout=timeout_s is None,
        memory_bytes=None if memory_mib is None else memory_mib * _MEBIBYTE,
        spill_directory=given["spill_directory"],
        processes=given["workers"] or 0,
        reductions=given["reductions"],
        without=given["without"],
        check_controllers=given["check_controllers"],
        find_all=given["find"] == "all",
        controllers=given["controllers"],
    )


def _sweeping(ctx: click.Context, given: Given) -> Sweeping:
    scale, every, fast_find = given["scale"], given["every"], given["fast_find"]
    options = choose_sweep(scale, every, fast_find, given["workers"], given["executor"])
    return Sweeping(options, tuple(sweep_flags(scale, every, fast_find)), name_executor(ctx))


def _flags(options: VerifyOptions) -> list[str]:
    words = [word for controller in options.controllers for word in ("--controller", controller)]
    words += ["--max-states", str(options.max_states)] if options.max_states is not None else []
    words += ["--find", "all"] if options.find_all else []
    words += [] if options.reductions else ["--no-reductions"]
    return words + (["--without", ",".join(options.without)] if options.without else [])
