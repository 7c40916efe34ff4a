"""Sources of manifests beside files: standard input, nodes in a few words, and files outside the named paths."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubeproof.manifests.assumed.node_pools import Pool
    from kubeproof.manifests.loaded import Loaded

F = TypeVar("F", bound=Callable[..., object])
_OUTSIDE = "kubeproof.allow-outside"


def read_stdin() -> bytes:
    """All of stdin, at most one byte more than the largest file that is read, which then refuses it."""
    from kubeproof.manifests.yaml.guard import Bounds

    if sys.stdin is None:
        raise UsageError("stdin is closed", "Name a file instead of -.")
    return sys.stdin.buffer.read(Bounds().file_bytes + 1)


def _parse_pools(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[Pool, ...]:
    if not values:
        return ()
    from kubeproof.manifests.assumed.node_pools import parse_pool

    return tuple(parse_pool(value) for value in values)


nodes_option = click.option(
    "--nodes", "pools", multiple=True, callback=_parse_pools, metavar="COUNTxCPU,MEMORY[,...]",
    help="The nodes, for manifests without Node objects: 6x4cpu,16Gi,zones=3,pool=web. Repeatable. "
    "Default: as many as the pods ask for.",
)  # fmt: skip


def refuse_two_sources_of_nodes(loaded: Loaded, pools: Sequence[Pool]) -> None:
    """Raises if nodes were given although the input has some."""
    if not pools:
        return
    from kubeproof.manifests.load import GIVEN_FILE

    others = [node.source for node in loaded.setup.nodes if node.source.file != GIVEN_FILE]
    if others:
        raise UsageError(f"--nodes is given, but the input has Node objects ({others[0]})", "Leave one of them out.")


def tell_refusals(loaded: Loaded) -> tuple[int, ...]:
    """Says on stderr what of the input is refused while the rest is used; the exit codes that it asks for."""
    from kubeproof.cli.running.endings import REFUSED as CODE
    from kubeproof.cli.running.endings import say
    from kubeproof.manifests.loaded import REFUSED

    refused = [note for note in loaded.notes if note.id == REFUSED and note.severity == "error"]
    for note in refused:
        place = str(note.source) if note.source.line else note.source.file
        say(f"error: {REFUSED} {place}: {note.what}. {note.why}")
    return (CODE,) if refused else ()


def outside_option(command: F) -> F:
    """Adds --allow-outside, which `allows_outside` tells."""
    return click.option(
        "--allow-outside", is_flag=True, expose_value=False, callback=_remember,
        help="Read files outside PATH, too, where links or Scenarios lead to them.",
    )(command)  # fmt: skip


def _remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_OUTSIDE] = value


def allows_outside() -> bool:
    """True if the user lets this command read files outside the paths."""
    return bool(click.get_current_context().meta.get(_OUTSIDE))
