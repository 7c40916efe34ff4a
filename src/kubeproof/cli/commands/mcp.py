"""`kubeproof mcp`."""

from __future__ import annotations

import os
from importlib.util import find_spec

import click

from kubeproof.cli.options.ranges import NumberRange
from kubeproof.errors import EnvironmentProblem, UsageError


@click.command("mcp", short_help="Serve verify, what-if, fix, simulate and explain to assistants.")
@click.option(
    "--root", default=".", show_default="the working directory", metavar="DIR",
    help="The folder whose manifests may be read, and nothing outside of it.",
)  # fmt: skip
@click.option(
    "--timeout", "timeout_s", type=NumberRange(min=0, min_open=True), default=120.0, show_default=True, metavar="S",
    help="The most that one call may take.",
)  # fmt: skip
@click.option(
    "--memory", "memory_mib", type=click.IntRange(min=64), default=2048, show_default=True, metavar="MIB",
    help="The most that a search of one call may hold in memory.",
)  # fmt: skip
@click.option(
    "--render/--no-render", "is_rendering", default=False,
    help="Let your helm and kustomize render charts and kustomizations; these may run and fetch what those say.",
)  # fmt: skip
def mcp_command(*, root: str, timeout_s: float, memory_mib: int, is_rendering: bool) -> int:
    """Serve verify, what-if, explain, fix and simulate to assistants, over standard input and output.

    The protocol is MCP. Calls only read: files below DIR are copied, and a process of its own works on the copy, with
    limits on time and memory. It ends when the client cancels the call or goes away. Needs the extra mcp.

    \b
    Examples:
      kubeproof mcp
      kubeproof mcp --root k8s/ --timeout 60 --memory 1024
    """
    if find_spec("mcp") is None:
        raise EnvironmentProblem("E401 mcp is not installed; nothing can be served. pip install 'kubeproof[mcp]'.")
    if not os.path.isdir(root):
        raise UsageError(f"--root {root!r} is no folder", "Name the folder that holds the manifests.")
    from kubeproof.cli.assistants.calls import CallLimits
    from kubeproof.cli.assistants.fenced_files import Fence
    from kubeproof.cli.assistants.server import serve

    return serve(Fence(os.path.realpath(root), takes_all=is_rendering), CallLimits(timeout_s, memory_mib))
